#pragma once
// Looks at the state of a device now and then, and says afterwards what a person should know.

#include "calibration/backend.h"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

class DeviceWatch {
 public:
  explicit DeviceWatch(const contend_backend& backend) : backend_{backend} {}

  /// One look; `during` says what was measured, such as `gemm fp16`.
  void look(std::string_view during);
  /// At most one line for each kind of trouble; none if there was none.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  const contend_backend& backend_;
  int looks_ = 0;
  int throttled_ = 0, shared_ = 0;  ///< looks
  std::string throttle_reason_, throttled_during_, shared_during_;
  double lowest_clock_ = 0, highest_temperature_ = 0;  ///< while throttled
  int most_others_ = 0;
};

}  // namespace contend
