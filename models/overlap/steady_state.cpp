#include "models/overlap/steady_state.hpp"

#include "models/overlap/exchange_network.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <utility>

namespace contend {

namespace {

using Slot = std::uint8_t;
constexpr std::int32_t kDone = -1;
constexpr std::uint64_t kSeparator = UINT64_MAX;

struct Ready {
  std::int64_t iteration = 0;
  std::int32_t priority = 0;
  OpId op;
  auto operator<=>(const Ready&) const = default;
};

class Execution {
 public:
  Execution(const IterationGraph& graph, const ExchangeCost& cost, const SteadyStateOptions& options)
      : graph_{graph},
        phases_{graph.phases()},
        options_{options},
        interference_{cost.interference},
        network_{cost},
        lanes_(graph.roles().size()),
        channels_(graph.channels().size()) {
    const std::size_t ops = graph.ops().size();
    CONTEND_CHECK(ops > 0, "a graph has operations");
    CONTEND_CHECK(graph.counters().empty() && graph.in_flight() == kUsuallyInFlight,
                  "two iterations are in flight, and nothing waits for counters");
    CONTEND_CHECK(phases_.repeats() || options.iterations > 0, "phases repeat, or the iterations of the job are known");
    for (const int lag : {0, 1}) {
      const auto l = static_cast<std::size_t>(lag);
      begin_[l].assign(ops + 1, 0);
      predecessors_[l].assign(phases_.count() * ops, 0);
      for (const Dependency& d : graph.dependencies()) {
        if (d.lag != lag) continue;
        ++begin_[l][d.before.index() + 1];
        for (std::size_t phase = 0; phase < phases_.count(); ++phase) {
          if (graph.ops()[d.before.index()].is_in(phase)) ++predecessors_[l][phase * ops + d.after.index()];
        }
      }
      for (std::size_t i = 0; i < ops; ++i) begin_[l][i + 1] += begin_[l][i];
      successors_[l].resize(static_cast<std::size_t>(begin_[l][ops]));
      std::vector<std::int32_t> next = begin_[l];
      for (const Dependency& d : graph.dependencies()) {
        if (d.lag == lag) successors_[l][static_cast<std::size_t>(next[d.before.index()]++)] = d.after;
      }
    }
    for (auto& pending : pending_) pending.assign(ops, 0);
    std::map<std::pair<RoleId, Lane>, std::size_t> further;  // lanes, behind those that compute
    for (const Op& op : graph.ops()) {
      const auto [lane, is_new] = further.try_emplace({op.role, op.lane}, lanes_.size());
      if (op.lane == Lane::compute)
        lane->second = op.role.index();
      else if (is_new)
        lanes_.emplace_back();
      lane_of_.push_back(lane->second);
    }
    marker_ = graph.last_compute();
  }

  SteadyState run() {
    open(0, true);
    open(1, false);
    while (!settled_) {
      settle_instant();
      if (ended_iteration_) look();
      if (settled_) break;
      advance();
    }
    return std::move(result_);
  }

 private:
  struct RunningLane {
    std::vector<Ready> ready;  // a heap
    bool busy = false;
    Ready running;
    Time start, end;
    PacedTask pace;     // of `running`, if there is any interference
    int transfers = 0;  // of its role, in the network
  };
  struct Queue {
    std::vector<Ready> ready;  // a heap
    std::deque<Ready> committed;
    int in_network = 0;
    Bytes bytes;
  };
  struct RunningTimer {
    Ready timer;
    Time start, end;
  };
  struct InFlight {
    Ready message;
    Time start;
  };

  [[nodiscard]] Slot slot_of(std::int64_t iteration) const { return static_cast<Slot>(iteration % 2); }
  [[nodiscard]] bool has(Slot slot, OpId op) const { return graph_.ops()[op.index()].is_in(phase_[slot]); }

  void open(std::int64_t iteration, bool first) {
    const Slot slot = slot_of(iteration);
    const Slot before = slot ^ 1;
    const std::size_t ops = graph_.ops().size();
    const std::size_t phase = phases_.at(iteration, options_.iterations);
    phase_[slot] = phase;
    left_[slot] = 0;
    for (std::size_t i = 0; i < ops; ++i) {
      pending_[slot][i] = kDone;
      if (!graph_.ops()[i].is_in(phase)) continue;
      ++left_[slot];
      pending_[slot][i] = predecessors_[0][phase * ops + i];
      if (!first) pending_[slot][i] += predecessors_[1][phase_[before] * ops + i];
    }
    if (!first) {
      for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
        if (pending_[before][i] != kDone || !has(before, OpId{i})) continue;
        for_successors(1, OpId{i}, [&](OpId after) {
          if (has(slot, after)) --pending_[slot][after.index()];
        });
      }
    }
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      if (pending_[slot][i] == 0) announce(OpId{i}, iteration);
    }
  }

  template <class Visit>
  void for_successors(std::size_t lag, OpId op, const Visit& visit) const {
    for (std::int32_t i = begin_[lag][op.index()]; i < begin_[lag][op.index() + 1]; ++i) {
      visit(successors_[lag][static_cast<std::size_t>(i)]);
    }
  }

  void announce(OpId op, std::int64_t iteration) {
    const Op& what = graph_.ops()[op.index()];
    if (what.runs_on_lane()) {
      push(lanes_[lane_of_[op.index()]].ready, {iteration, what.priority, op});
    } else if (what.kind == OpKind::timer) {
      timers_.push_back({{iteration, 0, op}, now_, now_ + what.duration});
    } else if (what.channel.valid()) {
      push(channels_[what.channel.index()].ready, {iteration, what.priority, op});
    } else {
      push(free_, {iteration, what.priority, op});
    }
  }

  static void push(std::vector<Ready>& heap, const Ready& item) {
    heap.push_back(item);
    std::push_heap(heap.begin(), heap.end(), std::greater<>{});
  }
  static Ready pop(std::vector<Ready>& heap) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
    const Ready item = heap.back();
    heap.pop_back();
    return item;
  }

  void complete(const Ready& done, Time start) {
    const Slot slot = slot_of(done.iteration);
    pending_[slot][done.op.index()] = kDone;
    --left_[slot];
    if (options_.spans) result_.spans.push_back({done.op, done.iteration, start, now_});
    if (done.op == marker_) {
      result_.ends.push_back(now_);
      ended_iteration_ = true;
    }
    const auto contribute = [&](OpId after, std::int64_t iteration) {
      if (!has(slot_of(iteration), after)) return;
      if (--pending_[slot_of(iteration)][after.index()] == 0) announce(after, iteration);
    };
    for_successors(0, done.op, [&](OpId after) { contribute(after, done.iteration); });
    if (done.iteration == oldest_) for_successors(1, done.op, [&](OpId after) { contribute(after, oldest_ + 1); });
    while (left_[slot_of(oldest_)] == 0) {
      ++oldest_;
      open(oldest_ + 1, false);
    }
  }

  /// Ends the tasks and transfers that are due at this instant.
  void finish() {
    for (RunningLane& lane : lanes_) {
      if (!lane.busy || lane.end != now_) continue;
      lane.busy = false;
      complete(lane.running, lane.start);
    }
    const auto is_due = [&](const RunningTimer& each) { return each.end == now_; };
    for (auto due = std::ranges::find_if(timers_, is_due); due != timers_.end();
         due = std::ranges::find_if(timers_, is_due)) {
      const RunningTimer timer = *due;
      timers_.erase(due);
      complete(timer.timer, timer.start);
    }
    if (network_.next_end() != now_) return;
    std::vector<TransferId> ended = std::exchange(ended_, {});
    ended.clear();
    network_.finish_due(now_, ended);
    for (const TransferId id : ended) {
      const InFlight traffic = in_flight_[id.index()];
      const Op& op = graph_.ops()[traffic.message.op.index()];
      in_flight_[id.index()] = {};
      --lanes_[op.role.index()].transfers;
      if (op.channel.valid()) {
        Queue& queue = channels_[op.channel.index()];
        --queue.in_network;
        queue.bytes -= op.bytes;
      }
      complete(traffic.message, traffic.start);
    }
    ended_ = std::move(ended);
  }

  void send(const Ready& message) {
    const Op& op = graph_.ops()[message.op.index()];
    const TransferId id = network_.start(op.collective, op.scope, op.bytes, now_);
    if (id.index() >= in_flight_.size()) in_flight_.resize(id.index() + 1);
    in_flight_[id.index()] = {message, now_};
    ++lanes_[op.role.index()].transfers;
  }

  void admit() {
    while (!free_.empty()) send(pop(free_));
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      Queue& queue = channels_[c];
      const Channel& channel = graph_.channels()[c];
      while (!queue.ready.empty() &&
             (queue.bytes < channel.window || queue.committed.size() + static_cast<std::size_t>(queue.in_network) <
                                                  static_cast<std::size_t>(channel.messages))) {
        queue.committed.push_back(pop(queue.ready));
        queue.bytes += graph_.ops()[queue.committed.back().op.index()].bytes;
      }
      while (!queue.committed.empty() && queue.in_network < channel.messages) {
        ++queue.in_network;
        send(queue.committed.front());
        queue.committed.pop_front();
      }
    }
  }

  void dispatch() {
    for (RunningLane& lane : lanes_) {
      if (lane.busy || lane.ready.empty()) continue;
      lane.running = pop(lane.ready);
      lane.busy = true;
      lane.start = now_;
      const Time duration = graph_.ops()[lane.running.op.index()].duration;
      lane.end = now_ + duration;
      if (!interference_.none()) lane.pace = PacedTask{duration, now_, interference_};
    }
  }

  /// Sets the rates of the tasks and transfers in progress, unless more is due at this instant.
  void pace() {
    if (interference_.none() || next() == now_) return;
    for (RunningLane& lane : lanes_) {
      const bool slowed = lane.transfers > 0;
      if (!lane.busy || slowed == lane.pace.is_slowed()) continue;
      lane.pace.set_slowed(slowed, now_);
      lane.end = lane.pace.end();
    }
    for (std::size_t i = 0; i < in_flight_.size(); ++i) {
      const OpId op = in_flight_[i].message.op;
      if (!op.valid()) continue;
      const bool slowed = lanes_[graph_.ops()[op.index()].role.index()].busy;
      network_.slow_down(TransferId{i}, slowed ? interference_.network_slowdown() : 1.0, now_);
    }
  }

  [[nodiscard]] Time next() const {
    Time next = network_.next_end();
    for (const RunningLane& lane : lanes_) {
      if (lane.busy) next = std::min(next, lane.end);
    }
    for (const RunningTimer& each : timers_) next = std::min(next, each.end);
    return next;
  }

  /// Handles everything at this instant, including tasks and messages that take no time.
  void settle_instant() {
    admit();
    dispatch();
    pace();
    while (next() == now_) {
      finish();
      admit();
      dispatch();
      pace();
    }
  }

  void advance() {
    now_ = next();
    CONTEND_CHECK(now_ != Time::never(), "an iteration never ends: the graph waits for itself");
    finish();
  }

  void look() {
    ended_iteration_ = false;
    const auto done = static_cast<std::int64_t>(result_.ends.size());
    if (options_.iterations > 0) {
      if (done >= options_.iterations) average(done / 2, done, false);
      return;
    }
    write_state();
    if (!saved_.empty() && words_ == saved_) return average(saved_at_, done, true);
    if (done >= std::max(options_.limit, 4 * phases_.cycle_length()))
      return average(done - (done + 1) / 2 / phases_.cycle_length() * phases_.cycle_length(), done, false);
    if (done >= save_next_) {
      saved_ = words_;
      saved_at_ = done;
      save_next_ *= 2;  // Brent's cycle finding
    }
  }

  void average(std::int64_t from, std::int64_t to, bool recurs) {
    settled_ = true;
    result_.recurs = recurs;
    result_.warm_up = from;
    result_.period = to - from;
    const auto end_of = [&](std::int64_t count) { return result_.ends[static_cast<std::size_t>(count - 1)]; };
    if (from < 1 || to <= from) return;
    result_.iteration_ns = static_cast<double>((end_of(to) - end_of(from)).ns()) / static_cast<double>(to - from);
  }

  void write_state() {
    words_.clear();
    words_.push_back(static_cast<std::uint64_t>(oldest_ % phases_.cycle_length()));
    const auto relative = [&](std::int64_t iteration) { return static_cast<std::uint64_t>(iteration - oldest_); };
    for (const std::int64_t iteration : {oldest_, oldest_ + 1}) {
      for (const std::int32_t count : pending_[slot_of(iteration)]) words_.push_back(static_cast<std::uint32_t>(count));
    }
    for (const RunningLane& lane : lanes_) {
      if (!lane.busy) {
        words_.push_back(kSeparator);
        continue;
      }
      words_.push_back((std::uint64_t{lane.running.op.value()} << 1) ^ relative(lane.running.iteration));
      words_.push_back(static_cast<std::uint64_t>((lane.end - now_).ns()));
      if (interference_.none()) continue;
      const Int128 left = lane.pace.left(now_);
      words_.push_back(static_cast<std::uint64_t>(left));
      words_.push_back((static_cast<std::uint64_t>(left >> 64) << 1) ^ (lane.pace.is_slowed() ? 1U : 0U));
    }
    for (const RunningTimer& each : timers_) {
      words_.push_back((std::uint64_t{each.timer.op.value()} << 1) ^ relative(each.timer.iteration));
      words_.push_back(static_cast<std::uint64_t>((each.end - now_).ns()));
    }
    words_.push_back(kSeparator);
    for (const Queue& queue : channels_) {
      for (const Ready& each : queue.committed)
        words_.push_back((std::uint64_t{each.op.value()} << 1) ^ relative(each.iteration));
      words_.push_back(kSeparator);
    }
    for (std::size_t i = 0; i < in_flight_.size(); ++i) {
      if (!in_flight_[i].message.op.valid()) continue;
      words_.push_back((std::uint64_t{in_flight_[i].message.op.value()} << 1) ^
                       relative(in_flight_[i].message.iteration));
      network_.save_state(TransferId{i}, now_, words_);
    }
  }

  const IterationGraph& graph_;
  const IterationPhases& phases_;
  SteadyStateOptions options_;
  Interference interference_;
  std::array<std::vector<std::int32_t>, 2> begin_, predecessors_,
      pending_;  // by lag (predecessors by phase, too); by slot
  std::array<std::vector<OpId>, 2> successors_;
  std::array<std::size_t, 2> left_{}, phase_{};
  OpId marker_;
  Time now_;
  std::int64_t oldest_ = 0;  // iteration in flight
  ExchangeLanes network_;
  std::vector<RunningLane> lanes_;    // by role: its GPU; then the other lanes of roles
  std::vector<std::size_t> lane_of_;  // by operation; of what runs on none: the GPU of its role
  std::vector<RunningTimer> timers_;  // in order of starting
  std::vector<Queue> channels_;
  std::vector<Ready> free_;  // messages in no channel
  std::vector<InFlight> in_flight_;
  std::vector<TransferId> ended_;
  bool ended_iteration_ = false, settled_ = false;
  std::vector<std::uint64_t> words_, saved_;
  std::int64_t saved_at_ = 0, save_next_ = 1;
  SteadyState result_;
};

}  // namespace

SteadyState steady_state(const IterationGraph& graph, const ExchangeCost& cost, const SteadyStateOptions& options) {
  return Execution{graph, cost, options}.run();
}

}  // namespace contend
