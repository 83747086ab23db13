#pragma once
// The operations that a calibration measures, with their dimensions and their least work. Back ends, fits and the
// reference documentation all read this one table.

#include "models/devices.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

using OperatorShape = std::vector<std::int64_t>;

/// The groups that `--only` chooses by.
enum class OperatorGroup {
  launch,
  memory,
  gemm,
  convolution,
  attention,
  elementwise,
  optimizer,
  compression,
  collective,  ///< between devices: peer copies, NCCL
  contention,  ///< computing and communicating at once, on one device
};
[[nodiscard]] std::string_view to_string(OperatorGroup group);
[[nodiscard]] std::span<const OperatorGroup> operator_groups();

/// The least work of an operation: each operand is read or written once, and a multiply-add counts as 2 flops.
struct OperatorWork {
  double bytes = 0;
  double flops = 0;
};

struct OperatorInfo {
  std::string_view name;
  OperatorGroup group;
  std::span<const std::string_view> dimensions;
  std::span<const DataType> types;  ///< the number formats that are measured
  /// The least work. `shape` has one positive number for each of `dimensions`.
  OperatorWork (*work)(std::span<const std::int64_t> shape, DataType type);
  std::string_view text;
  /// A similar operator of the same dimensions: a profile without a table of this one predicts its time from a table of
  /// that one, in proportion to the least work. Empty if there is none.
  std::string_view like{};
  /// True if the operator is `like` with its operands stored otherwise. A table of it corrects predictions from a table
  /// of `like`, and in a number format in which only `like` is measured, that takes its place.
  bool same_work = false;
};

/// The operation in the name of an operator of the group `contention`, `X_beside_reduce` or `reduce_beside_X`; the
/// operation of `reduce` itself is none.
[[nodiscard]] std::string_view operation_beside(const OperatorInfo& info);
/// The dimensions of an operator of the group `contention` without the blocks: the dimensions of the operation in its
/// name.
[[nodiscard]] inline std::span<const std::int64_t> without_blocks(std::span<const std::int64_t> shape) {
  return shape.first(shape.size() - 1);
}

/// All operators, in the order in which they are measured.
[[nodiscard]] std::span<const OperatorInfo> operators();
/// Copies of bytes within the device's memory, in fp32.
inline constexpr std::string_view kCopies = "copy";
/// True if the bytes of an operator come out of the cache or of the memory as the bytes of a copy do, so that its times
/// may be deviations from the times of copies (OperatorTable::from_copies).
[[nodiscard]] bool moves_like_copies(const OperatorInfo& info);

/// The operator of that name, or nullptr.
[[nodiscard]] const OperatorInfo* find_operator(std::string_view name);

}  // namespace contend
