#pragma once
// Builds the iteration graph of data-parallel training layer by layer; the passes of policies/fusion add the messages.
//
//   role worker n | forward of layer 0 -> ... -> forward of layer L-1 -> backward of L-1 -> ... -> backward of 0
//   backward of 0 => forward of 0

#include "models/overlap/problem.hpp"
#include "sim/graph.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// A message as a fusion policy made it.
struct SentMessage {
  std::string name;
  std::size_t gradients = 0;  ///< that it stands for; 1 of a piece of one
  Bytes dense;                ///< of those gradients
  std::vector<OpId> ops;      ///< kernels and collectives in their order
};

/// An iteration with its messages, in the order in which they become ready.
struct FusedIteration {
  IterationGraph graph;
  std::vector<SentMessage> messages;
};

class IterationBuilder {
 public:
  explicit IterationBuilder(const OverlapProblem& problem);

  [[nodiscard]] OpId forward(std::size_t layer) const { return OpId{layer}; }
  [[nodiscard]] OpId backward(std::size_t layer) const { return OpId{2 * layers_ - 1 - layer}; }
  [[nodiscard]] Bytes size(const GradientGroup& group) const { return sum_[group.last + 1] - sum_[group.first]; }
  /// The lowest layer of a group: its backward makes the group ready, its forward needs it first.
  [[nodiscard]] std::size_t layer(const GradientGroup& group) const { return problem_.gradients[group.last].layer; }

  /// How messages queue up in front of the network.
  void use_channel(int messages, Bytes window);
  /// Exchanges carry the gradients of the iteration before, beside this one. Throws InputError for a method that
  /// exchanges weights.
  void use_last_gradients();
  struct Exchange {
    OpId begin;  ///< first operation
    OpId send;   ///< first collective
    OpId end;    ///< last operation
  };
  /// Sends a group: an all-reduce, a push and a pull, or the stages of the method; nothing where those are none. The
  /// next iteration's operation `next` waits for it, in so far as the moment of the method says so; the caller may make
  /// `send` wait for more.
  std::optional<Exchange> exchange(const std::string& name, const GradientGroup& group, OpId next,
                                   std::int32_t priority = 0);
  /// A piece of a gradient, dense; the caller says what `begin` waits for, and what waits for `end`. Throws InputError
  /// if gradients are compressed.
  Exchange piece(const std::string& name, Bytes bytes, std::int32_t priority);
  /// One collective in the channel.
  OpId collective(const std::string& name, CollectiveKind kind, Bytes bytes, std::int32_t priority = 0,
                  CollectiveScope scope = CollectiveScope::all);
  /// Keeps what a message is made of, for a policy that sends it by `collective` alone.
  void record(std::string name, std::size_t gradients, Bytes dense, std::vector<OpId> ops);
  [[nodiscard]] FusedIteration take() { return {std::move(graph), std::move(messages_)}; }

  IterationGraph graph;

 private:
  Exchange dense(const std::string& name, std::size_t gradients, Bytes bytes, std::int32_t priority);
  std::optional<Exchange> compressed(const std::string& name, const GradientGroup& group, std::int32_t priority);
  void attach(const Exchange& sent, const GradientGroup& group, OpId next);

  const OverlapProblem& problem_;
  std::size_t layers_;
  std::vector<Bytes> sum_;  // of the sizes of the gradients before
  RoleId worker_;
  ChannelId out_, in_;  // pulls take `in_`
  std::vector<SentMessage> messages_;
  ExchangeMoment moment_ = ExchangeMoment::gradients;
};

/// Operations of one iteration of this graph that are collectives.
[[nodiscard]] std::size_t message_count(const IterationGraph& graph);

}  // namespace contend
