#pragma once
// The operations that a calibration measures: their dimensions, and the least that they move and compute. One table,
// from which back ends know what to run, fits what to divide by, and documents what there is.

#include "models/devices.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

using OperatorShape = std::vector<std::int64_t>;

/// What `--only` chooses by.
enum class OperatorGroup {
  launch,
  memory,
  gemm,
  convolution,
  attention,
  elementwise,
  optimizer,
  compression,
  transfer,    ///< between host and device
  collective,  ///< between devices: peer copies, NCCL
  contention,  ///< computing while a copy or a collective goes on
};
[[nodiscard]] std::string_view to_string(OperatorGroup group);
[[nodiscard]] std::span<const OperatorGroup> operator_groups();

/// The least work: each operand is read or written once, a multiply-add counts as 2.
struct OperatorWork {
  double bytes = 0;
  double flops = 0;
};

struct OperatorInfo {
  std::string_view name;
  OperatorGroup group;
  std::span<const std::string_view> dimensions;
  std::span<const DataType> types;  ///< that are measured
  /// `shape` has as many positive numbers as `dimensions`.
  OperatorWork (*work)(std::span<const std::int64_t> shape, DataType type);
  std::string_view text;
};

/// All of them, in the order in which they are measured.
[[nodiscard]] std::span<const OperatorInfo> operators();
/// The operator of that name, or nullptr.
[[nodiscard]] const OperatorInfo* find_operator(std::string_view name);

}  // namespace contend
