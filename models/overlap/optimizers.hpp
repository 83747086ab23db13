#pragma once
// Optimizers, one row each: the bytes that the update of the weights reads and writes, which states the optimizer
// keeps, which products the update computes, and which kernel does it. The rows and their sources are data,
// models/overlap/optimizers.txt. An entry without an optimizer has none of them.

#include "models/overlap/kernel_costs.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// Formats of the states. int8: blocks of 2,048 numbers with a scale in fp32 (Dettmers et al., arXiv 2110.02861,
/// section 2.1; bitsandbytes/optim/optimizer.py).
enum class StateFormat : std::uint8_t { fp32, bf16, int8 };
inline constexpr std::array kStateFormats{StateFormat::fp32, StateFormat::bf16, StateFormat::int8};
[[nodiscard]] std::string_view to_string(StateFormat format);
/// Bytes of a number, with its part of a scale.
[[nodiscard]] double state_width(StateFormat format);

/// How an entry keeps what its optimizer needs.
struct StateKeeping {
  StateFormat format = StateFormat::fp32;
  /// A copy of the weights in 4 bytes, which the update changes; none: beside weights of less than 4 bytes.
  std::optional<bool> master{};

  [[nodiscard]] bool has_master(std::int64_t width) const { return width < 4 && master.value_or(true); }
  bool operator==(const StateKeeping&) const = default;
};

/// Weights of one shape. A vector has one column.
struct WeightShape {
  std::int64_t rows = 1, columns = 1;  ///< >= 1
  std::int64_t count = 1;              ///< tensors of this shape, >= 0
  bool hidden = false;                 ///< a matrix between embedding and head

  [[nodiscard]] bool is_matrix() const { return rows > 1 && columns > 1; }
  [[nodiscard]] std::int64_t elements() const { return rows * columns * count; }
};

/// The weights that a row is about.
enum class OptimizerScope : std::uint8_t { all, matrices, hidden };

struct Optimizer {
  std::string_view name, source;
  OptimizerScope scope = OptimizerScope::all;
  const Optimizer* rest = nullptr;  ///< the row of all other weights
  std::int64_t full = 0;            ///< states that have the shape of the weight, >= 0
  bool sums = false;                ///< a state for each row and each column of a matrix
  std::int64_t factors = 0;         ///< square matrices for each side of a block of a matrix
  std::int64_t block = 0;           ///< the largest side of a block
  int interval = 1;                 ///< updates from one inverse root of the factors to the next
  int steps = 0;                    ///< Newton-Schulz iterations on each matrix
  int weight_reads = 1, gradient_reads = 1, gradient_writes = 0;  ///< of fused kernels
  double between = 0;  ///< bytes moved for each number of a matrix in front of its products, between and behind them
  /// What an update moves for each parameter, in bytes, where each of its operations is a kernel that reads its
  /// operands and writes its result, as in PyTorch without `fused`.
  std::int64_t moved_separately = 0;
  /// The kernel that a calibrated device measures (calibration/operators.hpp), with numbers of 4 and of 2 bytes; empty
  /// if there is none.
  std::string_view kernel{}, mixed_kernel{};
  std::array<bool, kStateFormats.size()> formats{true, true, true};  ///< of its states, by StateFormat

  /// True if states or products depend on the shapes of weights.
  [[nodiscard]] bool goes_by_shape() const { return scope != OptimizerScope::all; }
  /// True if it multiplies matrices, whole or by blocks.
  [[nodiscard]] bool has_products() const { return steps > 0 || factors > 0; }
  /// True if it needs whole matrices, which ranks gather that have parts of them.
  [[nodiscard]] bool needs_whole() const { return steps > 0; }
  /// The row for weights of this shape.
  [[nodiscard]] const Optimizer& of(const WeightShape& shape) const;
  [[nodiscard]] bool has_states() const { return full > 0 || sums || factors > 0; }

  /// Bytes that fused kernels read and write for each parameter, but for products and what lies between them. Weight,
  /// gradient and state are read, all but the gradient written. With gradients of 2 bytes the weight of 2 bytes is
  /// written too, and the difference of the gradients makes up for that.
  [[nodiscard]] double moved(std::int64_t width = 4, const StateKeeping& keeping = {}) const;
  /// Bytes of the states of its shape for each parameter, with numbers of so many bytes: with a copy of the weight,
  /// too.
  [[nodiscard]] double kept(std::int64_t width, const StateKeeping& keeping = {}) const;
};

/// All optimizers that an entry can name.
[[nodiscard]] std::span<const Optimizer> optimizers();
/// The text of optimizers.txt.
[[nodiscard]] std::string_view optimizers_text();

/// The optimizer of that name, or nullptr.
[[nodiscard]] const Optimizer* find_optimizer(std::string_view name);

/// Bytes that an optimizer keeps for weights of this shape, of all of them: states, and copies of the weights.
[[nodiscard]] double kept_bytes(const Optimizer& optimizer, const WeightShape& shape, std::int64_t width,
                                const StateKeeping& keeping = {});

/// The work of one update of so many weights, > 0, of a network that is trained with numbers of so many bytes, but for
/// products. `separately`: a kernel for each operation, of which devices measure none.
[[nodiscard]] KernelWork update_work(const Optimizer& optimizer, double elements, std::int64_t width,
                                     bool separately = false, const StateKeeping& keeping = {});
/// The work of an update of `share` of weights of these shapes, each by its row; share from above 0 to 1.
[[nodiscard]] KernelWork update_work(const Optimizer& optimizer, std::span<const WeightShape> shapes, double share,
                                     std::int64_t width, bool separately = false, const StateKeeping& keeping = {});

/// Blocks of one size into which a matrix is cut.
struct MatrixBlocks {
  std::int64_t rows = 0, columns = 0;  ///< of each
  std::int64_t count = 0;
};
/// All blocks of a matrix of this shape: as many as have the sides of Optimizer::block, and those at the ends.
[[nodiscard]] std::vector<MatrixBlocks> blocks_of(const Optimizer& optimizer, const WeightShape& shape);

}  // namespace contend
