#pragma once
// What a profile lacks to time the layers of a network by measurements, and how to get it.

#include "calibration/operators.hpp"
#include "calibration/profile.hpp"
#include "models/layers.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// An operator of which the profile has no sample in the number format that layers execute it in.
struct MissingOperator {
  const OperatorInfo* info = nullptr;
  DataType type = DataType::fp32;
  std::vector<std::string> layers;  ///< that execute it, in their order
  std::string skipped;              ///< why the calibration couldn't measure it; empty if it wasn't asked to
};

/// In the order of operators(), then of types. `batch` >= 1.
[[nodiscard]] std::vector<MissingOperator> missing_operators(const CalibrationProfile& profile, const LayerTable& table,
                                                             int batch, DataType type);

/// `gemm in fp16 (conv1, fc and 3 more layers), copy in fp32 (bn1)`, with the reason behind what was tried.
[[nodiscard]] std::string missing_text(std::span<const MissingOperator> missing);

/// The command that measures the groups of operators into the profile, which is the file `path`.
[[nodiscard]] std::string measuring_command(const CalibrationProfile& profile, const std::string& path,
                                            std::span<const OperatorGroup> groups);
/// The same for those that weren't tried, or only lacked time; empty if there are none.
[[nodiscard]] std::string measuring_command(const CalibrationProfile& profile, const std::string& path,
                                            std::span<const MissingOperator> missing);

}  // namespace contend
