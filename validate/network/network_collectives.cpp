#include "validate/network/network_collectives.hpp"

#include "network/collectives/collective_run.hpp"
#include "network/topologies/topology_spec.hpp"
#include "validate/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr double kMeasuredTolerance = 0.05;
constexpr double kClosedFormNs = 1;
constexpr int kMostRanks = 64;

constexpr ShapedLinkTime kNcclAllReduce[] = {
    {4, 1, 5, 128, 329},   {4, 1, 5, 256, 655},   {4, 5, 2, 128, 835},   {4, 5, 2, 256, 1650},
    {4, 10, 1, 128, 1669}, {4, 10, 1, 256, 3298}, {8, 1, 5, 128, 383},   {8, 1, 5, 256, 763},
    {8, 5, 2, 128, 970},   {8, 5, 2, 256, 1921},  {8, 10, 1, 128, 1940}, {8, 10, 1, 256, 3841},
};
constexpr ShapedLinkTime kNcclPointToPoint[] = {
    {2, 0, 5, 64, 109}, {2, 0, 2, 64, 270}, {2, 0, 1, 64, 541},
    {2, 1, 5, 64, 110}, {2, 5, 2, 64, 275}, {2, 10, 1, 64, 543},
};

/// Servers of one GPU on one switch, where only the cables take time.
TopologySpec bare_switch(ByteRate bandwidth, Time cable_latency) {
  TopologySpec spec;
  spec.server.nic_bandwidth = bandwidth;
  spec.server.pcie_bandwidth = ByteRate{1e15};
  spec.server.pcie_latency = Time{};
  spec.fabric.link_latency = cable_latency;
  return spec;
}

CollectiveRun run_alone(const CollectiveSchedule& schedule, const Topology& topology,
                        const CollectiveOptions& options) {
  const auto router = make_shortest_path_router(topology);
  return run_collective(schedule, topology.gpus(), topology, *router, options);
}

/// The shapes to try: the plain one, and chunks, servers and groups of every divisor if the algorithm has them.
std::vector<CollectiveShape> shapes_of(const CollectiveAlgorithm& algorithm, CollectiveKind kind, int ranks) {
  CollectiveShape plain;
  plain.ranks = ranks;
  std::vector<CollectiveShape> shapes{plain};
  if (algorithm.best_chunks != nullptr) {
    shapes.push_back(plain);
    shapes.back().chunks = 7;
  }
  if (algorithm.name == "parameter-server") {
    shapes.push_back(plain);
    shapes.back().servers = 1;
  }
  if (algorithm.name.starts_with("hierarchical")) {
    for (int inner = 1; inner <= ranks; ++inner) {
      if (ranks % inner != 0) continue;
      shapes.push_back(plain);
      shapes.back().groups = {inner, ranks / inner};
    }
  }
  const auto refused = [&](const CollectiveShape& shape) { return !algorithm.refusal(kind, shape).empty(); };
  shapes.erase(std::remove_if(shapes.begin(), shapes.end(), refused), shapes.end());
  return shapes;
}

/// The difference in ns of a run on cables of 500 ns and 1 byte/ns with gamma = 0.5 ns/byte from the closed form.
double difference_ns(const CollectiveAlgorithm& algorithm, CollectiveKind kind, const CollectiveShape& shape,
                     const Topology& topology) {
  CollectiveCosts costs;
  costs.flat = {1000e-9, 1e-9};
  costs.gamma = 0.5e-9;
  CollectiveOptions options;
  options.gamma = TimePerByte{0.5};
  const std::int64_t ranks = shape.ranks;
  const Bytes bytes{128 * ranks * ranks * shape.chunks};
  const double closed = collective_seconds(algorithm, kind, shape, bytes, costs) * 1e9;
  const CollectiveRun run = run_alone(expand_collective(algorithm, kind, shape, bytes), topology, options);
  return static_cast<double>(run.end.ns()) - closed;
}

bool hold_closed_forms(std::FILE* out) {
  fmt::print(out,
             "Collectives as flows on an idle switch against their closed forms, 2 to {} ranks. Held: within {} ns\n",
             kMostRanks, kClosedFormNs);
  fmt::print(out, "  {:<24}{:<16}{:>8}{:>20}  verdict\n", "algorithm", "collective", "runs", "largest diff [ns]");
  bool all_hold = true;
  for (const ClosedFormResult& each : compare_closed_forms(kMostRanks)) {
    const bool holds = each.shapes > 0 && each.largest_difference_ns <= kClosedFormNs;
    fmt::print(out, "  {:<24}{:<16}{:>8}{:>20.3f}  {}\n", each.algorithm->name, name_of(each.kind), each.shapes,
               each.largest_difference_ns, word(holds));
    all_hold = all_hold && holds;
  }
  return all_hold;
}

bool hold_measured(std::FILE* out, const char* what, std::span<const ShapedLinkTime> cells) {
  fmt::print(out, "\n{} [ms] against {}.\nHeld: within {:.0f}%; nothing is fitted\n", what,
             published::kShapedLinksSource, 100 * kMeasuredTolerance);
  fmt::print(out, "  {:>5}{:>10}{:>6}{:>6}{:>10}{:>11}{:>8}{:>15}  verdict\n", "nodes", "delay ms", "Gbps", "MiB",
             "measured", "simulated", "diff", "without delay");
  bool all_hold = true;
  for (const ShapedLinkTime& cell : cells) {
    const Comparison ours{"", cell.milliseconds, simulate_shaped_links(cell, true)};
    const Comparison bare{"", cell.milliseconds, simulate_shaped_links(cell, false)};
    const bool holds = within(ours, kMeasuredTolerance);
    fmt::print(out, "  {:>5}{:>10}{:>6}{:>6}{:>10.0f}{:>11.1f}{:>+7.1f}%{:>+14.1f}%  {}\n", cell.nodes, cell.delay_ms,
               cell.gbps, cell.mebibytes, cell.milliseconds, ours.ours, 100 * ours.deviation(), 100 * bare.deviation(),
               word(holds));
    all_hold = all_hold && holds;
  }
  return all_hold;
}

}  // namespace

std::span<const ShapedLinkTime> published::nccl_all_reduce() {
  return kNcclAllReduce;
}

std::span<const ShapedLinkTime> published::nccl_point_to_point() {
  return kNcclPointToPoint;
}

double simulate_shaped_links(const ShapedLinkTime& cell, bool with_delay) {
  const double delay_ns = with_delay ? cell.delay_ms * 1e6 : 0;
  const Topology topology =
      build_topology(bare_switch(ByteRate{cell.gbps * 1e9 / 8}, Time::ceil_nanoseconds(delay_ns / 2)),
                     static_cast<std::size_t>(cell.nodes), 1);
  const Bytes bytes = Bytes::mebibytes(cell.mebibytes);
  CollectiveSchedule schedule = point_to_point(bytes);
  if (cell.nodes > 2) {
    CollectiveShape shape;
    shape.ranks = cell.nodes;
    const CollectiveAlgorithm& ring = find_collective_algorithm("ring", CollectiveKind::all_reduce);
    schedule = expand_collective(ring, CollectiveKind::all_reduce, shape, bytes);
  }
  return run_alone(schedule, topology, {}).end.to_seconds() * 1e3;
}

std::vector<ClosedFormResult> compare_closed_forms(int most_ranks) {
  std::vector<ClosedFormResult> results;
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
    for (const CollectiveKind kind : algorithm.kinds) results.push_back({&algorithm, kind, 0, 0});
  }
  for (int ranks = 2; ranks <= most_ranks; ++ranks) {
    const Topology topology =
        build_topology(bare_switch(ByteRate{1e9}, Time::nanoseconds(500)), static_cast<std::size_t>(ranks), 1);
    for (ClosedFormResult& result : results) {
      for (const CollectiveShape& shape : shapes_of(*result.algorithm, result.kind, ranks)) {
        const double difference = std::abs(difference_ns(*result.algorithm, result.kind, shape, topology));
        result.largest_difference_ns = std::max(result.largest_difference_ns, difference);
        ++result.shapes;
      }
    }
  }
  return results;
}

bool hold_collectives(std::FILE* out) {
  const bool closed_forms = hold_closed_forms(out);
  const bool all_reduce = hold_measured(out, "Ring all-reduce", published::nccl_all_reduce());
  const bool message = hold_measured(out, "One message", published::nccl_point_to_point());
  return closed_forms && all_reduce && message;
}

}  // namespace contend
