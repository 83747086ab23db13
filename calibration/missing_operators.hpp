#pragma once
// Finds the operators that a profile lacks to time a network's layers from measurements, and the command that measures
// them.

#include "calibration/operators.hpp"
#include "calibration/profile.hpp"
#include "models/layers.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// An operator without samples in the number format in which layers execute it.
struct MissingOperator {
  const OperatorInfo* info = nullptr;
  DataType type = DataType::fp32;
  std::vector<std::string> layers;  ///< the layers that execute it, in their order
  std::string skipped;              ///< why the calibration could not measure it; empty if it was not asked to
};

/// The missing operators in the order of operators(), then of types; `batch` >= 1.
[[nodiscard]] std::vector<MissingOperator> missing_operators(const CalibrationProfile& profile, const LayerTable& table,
                                                             int batch, DataType type);

/// One line such as `gemm in fp16 (conv1, fc and 3 more layers), copy in fp32 (bn1)`, with the reason after an operator
/// that was tried.
[[nodiscard]] std::string missing_text(std::span<const MissingOperator> missing);

/// The command that measures the groups of operators and adds them to the profile in the file `path`.
[[nodiscard]] std::string measuring_command(const CalibrationProfile& profile, const std::string& path,
                                            std::span<const OperatorGroup> groups);
/// The same for the operators that were not tried or only lacked time; empty if there are none.
[[nodiscard]] std::string measuring_command(const CalibrationProfile& profile, const std::string& path,
                                            std::span<const MissingOperator> missing);

}  // namespace contend
