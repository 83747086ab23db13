#include "network/collectives/collective_run.hpp"

#include "network/collectives/step_routes.hpp"
#include "network/fluid.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <utility>

namespace contend {

namespace {

/// The bytes that each rank reduces in the step; the caller sets them back to 0.
void add_reduced(const Step& step, std::vector<std::int64_t>& by_rank) {
  for (const Send& send : step.sends) {
    if (send.reduced) by_rank[static_cast<std::size_t>(send.to)] += send.range.bytes;
  }
}

std::int64_t most_reduced(const Step& step, std::vector<std::int64_t>& by_rank) {
  std::int64_t most = 0;
  for (const Send& send : step.sends) {
    if (!send.reduced) continue;
    std::int64_t& reduced = by_rank[static_cast<std::size_t>(send.to)];
    reduced += send.range.bytes;
    most = std::max(most, reduced);
  }
  for (const Send& send : step.sends) by_rank[static_cast<std::size_t>(send.to)] = 0;
  return most;
}

/// Adds up loads by link and remembers which links have any.
class Load {
 public:
  explicit Load(std::size_t links) : by_link_(links, 0) {}
  void add(LinkId link, double load) {
    double& sum = by_link_[link.index()];
    if (sum == 0) touched_.push_back(link);
    sum += load;
  }
  std::vector<LinkShare> take() {
    std::sort(touched_.begin(), touched_.end());
    std::vector<LinkShare> shares;
    shares.reserve(touched_.size());
    for (const LinkId link : touched_) shares.push_back({link, std::exchange(by_link_[link.index()], 0)});
    touched_.clear();
    return shares;
  }

 private:
  std::vector<double> by_link_;
  std::vector<LinkId> touched_;
};

std::int64_t largest(const Step& step) {
  std::int64_t bytes = 0;
  for (const Send& send : step.sends) bytes = std::max(bytes, send.range.bytes);
  return bytes;
}

/// The start-up times that have added up at each rank of each stripe, if ranks wait for their own data only.
class Latencies {
 public:
  explicit Latencies(std::size_t ranks) : ranks_{ranks} {}

  /// Adds `repeat` steps with these messages, which take `hops[i]` each; returns by how much the largest sum grows.
  Time add(const Step& step, std::span<const std::int64_t> hops) {
    for (const Send& send : step.sends) {
      const std::size_t end = (static_cast<std::size_t>(send.stripe) + 1) * ranks_;
      if (ready_.size() < end) ready_.resize(end, 0);
    }
    if (!follow_cycles(step, hops)) {
      for (std::int64_t i = 0; i < step.repeat && advance(step, hops); ++i) continue;
    }
    const std::int64_t before = std::exchange(most_, *std::max_element(ready_.begin(), ready_.end()));
    return Time::nanoseconds(most_ - before);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  [[nodiscard]] std::size_t key(int stripe, int rank) const {
    return static_cast<std::size_t>(stripe) * ranks_ + static_cast<std::size_t>(rank);
  }

  /// One step; false if it changes nothing.
  bool advance(const Step& step, std::span<const std::int64_t> hops) {
    std::vector<std::int64_t> next = ready_;
    for (std::size_t i = 0; i < step.sends.size(); ++i) {
      const Send& send = step.sends[i];
      std::int64_t& there = next[key(send.stripe, send.to)];
      there = std::max(there, ready_[key(send.stripe, send.from)] + hops[i]);
    }
    if (next == ready_) return false;
    ready_ = std::move(next);
    return true;
  }

  /// All repetitions at once, if the messages go around cycles; false if they don't.
  bool follow_cycles(const Step& step, std::span<const std::int64_t> hops) {
    std::vector<std::uint32_t> out(ready_.size(), kNone);  // message that leaves
    std::vector<std::uint32_t> in(ready_.size(), kNone);
    for (std::size_t i = 0; i < step.sends.size(); ++i) {
      const Send& send = step.sends[i];
      std::uint32_t& leaves = out[key(send.stripe, send.from)];
      std::uint32_t& arrives = in[key(send.stripe, send.to)];
      if (leaves != kNone || arrives != kNone) return false;
      leaves = arrives = static_cast<std::uint32_t>(i);
    }
    for (std::size_t k = 0; k < out.size(); ++k) {
      if ((out[k] == kNone) != (in[k] == kNone)) return false;
    }
    std::vector<std::size_t> members;
    std::vector<std::int64_t> sums;  // from the first member to each in two turns
    std::vector<std::int64_t> before = ready_;
    for (std::size_t first = 0; first < out.size(); ++first) {
      members.clear();
      sums.assign(1, 0);
      for (std::size_t at = first; out[at] != kNone;) {
        const std::uint32_t message = std::exchange(out[at], kNone);
        members.push_back(at);
        sums.push_back(sums.back() + hops[message]);
        at = key(step.sends[message].stripe, step.sends[message].to);
      }
      const std::size_t n = members.size();
      if (n == 0) continue;
      const std::int64_t turn = sums.back();
      const auto full = step.repeat / static_cast<std::int64_t>(n);
      const auto rest = static_cast<std::size_t>(step.repeat % static_cast<std::int64_t>(n));
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t end = i + rest;
        const std::int64_t part = end <= n ? sums[end] - sums[i] : turn - sums[i] + sums[end - n];
        std::int64_t& there = ready_[members[end % n]];
        there = std::max(there, before[members[i]] + full * turn + part);
      }
    }
    return true;
  }

  std::size_t ranks_;
  std::vector<std::int64_t> ready_;  // ns, by stripe and rank
  std::int64_t most_ = 0;
};

/// Turns steps into coupled flows, and reuses the loads of the last flow if the new loads are equal.
class Coupler {
 public:
  Coupler(const CollectiveSchedule& schedule, std::span<const NodeId> gpus, const Topology& topology,
          const Router& router, const CollectiveOptions& options)
      : by_rank_{schedule.by_rank},
        routes_{gpus, router, options.label},
        options_{options},
        load_{topology.links().size()},
        reduced_(gpus.size(), 0),
        latencies_{gpus.size()} {}

  /// True if the flow crosses the links as the last one did; its `links` are empty then.
  bool couple(const Step& step, CoupledFlow& flow) {
    const bool repeats = last_ != nullptr && same_traffic(*last_, step);
    last_ = &step;
    const std::int64_t bytes = largest(step);
    if (!repeats) {
      latency_ = Time{};
      cap_ = 0;
      ways_.clear();
      for (const Send& send : step.sends) {
        const Route& way = routes_.of(step, send);
        ways_.push_back(way.latency.ns());
        latency_ = std::max(latency_, way.latency);
        const double part = static_cast<double>(send.range.bytes) / static_cast<double>(bytes);
        for (const LinkShare& use : way.links) load_.add(use.link, use.share * part);
        const double most = options_.most_over(way.latency) / part;
        if (most > 0) cap_ = cap_ > 0 ? std::min(cap_, most) : most;
      }
      flow.links = load_.take();
    }
    flow.cap = cap_;
    flow.bytes = static_cast<double>(bytes) * static_cast<double>(step.repeat);
    if (by_rank_) {
      hops_.clear();
      add_reduced(step, reduced_);
      for (std::size_t i = 0; i < step.sends.size(); ++i) {
        // A rank has the data of a stripe when it has reduced the data of all stripes.
        const auto to = static_cast<std::size_t>(step.sends[i].to);
        const double reduction = static_cast<double>(reduced_[to]) * options_.gamma.ns_per_byte();
        hops_.push_back(ways_[i] + options_.overhead.ns() + Time::ceil_nanoseconds(reduction).ns());
      }
      for (const Send& send : step.sends) reduced_[static_cast<std::size_t>(send.to)] = 0;
      flow.fixed = latencies_.add(step, hops_);
      return repeats;
    }
    const double reduction = static_cast<double>(most_reduced(step, reduced_)) * options_.gamma.ns_per_byte();
    flow.fixed = step.repeat * (options_.overhead + latency_) +
                 Time::ceil_nanoseconds(reduction * static_cast<double>(step.repeat));
    return repeats;
  }

  [[nodiscard]] StepRoutes& routes() { return routes_; }

 private:
  bool by_rank_;
  StepRoutes routes_;
  const CollectiveOptions& options_;
  Load load_;
  std::vector<std::int64_t> reduced_;
  Latencies latencies_;
  std::vector<std::int64_t> ways_;  // latencies of the messages of the last step, ns
  std::vector<std::int64_t> hops_;  // with overhead and reduction, ns
  Time latency_;
  double cap_ = 0;  // CoupledFlow::cap of the last step
  const Step* last_ = nullptr;
};

std::vector<double> capacities_of(const Topology& topology) {
  std::vector<double> capacities;
  capacities.reserve(topology.links().size());
  for (const Link& link : topology.links()) capacities.push_back(link.bandwidth.bytes_per_second());
  return capacities;
}

/// Says which messages may start: those whose sender has received and sent all messages of its earlier steps, and whose
/// receiver has got all messages of its earlier steps onto the wire. Stripes are apart from each other.
class RankOrder {
 public:
  RankOrder(std::span<const Step> steps, std::size_t ranks) {
    int stripes = 0;
    for (const Step& step : steps) {
      for (const Send& send : step.sends) stripes = std::max(stripes, send.stripe + 1);
    }
    work_.resize(static_cast<std::size_t>(stripes) * ranks);
    arrivals_.resize(work_.size());
    for (std::size_t s = 0; s < steps.size(); ++s) {
      for (const Send& send : steps[s].sends) {
        const std::size_t first = static_cast<std::size_t>(send.stripe) * ranks;
        Message message{
            &send, s,    first + static_cast<std::size_t>(send.from), first + static_cast<std::size_t>(send.to), 0, 0,
            0,     false};
        message.of_sender = work_[message.from].entry(s, messages_.size(), true);
        message.of_receiver = work_[message.to].entry(s, messages_.size(), false);
        message.of_arrival = arrivals_[message.to].entry(s, messages_.size(), true);
        messages_.push_back(message);
      }
    }
  }

  [[nodiscard]] const Send& send(std::size_t message) const { return *messages_[message].send; }
  [[nodiscard]] std::size_t step(std::size_t message) const { return messages_[message].step; }
  [[nodiscard]] bool is_reducing(std::size_t message) const { return messages_[message].is_reducing; }
  void reduce(std::size_t message) { messages_[message].is_reducing = true; }

  /// Appends the messages that may start at first; the others append those that may start now.
  void begin(std::vector<std::size_t>& free) {
    for (std::size_t key = 0; key < work_.size(); ++key) add_free(work_[key], free);
  }
  void sent(std::size_t message, std::vector<std::size_t>& free) {
    const Message& it = messages_[message];
    if (arrivals_[it.to].done(it.of_arrival)) add_free(arrivals_[it.to], free);
    if (work_[it.from].done(it.of_sender)) add_free(work_[it.from], free);
  }
  void received(std::size_t message, std::vector<std::size_t>& free) {
    const Message& it = messages_[message];
    if (work_[it.to].done(it.of_receiver)) add_free(work_[it.to], free);
  }

 private:
  struct Message {
    const Send* send;
    std::size_t step;
    std::size_t from;         // stripe and rank
    std::size_t to;           // stripe and rank
    std::size_t of_sender;    // entry in work_[from]
    std::size_t of_receiver;  // in work_[to]
    std::size_t of_arrival;   // in arrivals_[to]
    bool is_reducing;
  };
  /// What is to be done in one step.
  struct Entry {
    std::size_t step = 0;
    std::size_t left = 0;
    std::vector<std::size_t> messages;  // that may wait for it
  };
  /// What a rank does, step by step.
  struct Agenda {
    std::vector<Entry> entries;
    std::size_t at = 0;  // the first that is not done

    std::size_t entry(std::size_t step, std::size_t message, bool waits) {
      if (entries.empty() || entries.back().step != step) entries.push_back({step, 0, {}});
      ++entries.back().left;
      if (waits) entries.back().messages.push_back(message);
      return entries.size() - 1;
    }
    /// True if the rank goes on to another step.
    bool done(std::size_t entry) {
      --entries[entry].left;
      const std::size_t before = at;
      while (at < entries.size() && entries[at].left == 0) ++at;
      return at != before;
    }
    [[nodiscard]] bool is_at(std::size_t step) const { return at < entries.size() && entries[at].step == step; }
  };

  void add_free(const Agenda& agenda, std::vector<std::size_t>& free) const {
    if (agenda.at == agenda.entries.size()) return;
    for (const std::size_t message : agenda.entries[agenda.at].messages) {
      const Message& it = messages_[message];
      if (work_[it.from].is_at(it.step) && arrivals_[it.to].is_at(it.step)) free.push_back(message);
    }
  }

  std::vector<Message> messages_;
  std::vector<Agenda> work_;      // by stripe and rank: messages that it sends, and those that it must have
  std::vector<Agenda> arrivals_;  // by stripe and rank: messages on their way to it
};

/// Runs the steps one after the other, or every rank by its own steps.
class Runner {
 public:
  Runner(const CollectiveSchedule& schedule, std::span<const NodeId> gpus, const Topology& topology,
         const Router& router, const CollectiveOptions& options)
      : schedule_{schedule},
        gpus_{gpus},
        options_{options},
        network_{capacities_of(topology)},
        demanded_(topology.links().size(), 0),
        reduced_(gpus.size(), 0),
        coupler_{schedule, gpus, topology, router, options} {}

  void run() {
    const std::span<const Step> steps = schedule_.steps;
    const bool is_steady = std::ranges::any_of(steps, [](const Step& step) { return step.repeat > 1; });
    if (schedule_.by_rank && !is_steady) return run_by_rank(steps);
    for (const Step& step : steps) {
      if (step.repeat > 1 || schedule_.by_rank) {
        couple(step);
      } else {
        run_coupled();
        run_messages(step);
      }
    }
    run_coupled();
  }

  CollectiveRun result() {
    CollectiveRun run;
    run.end = now_;
    run.flows = flows_;
    for (std::size_t link = 0; link < demanded_.size(); ++link) {
      run.carried.push_back(network_.carried(LinkId{link}, now_));
      CONTEND_DCHECK(std::abs(run.carried.back() - demanded_[link]) <= 1e-9 * demanded_[link],
                     "a link carried other bytes than routing demands");
    }
    return run;
  }

 private:
  FlowId start(std::span<const LinkShare> links, double bytes, double cap) {
    for (const LinkShare& use : links) demanded_[use.link.index()] += use.share * bytes;
    ++flows_;
    return network_.start({.links = links, .bytes = bytes, .cap = cap}, now_);
  }
  FlowId start(const Route& way, double bytes) { return start(way.links, bytes, options_.most_over(way.latency)); }

  /// Ends all flows; calls `ended` for each with its end.
  template <class Ended>
  void drain(Ended ended) {
    while (network_.active() > 0) {
      const Time end = network_.next_end();
      CONTEND_CHECK(end != Time::never(), "a message of a collective stalls");
      ended_.clear();
      network_.finish_due(end, ended_);
      for (const FlowId flow : ended_) ended(flow, end);
      now_ = end;
    }
  }

  void run_messages(const Step& step) {
    now_ += options_.overhead;
    for (const Send& send : step.sends) {
      const Route& taken = coupler_.routes().of(step, send);
      const FlowId flow = start(taken, static_cast<double>(send.range.bytes));
      if (latencies_.size() <= flow.index()) latencies_.resize(flow.index() + 1);
      latencies_[flow.index()] = taken.latency;
    }
    Time arrived = now_;
    drain([&](FlowId flow, Time end) { arrived = std::max(arrived, end + latencies_[flow.index()]); });
    const double reduction = static_cast<double>(most_reduced(step, reduced_)) * options_.gamma.ns_per_byte();
    now_ = arrived + Time::ceil_nanoseconds(reduction);
  }

  struct Event {
    Time time;
    std::size_t number;  // in order of creation
    std::size_t message;
    bool arrives;  // and is reduced; otherwise it starts to send
    bool operator>(const Event& other) const { return time != other.time ? time > other.time : number > other.number; }
  };

  /// Starts every message as soon as its two ranks let it.
  void run_by_rank(std::span<const Step> steps) {
    RankOrder order{steps, gpus_.size()};
    const auto route_of = [&](std::size_t message) -> const Route& {
      return coupler_.routes().of(steps[order.step(message)], order.send(message));
    };
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    std::size_t created = 0;
    std::vector<std::size_t> free;
    const auto start_free = [&] {
      for (const std::size_t message : free) events.push({now_ + options_.overhead, created++, message, false});
      free.clear();
    };
    order.begin(free);
    start_free();
    std::vector<std::size_t> sent_by;  // by flow
    std::vector<Time> reducer_free(gpus_.size());
    while (!events.empty() || network_.active() > 0) {
      const Time end = network_.next_end();
      now_ = events.empty() ? end : std::min(end, events.top().time);
      CONTEND_CHECK(now_ != Time::never(), "a message of a collective stalls");
      ended_.clear();
      if (end <= now_) network_.finish_due(now_, ended_);
      for (const FlowId flow : ended_) {
        const std::size_t message = sent_by[flow.index()];
        events.push({now_ + route_of(message).latency, created++, message, true});
        order.sent(message, free);
      }
      start_free();
      while (!events.empty() && events.top().time <= now_) {
        const Event event = events.top();
        events.pop();
        const Send& send = order.send(event.message);
        const auto bytes = static_cast<double>(send.range.bytes);
        if (!event.arrives) {
          const FlowId flow = start(route_of(event.message), bytes);
          if (sent_by.size() <= flow.index()) sent_by.resize(flow.index() + 1);
          sent_by[flow.index()] = event.message;
          continue;
        }
        // A rank reduces one message at a time.
        const Time reduction = Time::ceil_nanoseconds(bytes * options_.gamma.ns_per_byte());
        if (send.reduced && reduction > Time{} && !order.is_reducing(event.message)) {
          Time& until = reducer_free[static_cast<std::size_t>(send.to)];
          until = std::max(until, now_) + reduction;
          order.reduce(event.message);
          events.push({until, created++, event.message, true});
          continue;
        }
        order.received(event.message, free);
        start_free();
      }
    }
  }

  /// Adds the step to the coupled flow that waits to be run, or runs that flow and starts a new one.
  void couple(const Step& step) {
    CoupledFlow flow;
    if (coupler_.couple(step, flow)) {
      coupled_.bytes += flow.bytes;
      coupled_.fixed += flow.fixed;
    } else {
      run_coupled();
      coupled_ = std::move(flow);
    }
  }

  /// Keeps the links of the flow: a later step may load them again.
  void run_coupled() {
    if (coupled_.bytes == 0) return;
    start(coupled_.links, coupled_.bytes, coupled_.cap);
    drain([](FlowId, Time) {});
    now_ += coupled_.fixed;
    coupled_.bytes = 0;
    coupled_.fixed = Time{};
  }

  const CollectiveSchedule& schedule_;
  std::span<const NodeId> gpus_;
  const CollectiveOptions& options_;
  FluidNetwork network_;
  std::vector<double> demanded_;
  std::vector<std::int64_t> reduced_;
  Coupler coupler_;
  CoupledFlow coupled_;
  std::vector<Time> latencies_;
  std::vector<FlowId> ended_;
  Time now_;
  std::size_t flows_ = 0;
};

}  // namespace

namespace {

/// All flows as one, which takes what a library expects of them: it sends all chunks as fast as its links let it, and
/// the start-up has the latencies of the steps.
CoupledFlow as_expected(const LibraryTime& expected, const std::vector<CoupledFlow>& flows) {
  CoupledFlow all;
  std::map<LinkId, double> carried;
  double in_flight_s = 0;  // the least that the bounds of the flows allow
  for (const CoupledFlow& flow : flows) {
    all.bytes += flow.bytes;
    if (flow.cap > 0) in_flight_s += flow.bytes / flow.cap;
    for (const LinkShare& use : flow.links) carried[use.link] += use.share * flow.bytes;
  }
  for (const auto& [link, bytes] : carried) all.links.push_back({link, bytes / all.bytes});
  all.cap = all.bytes / std::max(expected.bytes_s, in_flight_s);
  all.fixed = expected.start_up;
  return all;
}

}  // namespace

std::vector<CoupledFlow> coupled_flows(const CollectiveSchedule& schedule, std::span<const NodeId> gpus,
                                       const Topology& topology, const Router& router,
                                       const CollectiveOptions& options) {
  CONTEND_CHECK(gpus.size() == static_cast<std::size_t>(schedule.ranks), "a GPU for every rank");
  std::vector<CoupledFlow> flows;
  Coupler coupler{schedule, gpus, topology, router, options};
  for (const Step& step : schedule.steps) {
    CoupledFlow flow;
    if (coupler.couple(step, flow)) {
      flows.back().bytes += flow.bytes;
      flows.back().fixed += flow.fixed;
    } else {
      flows.push_back(std::move(flow));
    }
  }
  if (schedule.expected && !flows.empty()) return {as_expected(*schedule.expected, flows)};
  return flows;
}

CollectiveRun run_collective(const CollectiveSchedule& schedule, std::span<const NodeId> gpus, const Topology& topology,
                             const Router& router, const CollectiveOptions& options) {
  CONTEND_CHECK(gpus.size() == static_cast<std::size_t>(schedule.ranks), "a GPU for every rank");
  Runner runner{schedule, gpus, topology, router, options};
  runner.run();
  return runner.result();
}

}  // namespace contend
