#pragma once
// The time that the host of a rank needs to launch the kernels of its GPU, by framework. A framework has an operator
// find its kernels (dispatch) and hands each to the driver (launch), from one thread. Figures and their sources:
// models/hosts.yaml; docs/models/host.md.

#include "models/layers.hpp"
#include "models/parallel/operators.hpp"
#include "models/parallel/training_iteration.hpp"
#include "sim/units.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace contend {

/// Kernels that update the weights: some for each tensor, some for a group of tensors, or all in one.
enum class OptimizerKernels : std::uint8_t { per_tensor, foreach, fused };

/// When a host waits for all that its GPU has to do: never; once an iteration, for the norm of the gradients, an
/// overflow or the loss; or before each pass of a micro-batch through a stage, too, because timers of the framework or
/// messages synchronise.
enum class HostWaits : std::uint8_t { never, iteration, pass };

/// Launches for each kernel that the cost model counts, by OperatorKind, >= 0.
using LaunchFactors = std::array<double, kOperatorKinds>;
[[nodiscard]] constexpr LaunchFactors one_launch_each() {
  LaunchFactors all{};
  all.fill(1);
  return all;
}

struct HostCosts {
  std::string source;
  Time dispatch;           ///< before each launch of a forward pass, >= 0
  Time dispatch_backward;  ///< before each launch of a backward pass
  Time launch;             ///< each launch
  Time collective;         ///< each collective
  Time grouped;            ///< each product of a group (of experts) but the first; 0: one launch
  Time message;            ///< each message to another pipeline rank, with the receive
  Time recompute;          ///< of each layer that computes operators again, unless a graph has all of these
  Time step;               ///< once an iteration, before its first launch
  LaunchFactors forward = one_launch_each();  ///< in place of the kernels that the cost model counts
  LaunchFactors backward = one_launch_each();
  double routing = 0;  ///< further launches of each pass of a layer with experts, >= 0
  /// In each forward pass of a layer with experts that drop no tokens: the host waits for the counts of tokens, by
  /// which it sizes what follows. From the end of the kernels that count until the GPU has work again; 0: it never
  /// waits.
  Time routing_wait;
  OptimizerKernels optimizer = OptimizerKernels::fused;
  /// Gradients are clipped: kernels beside the update read each for the norm, and read and write it to scale it.
  bool clips = false;
  /// Gradients lie in a buffer that is cleared each iteration, and scaled before data-parallel ranks add it up.
  bool gradient_buffer = false;
  HostWaits waits = HostWaits::never;
  bool graphs = false;  ///< the kernels of a layer are one CUDA graph
  /// The graph leaves out the experts and their exchange, whose sizes the host learns from the GPU; needs `graphs`.
  bool eager_experts = false;
  LossKernels loss = LossKernels::fused;  ///< kernels of the framework, for entries that give none

  bool operator==(const HostCosts&) const = default;

  /// A kernel of a forward pass, or of a backward pass.
  [[nodiscard]] Time kernel(bool is_backward) const { return (is_backward ? dispatch_backward : dispatch) + launch; }
  /// The first launch of a pass: a kernel, or a graph.
  [[nodiscard]] Time first(bool is_backward) const;
  /// The passes of a unit: its operators, the operators that its backward pass does `again`, and its collectives.
  [[nodiscard]] HostTimes of(std::span<const TransformerOperator> operators, std::span<const TransformerOperator> again,
                             const ModelUnit& unit) const;
  /// The passes of a layer of a table, both gradients in `backward_input`.
  [[nodiscard]] HostTimes of(const Layer& layer) const;
  /// Bytes that the GPU moves to clip gradients in fp32, for each weight that a rank updates: a read for the norm, a
  /// read and a write to scale (megatron/core/optimizer/clip_grads.py).
  [[nodiscard]] double clipped_bytes() const { return clips ? 4 + 4 + 4 : 0; }
  /// Bytes that the GPU moves to clear the gradient buffer, and with several ranks to divide it by their number, for
  /// each gradient of `width` bytes.
  [[nodiscard]] double buffered_bytes(int width, int ranks) const {
    return gradient_buffer ? width * (ranks > 1 ? 3 : 1) : 0;
  }
  /// The update of so many tensors.
  [[nodiscard]] Time update(std::int64_t tensors) const;
};

}  // namespace contend
