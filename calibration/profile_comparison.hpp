#pragma once
// Holds one profile against another of the same device: how far apart they measured the same shapes, and how well the
// first predicts what only the second measured.

#include "calibration/profile.hpp"

#include <string>
#include <vector>

namespace contend {

/// One operator in one number format, in both profiles.
struct TableComparison {
  std::string name;
  DataType type = DataType::fp32;
  /// |second / first - 1| of each shape that both measured, in ascending order.
  std::vector<double> apart;
  /// |predicted / measured - 1| of each shape that only the second measured and that lies within the range of the
  /// first, in ascending order: none of them was in the fit.
  std::vector<double> errors;
  int beyond = 0;  ///< shapes of the second outside of the range of the first
};

/// All tables that both profiles have, in the order of operators(). Throws InputError if none is in both.
[[nodiscard]] std::vector<TableComparison> compare_profiles(const CalibrationProfile& first,
                                                            const CalibrationProfile& second);

}  // namespace contend
