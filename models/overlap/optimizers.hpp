#pragma once
// Optimizers, one row each: what the update of the weights reads and writes, what it keeps, and which kernel does it.
// An entry without an optimizer has none of them.

#include "models/overlap/kernel_costs.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace contend {

struct Optimizer {
  std::string_view name;
  std::int64_t state = 0;  ///< bytes kept for each parameter beside its weight and gradient, >= 0
  /// What an update moves for each parameter, in bytes, where each of its operations is a kernel that reads its
  /// operands and writes its result, as in PyTorch without `fused` (torch/optim/adamw.py, _multi_tensor_adamw).
  std::int64_t moved_separately = 0;
  /// The kernel that a calibrated device measures (calibration/operators.hpp), with numbers of 4 and of 2 bytes; empty
  /// if there is none.
  std::string_view kernel{}, mixed_kernel{};

  /// Bytes that an update reads and writes for each parameter. Weight, gradient and state are read, all but the
  /// gradient written. With gradients of 2 bytes the weight of 2 bytes is written too, and the difference of the
  /// gradients makes up for that.
  [[nodiscard]] std::int64_t moved() const { return 4 + 4 + state + 4 + state; }
  /// Bytes kept for each parameter with numbers of so many bytes: below 4, a copy of the weight in 4 bytes, too.
  [[nodiscard]] std::int64_t kept(std::int64_t width) const { return state + (width < 4 ? 4 : 0); }
};

/// All optimizers.
[[nodiscard]] std::span<const Optimizer> optimizers();

/// The optimizer of that name, or nullptr.
[[nodiscard]] const Optimizer* find_optimizer(std::string_view name);

/// The work of one update of so many weights, > 0, of a network that is trained with numbers of so many bytes.
/// `separately`: a kernel for each operation, of which devices measure none.
[[nodiscard]] KernelWork update_work(const Optimizer& optimizer, double elements, std::int64_t width,
                                     bool separately = false);

}  // namespace contend
