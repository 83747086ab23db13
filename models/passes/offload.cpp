#include "models/parallel/offload.hpp"

#include "models/passes/spread_passes.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

/// The copies of one rank, in the order of its parts.
class RankCopies {
 public:
  RankCopies(IterationGraph& graph, RankProgram& rank, const TrainingIteration& job)
      : graph_{graph}, rank_{rank}, job_{job} {}

  void add() {
    for (std::size_t i = 0; i < rank_.parts.size(); ++i) {
      const std::size_t before = graph_.ops().size();
      if (job_.reads_weights) read_weights(i);
      move_activations(i);
      if (job_.sends_gradients) send_gradients(rank_.parts[i]);
      graph_.put_into_round(graph_.ops()[rank_.parts[i].first.index()].round, before);
    }
  }

 private:
  /// The rank reads its share of the weights of a part, one part after the other.
  void read_weights(std::size_t i) {
    const PassPart& part = rank_.parts[i];
    if (part.pass.kind != PassKind::forward && !job_.reshard) return;
    const GradientBucket units = part.units.weights(job_.weight_bytes);
    const std::int64_t elements =
        share_of(units.dense, job_.dense_shards()) + share_of(units.expert, job_.expert_shards());
    std::vector<OpId> after;
    if (const OpId from = rank_.before(i, 2); from.valid()) after.push_back(from);
    const OpId read = in_.add(graph_,
                              {fmt::format("read of weights of {}", part.name), rank_.role,
                               Bytes{elements * job_.weight_bytes}, *job_.reads_weights, job_.weights_from},
                              after);
    if (after.empty()) rank_.starts.push_back(read);
    for (const OpId op : part.gathers) graph_.add_dependency(read, op);
    if (part.gathers.empty()) graph_.add_dependency(read, part.first);
  }

  void move_activations(std::size_t i) {
    const PassPart& part = rank_.parts[i];
    const Bytes moved = job_.units[static_cast<std::size_t>(part.stage)][part.units.first].offloaded;
    if (moved == Bytes{} || part.pass.kind == PassKind::backward_weight) return;
    OpId& left = left_[{part.stage, part.pass.micro_batch, part.units.first}];
    if (part.pass.kind == PassKind::forward) {
      if (left_before_.valid()) graph_.add_dependency(left_before_, part.first);
      left = to_host("activations of " + part.name, moved, {part.last});
      left_before_ = std::exchange(left_last_, left);
      return;
    }
    // They come back while the unit before computes, so from the end of that before on.
    std::vector<OpId> after{left};
    if (const OpId from = rank_.before(i, 1); from.valid()) after.push_back(from);
    const OpId back = in_.add(
        graph_,
        {fmt::format("activations of {} from the host", part.name), rank_.role, moved, *job_.link, CopyWay::from_host},
        after);
    graph_.add_dependency(back, part.first);
  }

  void send_gradients(const PassPart& part) {
    for (const GradientSum& sum : part.sums)
      rank_.gradients.push_back(
          to_host("gradients of " + sum.name, sum.bytes, sum.ops.empty() ? std::vector{part.last} : sum.ops));
  }

  OpId to_host(const std::string& what, Bytes bytes, const std::vector<OpId>& after) {
    return out_.add(graph_, {what + " to the host", rank_.role, bytes, *job_.link, CopyWay::to_host}, after);
  }

  IterationGraph& graph_;
  RankProgram& rank_;
  const TrainingIteration& job_;
  CopyQueue in_, out_;
  OpId left_last_, left_before_;                            // the activations that left last, and those before them
  std::map<std::tuple<int, int, std::size_t>, OpId> left_;  // by stage, micro-batch and first unit
};

}  // namespace

bool moves_to_hosts(const TrainingIteration& job) {
  bool moves = job.reads_weights || job.sends_gradients;
  for (std::size_t stage = 0; stage < job.units.size(); ++stage) moves = moves || moves_activations(job, stage);
  return moves;
}

void add_offload(SpreadIteration& iteration, const TrainingIteration& job) {
  for (RankProgram& rank : iteration.ranks) RankCopies{iteration.graph, rank, job}.add();
}

}  // namespace contend
