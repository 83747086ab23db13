#include "models/parallel/spread_iteration.hpp"

#include "models/parallel/planned_exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

bool gives_weights(PassKind kind) {
  return kind == PassKind::backward || kind == PassKind::backward_weight;
}
bool gives_inputs(PassKind kind) {
  return kind == PassKind::backward || kind == PassKind::backward_input;
}

class GraphBuilder {
 public:
  explicit GraphBuilder(const TrainingIteration& iteration)
      : job_{iteration}, plan_{iteration.plan}, forward_(passes()), gradient_(passes()) {
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank) {
      RankProgram& program = programs_.emplace_back();
      program.role = graph_.add_role(fmt::format("pipeline rank {}", rank), job_.ranks_of_stage());
      program.turns_per_server = job_.turns_per_server;
    }
    for (std::size_t stage = 0; stage < job_.units.size(); ++stage) {
      buckets_.push_back(gradient_buckets(job_, stage));
      exchanges_.push_back(std::ranges::any_of(buckets_.back(), [&](const GradientBucket& each) {
        const GradientBucket bucket = shards(Sharding::weights) ? each.weights(job_.weight_bytes) : each;
        return job_.reads_weights || job_.sends_gradients || (bucket.dense > 0 && job_.dense_groups().size > 1) ||
               (bucket.expert > 0 && job_.expert_groups().size > 1);
      }));
    }
  }

  SpreadIteration build() {
    if (plan_.left_out > 0) graph_.leave_out({.count = plan_.left_out, .like = plan_.rounds() / 2});
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank) add_rank(rank);
    add_messages();
    return {{std::move(graph_), std::move(sent_)}, std::move(programs_)};
  }

 private:
  /// What is executed on a rank so far, beside its program.
  struct Lane {
    OpId before;              ///< the last operation
    OpId two_before;          ///< and that before it: weights of the next unit are gathered from its end on
    std::vector<OpId> since;  ///< collectives between servers that were added after the last turn
    std::map<int, std::vector<ChannelId>> channels;  ///< by stage: of its planned exchange
    std::vector<bool> is_used;                       ///< by chunk: it had a forward pass
  };
  /// A pass, and what is so about it.
  struct PassHere {
    PipelinePass pass;
    int stage = 0;
    bool is_first = false;  ///< forward pass of its stage
    bool reduces = false;   ///< gives gradients that are exchanged behind it
    bool is_last = false;   ///< the pass with which the gradients of the stage are complete
  };

  [[nodiscard]] std::size_t passes() const {
    return static_cast<std::size_t>(job_.plan.stages) * static_cast<std::size_t>(job_.plan.micro_batches);
  }
  [[nodiscard]] std::size_t at(int stage, int micro_batch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(plan_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
  /// Puts what has been added since the graph had so many operations into the round of a micro-batch.
  void put_into_round(int micro_batch, std::size_t before) {
    if (plan_.left_out > 0) graph_.put_into_round(plan_.round_of(micro_batch), before);
  }
  [[nodiscard]] bool shards(Sharding least) const { return job_.sharding >= least; }

  /// Adds the collectives of a bucket, and lets them take their turn.
  BucketExchange exchange(std::size_t rank, Lane& lane, CollectiveKind kind, const GradientBucket& bucket,
                          const std::string& name, int element_bytes, const RankGroups& dense,
                          const RankGroups& experts) {
    const BucketExchange made =
        add_exchange(graph_, programs_[rank], kind, bucket, name, element_bytes, dense, experts);
    for (const OpId op : made.ops()) {
      if (!takes_turns(graph_.ops()[op.index()].groups)) continue;
      if (const OpId turn = programs_[rank].turn; turn.valid()) graph_.add_dependency(turn, op);
      lane.since.push_back(op);
    }
    return made;
  }

  [[nodiscard]] bool takes_turns(const RankGroups& groups) const {
    return job_.turns_per_server > 0 && leaves_servers(groups, job_.turns_per_server);
  }

  /// Adds the timer of what a pass, which follows `before`, sends between servers: collectives that can begin later
  /// than the pass wait for it. None if there are none so far and this pass gives none.
  OpId take_turn(std::size_t rank, Lane& lane, const std::string& pass, Time sends, OpId before, bool gives) {
    RankProgram& program = programs_[rank];
    if (sends == Time{} || job_.turns_per_server == 0 || (program.collectives == 0 && !gives)) return {};
    const OpId turn = graph_.add_timer("sending between servers of " + pass, program.role, sends);
    if (before.valid()) graph_.add_dependency(before, turn);
    if (program.turn.valid()) graph_.add_dependency(program.turn, turn);
    for (const OpId op : std::exchange(lane.since, {})) graph_.add_dependency(op, turn);
    return program.turn = turn;
  }

  /// How long a pass's results are sent between servers to the rank of the next stage, or of the one before.
  [[nodiscard]] Time passes_on(int stage, PassKind kind) const {
    if (job_.message_between_servers.empty() || kind == PassKind::backward_weight) return {};
    const int below = kind == PassKind::forward ? stage : stage - 1;  // the message goes between it and the next stage
    const bool is_end = below < 0 || below + 1 >= plan_.stages;
    return is_end ? Time{} : job_.message_between_servers[static_cast<std::size_t>(below)];
  }

  void add_rank(std::size_t rank) {
    Lane lane;
    lane.is_used.assign(plan_.stage_of[rank].size(), false);
    // A chunk's gradients are complete in its last backward pass.
    std::vector<std::size_t> last(plan_.stage_of[rank].size(), 0);
    const std::vector<PipelineStep>& steps = plan_.order[rank];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const PipelinePass& pass : steps[i].passes()) {
        if (gives_weights(pass.kind)) last[static_cast<std::size_t>(pass.chunk)] = i;
      }
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      std::vector<PassHere> here;
      for (const PipelinePass& pass : steps[i].passes()) {
        const auto chunk = static_cast<std::size_t>(pass.chunk);
        PassHere& each = here.emplace_back(PassHere{.pass = pass, .stage = plan_.stage(rank, pass)});
        each.is_first = pass.kind == PassKind::forward && !lane.is_used[chunk];
        each.is_last = last[chunk] == i;
        each.reduces = gives_weights(pass.kind) && (each.is_last || shards(Sharding::gradients));
        if (each.is_first) lane.is_used[chunk] = true;
      }
      const std::size_t before = graph_.ops().size();
      if (steps[i].is_merged)
        add_merged(rank, steps[i], here, lane);
      else
        add_pass(rank, here.front(), lane);
      put_into_round(steps[i].pass[0].micro_batch, before);
    }
  }

  /// Adds computing of so long, with collectives in the middle. Collectives of pieces of experts that are on their way
  /// while others compute go on at once, between servers and inside them, unless they belong to merged passes.
  PassOps add_part(std::size_t rank, std::string name, Time duration, const std::vector<PassCollective>& sends,
                   Lane& lane, bool is_merged = false) {
    const auto is_piece = [&](const PassCollective& send) {
      return !is_merged && send.of == PassGroup::expert && send.beside > Time{};
    };
    std::vector<OpId> before;  // what the next operation waits for
    if (lane.before.valid()) before.push_back(lane.before);
    const auto follow = [&](OpId op) {
      for (const OpId each : before) graph_.add_dependency(each, op);
      return op;
    };
    const auto compute = [&](Time time) { return graph_.add_compute(name, programs_[rank].role, time); };
    PassOps ops;
    if (sends.empty()) {
      ops.first = ops.last = follow(compute(duration));
    } else {
      Time alone = duration;  // computing beside no collective
      std::vector<Time> beside;
      for (const PassCollective& send : sends) {
        beside.push_back(std::min(send.beside, alone));
        alone -= beside.back();
      }
      const Time head = Time::nanoseconds(alone.ns() / 2);
      ops.first = follow(compute(head));
      before = {ops.first};
      for (std::size_t i = 0; i < sends.size();) {
        std::vector<OpId> now;
        Time hidden;
        do {
          const PassCollective& send = sends[i];
          now.push_back(follow(graph_.add_collective(fmt::format("{} of {}", name_of(send.kind), name), send.kind,
                                                     programs_[rank].role, send.bytes, send.groups)));
          graph_.repeat(now.back(), send.times);
          hidden += beside[i++];
        } while (i < sends.size() && is_piece(sends[i - 1]) && is_piece(sends[i]));
        if (hidden > Time{}) now.push_back(follow(compute(hidden)));
        before = std::move(now);
      }
      ops.last = follow(compute(alone - head));
    }
    lane.two_before = lane.before;
    lane.before = ops.last;
    return ops;
  }

  /// Notes the operations of a pass, which other passes wait for.
  void note(const PassHere& here, const PassOps& ops) {
    const std::size_t index = at(here.stage, here.pass.micro_batch);
    if (here.pass.kind == PassKind::forward) forward_[index] = ops;
    if (gives_inputs(here.pass.kind)) gradient_[index] = ops;
  }

  /// True if the pass is cut at its units, because some of them wait for weights or give gradients.
  [[nodiscard]] bool is_cut(const PassHere& here) const {
    const auto stage = static_cast<std::size_t>(here.stage);
    if (moves_activations(job_, stage) && here.pass.kind != PassKind::backward_weight) return true;
    if (!exchanges_[stage]) return false;
    if (shards(Sharding::weights)) return gathers_for(here.pass.kind) || gives_weights(here.pass.kind);
    return (here.is_first && (job_.gathers_after_update() || goes_on(here.stage))) || here.reduces;
  }
  /// True if the planned exchange of a stage goes on beside the forward pass of the next iteration.
  [[nodiscard]] bool goes_on(int stage) const {
    return !job_.planned.empty() &&
           goes_on_in_forward(plan_of(stage), job_.units[static_cast<std::size_t>(stage)].size());
  }
  [[nodiscard]] const IterationGraph& plan_of(int stage) const {
    return job_.planned[static_cast<std::size_t>(stage)].graph;
  }
  /// True if the weights of units are gathered before they compute a pass of the kind.
  [[nodiscard]] bool gathers_for(PassKind kind) const {
    return shards(Sharding::weights) && (kind == PassKind::forward || job_.reshard);
  }

  void add_pass(std::size_t rank, const PassHere& here, Lane& lane) {
    const std::string name = fmt::format("{} stage {}", pass_name(here.pass), here.stage);
    const std::vector<GradientBucket>& buckets = buckets_[static_cast<std::size_t>(here.stage)];
    if (!is_cut(here)) {
      GradientBucket all;
      all.last = buckets.back().last;
      return note(here, add_units(rank, here, all, name, true, lane));
    }
    const bool is_planned = !job_.planned.empty() && here.reduces;
    PassOps begin;
    if (is_planned && waits_for_begin(plan_of(here.stage), buckets.size()))
      begin = add_part(rank, name + " begins", {}, {}, lane);
    std::vector<PassOps> parts(buckets.size());
    std::vector<std::vector<OpId>> experts(buckets.size());  // of a planned exchange: collectives of their gradients
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const std::size_t b = here.pass.kind == PassKind::forward ? i : buckets.size() - 1 - i;
      const std::string part = fmt::format("{} part {}", name, b);
      std::vector<OpId> gathered;
      if (gathers_for(here.pass.kind)) gathered = gather_for_use(rank, lane, buckets[b], part);
      parts[b] = add_units(rank, here, buckets[b], part, i + 1 == buckets.size(), lane);
      for (const OpId op : gathered) graph_.add_dependency(op, parts[b].first);
      programs_[rank].parts.back().gathers = std::move(gathered);
      if (!here.reduces) continue;
      GradientBucket sent = buckets[b];
      if (!job_.planned.empty()) sent.dense = 0;
      experts[b] = reduce(rank, lane, sent, part, here.is_last);
    }
    if (is_planned) add_plan(rank, lane, here, begin.first, parts, experts);
    const std::size_t first = here.pass.kind == PassKind::forward ? 0 : buckets.size() - 1;
    if (!begin.first.valid()) begin.first = parts[first].first;
    note(here, {begin.first, parts[buckets.size() - 1 - first].last, parts[first].turn});
  }

  /// Adds the pass of some units, and notes it in the program of the rank.
  PassOps add_units(std::size_t rank, const PassHere& here, const GradientBucket& which, const std::string& name,
                    bool is_end, Lane& lane) {
    const PassKind kind = here.pass.kind;
    const std::vector<ModelUnit>& units = job_.units[static_cast<std::size_t>(here.stage)];
    Time duration, sends = is_end ? passes_on(here.stage, kind) : Time{};
    std::vector<const PassTraffic*> traffic;
    for (std::size_t u = which.first; u <= which.last; ++u) {
      duration += units[u].of(kind);
      sends += units[u].between_servers(kind);
      if (!sends_ || units[u].traffic(kind) == nullptr) continue;
      traffic.push_back(units[u].traffic(kind));
      duration -= traffic.back()->added_by(job_.in_network);
    }
    const OpId before = lane.before;
    PassOps made = add_part(rank, name, duration, sum_of(traffic, job_.in_network), lane);
    const bool gives = here.reduces && exchanges_[static_cast<std::size_t>(here.stage)];
    made.turn = take_turn(rank, lane, name, sends, before, gives);
    programs_[rank].parts.push_back({here.pass, here.stage, which, name, made.first, made.last});
    return made;
  }

  /// Weights of a unit are gathered while the unit before it computes, so from the end of that before on.
  std::vector<OpId> gather_for_use(std::size_t rank, Lane& lane, const GradientBucket& bucket,
                                   const std::string& name) {
    const OpId from = lane.two_before;
    std::vector<OpId> ops = exchange(rank, lane, CollectiveKind::all_gather, bucket.weights(job_.weight_bytes), name,
                                     job_.weight_bytes, job_.dense_shards(), job_.expert_shards())
                                .ops();
    for (const OpId op : ops) {
      if (from.valid()) graph_.add_dependency(from, op);
      if (!from.valid()) programs_[rank].starts.push_back(op);
    }
    return ops;
  }

  /// Adds the planned exchange of the gradients of a stage, whose backward pass begins with this operation and has
  /// these parts, a unit each, and these collectives of the gradients of experts.
  void add_plan(std::size_t rank, Lane& lane, const PassHere& here, OpId begin, const std::vector<PassOps>& parts,
                const std::vector<std::vector<OpId>>& experts) {
    RankProgram& program = programs_[rank];
    std::string name = fmt::format("stage {}", here.stage);
    if (shards(Sharding::gradients)) name = fmt::format("{} {}", pass_name(here.pass), name);
    PlannedStage where{program.role,
                       name,
                       fmt::format("pipeline rank {}", rank),
                       job_.planned_groups(),
                       job_.planned_per_server,
                       &lane.channels[here.stage]};
    where.is_last = here.is_last;
    where.begin = begin;
    if (goes_on(here.stage)) {
      for (std::size_t unit = 0; unit < parts.size(); ++unit) {
        const PassPart& use = program.first_use(here.stage, unit);
        where.forward.push_back({use.first, use.last});
      }
    }
    const PlannedExchange planned =
        add_planned(graph_, job_.planned[static_cast<std::size_t>(here.stage)], where, parts);
    program.gradients.insert(program.gradients.end(), planned.ends.begin(), planned.ends.end());
    program.crossings.insert(program.crossings.end(), planned.crossings.begin(), planned.crossings.end());
    for (const auto& [op, unit] : planned.arrivals) program.arrivals.push_back({op, here.stage, unit});
    for (const PlannedExchange::Message& message : planned.messages) {
      sum_copies(program, message, here.is_last);
      sent_.push_back(message.sent);
    }
    if (job_.turns_per_server == 0) return;
    const bool leaves = takes_turns(where.groups);
    const std::vector<OpId> since = put_in_turn(graph_, planned, parts, leaves, experts);
    if (leaves) lane.since.insert(lane.since.end(), since.begin(), since.end());
  }

  /// What follows the sum of a planned message: the sum of the shares of all copies.
  void sum_copies(RankProgram& program, const PlannedExchange::Message& message, bool is_last) {
    const std::int64_t elements = message.sent.dense.count() / job_.gradient_bytes;
    const Bytes kept{job_.kept_of(elements, job_.dense_shards()) * job_.gradient_bytes};
    OpId sum = message.sum;
    if (shards(Sharding::optimizer) && !job_.plans_all_sums && is_last && job_.copies().size > 1) {
      const OpId copies = graph_.add_collective("all-reduce of copies of " + message.sent.name,
                                                CollectiveKind::all_reduce, program.role, kept, job_.copies());
      program.queue(graph_, copies);
      graph_.add_dependency(sum, copies);
      program.gradients.push_back(sum = copies);
    }
    program.parts.back().sums.push_back({message.sent.name, kept, {sum}});
  }

  /// Adds the collectives of the gradients of a bucket behind the last part of the rank, and notes the sums. Returns
  /// all of them.
  std::vector<OpId> reduce(std::size_t rank, Lane& lane, const GradientBucket& bucket, const std::string& name,
                           bool is_last) {
    RankProgram& program = programs_[rank];
    const bool scatters = shards(Sharding::optimizer);
    const BucketExchange made = scatters ? exchange(rank, lane, CollectiveKind::reduce_scatter, bucket, name,
                                                    job_.gradient_bytes, job_.dense_shards(), job_.expert_shards())
                                         : exchange(rank, lane, CollectiveKind::all_reduce, bucket, name,
                                                    job_.gradient_bytes, job_.dense_groups(), job_.expert_groups());
    record(made.dense, name, bucket.dense_tensors);
    record(made.experts, kOfExperts + name, bucket.expert_tensors);
    std::vector<OpId> sums = made.ops(), all = sums;
    for (const OpId op : sums) graph_.add_dependency(lane.before, op);
    if (scatters && is_last && job_.copies().size > 1) {
      GradientBucket shares = bucket;
      shares.dense = share_of(bucket.dense, job_.dense_shards());
      shares.expert = share_of(bucket.expert, job_.expert_shards());
      const std::vector<OpId> copies = exchange(rank, lane, CollectiveKind::all_reduce, shares, "copies of " + name,
                                                job_.gradient_bytes, job_.copies(), job_.copies())
                                           .ops();
      for (const OpId op : copies) {
        graph_.add_dependency(lane.before, op);
        for (const OpId before : sums) graph_.add_dependency(before, op);
        all.push_back(op);
      }
      sums = copies;
    }
    program.gradients.insert(program.gradients.end(), all.begin(), all.end());
    const std::int64_t kept =
        job_.kept_of(bucket.dense, job_.dense_shards()) + job_.kept_of(bucket.expert, job_.expert_shards());
    if (kept > 0) program.parts.back().sums.push_back({name, Bytes{kept * job_.gradient_bytes}, std::move(sums)});
    return all;
  }

  /// Records an exchange of gradients, if there is one.
  void record(OpId op, std::string name, std::int64_t tensors) {
    if (op.valid())
      sent_.push_back({std::move(name), static_cast<std::size_t>(tensors), graph_.ops()[op.index()].bytes, {op}});
  }

  void add_merged(std::size_t rank, const PipelineStep& step, const std::vector<PassHere>& here, Lane& lane) {
    const OpId before = lane.before;
    const std::string name = step_name(plan_, rank, step);
    PassOps ops = add_merged_part(rank, step, lane);
    Time sends;
    bool gives = false;
    for (const PassHere& each : here) {
      const auto stage = static_cast<std::size_t>(each.stage);
      for (const ModelUnit& unit : job_.units[stage]) sends += unit.between_servers(each.pass.kind);
      sends += passes_on(each.stage, each.pass.kind);
      gives = gives || (exchanges_[stage] && each.reduces);
    }
    ops.turn = take_turn(rank, lane, name, sends, before, gives);
    for (const PassHere& each : here) {
      note(each, ops);
      const std::vector<GradientBucket>& buckets = buckets_[static_cast<std::size_t>(each.stage)];
      GradientBucket all;
      all.last = buckets.back().last;
      programs_[rank].parts.push_back({each.pass, each.stage, all, name, ops.first, ops.last});
      if (!each.reduces) continue;
      for (const GradientBucket& bucket : buckets) reduce(rank, lane, bucket, pass_name(each.pass), each.is_last);
    }
  }

  /// Two passes together. What goes through the network of the exchange with experts, the computing of both hides.
  PassOps add_merged_part(std::size_t rank, const PipelineStep& step, Lane& lane) {
    const std::string name = step_name(plan_, rank, step);
    Time duration = step_duration(plan_, costs_, rank, step);
    if (!sends_) return add_part(rank, name, duration, {}, lane);
    std::vector<const PassTraffic*> traffic;
    Time apart, added;
    for (const PipelinePass& pass : step.passes()) {
      for (const ModelUnit& unit : job_.units[static_cast<std::size_t>(plan_.stage(rank, pass))]) {
        apart += unit.of(pass.kind);
        if (unit.traffic(pass.kind) == nullptr) continue;
        traffic.push_back(unit.traffic(pass.kind));
        added += traffic.back()->added_by(job_.in_network);
      }
    }
    const bool sends_tokens = job_.in_network[static_cast<std::size_t>(PassGroup::expert)];
    if (sends_tokens) duration = apart;
    duration = duration > added ? duration - added : Time{};
    std::vector<PassCollective> sends = sum_of(traffic, job_.in_network);
    const auto hidden = std::ranges::count(sends, PassGroup::expert, &PassCollective::of);
    for (PassCollective& send : sends)
      if (send.of == PassGroup::expert) send.beside = Time::nanoseconds(duration.ns() / hidden);
    return add_part(rank, name, duration, sends, lane, true);
  }

  /// Connects the passes of two stages; returns the message, if there is one.
  OpId connect(const PassOps& from, const PassOps& to, std::size_t sender, std::size_t receiver, Bytes bytes,
               std::string name) {
    const auto wait = [&](OpId before) {
      graph_.add_dependency(before, to.first);
      if (to.turn.valid()) graph_.add_dependency(before, to.turn);
    };
    if (sender == receiver) {
      wait(from.last);
      return {};
    }
    const OpId message = add_message(std::move(name), sender, receiver, bytes);
    graph_.add_dependency(from.last, message);
    wait(message);
    return message;
  }

  OpId add_message(std::string name, std::size_t from, std::size_t to, Bytes bytes) {
    return job_.joint ? graph_.add_joint_message(std::move(name), programs_[from].role, programs_[to].role, bytes)
                      : graph_.add_message(std::move(name), programs_[from].role, programs_[to].role, bytes);
  }

  /// True if something up to this stage computes gradients, so that the stage needs the gradients of its outputs.
  [[nodiscard]] bool goes_back(int stage) const {
    const auto end = job_.units.begin() + stage + 1;
    return std::any_of(job_.units.begin(), end, [](const std::vector<ModelUnit>& units) {
      return std::ranges::any_of(units, [](const ModelUnit& unit) { return unit.of(PassKind::backward) > Time{}; });
    });
  }

  void add_messages() {
    // What each rank sends between servers, after which operation, in the order of its passes.
    std::vector<std::map<OpId, OpId>> sent(plan_.ranks());
    for (int batch = 0; batch < plan_.micro_batches; ++batch) {
      const std::size_t before = graph_.ops().size();
      for (int stage = 0; stage + 1 < plan_.stages; ++stage) {
        const auto lower = static_cast<std::size_t>(plan_.place(batch, stage).rank);
        const auto upper = static_cast<std::size_t>(plan_.place(batch, stage + 1).rank);
        const Bytes bytes = job_.messages[static_cast<std::size_t>(stage)];
        const PassOps &forward = forward_[at(stage, batch)], &gradient = gradient_[at(stage + 1, batch)];
        const OpId there = connect(forward, forward_[at(stage + 1, batch)], lower, upper, bytes,
                                   fmt::format("activations {} stage {}", batch, stage));
        OpId back = OpId::none();
        if (goes_back(stage))
          back = connect(gradient, gradient_[at(stage, batch)], upper, lower, bytes,
                         fmt::format("gradients {} stage {}", batch, stage + 1));
        if (passes_on(stage, PassKind::forward) == Time{} || lower == upper) continue;
        sent[lower].emplace(forward.last, there);
        if (back.valid()) sent[upper].emplace(gradient.last, back);
      }
      put_into_round(batch, before);
    }
    for (const std::map<OpId, OpId>& messages : sent) {
      OpId before;
      for (const auto& [after, message] : messages) {
        if (before.valid()) graph_.add_dependency(before, message);
        before = message;
      }
    }
  }

  const TrainingIteration& job_;
  const PipelinePlan& plan_;
  const PipelineCosts costs_ = job_.costs();
  const bool sends_ = std::ranges::find(job_.in_network, true) != job_.in_network.end();  // inside passes
  IterationGraph graph_;
  std::vector<SentMessage> sent_;                     // exchanges of gradients
  std::vector<RankProgram> programs_;                 // by rank
  std::vector<std::vector<GradientBucket>> buckets_;  // by stage
  std::vector<bool> exchanges_;                       // by stage: gradients or weights go to other ranks
  std::vector<PassOps> forward_, gradient_;           // by stage and micro-batch
};

}  // namespace

SpreadIteration spread_source(const TrainingIteration& iteration) {
  return GraphBuilder{iteration}.build();
}

}  // namespace contend
