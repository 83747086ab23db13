// What a flow event costs: random flows on fat-trees, against our own full recomputation and, where it is installed,
// SimGrid's CM02, in one run.
//
//   bench_flows [--quick] [--flows n] [--prefix n]

#include "network/fluid.hpp"
#include "network/routing.hpp"
#include "network/topologies/spec.hpp"
#include "sim/random.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

using namespace contend;

namespace {

constexpr double kNic = 12.5e9;
constexpr double kSmallest = 1e6;
constexpr double kLargest = 100e6;
constexpr double kLoad = 0.5;

struct Options {
  std::size_t flows = 100'000;
  std::size_t prefix = 5'000;
  int repetitions = 3;
};

struct Traffic {
  std::vector<double> capacities;
  struct One {
    Time start;
    double bytes;
    std::vector<LinkShare> links;
  };
  std::vector<One> flows;
};

/// Uniform pairs, 1 to 100 MB, ECMP on a fat-tree of k-port switches; `load`: what a host sends on average as a share
/// of its NIC, by a Poisson process; 0: all flows start at once.
Traffic random_traffic(std::size_t ports, std::size_t flows, double load) {
  TopologySpec spec;
  spec.fabric.kind = "fat-tree";
  spec.fabric.ports = ports;
  spec.server.nic_bandwidth = ByteRate{kNic};
  const std::size_t hosts = ports * ports * ports / 4;
  const Topology topology = build_topology(spec, hosts, 1);
  const auto router = make_ecmp_router(topology, 1);

  Traffic traffic;
  for (const Link& link : topology.links()) traffic.capacities.push_back(link.bandwidth.bytes_per_second());
  RandomStream random{1, "flows"};
  double clock = 0;
  Route route;
  const auto last = static_cast<std::int64_t>(hosts) - 1;
  for (std::size_t f = 0; f < flows; ++f) {
    if (load > 0) clock += random.exponential((kSmallest + kLargest) / 2 / (load * static_cast<double>(hosts) * kNic));
    const auto from = random.uniform_integer(0, last);
    auto to = random.uniform_integer(0, last - 1);
    if (to >= from) ++to;
    router->route(topology.gpus()[static_cast<std::size_t>(from)], topology.gpus()[static_cast<std::size_t>(to)], f,
                  route);
    const double bytes = random.uniform(kSmallest, kLargest);
    traffic.flows.push_back({Time::ceil_nanoseconds(clock * 1e9), bytes, route.links});
  }
  return traffic;
}

struct Outcome {
  double cpu_s = 0;
  std::size_t events = 0;  ///< starts and ends
  double alive = 0;        ///< on average over the events
  FairShare::Work work;
  Time end;
  [[nodiscard]] double us_per_event() const { return cpu_s / static_cast<double>(events) * 1e6; }
};

/// The first `flows` flows of the traffic, until the last has ended or `events` have happened.
Outcome run(const Traffic& traffic, std::size_t flows, bool resolve_all, std::size_t events = SIZE_MAX) {
  Outcome outcome;
  const std::clock_t begin = std::clock();
  FluidNetwork network{traffic.capacities};
  network.resolve_all(resolve_all);
  std::vector<FlowId> ended;
  std::size_t next = 0;
  while (outcome.events < events && (next < flows || network.active() > 0)) {
    const Time end = network.next_end();
    if (next < flows && traffic.flows[next].start < end) {
      const Time now = traffic.flows[next].start;
      for (; next < flows && traffic.flows[next].start == now; ++next, ++outcome.events)
        network.start({traffic.flows[next].links, traffic.flows[next].bytes}, now);
    } else {
      ended.clear();
      network.finish_due(end, ended);
      outcome.events += ended.size();
      outcome.end = end;
    }
    outcome.alive += static_cast<double>(network.active());
  }
  outcome.cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  outcome.alive /= static_cast<double>(outcome.events);
  outcome.work = network.shares().work();
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? static_cast<std::size_t>(std::atoll(argv[1])) : 100000;
  const Traffic traffic = random_traffic(16, n, kLoad);
  const Outcome ours = run(traffic, n, false);
  const auto e = static_cast<double>(ours.events);
  fmt::print("{} events, alive {:.0f}, cpu {:.2f} s, {:.2f} us/event, flows {:.1f} links {:.1f} end {}\n", ours.events,
             ours.alive, ours.cpu_s, ours.us_per_event(), static_cast<double>(ours.work.flows) / e, static_cast<double>(ours.work.links) / e, ours.end.ns());
  if (argc > 2) {
    const Outcome all = run(traffic, n, true, 3000);
    fmt::print("all: alive {:.0f}, cpu {:.2f} s, {:.2f} us/event\n", all.alive, all.cpu_s, all.us_per_event());
    std::ofstream file{"/tmp/nv/flows.txt"};
    file << traffic.capacities.size() << ' ' << n << '\n';
    file.precision(17);
    for (double c : traffic.capacities) file << c << '\n';
    for (const auto& f : traffic.flows) {
      file << f.start.to_seconds() << ' ' << f.bytes;
      for (const auto& l : f.links) file << ' ' << l.link.value();
      file << '\n';
    }
  }
  return 0;
}
