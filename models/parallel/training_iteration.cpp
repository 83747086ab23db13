#include "models/parallel/training_iteration.hpp"

#include "models/parallel/gradient_buckets.hpp"
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
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank)
      roles_.push_back(graph_.add_role(fmt::format("pipeline rank {}", rank), job_.ranks_of_stage()));
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank)
      streams_.push_back(graph_.add_channel(fmt::format("exchange of pipeline rank {}", rank), 1, Bytes{1}));
    for (std::size_t stage = 0; stage < job_.units.size(); ++stage) {
      buckets_.push_back(gradient_buckets(job_, stage));
      exchanges_.push_back(std::ranges::any_of(buckets_.back(), [&](const GradientBucket& bucket) {
        return job_.reads_weights || job_.sends_gradients || (bucket.dense > 0 && job_.dense_groups().size > 1) ||
               (bucket.expert > 0 && job_.expert_groups().size > 1);
      }));
    }
  }

  FusedIteration build() {
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank) add_rank(rank);
    add_messages();
    add_updates();
    graph_.validate();
    return {std::move(graph_), std::move(sent_)};
  }

 private:
  /// What is executed on a rank so far.
  struct Lane {
    OpId before;                  ///< the last operation
    OpId two_before;              ///< and that before it: weights of the next unit are gathered from its end on
    OpId three_before;            ///< and that before it: they are read from then on, if they aren't on the GPU
    CopyQueue in;                 ///< from the host: weights and activations
    CopyQueue out;                ///< to it: activations and gradients
    OpId left, left_before;       ///< the activations that left last, and those before them
    std::int32_t exchanges = 0;   ///< of the rank, in the order in which they are needed
    std::vector<OpId> gradients;  ///< collectives of gradients
    std::vector<OpId> copies;     ///< messages with those of copies of the rank's weights
    OpId turn;                    ///< the last timer of what a pass sends between servers
    std::vector<OpId> since;      ///< collectives between servers that were added after it
    OpId first;                   ///< the first operation
    std::vector<std::vector<OpId>> first_use;        ///< [chunk][unit]: the operation of its first forward pass
    std::map<int, std::vector<ChannelId>> channels;  ///< by stage: of its planned exchange
  };

  [[nodiscard]] std::size_t passes() const {
    return static_cast<std::size_t>(job_.plan.stages) * static_cast<std::size_t>(job_.plan.micro_batches);
  }
  [[nodiscard]] std::size_t at(int stage, int micro_batch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(plan_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
  [[nodiscard]] bool shards(Sharding least) const { return job_.sharding >= least; }
  [[nodiscard]] bool gathers_after_update() const {
    return job_.sharding == Sharding::optimizer || job_.sharding == Sharding::gradients;
  }

  /// Adds the collectives of a bucket, among dense ranks and among those with the same experts: all-reduces among all
  /// that have them, others among those that share out a copy. Those of gradients are recorded.
  std::vector<OpId> exchange(std::size_t rank, Lane& lane, CollectiveKind kind, const GradientBucket& bucket,
                             const std::string& name, int element_bytes) {
    const bool all = kind == CollectiveKind::all_reduce;
    return exchange(rank, lane, kind, bucket, name, element_bytes, all ? job_.dense_groups() : job_.dense_shards(),
                    all ? job_.expert_groups() : job_.expert_shards(), kind != CollectiveKind::all_gather);
  }
  std::vector<OpId> exchange(std::size_t rank, Lane& lane, CollectiveKind kind, const GradientBucket& bucket,
                             const std::string& name, int element_bytes, const RankGroups& dense,
                             const RankGroups& experts, bool is_recorded) {
    std::vector<OpId> ops;
    const auto add = [&](std::int64_t elements, std::int64_t tensors, const RankGroups& groups, const char* which) {
      if (elements == 0 || groups.size < 2) return;
      const Bytes bytes{elements * element_bytes};
      ops.push_back(graph_.add_collective(fmt::format("{} of {}{}", name_of(kind), which, name), kind, roles_[rank],
                                          bytes, groups));
      graph_.put_into(streams_[rank], ops.back(), lane.exchanges++);
      if (is_recorded) sent_.push_back({which + name, static_cast<std::size_t>(tensors), bytes, {ops.back()}});
      if (!takes_turns(groups)) return;
      if (lane.turn.valid()) graph_.add_dependency(lane.turn, ops.back());
      lane.since.push_back(ops.back());
    };
    add(bucket.dense, bucket.dense_tensors, dense, "");
    add(bucket.expert, bucket.expert_tensors, experts, "experts of ");
    return ops;
  }

  [[nodiscard]] bool takes_turns(const RankGroups& groups) const {
    return job_.turns_per_server > 0 && leaves_servers(groups, job_.turns_per_server);
  }

  /// Adds the timer of what a pass, which follows `before`, sends between servers: collectives that can begin later
  /// than the pass wait for it. None if there are none so far and this pass gives none.
  OpId take_turn(std::size_t rank, Lane& lane, const std::string& pass, Time sends, OpId before, bool gives) {
    if (sends == Time{} || job_.turns_per_server == 0 || (lane.exchanges == 0 && !gives)) return {};
    const OpId turn = graph_.add_timer("sending between servers of " + pass, roles_[rank], sends);
    if (before.valid()) graph_.add_dependency(before, turn);
    if (lane.turn.valid()) graph_.add_dependency(lane.turn, turn);
    for (const OpId op : std::exchange(lane.since, {})) graph_.add_dependency(op, turn);
    return lane.turn = turn;
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
    lane.first_use.resize(plan_.stage_of[rank].size());
    // A chunk's gradients are complete in its last backward pass.
    std::vector<std::size_t> last(plan_.stage_of[rank].size(), 0);
    const std::vector<PipelineStep>& steps = plan_.order[rank];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const PipelinePass& pass : steps[i].passes()) {
        if (gives_weights(pass.kind)) last[static_cast<std::size_t>(pass.chunk)] = i;
      }
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto is_last = [&](const PipelinePass& pass) { return last[static_cast<std::size_t>(pass.chunk)] == i; };
      if (steps[i].is_merged)
        add_merged(rank, steps[i], lane, is_last);
      else
        add_pass(rank, steps[i].passes().front(), lane, is_last(steps[i].passes().front()));
    }
    lanes_.push_back(std::move(lane));
  }

  OpId add_compute(std::size_t rank, std::string name, Time duration, Lane& lane) {
    return add_part(rank, std::move(name), duration, {}, lane).first;
  }

  /// Adds computing of so long, with collectives in the middle. Those of pieces of experts that are on their way while
  /// others compute go on at once, between servers and inside them, unless they are those of merged passes.
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
    const auto compute = [&](Time time) { return graph_.add_compute(name, roles_[rank], time); };
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
                                                     roles_[rank], send.bytes, send.groups)));
          graph_.repeat(now.back(), send.times);
          hidden += beside[i++];
        } while (i < sends.size() && is_piece(sends[i - 1]) && is_piece(sends[i]));
        if (hidden > Time{}) now.push_back(follow(compute(hidden)));
        before = std::move(now);
      }
      ops.last = follow(compute(alone - head));
    }
    if (!lane.first.valid()) lane.first = ops.first;
    lane.three_before = lane.two_before;
    lane.two_before = lane.before;
    lane.before = ops.last;
    return ops;
  }

  /// Notes the operations of a pass, which other passes wait for.
  void note(std::size_t rank, const PipelinePass& pass, const PassOps& ops) {
    const std::size_t index = at(plan_.stage(rank, pass), pass.micro_batch);
    if (pass.kind == PassKind::forward) forward_[index] = ops;
    if (gives_inputs(pass.kind)) gradient_[index] = ops;
  }

  [[nodiscard]] bool reduces(PassKind kind, bool is_last) const {
    return gives_weights(kind) && (is_last || shards(Sharding::gradients));
  }
  /// True if the pass is cut at its units, because some of them wait for weights or give gradients.
  [[nodiscard]] bool is_cut(const PipelinePass& pass, int stage, const Lane& lane, bool is_last) const {
    if (moves_activations(job_, static_cast<std::size_t>(stage)) && pass.kind != PassKind::backward_weight) return true;
    if (!exchanges_[static_cast<std::size_t>(stage)]) return false;
    if (shards(Sharding::weights)) return pass.kind == PassKind::forward || job_.reshard || gives_weights(pass.kind);
    const bool is_first =
        pass.kind == PassKind::forward && lane.first_use[static_cast<std::size_t>(pass.chunk)].empty();
    return (is_first && gathers_after_update()) || reduces(pass.kind, is_last);
  }

  void add_pass(std::size_t rank, const PipelinePass& pass, Lane& lane, bool is_last) {
    const int stage = plan_.stage(rank, pass);
    const auto& units = job_.units[static_cast<std::size_t>(stage)];
    const std::string name = fmt::format("{} stage {}", pass_name(pass), stage);
    std::vector<OpId>& first_use = lane.first_use[static_cast<std::size_t>(pass.chunk)];
    const bool is_first = pass.kind == PassKind::forward && first_use.empty();
    const bool cut = is_cut(pass, stage, lane, is_last);
    const std::vector<GradientBucket>& buckets = buckets_[static_cast<std::size_t>(stage)];
    PassOps ops;
    std::vector<OpId> use(units.size());
    std::vector<PassOps> parts(buckets.size());
    std::vector<std::vector<OpId>> experts(buckets.size());  // of a planned exchange: collectives of their gradients
    const auto add = [&](std::size_t first, std::size_t last, const std::string& part, bool is_end) {
      Time duration, sends = is_end ? passes_on(stage, pass.kind) : Time{};
      std::vector<const PassTraffic*> traffic;
      for (std::size_t u = first; u <= last; ++u) {
        duration += units[u].of(pass.kind);
        sends += units[u].between_servers(pass.kind);
        if (!sends_ || units[u].traffic(pass.kind) == nullptr) continue;
        traffic.push_back(units[u].traffic(pass.kind));
        duration -= traffic.back()->added_by(job_.in_network);
      }
      const OpId before = lane.before;
      PassOps made = add_part(rank, part, duration, sum_of(traffic, job_.in_network), lane);
      made.turn = take_turn(rank, lane, part, sends, before, cut && reduces(pass.kind, is_last));
      if (!ops.first.valid()) ops = made;
      ops.last = made.last;
      for (std::size_t u = first; u <= last; ++u) use[u] = made.first;
      return made;
    };
    if (!cut) {
      add(0, units.size() - 1, name, true);
    } else {
      for (std::size_t i = 0; i < buckets.size(); ++i) {
        const std::size_t b = pass.kind == PassKind::forward ? i : buckets.size() - 1 - i;
        const std::string part = fmt::format("{} part {}", name, b);
        std::vector<OpId> gathered;
        if (shards(Sharding::weights) && (pass.kind == PassKind::forward || job_.reshard))
          gathered = gather_for_use(rank, lane, buckets[b], part);
        const Bytes moved = units[buckets[b].first].offloaded;  // a bucket is a unit if there is something
        const std::size_t place = at(stage, pass.micro_batch);
        if (moved > Bytes{} && gives_inputs(pass.kind))
          gathered.push_back(bring_activations(rank, lane, moved, left_[{place, b}], part));
        if (moved > Bytes{} && pass.kind == PassKind::forward && lane.left_before.valid())
          gathered.push_back(lane.left_before);
        parts[b] = add(buckets[b].first, buckets[b].last, part, i + 1 == buckets.size());
        if (moved > Bytes{} && pass.kind == PassKind::forward) {
          lane.left_before = lane.left;
          lane.left = left_[{place, b}] = send_to_host(rank, lane, moved, {lane.before}, "activations of " + part);
        }
        for (const OpId op : gathered) graph_.add_dependency(op, parts[b].first);
        if (!reduces(pass.kind, is_last)) continue;
        GradientBucket sent = buckets[b];
        if (!job_.planned.empty()) sent.dense = 0;
        const auto had = static_cast<std::ptrdiff_t>(lane.gradients.size());
        reduce(rank, lane, sent, part, is_last);
        experts[b].assign(lane.gradients.begin() + had, lane.gradients.end());
      }
      if (!job_.planned.empty() && reduces(pass.kind, is_last)) add_plan(rank, lane, pass, parts, experts, is_last);
    }
    if (is_first) first_use = use;
    note(rank, pass, ops);
  }

  /// Weights of a unit are gathered while the unit before it computes, so from the end of that before on.
  std::vector<OpId> gather_for_use(std::size_t rank, Lane& lane, const GradientBucket& bucket,
                                   const std::string& name) {
    const OpId from = lane.two_before;
    std::vector<OpId> ops = exchange(rank, lane, CollectiveKind::all_gather, bucket, name, job_.weight_bytes);
    for (const OpId op : ops) {
      if (from.valid()) graph_.add_dependency(from, op);
      if (!from.valid()) after_update_[rank].push_back(op);
    }
    if (!job_.reads_weights) return ops;
    const OpId read = read_weights(rank, lane, bucket, name);
    for (const OpId op : ops) graph_.add_dependency(read, op);
    return ops.empty() ? std::vector{read} : ops;
  }

  /// A rank reads its share of a unit's weights from outside of its GPU, one unit after the other.
  OpId read_weights(std::size_t rank, Lane& lane, const GradientBucket& bucket, const std::string& name) {
    const std::int64_t elements =
        share_of(bucket.dense, job_.dense_shards()) + share_of(bucket.expert, job_.expert_shards());
    std::vector<OpId> after;
    if (lane.three_before.valid()) after.push_back(lane.three_before);
    const OpId read = lane.in.add(graph_,
                                  {fmt::format("read of weights of {}", name), roles_[rank],
                                   Bytes{elements * job_.weight_bytes}, *job_.reads_weights, job_.weights_from},
                                  after);
    if (after.empty()) after_update_[rank].push_back(read);
    return read;
  }

  OpId send_to_host(std::size_t rank, Lane& lane, Bytes bytes, const std::vector<OpId>& after,
                    const std::string& what) {
    return lane.out.add(graph_, {what + " to the host", roles_[rank], bytes, *job_.link, CopyWay::to_host}, after);
  }

  /// Activations come back while the unit before computes, so from the end of that before on.
  OpId bring_activations(std::size_t rank, Lane& lane, Bytes bytes, OpId left, const std::string& name) {
    std::vector<OpId> after{left};
    if (lane.two_before.valid()) after.push_back(lane.two_before);
    return lane.in.add(
        graph_,
        {fmt::format("activations of {} from the host", name), roles_[rank], bytes, *job_.link, CopyWay::from_host},
        after);
  }

  /// Reduced gradients go to the host, which waits for them with the update.
  void send_gradients(std::size_t rank, Lane& lane, const GradientBucket& bucket, const std::string& name,
                      std::vector<OpId> reduced) {
    const std::int64_t elements =
        job_.kept_of(bucket.dense, job_.dense_shards()) + job_.kept_of(bucket.expert, job_.expert_shards());
    if (!job_.sends_gradients || elements == 0) return;
    if (reduced.empty()) reduced.push_back(lane.before);
    lane.gradients.push_back(
        send_to_host(rank, lane, Bytes{elements * job_.gradient_bytes}, reduced, "gradients of " + name));
  }

  /// Adds the planned exchange of the gradients of a stage, whose backward pass has these parts, a unit each, and these
  /// collectives of the gradients of experts.
  void add_plan(std::size_t rank, Lane& lane, const PipelinePass& pass, const std::vector<PassOps>& parts,
                const std::vector<std::vector<OpId>>& experts, bool is_last) {
    const int stage = plan_.stage(rank, pass);
    std::string name = fmt::format("stage {}", stage);
    if (shards(Sharding::gradients)) name = fmt::format("{} {}", pass_name(pass), name);
    const RankGroups groups = shards(Sharding::optimizer) ? job_.dense_shards() : job_.dense_groups();
    const PlannedStage where{
        roles_[rank],         name, fmt::format("pipeline rank {}", rank), groups, job_.planned_per_server,
        &lane.channels[stage]};
    const PlannedExchange planned = add_planned(graph_, job_.planned[static_cast<std::size_t>(stage)], where, parts);
    lane.gradients.insert(lane.gradients.end(), planned.ends.begin(), planned.ends.end());
    for (const SentMessage& message : planned.messages) send_planned(rank, lane, message, is_last);
    sent_.insert(sent_.end(), planned.messages.begin(), planned.messages.end());
    if (job_.turns_per_server == 0) return;
    const bool leaves = takes_turns(groups);
    const std::vector<OpId> since = put_in_turn(graph_, planned, parts, leaves, experts);
    if (leaves) lane.since.insert(lane.since.end(), since.begin(), since.end());
  }

  /// What follows the sum of a planned message: the sum of copies' shares, and the way to the host.
  void send_planned(std::size_t rank, Lane& lane, const SentMessage& message, bool is_last) {
    const std::int64_t elements = message.dense.count() / job_.gradient_bytes;
    OpId sum = message.ops.back();
    if (shards(Sharding::optimizer) && is_last && job_.copies().size > 1) {
      const OpId copies =
          graph_.add_collective("all-reduce of copies of " + message.name, CollectiveKind::all_reduce, roles_[rank],
                                Bytes{share_of(elements, job_.dense_shards()) * job_.gradient_bytes}, job_.copies());
      graph_.put_into(streams_[rank], copies, lane.exchanges++);
      graph_.add_dependency(sum, copies);
      lane.gradients.push_back(sum = copies);
    }
    if (job_.sends_gradients)
      lane.gradients.push_back(send_to_host(rank, lane,
                                            Bytes{job_.kept_of(elements, job_.dense_shards()) * job_.gradient_bytes},
                                            {sum}, "gradients of " + message.name));
  }

  void reduce(std::size_t rank, Lane& lane, const GradientBucket& bucket, const std::string& name, bool is_last) {
    const CollectiveKind kind =
        shards(Sharding::optimizer) ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    const std::vector<OpId> reduced = exchange(rank, lane, kind, bucket, name, job_.gradient_bytes);
    for (const OpId op : reduced) {
      graph_.add_dependency(lane.before, op);
      lane.gradients.push_back(op);
    }
    if (!shards(Sharding::optimizer) || !is_last || job_.copies().size < 2)
      return send_gradients(rank, lane, bucket, name, reduced);
    std::vector<OpId> added_up;
    GradientBucket shares = bucket;
    shares.dense = share_of(bucket.dense, job_.dense_shards());
    shares.expert = share_of(bucket.expert, job_.expert_shards());
    for (const OpId op : exchange(rank, lane, CollectiveKind::all_reduce, shares, "copies of " + name,
                                  job_.gradient_bytes, job_.copies(), job_.copies(), false)) {
      graph_.add_dependency(lane.before, op);
      for (const OpId before : reduced) graph_.add_dependency(before, op);
      lane.gradients.push_back(op);
      added_up.push_back(op);
    }
    send_gradients(rank, lane, bucket, name, std::move(added_up));
  }

  template <class IsLast>
  void add_merged(std::size_t rank, const PipelineStep& step, Lane& lane, const IsLast& is_last) {
    const OpId before = lane.before;
    PassOps ops = add_merged_part(rank, step, lane);
    Time sends;
    bool gives = false;
    for (const PipelinePass& pass : step.passes()) {
      const auto stage = static_cast<std::size_t>(plan_.stage(rank, pass));
      for (const ModelUnit& unit : job_.units[stage]) sends += unit.between_servers(pass.kind);
      sends += passes_on(static_cast<int>(stage), pass.kind);
      gives = gives || (exchanges_[stage] && reduces(pass.kind, is_last(pass)));
    }
    ops.turn = take_turn(rank, lane, step_name(plan_, rank, step), sends, before, gives);
    for (const PipelinePass& pass : step.passes()) {
      note(rank, pass, ops);
      const auto stage = static_cast<std::size_t>(plan_.stage(rank, pass));
      if (pass.kind == PassKind::forward) {
        std::vector<OpId>& first_use = lane.first_use[static_cast<std::size_t>(pass.chunk)];
        if (first_use.empty()) first_use.assign(job_.units[stage].size(), ops.first);
      } else if (reduces(pass.kind, is_last(pass))) {
        for (const GradientBucket& bucket : buckets_[stage]) reduce(rank, lane, bucket, pass_name(pass), is_last(pass));
      }
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
    return job_.joint ? graph_.add_joint_message(std::move(name), roles_[from], roles_[to], bytes)
                      : graph_.add_message(std::move(name), roles_[from], roles_[to], bytes);
  }

  void add_messages() {
    // What each rank sends between servers, after which operation, in the order of its passes.
    std::vector<std::map<OpId, OpId>> sent(plan_.ranks());
    for (int batch = 0; batch < plan_.micro_batches; ++batch) {
      for (int stage = 0; stage + 1 < plan_.stages; ++stage) {
        const auto lower = static_cast<std::size_t>(plan_.place(batch, stage).rank);
        const auto upper = static_cast<std::size_t>(plan_.place(batch, stage + 1).rank);
        const Bytes bytes = job_.messages[static_cast<std::size_t>(stage)];
        const PassOps &forward = forward_[at(stage, batch)], &gradient = gradient_[at(stage + 1, batch)];
        const OpId there = connect(forward, forward_[at(stage + 1, batch)], lower, upper, bytes,
                                   fmt::format("activations {} stage {}", batch, stage));
        const OpId back = connect(gradient, gradient_[at(stage, batch)], upper, lower, bytes,
                                  fmt::format("gradients {} stage {}", batch, stage + 1));
        if (passes_on(stage, PassKind::forward) == Time{} || lower == upper) continue;
        sent[lower].emplace(forward.last, there);
        sent[upper].emplace(gradient.last, back);
      }
    }
    for (const std::map<OpId, OpId>& messages : sent) {
      OpId before;
      for (const auto& [after, message] : messages) {
        if (before.valid()) graph_.add_dependency(before, message);
        before = message;
      }
    }
  }

  void add_up_copies() {
    for (const auto& [ranks, elements] : job_.copies_on_two_ranks()) {
      const auto [one, other] = ranks;
      std::vector<OpId> sent;
      for (const auto& [from, to] : {std::pair{one, other}, std::pair{other, one}}) {
        const Bytes bytes{elements * job_.gradient_bytes};
        sent.push_back(add_message(fmt::format("gradients of copies of rank {}", from), from, to, bytes));
        // An all-reduce of the two begins when both have reduced theirs.
        for (const std::size_t rank : {from, to}) {
          graph_.add_dependency(lanes_[rank].before, sent.back());
          for (const OpId op : lanes_[rank].gradients) graph_.add_dependency(op, sent.back());
        }
      }
      for (const std::size_t rank : {one, other})
        lanes_[rank].copies.insert(lanes_[rank].copies.end(), sent.begin(), sent.end());
    }
    for (Lane& lane : lanes_) lane.gradients.insert(lane.gradients.end(), lane.copies.begin(), lane.copies.end());
  }

  void add_updates() {
    for (Lane& lane : lanes_)
      if (lane.turn.valid() && !lane.gradients.empty()) lane.gradients.push_back(lane.turn);
    add_up_copies();
    std::vector<OpId> updates;
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank) {
      const Time takes = job_.update[rank];
      updates.push_back(job_.sends_gradients ? graph_.add_timer("update", roles_[rank], takes)
                                             : graph_.add_compute("update", roles_[rank], takes));
      if (!job_.host_update.empty()) graph_.move_on_host(updates.back(), job_.host_update[rank]);
    }
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank) {
      Lane& lane = lanes_[rank];
      graph_.add_dependency(lane.before, updates[rank]);
      for (const OpId op : lane.gradients) graph_.add_dependency(op, updates[rank]);
      if (job_.barrier && plan_.ranks() > 1) add_barrier(rank, lane, updates);
      graph_.add_dependency(updates[rank], lane.first, 1);
      for (const OpId op : after_update_[rank]) graph_.add_dependency(updates[rank], op, 1);
      if (gathers_after_update()) gather_after_update(rank, lane, updates[rank]);
    }
  }

  /// The norm of the gradients needs those of all ranks: a message of no bytes to each of them.
  void add_barrier(std::size_t rank, const Lane& lane, const std::vector<OpId>& updates) {
    for (std::size_t other = 0; other < plan_.ranks(); ++other) {
      if (other == rank) continue;
      for (const OpId op : lane.gradients) graph_.add_dependency(op, updates[other]);
    }
    if (!lane.gradients.empty()) return;
    // Without collectives the end of the last pass counts, which is known on other ranks by a message.
    for (std::size_t other = 0; other < plan_.ranks(); ++other) {
      if (other == rank) continue;
      const OpId norm = graph_.add_joint_message("norm of the gradients", roles_[rank], roles_[other], Bytes{});
      graph_.add_dependency(lane.before, norm);
      graph_.add_dependency(norm, updates[other]);
    }
  }

  void gather_after_update(std::size_t rank, Lane& lane, OpId update) {
    for (std::size_t chunk = 0; chunk < plan_.stage_of[rank].size(); ++chunk) {
      const int stage = plan_.stage_of[rank][chunk];
      for (const GradientBucket& bucket : buckets_[static_cast<std::size_t>(stage)]) {
        const std::string name = fmt::format("weights of stage {} part {}", stage, bucket.first);
        for (const OpId op : exchange(rank, lane, CollectiveKind::all_gather, bucket, name, job_.weight_bytes)) {
          graph_.add_dependency(update, op);
          graph_.add_dependency(op, lane.first_use[chunk][bucket.first], 1);
        }
      }
    }
  }

  const TrainingIteration& job_;
  const PipelinePlan& plan_;
  const PipelineCosts costs_ = job_.costs();
  const bool sends_ = std::ranges::find(job_.in_network, true) != job_.in_network.end();  // inside passes
  IterationGraph graph_;
  std::vector<SentMessage> sent_;  // exchanges of gradients
  std::vector<RoleId> roles_;
  std::vector<ChannelId> streams_;
  std::vector<std::vector<GradientBucket>> buckets_;          // by stage
  std::vector<bool> exchanges_;                               // by stage: gradients or weights go to other ranks
  std::vector<PassOps> forward_, gradient_;                   // by stage and micro-batch
  std::vector<Lane> lanes_;                                   // by rank
  std::map<std::pair<std::size_t, std::size_t>, OpId> left_;  // by stage and micro-batch, and unit: activations
  std::vector<std::vector<OpId>> after_update_ = std::vector<std::vector<OpId>>(job_.plan.ranks());
};

}  // namespace

FusedIteration training_exchange(const TrainingIteration& iteration) {
  return GraphBuilder{iteration}.build();
}

}  // namespace contend
