#pragma once
// Formats the output of `contend calibrate`: a progress line, and a summary of the profile.

#include "calibration/calibrator.hpp"
#include "calibration/profile.hpp"
#include "cli/progress.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace contend {

/// A line on stderr with the current operator, the number of operations done and the time left.
class CalibrationLine {
 public:
  explicit CalibrationLine(ProgressMode mode);
  /// Erases the line.
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

/// A row for each operator and number format: the number of points, the best rate, and the precision of measured and
/// predicted times; then the skipped operations by reason.
[[nodiscard]] std::string calibration_summary(const CalibrationProfile& profile);

/// The skipped operations of these groups (of all, if none is given), by reason.
[[nodiscard]] std::string skipped_summary(const CalibrationProfile& profile, const std::vector<OperatorGroup>& groups);

}  // namespace contend
