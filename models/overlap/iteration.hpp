#pragma once
// Builds the iteration graph of data-parallel training layer by layer; the passes of policies/fusion add the messages.
//
//   role worker n | forward of layer 0 -> ... -> forward of layer L-1 -> backward of L-1 -> ... -> backward of 0
//   backward of 0 => forward of 0

#include "models/overlap/problem.hpp"
#include "sim/graph.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace contend {

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
  struct Exchange {
    OpId begin;  ///< first operation
    OpId send;   ///< first collective
    OpId end;    ///< last operation
  };
  /// Sends a group: an all-reduce, a push and a pull, or the stages of the codec. The caller says what `begin` (or
  /// only `send`) waits for, and what waits for `end`.
  Exchange exchange(const std::string& name, const GradientGroup& group, std::int32_t priority = 0);
  /// A piece of a gradient, dense. Throws InputError if gradients are compressed.
  Exchange piece(const std::string& name, Bytes bytes, std::int32_t priority);
  /// One collective in the channel.
  OpId collective(const std::string& name, CollectiveKind kind, Bytes bytes, std::int32_t priority = 0);

  IterationGraph graph;

 private:
  Exchange dense(const std::string& name, Bytes bytes, std::int32_t priority);
  Exchange compressed(const std::string& name, const GradientGroup& group, std::int32_t priority);

  const OverlapProblem& problem_;
  std::size_t layers_;
  std::vector<Bytes> sum_;  // of the sizes of the gradients before
  RoleId worker_;
  ChannelId out_, in_;  // pulls take `in_`
};

/// Operations of one iteration of this graph that are collectives.
[[nodiscard]] std::size_t message_count(const IterationGraph& graph);

}  // namespace contend
