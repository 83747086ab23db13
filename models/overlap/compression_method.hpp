#pragma once
// How a group of gradients travels when it is compressed: kernels on the GPU before, between and after collectives.

#include "models/overlap/kernel_costs.hpp"
#include "models/overlap/peers.hpp"
#include "sim/graph.hpp"
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

/// One step of an exchange: a kernel on the stream of the GPU, or a collective.
struct ExchangeStage {
  std::string name;  ///< such as `top-k`; each stage of an exchange has its own
  Time duration;     ///< of a kernel, > 0
  std::optional<CollectiveKind> collective;
  Bytes bytes;  ///< of a collective: the size of the full tensor on one rank, as Op::bytes
  CollectiveScope scope = CollectiveScope::all;

  static ExchangeStage kernel(std::string name, Time duration) { return {std::move(name), duration, {}, {}, {}}; }
  static ExchangeStage send(std::string name, CollectiveKind kind, Bytes bytes,
                            CollectiveScope scope = CollectiveScope::all) {
    return {std::move(name), {}, kind, bytes, scope};
  }
};

/// By which collectives messages are added up. A study may force one on every method (overlap.collective).
enum class MessageRoute : std::uint8_t {
  usual,           ///< as the method's paper does
  all_reduce,      ///< added up on the way
  all_gather,      ///< everybody gets everybody's and adds up
  scatter_gather,  ///< an all-to-all of chunks, added up by the worker that has them all, and an all-gather
  server,          ///< pushed to parameter servers, which add up, and pulled
};

/// Why a method can't send its messages by a certain route.
struct RouteRefusal {
  std::string reason;
  std::string hint;  ///< what would be right
};

/// When the exchange of a group may begin, and what waits for its end.
enum class ExchangeMoment : std::uint8_t {
  gradients,   ///< begins when the gradients are ready; the next forward pass waits
  weights,     ///< of the weights that this iteration computes with: begins with the iteration; the next one waits
  updated,     ///< of the weights after the update: begins when the backward pass has ended; the next forward waits
  background,  ///< of weights, begins as `gradients`; nothing waits
};

/// A compression method sees a group of gradients and says what has to be done to have their (lossy) mean on every
/// worker; or, where workers may drift apart, to bring their weights together. Pure: equal groups give equal stages.
/// Convergence is not its business.
class CompressionMethod {
 public:
  virtual ~CompressionMethod() = default;
  /// Kernels and collectives, one after the other; none if this phase sends nothing. Kernels before the first are
  /// launched into the stream of the backward pass, right after the task that completes the group; between collectives
  /// they go before its next task. `problem.kernels` has a value. Throws InputError if it can't work on this problem.
  [[nodiscard]] virtual std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                          const GradientGroup& group) const = 0;
  /// Why messages can't take this route; nothing if they can. stages() takes that of `problem`, which must be such.
  [[nodiscard]] virtual std::optional<RouteRefusal> refusal(MessageRoute route) const {
    if (route == MessageRoute::usual) return std::nullopt;
    return RouteRefusal{"it consists of collectives of its own", "overlap.collective: auto"};
  }
  [[nodiscard]] virtual ExchangeMoment moment() const { return ExchangeMoment::gradients; }
  /// With whom a worker swaps in CollectiveKind::exchange, where links differ.
  [[nodiscard]] virtual PeerRule peers() const { return {}; }
  /// Kinds of iterations that differ in what they send, as shares of all iterations; they add up to 1.
  /// OverlapProblem::phase says which one is meant.
  [[nodiscard]] virtual std::vector<double> phases() const { return {1.0}; }
};

}  // namespace contend
