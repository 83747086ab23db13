#pragma once
// Which shapes a calibration measures: grids in even steps of the logarithm, so that predictions interpolate, and the
// shapes that the layers of networks really have, so that those need no interpolation.

#include "calibration/operators.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

enum class CalibrationMode { quick, full };
[[nodiscard]] std::string_view to_string(CalibrationMode mode);
/// Seconds that a calibration may take.
[[nodiscard]] double default_budget(CalibrationMode mode);

struct DesignLimits {
  CalibrationMode mode = CalibrationMode::quick;
  std::int64_t memory_bytes = 0;  ///< of the device: operands of one operation take at most a quarter
  int devices = 1;                ///< that can be measured together
};

/// One operator in one number format.
struct DesignedTable {
  const OperatorInfo* info = nullptr;
  DataType type = DataType::fp32;
  std::vector<OperatorShape> shapes;  ///< different, from little work to much
  std::string skipped;                ///< why there are none; empty if there are
};

/// In the order of operators(), then of their types, of the groups given; of all groups if none is given.
[[nodiscard]] std::vector<DesignedTable> design(const DesignLimits& limits, std::span<const OperatorGroup> groups);

}  // namespace contend
