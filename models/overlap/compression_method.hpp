#pragma once
// A CompressionMethod gives the stages in which a group of gradients is exchanged when it is compressed: kernels on the
// GPU before, between and after collectives.

#include "models/overlap/kernel_costs.hpp"
#include "models/overlap/peers.hpp"
#include "sim/graph.hpp"
#include "sim/iteration_phases.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

struct OverlapProblem;

/// Gradients [first, last] of a problem, in the order in which they become ready, sent as one message.
struct GradientGroup {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// What carries out a stage. Each of the last three does one thing after the other, in the order of the messages.
enum class StageSite : std::uint8_t {
  gpu,      ///< a kernel, or a collective
  host,     ///< a thread of the host
  to_host,  ///< copies from the GPU to the memory of the host
  to_gpu,   ///< copies back
};

/// One step of an exchange: a kernel on the stream of the GPU, a collective, or work of the host.
struct ExchangeStage {
  std::string name;  ///< such as `top-k`; unique in an exchange
  Time duration;     ///< of a kernel, > 0
  std::optional<CollectiveKind> collective;
  Bytes bytes;  ///< of a collective: the size of the full tensor on one rank, as Op::bytes
  CollectiveScope scope = CollectiveScope::all;
  StageSite site =
      StageSite::gpu;  ///< elsewhere: no kernel and no collective, but `duration`, in which no GPU computes

  static ExchangeStage kernel(std::string name, Time duration) { return {std::move(name), duration, {}, {}, {}}; }
  static ExchangeStage off_gpu(StageSite site, std::string name, Time duration) {
    return {std::move(name), duration, {}, {}, CollectiveScope::all, site};
  }
  static ExchangeStage send(std::string name, CollectiveKind kind, Bytes bytes,
                            CollectiveScope scope = CollectiveScope::all) {
    return {std::move(name), {}, kind, bytes, scope};
  }
};

/// The collectives by which messages are summed. An entry of training may force one on every method
/// (training.NAME.collective).
enum class MessageRoute : std::uint8_t {
  usual,           ///< the route of the method's paper
  all_reduce,      ///< an all-reduce, which sums on the way
  all_gather,      ///< an all-gather, after which every worker sums all messages
  scatter_gather,  ///< an all-to-all of chunks, which the worker that receives them sums, and an all-gather
  server,          ///< a push to parameter servers, which sum, and a pull
};

/// The reason why a method can't use a route.
struct RouteRefusal {
  std::string reason;
  std::string hint;  ///< what would be right
};

/// The time at which the exchange of a group may begin, and the operations that wait for its end.
enum class ExchangeMoment : std::uint8_t {
  gradients,   ///< begins when the gradients are ready; the next forward pass waits
  weights,     ///< exchanges the weights that this iteration uses: begins with the iteration; the next one waits
  updated,     ///< exchanges the updated weights: begins when the backward pass has ended; the next forward waits
  background,  ///< exchanges weights: begins as `gradients`; nothing waits
  late,        ///< begins as `gradients`; the end of the next iteration waits, so results are used an iteration late
};

/// A compression method lists the stages after which every worker has the (lossy) mean of a group of gradients; or, if
/// the weights of workers may differ, the stages that bring them together. It is a pure function: equal groups give
/// equal stages. It does not model convergence.
class CompressionMethod {
 public:
  virtual ~CompressionMethod() = default;
  /// The kernels and collectives in their order; none if this phase sends nothing. Kernels before the first collective
  /// are launched into the stream of the backward pass, right after the task that completes the group; kernels between
  /// collectives go before the next task of that stream. `problem.kernels` has a value. Throws InputError if the method
  /// can't work on this problem.
  [[nodiscard]] virtual std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                          const GradientGroup& group) const = 0;
  /// The reason why messages can't take this route; nothing if they can. stages() takes the route of `problem`, which
  /// must not be refused.
  [[nodiscard]] virtual std::optional<RouteRefusal> refusal(MessageRoute route) const {
    if (route == MessageRoute::usual) return std::nullopt;
    return RouteRefusal{"it consists of collectives of its own", "collective: auto"};
  }
  [[nodiscard]] virtual ExchangeMoment moment() const { return ExchangeMoment::gradients; }
  /// The choice of partners in CollectiveKind::exchange if links differ.
  [[nodiscard]] virtual PeerRule peers() const { return {}; }
  /// Iterations of different phases differ in what they send. OverlapProblem::phase selects a phase.
  [[nodiscard]] virtual IterationPhases phases() const { return {}; }
};

}  // namespace contend
