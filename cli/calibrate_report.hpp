#pragma once
// What `contend calibrate` shows: a line while it measures, and a summary of what it found.

#include "calibration/calibrator.hpp"
#include "calibration/profile.hpp"
#include "cli/progress.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace contend {

/// On stderr: the operator that is measured, how many operations are done, the time left.
class CalibrationLine {
 public:
  explicit CalibrationLine(ProgressMode mode);
  /// Wipes the line.
  ~CalibrationLine();
  CalibrationLine(const CalibrationLine&) = delete;
  CalibrationLine& operator=(const CalibrationLine&) = delete;

  void update(const CalibrationProgress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  Clock::time_point shown_ = Clock::now();
  bool visible_ = false;
};

/// A row for each operator and number format: points, the best rate, how well times are known and predicted; then what
/// was skipped, by reason.
[[nodiscard]] std::string calibration_summary(const CalibrationProfile& profile);

/// What was skipped of these groups (none given: of all), by reason.
[[nodiscard]] std::string skipped_summary(const CalibrationProfile& profile, const std::vector<OperatorGroup>& groups);

}  // namespace contend
