#include "network/collectives/collective_run.hpp"

#include "network/fluid.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace contend {

namespace {

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

bool same_traffic(const Step& a, const Step& b) {
  return std::equal(a.sends.begin(), a.sends.end(), b.sends.begin(), b.sends.end(), [](const Send& x, const Send& y) {
    return x.from == y.from && x.to == y.to && x.range.bytes == y.range.bytes;
  });
}

std::int64_t largest(const Step& step) {
  std::int64_t bytes = 0;
  for (const Send& send : step.sends) bytes = std::max(bytes, send.range.bytes);
  return bytes;
}

/// Turns steps into coupled flows, and reuses the loads of the last flow if they are the same.
class Coupler {
 public:
  Coupler(std::span<const NodeId> gpus, const Topology& topology, const Router& router,
          const CollectiveOptions& options)
      : gpus_{gpus}, router_{router}, options_{options}, load_{topology.links().size()}, reduced_(gpus.size(), 0) {}

  /// True if the flow crosses the links as the last one did; its `links` are empty then.
  bool couple(const Step& step, CoupledFlow& flow) {
    const bool repeats = last_ != nullptr && same_traffic(*last_, step);
    last_ = &step;
    const std::int64_t bytes = largest(step);
    if (!repeats) {
      latency_ = Time{};
      for (const Send& send : step.sends) {
        router_.route(gpus_[static_cast<std::size_t>(send.from)], gpus_[static_cast<std::size_t>(send.to)],
                      options_.label, route_);
        latency_ = std::max(latency_, route_.latency);
        const double part = static_cast<double>(send.range.bytes) / static_cast<double>(bytes);
        for (const LinkShare& use : route_.links) load_.add(use.link, use.share * part);
      }
      flow.links = load_.take();
    }
    flow.bytes = static_cast<double>(bytes) * static_cast<double>(step.repeat);
    const double reduction = static_cast<double>(most_reduced(step, reduced_)) * options_.gamma.ns_per_byte();
    flow.fixed = step.repeat * (options_.overhead + latency_) +
                 Time::ceil_nanoseconds(reduction * static_cast<double>(step.repeat));
    return repeats;
  }

 private:
  std::span<const NodeId> gpus_;
  const Router& router_;
  const CollectiveOptions& options_;
  Load load_;
  std::vector<std::int64_t> reduced_;
  Route route_;
  Time latency_;
  const Step* last_ = nullptr;
};

std::vector<double> capacities_of(const Topology& topology) {
  std::vector<double> capacities;
  capacities.reserve(topology.links().size());
  for (const Link& link : topology.links()) capacities.push_back(link.bandwidth.bytes_per_second());
  return capacities;
}

/// Runs the steps one after the other. Ranks keep their connections: a pair is routed once.
class Runner {
 public:
  Runner(std::span<const NodeId> gpus, const Topology& topology, const Router& router, const CollectiveOptions& options)
      : gpus_{gpus},
        router_{router},
        options_{options},
        network_{capacities_of(topology)},
        demanded_(topology.links().size(), 0),
        reduced_(gpus.size(), 0),
        coupler_{gpus, topology, router, options} {}

  void run(const CollectiveSchedule& schedule) {
    for (const Step& step : schedule.steps) {
      if (step.repeat > 1) {
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
  const Route& route(const Send& send) {
    const std::uint64_t pair =
        static_cast<std::uint64_t>(send.from) * gpus_.size() + static_cast<std::uint64_t>(send.to);
    const auto [found, is_new] = routes_.try_emplace(pair);
    if (is_new) {
      router_.route(gpus_[static_cast<std::size_t>(send.from)], gpus_[static_cast<std::size_t>(send.to)],
                    options_.label, found->second);
    }
    return found->second;
  }

  FlowId start(std::span<const LinkShare> links, double bytes) {
    for (const LinkShare& use : links) demanded_[use.link.index()] += use.share * bytes;
    ++flows_;
    return network_.start({.links = links, .bytes = bytes}, now_);
  }

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
      const Route& taken = route(send);
      const FlowId flow = start(taken.links, static_cast<double>(send.range.bytes));
      if (latencies_.size() <= flow.index()) latencies_.resize(flow.index() + 1);
      latencies_[flow.index()] = taken.latency;
    }
    Time arrived = now_;
    drain([&](FlowId flow, Time end) { arrived = std::max(arrived, end + latencies_[flow.index()]); });
    const double reduction = static_cast<double>(most_reduced(step, reduced_)) * options_.gamma.ns_per_byte();
    now_ = arrived + Time::ceil_nanoseconds(reduction);
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
    start(coupled_.links, coupled_.bytes);
    drain([](FlowId, Time) {});
    now_ += coupled_.fixed;
    coupled_.bytes = 0;
    coupled_.fixed = Time{};
  }

  std::span<const NodeId> gpus_;
  const Router& router_;
  const CollectiveOptions& options_;
  FluidNetwork network_;
  std::vector<double> demanded_;
  std::vector<std::int64_t> reduced_;
  Coupler coupler_;
  CoupledFlow coupled_;
  std::unordered_map<std::uint64_t, Route> routes_;
  std::vector<Time> latencies_;
  std::vector<FlowId> ended_;
  Time now_;
  std::size_t flows_ = 0;
};

}  // namespace

std::vector<CoupledFlow> coupled_flows(const CollectiveSchedule& schedule, std::span<const NodeId> gpus,
                                       const Topology& topology, const Router& router,
                                       const CollectiveOptions& options) {
  CONTEND_CHECK(gpus.size() == static_cast<std::size_t>(schedule.ranks), "a GPU for every rank");
  std::vector<CoupledFlow> flows;
  Coupler coupler{gpus, topology, router, options};
  for (const Step& step : schedule.steps) {
    CoupledFlow flow;
    if (coupler.couple(step, flow)) {
      flows.back().bytes += flow.bytes;
      flows.back().fixed += flow.fixed;
    } else {
      flows.push_back(std::move(flow));
    }
  }
  return flows;
}

CollectiveRun run_collective(const CollectiveSchedule& schedule, std::span<const NodeId> gpus, const Topology& topology,
                             const Router& router, const CollectiveOptions& options) {
  CONTEND_CHECK(gpus.size() == static_cast<std::size_t>(schedule.ranks), "a GPU for every rank");
  Runner runner{gpus, topology, router, options};
  runner.run(schedule);
  return runner.result();
}

}  // namespace contend
