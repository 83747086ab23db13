#pragma once
// Chooses the shapes that a calibration measures: grids with logarithmic steps, between which predictions interpolate,
// and the shapes that layers of real networks have, which then need no interpolation.

#include "calibration/operators.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

enum class CalibrationMode { quick, full };
[[nodiscard]] std::string_view to_string(CalibrationMode mode);
/// The default time budget of a mode, in seconds.
[[nodiscard]] double default_budget(CalibrationMode mode);

struct DesignLimits {
  CalibrationMode mode = CalibrationMode::quick;
  std::int64_t memory_bytes = 0;  ///< of the device; the operands of one operation take at most a quarter
  int devices = 1;                ///< devices that can be measured together
};

/// The shapes to measure of one operator in one number format.
struct DesignedTable {
  const OperatorInfo* info = nullptr;
  DataType type = DataType::fp32;
  std::vector<OperatorShape> shapes;  ///< distinct, ordered from little work to much
  std::string skipped;                ///< the reason if there are no shapes; else empty
};

/// The tables of the given groups, in the order of operators() and then of their types; of all groups if none is given.
[[nodiscard]] std::vector<DesignedTable> design(const DesignLimits& limits, std::span<const OperatorGroup> groups);

}  // namespace contend
