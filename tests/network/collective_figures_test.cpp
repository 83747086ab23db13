// Sums over all algorithms and shapes on a fabric where messages share links, and what `auto` chooses there. The parts
// are tested against closed forms on idle switches; whoever changes one on purpose changes its line.

#include "network/collectives/choice.hpp"
#include "network/collectives/collective_run.hpp"
#include "network/collectives/rank_order.hpp"
#include "network/collectives/stripes.hpp"
#include "tests/network/collectives_kit.hpp"
#include "tests/network/topology_kit.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

TopologySpec fast(TopologySpec made) {
  made.server.nic_bandwidth = ByteRate{10e9};
  return made;
}

std::string sums_of_runs(int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  const Topology topology = build_topology(fast(leaf_spine(2, 2)), (count + 1) / 2, 2);
  const auto router = make_ecmp_router(topology, 3);
  const std::vector<NodeId> gpus{topology.gpus().begin(), topology.gpus().begin() + ranks};
  CollectiveOptions options;
  options.gamma = TimePerByte{0.05};
  options.overhead = Time::nanoseconds(70);
  const CollectiveCosts costs =
      probe_costs(gpus, std::vector<int>{ranks}, topology, *router, {Time::nanoseconds(30), Time::nanoseconds(70)});
  const Bytes bytes{10'007};
  Time exact, steady;
  double closed = 0;
  std::size_t flows = 0, coupled = 0;
  for (const CollectiveCase& each : all_cases(ranks)) {
    const auto schedule = [&](StepForm form) {
      return expand_collective(*each.algorithm, each.kind, each.shape, bytes, form);
    };
    const CollectiveRun one = run_collective(schedule(StepForm::exact), gpus, topology, *router, options);
    const CollectiveRun other = run_collective(schedule(StepForm::steady), gpus, topology, *router, options);
    exact += one.end;
    steady += other.end;
    flows += one.flows + other.flows;
    coupled += coupled_flows(schedule(StepForm::steady), gpus, topology, *router, options).size();
    closed += collective_seconds(*each.algorithm, each.kind, each.shape, bytes, costs);
  }
  return fmt::format("{} ns, {} ns, {} flows, {} coupled, {} ns", exact.ns(), steady.ns(), flows, coupled,
                     std::llround(closed * 1e9));
}

/// The first letters of what is chosen for 1 KiB, 16 KiB, ... 256 MiB, with the number of chunks.
std::string chosen(const TopologySpec& spec, std::size_t servers, std::size_t each, CollectiveKind kind) {
  const Topology topology = build_topology(fast(spec), servers, each);
  const auto router = make_shortest_path_router(topology);
  const std::vector<NodeId> order =
      topological_order(std::vector<NodeId>{topology.gpus().begin(), topology.gpus().end()}, topology);
  CollectiveShape shape;
  shape.ranks = static_cast<int>(order.size());
  shape.groups = level_sizes(order, topology);
  shape.stripes = ring_stripes(order, topology);
  const CollectiveCosts costs = probe_costs(order, shape.groups, topology, *router, {}, shape.stripes);
  std::string text = fmt::format("{} stripes:", shape.stripes.size());
  for (std::int64_t bytes = 1 << 10; bytes <= 1 << 28; bytes *= 16) {
    const CollectivePlan plan = plan_collective(kAutoCollective, kind, shape, Bytes{bytes}, costs);
    const CollectivePlan best =
        choose_on_fabric(kind, shape, Bytes{bytes}, costs, {order, topology, *router, CollectiveOptions{}});
    text += fmt::format(" {}{} {}{} {}", plan.algorithm->name.substr(0, 2), plan.shape.chunks,
                        best.algorithm->name.substr(0, 2), best.shape.chunks, std::llround(best.seconds * 1e9));
  }
  return text;
}

}  // namespace

TEST_CASE("the sums of all algorithms on a leaf-spine: step by step, in steady form, flows, closed forms") {
  const std::pair<int, const char*> lines[] = {{2, "41703 ns, 40609 ns, 268 flows, 48 coupled, 29807 ns"},
                                               {3, "227363 ns, 227341 ns, 503 flows, 81 coupled, 242312 ns"},
                                               {4, "303206 ns, 305461 ns, 1087 flows, 129 coupled, 352281 ns"},
                                               {6, "702388 ns, 705509 ns, 2276 flows, 171 coupled, 832057 ns"},
                                               {8, "891596 ns, 895522 ns, 4396 flows, 226 coupled, 1126016 ns"},
                                               {9, "950111 ns, 953594 ns, 4570 flows, 206 coupled, 1092101 ns"},
                                               {12, "1612496 ns, 1616641 ns, 10042 flows, 339 coupled, 1894107 ns"}};
  for (const auto& line : lines) {
    CAPTURE(line.first);
    CHECK(sums_of_runs(line.first) == line.second);
  }
}

TEST_CASE("what is chosen on fabrics by size, before and after looking at the fabric") {
  struct Fabric {
    std::string name;
    TopologySpec spec;
    std::size_t servers, each;
    std::string all_reduce, gather, broadcast;
  };
  const Fabric fabrics[] = {
      {"leaf-spine", leaf_spine(2, 2), 5, 1,
       "0 stripes: ri1 ri1 15564 ri1 ri1 18022 ri1 ri1 57343 ri1 ri1 686489 ri1 ri1 10752818",
       "0 stripes: ri1 ri1 65282 ri1 ri1 66511 ri1 ri1 86172 ri1 ri1 400744 ri1 ri1 5433909",
       "0 stripes: ri1 ri1 65610 ri1 ri1 71754 ri2 ri2 130736 ri26 ri26 533026 ri412 ri412 6824952"},
      {"rails", rails(2, 2, 4), 4, 8,
       "4 stripes: hi1 hi1 15642 hi1 hi1 16278 hi1 hi1 26450 hi1 hi1 189198 hi1 hi1 2793161",
       "4 stripes: ri1 ri1 158225 ri1 ri1 158597 ri1 ri1 164549 ri1 ri1 259781 ri1 ri1 1783493",
       "4 stripes: ri1 ri1 145794 ri1 ri1 157698 ri1 ri1 348162 ri6 ri6 774146 ri101 ri101 2321055"},
      {"one server", with_server(spec("single-switch"), "hybrid-cube-mesh", 4), 1, 8,
       "0 stripes: do1 do1 4644 do1 do1 6807 ri1 ri1 9175 ri1 ri1 146801 ri1 ri1 2348810",
       "0 stripes: ri1 ri1 23818 ri1 ri1 24087 ri1 ri1 28388 ri1 ri1 97200 ri1 ri1 1198205",
       "0 stripes: ri1 ri1 23943 ri1 ri1 26094 ri2 ri2 44772 ri25 ri25 127819 ri395 ri395 1386365"},
      {"two servers", with_server(spec("single-switch"), "nvswitch", 4), 2, 8,
       "4 stripes: hi1 hi1 3230 hi1 hi1 3673 hi1 hi1 10773 hi1 hi1 124369 hi1 hi1 1941901",
       "4 stripes: ri1 ri1 75424 ri1 ri1 75784 ri1 ri1 81544 ri1 ri1 173704 ri1 ri1 1648264",
       "4 stripes: ri1 ri1 63584 ri1 ri1 69344 ri1 ri1 161504 ri7 ri7 377773 ri108 ri108 1958404"},
      {"ring", spec("ring"), 6, 2,
       "0 stripes: do1 do1 21024 do1 do1 36384 hi1 hi1 66452 hi1 hi1 784212 hi1 hi1 12268379",
       "0 stripes: ri1 ri1 113394 ri1 ri1 114802 ri1 ri1 137330 ri1 ri1 497778 ri1 ri1 6264946",
       "0 stripes: ri1 ri1 102326 ri1 ri1 119222 ri2 ri2 258486 ri27 ri27 675975 ri425 ri425 6969990"},
  };
  for (const Fabric& each : fabrics) {
    CAPTURE(each.name);
    CHECK(chosen(each.spec, each.servers, each.each, CollectiveKind::all_reduce) == each.all_reduce);
    CHECK(chosen(each.spec, each.servers, each.each, CollectiveKind::all_gather) == each.gather);
    CHECK(chosen(each.spec, each.servers, each.each, CollectiveKind::broadcast) == each.broadcast);
  }
}
