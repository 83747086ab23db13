#include "models/passes/spread_passes.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

/// The operation with which the updates of a rank begin, how many iterations after the gradients that it takes, and the
/// operation that ends them.
struct FirstUpdate {
  OpId op;
  int lag = 0;
  OpId end{};
};

class UpdatePass {
 public:
  UpdatePass(SpreadIteration& iteration, const TrainingIteration& job)
      : graph_{iteration.graph}, ranks_{iteration.ranks}, job_{job} {}

  void add() {
    for (RankProgram& rank : ranks_)
      if (rank.turn.valid() && !rank.gradients.empty()) rank.gradients.push_back(rank.turn);
    add_up_copies();
    std::vector<FirstUpdate> updates;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      updates.push_back(job_.update_in_backward ? add_in_backward(rank)
                        : goes_by_unit(rank)    ? add_by_unit(rank)
                                                : add_at_once(rank));
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      depend(ranks_[rank].last(), updates[rank]);
      for (const OpId op : ranks_[rank].gradients) depend(op, updates[rank]);
      if (job_.barrier && ranks_.size() > 1) add_barrier(rank, updates);
      if (updates[rank].lag == 0) begin_next(rank, updates[rank].end);
    }
  }

 private:
  /// True if gradients come beside the next forward pass.
  [[nodiscard]] bool goes_by_unit(std::size_t rank) const {
    return job_.sharding == Sharding::none && !ranks_[rank].crossings.empty();
  }
  void depend(OpId before, const FirstUpdate& update) { graph_.add_dependency(before, update.op, update.lag); }

  OpId add_message(std::string name, std::size_t from, std::size_t to, Bytes bytes) {
    return job_.joint ? graph_.add_joint_message(std::move(name), ranks_[from].role, ranks_[to].role, bytes)
                      : graph_.add_message(std::move(name), ranks_[from].role, ranks_[to].role, bytes);
  }

  /// Of weights that two pipeline ranks have, each adds the gradients of the other to its own. Where gradients are
  /// gathered later, the ranks have their shares of them then.
  void add_up_copies() {
    std::vector<std::vector<OpId>> copies(ranks_.size());
    for (const auto& [pair, elements] : job_.copies_on_two_ranks()) {
      const auto [one, other] = pair;
      const bool are_shares = goes_by_unit(one) && goes_by_unit(other);
      const Bytes bytes{(are_shares ? share_of(elements, job_.dense_groups()) : elements) * job_.gradient_bytes};
      std::vector<OpId> sent;
      for (const auto& [from, to] : {std::pair{one, other}, std::pair{other, one}}) {
        sent.push_back(add_message(fmt::format("gradients of copies of rank {}", from), from, to, bytes));
        // An all-reduce of the two begins when both have reduced theirs.
        for (const std::size_t rank : {from, to}) {
          graph_.add_dependency(ranks_[rank].last(), sent.back());
          for (const OpId op : ranks_[rank].gradients) graph_.add_dependency(op, sent.back());
        }
      }
      for (const std::size_t rank : {one, other}) copies[rank].insert(copies[rank].end(), sent.begin(), sent.end());
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      std::vector<OpId>& gradients = ranks_[rank].gradients;
      gradients.insert(gradients.end(), copies[rank].begin(), copies[rank].end());
      if (!goes_by_unit(rank)) continue;
      const std::vector<Dependency> crossings = ranks_[rank].crossings;
      for (const OpId op : copies[rank])
        for (const Dependency& each : crossings) ranks_[rank].crossings.push_back({op, each.after, 1});
    }
  }

  FirstUpdate add_at_once(std::size_t rank) {
    const Time takes = job_.update[rank];
    const RoleId role = ranks_[rank].role;
    const OpId update =
        job_.sends_gradients ? graph_.add_timer("update", role, takes) : graph_.add_compute("update", role, takes);
    if (!job_.host_update.empty()) graph_.move_on_host(update, job_.host_update[rank]);
    ranks_[rank].updates.push_back(update);
    const OpId first = add_gathers(rank, update);
    return {first.valid() ? first : update, 0, update};
  }

  /// Adds what a rank gathers before its update, one after another. Returns the first of these, or none.
  OpId add_gathers(std::size_t rank, OpId update) {
    if (job_.update_gathers.empty()) return OpId::none();
    OpId first = OpId::none(), before = OpId::none();
    for (const UpdateGather& each : job_.update_gathers[rank]) {
      const OpId gather = graph_.add_collective("all-gather of matrices", CollectiveKind::all_gather, ranks_[rank].role,
                                                each.bytes, each.groups);
      ranks_[rank].queue(graph_, gather);
      if (before.valid()) graph_.add_dependency(before, gather);
      if (!first.valid()) first = gather;
      before = gather;
    }
    if (before.valid()) graph_.add_dependency(before, update);
    return first;
  }

  /// Adds the update of each part behind the pass that completes its gradients, and behind their sums. The last of them
  /// waits for all gradients.
  FirstUpdate add_in_backward(std::size_t rank) {
    RankProgram& program = ranks_[rank];
    std::vector<const PassPart*> parts;
    double all = 0, until = 0;
    for (const PassPart& part : program.parts) {
      if (part.pass.kind != PassKind::backward && part.pass.kind != PassKind::backward_weight) continue;
      parts.push_back(&part);
      all += weight_of(rank, part);
    }
    Time given;
    OpId last = OpId::none();
    for (const PassPart* const part : parts) {
      until += weight_of(rank, *part);
      const Time end =
          Time::nanoseconds(std::llround(static_cast<double>(job_.update[rank].ns()) * (all > 0 ? until / all : 1)));
      const OpId update = graph_.add_compute("update of " + part->name, program.role, end - given);
      given = end;
      graph_.add_dependency(part->last, update);
      for (const GradientSum& sum : part->sums)
        for (const OpId op : sum.ops) graph_.add_dependency(op, update);
      if (!job_.planned.empty())  // whose messages carry gradients of any part
        for (const OpId op : program.gradients) graph_.add_dependency(op, update);
      if (last.valid()) graph_.add_dependency(last, update);
      last = update;
      program.updates.push_back(update);
    }
    const OpId first = add_gathers(rank, last);
    return {first.valid() ? first : last, 0, last};
  }

  /// Adds the update of each unit before its first forward pass.
  FirstUpdate add_by_unit(std::size_t rank) {
    RankProgram& program = ranks_[rank];
    if (job_.sends_gradients)
      throw InputError{"gradients come while the next forward pass computes, and a host updates all weights at once"};
    for (const Dependency& each : program.crossings) graph_.add_dependency(each.before, each.after, each.lag);
    FirstUpdate first{OpId::none(), 1, OpId::none()};
    double all = 0, until = 0;
    for (const std::size_t i : first_uses(program)) all += weight_of(rank, program.parts[i]);
    Time given;
    for (const std::size_t i : first_uses(program)) {
      const PassPart& part = program.parts[i];
      until += weight_of(rank, part);
      const double share = all > 0 ? until / all : 1;
      const Time end = Time::nanoseconds(std::llround(static_cast<double>(job_.update[rank].ns()) * share));
      const OpId update = graph_.add_compute("update of " + part.name, program.role, end - given);
      given = end;
      program.updates.push_back(update);
      if (!first.op.valid()) first.op = update;
      if (i > 0) graph_.add_dependency(program.parts[i - 1].last, update);
      graph_.add_dependency(update, part.first);
      for (const Arrival& each : program.arrivals)
        if (each.stage == part.stage && part.units.first <= each.unit && each.unit <= part.units.last)
          graph_.add_dependency(each.op, update);
    }
    return first;
  }

  /// The parts of a rank that are the first ones in an iteration to use their weights.
  static std::vector<std::size_t> first_uses(const RankProgram& program) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < program.parts.size(); ++i) {
      const PassPart& part = program.parts[i];
      if (part.pass.kind == PassKind::forward && &program.first_use(part.stage, part.units.first) == &part)
        found.push_back(i);
    }
    return found;
  }

  /// What the time of a part's update goes by.
  [[nodiscard]] double weight_of(std::size_t rank, const PassPart& part) const {
    const bool by_tensor = !job_.update_by_tensor.empty() && job_.update_by_tensor[rank];
    const std::vector<ModelUnit>& units = job_.units[static_cast<std::size_t>(part.stage)];
    std::int64_t sum = 0;
    for (std::size_t u = part.units.first; u <= part.units.last; ++u)
      sum += by_tensor ? units[u].dense_tensors + units[u].expert_tensors
                       : units[u].dense_elements + units[u].expert_elements;
    return static_cast<double>(sum);
  }

  /// The norm of the gradients needs the gradients of all ranks: a message of no bytes to each of them.
  void add_barrier(std::size_t rank, const std::vector<FirstUpdate>& updates) {
    for (std::size_t other = 0; other < ranks_.size(); ++other) {
      if (other == rank) continue;
      for (const OpId op : ranks_[rank].gradients) depend(op, updates[other]);
    }
    if (!ranks_[rank].gradients.empty()) return;
    // Without collectives the end of the last pass counts, which is known on other ranks by a message.
    for (std::size_t other = 0; other < ranks_.size(); ++other) {
      if (other == rank) continue;
      const OpId norm = graph_.add_joint_message("norm of the gradients", ranks_[rank].role, ranks_[other].role, {});
      graph_.add_dependency(ranks_[rank].last(), norm);
      depend(norm, updates[other]);
    }
  }

  /// What of the next iteration waits for an update of all weights.
  void begin_next(std::size_t rank, OpId update) {
    RankProgram& program = ranks_[rank];
    graph_.add_dependency(update, program.first(), 1);
    for (const OpId op : program.starts) graph_.add_dependency(update, op, 1);
    for (const Dependency& each : program.crossings) graph_.add_dependency(update, each.after, 1);
    for (const Arrival& each : program.arrivals)
      graph_.add_dependency(each.op, program.first_use(each.stage, each.unit).first);
    if (!job_.gathers_after_update()) return;
    for (const int stage : job_.plan.stage_of[rank]) {
      for (GradientBucket bucket : gradient_buckets(job_, static_cast<std::size_t>(stage))) {
        if (!program.crossings.empty()) bucket.dense = 0;  // the planned exchange gathers them
        const std::string name = fmt::format("weights of stage {} part {}", stage, bucket.first);
        const BucketExchange gathered = add_exchange(graph_, program, CollectiveKind::all_gather, bucket, name,
                                                     job_.weight_bytes, job_.dense_shards(), job_.expert_shards());
        for (const OpId op : gathered.ops()) {
          graph_.add_dependency(update, op);
          graph_.add_dependency(op, program.first_use(stage, bucket.first).first, 1);
        }
      }
    }
  }

  IterationGraph& graph_;
  std::vector<RankProgram>& ranks_;
  const TrainingIteration& job_;
};

}  // namespace

void add_updates(SpreadIteration& iteration, const TrainingIteration& job) {
  UpdatePass{iteration, job}.add();
}

std::vector<Pass<SpreadIteration>> training_passes(const TrainingIteration& job) {
  std::vector<Pass<SpreadIteration>> passes;
  if (moves_to_hosts(job))
    passes.push_back({"offload", [&job](SpreadIteration& iteration) { add_offload(iteration, job); }});
  passes.push_back({"update", [&job](SpreadIteration& iteration) { add_updates(iteration, job); }});
  return passes;
}

IterationGraph training_graph(const TrainingIteration& job) {
  SpreadIteration iteration = spread_source(job);
  check_subject(iteration);
  std::vector<PassRecord> records;
  apply_passes(iteration, training_passes(job), records);
  return std::move(iteration.graph);
}

}  // namespace contend
