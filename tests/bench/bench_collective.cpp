// What one ring all-reduce costs to simulate, and what a bad rank order costs the ring.
//
// The ring runs step by step, every message a flow, and in steady form, one coupled flow, which on these fabrics has to
// end at the same nanosecond: a difference ends with exit status 1. Sizes take turns within one run; each is measured
// in a child process of its own, so that its peak memory is its own, and beside it stands the memory before the
// collective. Then the time of a ring all-reduce in topological, alternating and random orders.

#include "network/collectives/algorithm.hpp"
#include "network/collectives/collective_run.hpp"
#include "network/collectives/rank_order.hpp"
#include "network/topologies/topology_spec.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace contend;

/// CPU time of the process: it has one thread, and others may be busy on the machine.
double now_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct Fabric {
  std::string name;
  TopologySpec spec;
  std::size_t servers = 0;
  std::size_t gpus_per_server = 1;
};

Fabric fat_tree(std::size_t ports) {
  Fabric fabric{fmt::format("fat-tree k={}", ports), {}, ports * ports * ports / 4, 1};
  fabric.spec.fabric.kind = "fat-tree";
  fabric.spec.fabric.ports = ports;
  return fabric;
}

Fabric one_switch(std::size_t servers) {
  return {fmt::format("one switch, {}", servers), {}, servers, 1};
}

Fabric leaf_spine(std::size_t leaves, std::size_t servers_per_leaf, std::size_t spines, std::size_t gpus) {
  Fabric fabric{
      fmt::format("leaf-spine {}x{}x{}", leaves, servers_per_leaf, gpus), {}, leaves * servers_per_leaf, gpus};
  fabric.spec.fabric.kind = "leaf-spine";
  fabric.spec.fabric.servers_per_leaf = servers_per_leaf;
  fabric.spec.fabric.spines = spines;
  if (gpus > 1) fabric.spec.server.kind = "nvswitch";
  return fabric;
}

struct Measured {
  std::int64_t end_ns = 0;
  std::uint64_t flows = 0;
  double milliseconds = 0;  ///< of expansion, routing and running; the topology was there
  double first_milliseconds = 0;
  double before_mib = 0;
  double peak_mib = 0;
};

CollectiveSchedule ring_schedule(std::size_t ranks, std::int64_t bytes, StepForm form) {
  CollectiveShape shape;
  shape.ranks = static_cast<int>(ranks);
  const CollectiveAlgorithm& ring = find_collective_algorithm("ring", CollectiveKind::all_reduce);
  return expand_collective(ring, CollectiveKind::all_reduce, shape, Bytes{bytes}, form);
}

Measured measure_here(const Fabric& fabric, StepForm form, int repetitions) {
  const Topology topology = build_topology(fabric.spec, fabric.servers, fabric.gpus_per_server);
  const auto router = make_shortest_path_router(topology);
  const std::vector<NodeId> order = topological_order(topology.gpus(), topology);
  Measured measured;
  measured.before_mib = peak_mib();
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const double start = now_ms();
    const auto per_rank = std::int64_t{65'000};
    const CollectiveSchedule schedule =
        ring_schedule(order.size(), per_rank * static_cast<std::int64_t>(order.size()), form);
    const CollectiveRun run = run_collective(schedule, order, topology, *router);
    times.push_back(now_ms() - start);
    measured.end_ns = run.end.ns();
    measured.flows = run.flows;
  }
  measured.first_milliseconds = times.front();
  std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
  measured.milliseconds = times[static_cast<std::size_t>(repetitions / 2)];
  measured.peak_mib = peak_mib();
  return measured;
}

/// In a child process. False if it failed.
bool measure(const Fabric& fabric, StepForm form, int repetitions, Measured& measured) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    const Measured result = measure_here(fabric, form, repetitions);
    const bool written = write(ends[1], &result, sizeof result) == static_cast<ssize_t>(sizeof result);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  const bool got = read(ends[0], &measured, sizeof measured) == static_cast<ssize_t>(sizeof measured);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return got && status == 0;
}

bool print_costs(bool quick) {
  std::vector<Fabric> fabrics{leaf_spine(4, 16, 4, 1),    leaf_spine(16, 16, 8, 1),  fat_tree(16),
                              leaf_spine(256, 64, 64, 1), leaf_spine(64, 32, 16, 8), one_switch(16'384),
                              one_switch(100'000)};
  const std::size_t most_by_step = quick ? 256 : 1024;
  fmt::print("one ring all-reduce of 65,000 bytes x ranks: CPU milliseconds (median; first, with cold routes), MiB\n");
  fmt::print("{:<22} {:>6} {:<13} {:>9} {:>11} {:>9} {:>13} {:>14} {:>10}\n", "fabric", "ranks", "form", "flows", "ms",
             "first ms", "MiB with it", "MiB before it", "end");
  bool right = true;
  for (const Fabric& fabric : fabrics) {
    const std::size_t ranks = fabric.servers * fabric.gpus_per_server;
    Measured by_step, steady;
    const bool stepped = ranks <= most_by_step;
    if (stepped && !measure(fabric, StepForm::exact, 1, by_step)) return false;
    if (!measure(fabric, StepForm::steady, 9, steady)) return false;
    const bool equal = !stepped || by_step.end_ns == steady.end_ns;
    right = right && equal;
    const auto line = [&](const char* form, const Measured& each, std::string_view verdict) {
      fmt::print("{:<22} {:>6} {:<13} {:>9} {:>11.3f} {:>9.3f} {:>13.1f} {:>14.1f} {:>10}\n", fabric.name, ranks, form,
                 each.flows, each.milliseconds, each.first_milliseconds, each.peak_mib, each.before_mib, verdict);
    };
    if (stepped) line("step by step", by_step, fmt::format("{} ns", by_step.end_ns));
    line("steady", steady, !stepped ? fmt::format("{} ns", steady.end_ns) : equal ? "equal" : "DIFFERS");
    if (stepped) fmt::print("{:>29} {:.0f} times faster\n", "", by_step.milliseconds / steady.milliseconds);
  }
  return right;
}

double ring_ms(const std::vector<NodeId>& order, const Topology& topology, const Router& router) {
  const std::int64_t bytes = Bytes::mebibytes(1024).count();
  const CollectiveSchedule schedule = ring_schedule(order.size(), bytes, StepForm::exact);
  return run_collective(schedule, order, topology, router).end.to_seconds() * 1e3;
}

/// One GPU of each server in turn.
std::vector<NodeId> alternating(const Topology& topology) {
  std::vector<NodeId> order;
  const std::size_t per_server = topology.gpus_of(ServerId{0U}).size();
  for (std::size_t i = 0; i < per_server; ++i) {
    for (std::size_t server = 0; server < topology.servers(); ++server) {
      order.push_back(topology.gpus_of(ServerId{server})[i]);
    }
  }
  return order;
}

void print_orders() {
  Fabric two = leaf_spine(1, 2, 1, 8);
  two.name = "2 servers x 8, 1 NIC";
  Fabric core = leaf_spine(4, 4, 1, 8);
  core.name = "4 leaves x 4 x 8, 4:1";
  core.spec.fabric.oversubscription = 4;
  constexpr int kRandom = 20;
  fmt::print("\nwhat an order costs: ring all-reduce of 1 GiB, milliseconds, and relative to the topological order\n");
  fmt::print("{:<22} {:>12} {:>21} {:>30}\n", "fabric", "topological", "alternating servers",
             fmt::format("{} random orders: mean, worst", kRandom));
  for (const Fabric& fabric : {two, core}) {
    const Topology topology = build_topology(fabric.spec, fabric.servers, fabric.gpus_per_server);
    const auto router = make_shortest_path_router(topology);
    const double good = ring_ms(topological_order(topology.gpus(), topology), topology, *router);
    const double turns = ring_ms(alternating(topology), topology, *router);
    double sum = 0;
    double worst = 0;
    for (std::uint64_t seed = 0; seed < kRandom; ++seed) {
      RandomStream random{seed, "rank-order"};
      std::vector<NodeId> order{topology.gpus().begin(), topology.gpus().end()};
      random.shuffle(std::span{order});
      const double time = ring_ms(order, topology, *router);
      sum += time;
      worst = std::max(worst, time);
    }
    fmt::print("{:<22} {:>12.1f} {:>12.1f} ({:>5.2f}x) {:>11.1f} ({:>5.2f}x) {:>5.2f}x\n", fabric.name, good, turns,
               turns / good, sum / kRandom, sum / kRandom / good, worst / good);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc == 2 && std::string_view{argv[1]} == "--quick";
  if (argc > 1 && !quick) {
    fmt::print(stderr, "usage: bench_collective [--quick]\n");
    return 2;
  }
  const bool right = print_costs(quick);
  print_orders();
  return right ? 0 : 1;
}
