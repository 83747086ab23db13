// What an event of a flow (its start or end) costs: random flows on fat-trees, uniform pairs, 1 to 100 MB, ECMP.
// Processor time of fair sharing and of the flows' ends; finding routes and drawing traffic is not counted. Beside it,
// in the same run, our own full recomputation at every event and, where it is installed, SimGrid's CM02, whose ends are
// compared as well. They are slow: they get the first flows only.
//
//   bench_flows [--quick]

#include "network/fluid.hpp"
#include "network/routing.hpp"
#include "network/topologies/topology_spec.hpp"
#include "validate/network/network_simgrid.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

using namespace contend;

namespace {

constexpr double kNic = 12.5e9;
constexpr std::int64_t kSmallest = 1'000'000;
constexpr std::int64_t kLargest = 100'000'000;
constexpr double kHalf = 0.5;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr double kSameNs = 20;  // we round every end up to a nanosecond, and others follow from it

/// `load`: what a host sends on average as a share of its NIC, by a Poisson process; 0: all flows start at once.
FlowCase random_traffic(std::size_t ports, std::size_t flows, double load) {
  TopologySpec spec;
  spec.fabric.kind = "fat-tree";
  spec.fabric.ports = ports;
  spec.server.nic_bandwidth = ByteRate{kNic};
  const std::size_t hosts = ports * ports * ports / 4;
  const Topology topology = build_topology(spec, hosts, 1);
  const auto router = make_ecmp_router(topology, 1);

  FlowCase traffic;
  for (const Link& link : topology.links()) traffic.capacities.push_back(link.bandwidth.bytes_per_second());
  RandomStream random{1, "flows"};
  const double mean_bytes = static_cast<double>(kSmallest + kLargest) / 2;
  const auto last = static_cast<std::int64_t>(hosts) - 1;
  double clock = 0;
  Route route;
  for (std::size_t f = 0; f < flows; ++f) {
    if (load > 0) clock += random.exponential(mean_bytes / (load * static_cast<double>(hosts) * kNic));
    const auto from = static_cast<std::size_t>(random.uniform_integer(0, last));
    auto to = static_cast<std::size_t>(random.uniform_integer(0, last - 1));
    if (to >= from) ++to;
    router->route(topology.gpus()[from], topology.gpus()[to], f, route);
    FlowCase::Flow flow{Time::ceil_nanoseconds(clock * 1e9), random.uniform_integer(kSmallest, kLargest), {}};
    for (const LinkShare& use : route.links) flow.links.push_back(use.link.value());
    traffic.flows.push_back(std::move(flow));
  }
  return traffic;
}

FlowCase first_flows(const FlowCase& traffic, std::size_t count) {
  FlowCase part{traffic.kind, traffic.capacities, {}};
  part.flows.assign(traffic.flows.begin(),
                    traffic.flows.begin() + static_cast<std::ptrdiff_t>(std::min(count, traffic.flows.size())));
  return part;
}

struct Outcome {
  double cpu_s = 0;
  std::size_t events = 0;
  double alive = 0;          ///< on average over the instants at which something happens
  std::vector<double> ends;  ///< s, by flow; -1 if it has not ended
  Time last;
  MaxMinRates::Work work;
  [[nodiscard]] double us_per_event() const { return cpu_s / static_cast<double>(events) * 1e6; }
};

/// To the end, or until `events` flows have started or ended; in full from the event `full_from` on, if not always.
Outcome run(const FlowCase& traffic, bool resolve_all, std::size_t events = kAll, std::size_t full_from = kAll) {
  Outcome outcome;
  outcome.ends.assign(traffic.flows.size(), -1);
  std::vector<std::size_t> who;  // by id
  std::vector<FlowId> ended;
  std::vector<LinkShare> links;
  const std::clock_t begin = std::clock();
  FluidNetwork network{traffic.capacities};
  network.resolve_all(resolve_all);
  std::size_t next = 0;
  std::size_t instants = 0;
  while (outcome.events < events && (next < traffic.flows.size() || network.active() > 0)) {
    if (outcome.events >= full_from) network.resolve_all(true);
    const Time end = network.next_end();
    if (next < traffic.flows.size() && traffic.flows[next].start < end) {
      for (const Time now = traffic.flows[next].start; next < traffic.flows.size(); ++next, ++outcome.events) {
        const FlowCase::Flow& flow = traffic.flows[next];
        if (flow.start != now) break;
        links.clear();
        for (const std::uint32_t link : flow.links) links.push_back({LinkId{link}, 1});
        const FlowId id = network.start({links, static_cast<double>(flow.bytes)}, now);
        who.resize(std::max(who.size(), id.index() + 1));
        who[id.index()] = next;
      }
    } else {
      ended.clear();
      network.finish_due(end, ended);
      for (const FlowId id : ended) outcome.ends[who[id.index()]] = end.to_seconds();
      outcome.events += ended.size();
      outcome.last = end;
    }
    outcome.alive += static_cast<double>(network.active());
    ++instants;
  }
  outcome.cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  outcome.alive /= static_cast<double>(instants);
  outcome.work = network.shares().work();
  return outcome;
}

/// The better of two: other programs on the machine only add time.
Outcome timed(const FlowCase& traffic, bool resolve_all, std::size_t events = kAll) {
  Outcome first = run(traffic, resolve_all, events);
  Outcome second = run(traffic, resolve_all, events);
  return second.cpu_s < first.cpu_s ? second : first;
}

double peak_mebibytes() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void print_row(std::string_view what, const Outcome& outcome) {
  const auto events = static_cast<double>(outcome.events);
  fmt::print("  {:<34}{:>9}{:>8.0f}{:>10.3f}{:>10.1f}{:>8.1f}{:>8.1f}{:>8.1f}\n", what, outcome.events, outcome.alive,
             outcome.cpu_s, outcome.us_per_event(), static_cast<double>(outcome.work.flows) / events,
             static_cast<double>(outcome.work.links) / events, static_cast<double>(outcome.work.scans) / events);
}

bool same_ends(const std::vector<double>& ours, const std::vector<double>& theirs) {
  double largest = 0;
  for (std::size_t f = 0; f < ours.size(); ++f) {
    if (ours[f] >= 0 && theirs[f] >= 0) largest = std::max(largest, std::abs(ours[f] - theirs[f]) * 1e9);
  }
  fmt::print("{:>18.1f}{}\n", largest, largest <= kSameNs ? "" : "  DIFFER");
  return largest <= kSameNs;
}

/// `count` events in full after `warm` incremental ones, so that as many flows are alive as in the long run.
Outcome full_after(const FlowCase& traffic, std::size_t warm, std::size_t count) {
  const Outcome before = run(traffic, false, warm);
  Outcome outcome = run(traffic, false, warm + count, warm);
  outcome.cpu_s -= before.cpu_s;
  outcome.events -= before.events;
  outcome.work = {};  // of the incremental part
  return outcome;
}

/// Ours, in full and SimGrid over the same traffic to the same instant.
bool compare(const FlowCase& traffic, std::size_t events, bool simgrid) {
  const Outcome ours = timed(traffic, false, events);
  const Outcome full = run(traffic, true, events);
  print_row("ours", ours);
  print_row("ours, everything at every event", full);
  fmt::print("  {:<34}{:>9}{:>18}\n", "ours is cheaper than", "times", "largest diff [ns]");
  fmt::print("  {:<34}{:>9.0f}", "everything at every event", full.cpu_s / ours.cpu_s);
  bool same = same_ends(ours.ends, full.ends);
  if (simgrid) {
    const SimGridAnswer theirs = ask_simgrid(std::span{&traffic, 1}, ours.last).front();
    fmt::print("  {:<34}{:>9.0f}", fmt::format("SimGrid CM02, {:.1f} s", theirs.cpu_s), theirs.cpu_s / ours.cpu_s);
    same = same_ends(ours.ends, theirs.completions) && same;
  }
  return same;
}

void print_head(std::string_view what) {
  fmt::print("\n{}\n  {:<34}{:>9}{:>8}{:>10}{:>10}{:>8}{:>8}{:>8}\n", what, "", "events", "alive", "CPU s", "us/event",
             "flows", "links", "scans");
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc == 2 && std::string_view{argv[1]} == "--quick";
  if (argc > 1 && !quick) {
    fmt::print(stderr, "usage: bench_flows [--quick]\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // it takes minutes
  const std::size_t scale = quick ? 10 : 1;
  const std::string missing = simgrid_missing();
  if (!missing.empty()) fmt::print("SimGrid: skipped, {}\n", missing);

  const FlowCase traffic = random_traffic(16, 100'000 / scale, kHalf);
  print_head(fmt::format("{} flows by a Poisson process, half load, 1024 hosts (k = 16)", traffic.flows.size()));
  print_row("ours", timed(traffic, false));
  print_row("ours, everything, of 2000 events", full_after(traffic, traffic.flows.size() / 2, 2'000 / scale));
  fmt::print("  peak memory {:.0f} MiB\n", peak_mebibytes());

  const FlowCase part = first_flows(traffic, 3'000 / scale);
  print_head(fmt::format("the first {} of them", part.flows.size()));
  bool same = compare(part, kAll, missing.empty());

  const FlowCase burst = random_traffic(16, 10'000 / scale, 0);
  print_head(fmt::format("{} flows at once", burst.flows.size()));
  print_row("ours", timed(burst, false));
  print_head("until a twentieth of them has ended");
  same = compare(burst, burst.flows.size() + burst.flows.size() / 20, missing.empty()) && same;

  const FlowCase crowd = random_traffic(8, 10'000 / scale, 0);
  print_head(fmt::format("{} flows at once on 128 hosts (k = 8): almost every end moves a third of all rates",
                         crowd.flows.size()));
  same = compare(crowd, kAll, missing.empty()) && same;

  print_head("half load on more hosts");
  for (const std::size_t ports : {8U, 16U, 32U}) {
    const FlowCase more = random_traffic(ports, 100'000 / scale, kHalf);
    print_row(fmt::format("{} hosts (k = {})", ports * ports * ports / 4, ports), timed(more, false));
  }
  return same ? 0 : 1;
}
