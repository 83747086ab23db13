#pragma once
// Samples the state of a device during a calibration and reports throttling and other users afterwards.

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
  /// At most one line for each kind of disturbance; empty if there was none.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  const contend_backend& backend_;
  int looks_ = 0;
  int throttled_ = 0, shared_ = 0;  ///< number of samples
  std::string throttle_reason_, throttled_during_, shared_during_;
  double lowest_clock_ = 0, highest_temperature_ = 0;  ///< while throttled
  int most_others_ = 0;
};

}  // namespace contend
