#pragma once
// Samples the state of a device during a calibration and reports throttling and other users afterwards. What holds the
// clock down shows best in counters of the device, which also count between the samples. The limit of power is no
// disturbance: it holds in training, too.

#include "calibration/backend.h"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

class DeviceWatch {
 public:
  explicit DeviceWatch(const contend_backend& backend) : backend_{backend} {}

  /// Samples the state once; `during` names what is being measured, such as `gemm fp16`.
  void look(std::string_view during);
  /// Seconds between the first and the last sample for which the limit of power held the clock down; -1 if unknown.
  [[nodiscard]] double power_limited_s() const { return power_.seconds(); }
  /// At most one line for each kind of disturbance; empty if there was none.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  /// A count of seconds that only grows, since the first look.
  struct Counter {
    double first = -1, last = -1;
    void look(double now) {
      if (now < 0) return;
      if (first < 0) first = now;
      last = now;
    }
    [[nodiscard]] double seconds() const { return first < 0 ? -1 : last - first; }
  };

  const contend_backend& backend_;
  int looks_ = 0;
  int throttled_ = 0, shared_ = 0;  ///< number of samples
  std::string throttle_reason_, throttled_during_, shared_during_;
  double lowest_clock_ = 0, highest_temperature_ = 0;  ///< while throttled
  int most_others_ = 0;
  Counter power_, heat_;
};

}  // namespace contend
