#pragma once
// IterationBuilder builds the iteration graph of data-parallel training layer by layer; the passes of policies/fusion
// add the messages.
//
//   role worker n | forward of layer 0 -> ... -> forward of layer L-1 -> backward of L-1 -> ... -> backward of 0
//   backward of 0 => forward of 0

#include "models/overlap/problem.hpp"
#include "sim/graph.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// A message of a fusion policy.
struct SentMessage {
  std::string name;
  std::size_t gradients = 0;  ///< number of gradients in it; 1 for a piece of a gradient
  Bytes dense;                ///< their uncompressed size
  std::vector<OpId> ops;      ///< its kernels and collectives in their order
  std::size_t phase = 0;      ///< of CompressionMethod::phases()
};

/// An iteration with its messages, in the order in which they become ready.
struct FusedIteration {
  IterationGraph graph;
  std::vector<SentMessage> messages;
  /// Its first operations, which iterations of every phase have: the passes of all layers, and the use of what was
  /// sent an iteration before.
  std::size_t common = 0;
};

/// Builds one graph. It starts with the compute operations of all layers.
class IterationBuilder {
 public:
  explicit IterationBuilder(const OverlapProblem& problem);

  [[nodiscard]] OpId forward(std::size_t layer) const { return OpId{layer}; }
  [[nodiscard]] OpId backward(std::size_t layer) const { return OpId{2 * layers_ - 1 - layer}; }
  [[nodiscard]] Bytes size(const GradientGroup& group) const { return sum_[group.last + 1] - sum_[group.first]; }
  /// The lowest layer of a group: its backward makes the group ready, its forward needs it first.
  [[nodiscard]] std::size_t layer(const GradientGroup& group) const { return problem_.gradients[group.last].layer; }

  /// Makes messages go through a channel (sim/graph.hpp) with these parameters.
  void use_channel(int messages, Bytes window);
  /// Makes exchanges carry the gradients of the iteration before while this one computes. Throws InputError for a
  /// method that exchanges weights.
  void use_last_gradients();
  /// The operations of one exchange.
  struct Exchange {
    OpId begin;  ///< first operation
    OpId send;   ///< first collective
    OpId end;    ///< last operation
  };
  /// Adds the operations that send a group: an all-reduce, a push and a pull, or the stages of the method; returns
  /// nothing if the method has no stages. The operation `next` of the next iteration waits for them if the moment of
  /// the method says so. The caller may make `send` wait for more.
  std::optional<Exchange> exchange(const std::string& name, const GradientGroup& group, OpId next,
                                   std::int32_t priority = 0);
  /// Adds the operations that send a piece of an uncompressed gradient. The caller adds the dependencies of `begin` and
  /// on `end`, which may be kernels of the framework. Throws InputError if gradients are compressed.
  Exchange piece(const std::string& name, Bytes bytes, std::int32_t priority);
  /// Adds one collective in the channel.
  OpId collective(const std::string& name, CollectiveKind kind, Bytes bytes, std::int32_t priority = 0,
                  CollectiveScope scope = CollectiveScope::all);
  /// For a policy that adds messages by `collective`: what the framework does after `ready`, before a message of so
  /// many tensors, and after `arrived`. They append the operations to `ops` and return the last one, for which the
  /// message, or what needs it, must wait; if there is nothing to do, `ready` or `arrived`.
  OpId prepare(const std::string& name, std::size_t tensors, Bytes bytes, OpId ready, std::vector<OpId>& ops);
  OpId finish(const std::string& name, std::size_t tensors, Bytes bytes, OpId arrived, std::vector<OpId>& ops);
  /// Records the parts of a message, for a policy that adds them by `collective`.
  void record(std::string name, std::size_t gradients, Bytes dense, std::vector<OpId> ops);
  [[nodiscard]] FusedIteration take() {
    return {std::move(graph), std::move(messages_), 2 * layers_ + (use_.valid() ? 1 : 0)};
  }

  IterationGraph graph;

 private:
  [[nodiscard]] std::vector<ExchangeStage> dense(Bytes bytes) const;
  void wrap(std::size_t tensors, Bytes bytes, std::vector<ExchangeStage>& stages) const;
  OpId add_stage(const ExchangeStage& stage, const std::string& message, std::int32_t priority, bool before_collective);
  std::optional<Exchange> send(const std::string& name, std::size_t gradients, Bytes bytes,
                               std::vector<ExchangeStage> stages, std::optional<std::size_t> layer,
                               std::int32_t priority);
  void attach(const Exchange& sent, const GradientGroup& group, OpId next);

  const OverlapProblem& problem_;
  std::size_t layers_;
  std::vector<Bytes> sum_;  // [i]: total size of the gradients before i
  RoleId worker_;
  ChannelId out_, in_;  // pulls take `in_`
  OpId use_;            // of what was sent an iteration before: behind the backward pass, and the next iteration waits
  std::vector<SentMessage> messages_;
  std::array<OpId, 4> last_at_;  // the last stage at each StageSite but the GPU, which does one after the other
  ExchangeMoment moment_ = ExchangeMoment::gradients;
};

/// Gives an uncompressed iteration of so many layers fewer tasks: backward passes of layers become one task where no
/// message leaves between them, forward passes where none is waited for. It takes as long, because nothing else can
/// execute between such layers. An iteration with kernels stays as it is, because they may.
void join_layers(FusedIteration& iteration, std::size_t layers);

}  // namespace contend
