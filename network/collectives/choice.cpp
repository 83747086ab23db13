#include "network/collectives/choice.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace contend {

namespace {

/// A candidate whose closed form takes so many times as long as the best one on the fabric is not tried.
constexpr double kHopeless = 2;

/// A pattern in which every rank sends one message, with the slope and the latency that results for all of them.
class Probe {
 public:
  Probe(std::span<const NodeId> order, const Topology& topology, const Router& router, const CollectiveOptions& options)
      : order_{order}, topology_{topology}, router_{router}, options_{options}, load_(topology.links().size(), 0) {}

  /// A message with this part of the bytes of a rank.
  void message(std::size_t from, std::size_t to, double part = 1) {
    if (from == to) return;
    router_.route(order_[from], order_[to], options_.label, route_);
    latency_ = std::max(latency_, route_.latency);
    if (const double most = options_.most_over(route_.latency); most > 0) beta_ = std::max(beta_, part / most);
    for (const LinkShare& use : route_.links) {
      double& load = load_[use.link.index()];
      load += use.share * part;
      beta_ = std::max(beta_, load / topology_.links()[use.link.index()].bandwidth.bytes_per_second());
    }
  }
  [[nodiscard]] LinkCost cost(Time overhead) const { return {(latency_ + overhead).to_seconds(), beta_}; }

 private:
  std::span<const NodeId> order_;
  const Topology& topology_;
  const Router& router_;
  const CollectiveOptions& options_;
  std::vector<double> load_;
  Route route_;
  Time latency_;
  double beta_ = 0;
};

}  // namespace

int best_chunks(const CollectiveAlgorithm& algorithm, CollectiveKind kind, const CollectiveShape& shape, Bytes bytes,
                const LinkCost& cost) {
  if (algorithm.best_chunks == nullptr || shape.ranks < 2) return 1;
  const double size = bytes.to_double();
  const double best = algorithm.best_chunks(kind, shape, size, cost);
  if (std::isnan(best)) return 1;  // nothing takes any time
  return static_cast<int>(std::clamp(std::round(best), 1.0, std::clamp(size, 1.0, double{kMostChunks})));
}

CollectiveCosts probe_costs(std::span<const NodeId> order, std::span<const int> levels, const Topology& topology,
                            const Router& router, const StepOverhead& overhead,
                            std::span<const std::vector<int>> stripes, const CollectiveOptions& options) {
  CONTEND_CHECK(order.size() >= 2, "a collective has at least 2 ranks");
  const std::size_t n = order.size();
  const auto server_of = [&](std::size_t rank) { return topology.nodes()[order[rank].index()].server; };
  bool one_server = true;
  for (std::size_t rank = 1; rank < n; ++rank) one_server = one_server && server_of(rank) == server_of(0);

  Probe ring{order, topology, router, options};
  Probe both_ways{order, topology, router, options};
  const auto go_round = [&](const auto& rank_at, double part) {
    for (std::size_t place = 0; place < n; ++place) {
      const std::size_t rank = rank_at(place);
      const std::size_t next = rank_at((place + 1) % n);
      ring.message(rank, next, part);
      both_ways.message(rank, next, part);
      both_ways.message(next, rank, part);
    }
  };
  if (stripes.empty()) go_round([](std::size_t place) { return place; }, 1);
  for (const std::vector<int>& stripe : stripes) {
    go_round([&](std::size_t place) { return static_cast<std::size_t>(stripe[place]); },
             1 / static_cast<double>(stripes.size()));
  }
  const Time flat_overhead = one_server ? overhead.inside : overhead.between;
  CollectiveCosts costs;
  costs.flat = ring.cost(flat_overhead);
  costs.two_ports = n > 2 && both_ways.cost(flat_overhead).beta < 1.5 * costs.flat.beta;
  if (levels.size() < 2) return costs;

  std::size_t stride = 1;
  for (const int level : levels) {
    const auto size = static_cast<std::size_t>(level);
    Probe all{order, topology, router, options};
    Probe leaders{order, topology, router, options};
    bool inside = true;
    for (std::size_t rank = 0; rank < n; ++rank) {
      const bool wraps = rank / stride % size + 1 == size;
      const std::size_t next = wraps ? rank - (size - 1) * stride : rank + stride;
      inside = inside && server_of(rank) == server_of(next);
      all.message(rank, next);
      if (rank % stride == 0) leaders.message(rank, next);
    }
    const Time level_overhead = inside ? overhead.inside : overhead.between;
    costs.levels.push_back(all.cost(level_overhead));
    costs.leaders.push_back(leaders.cost(level_overhead));
    stride *= size;
  }
  CONTEND_CHECK(stride == n, "the sizes of the levels multiply to the number of ranks");
  return costs;
}

std::span<const std::string_view> auto_candidates(CollectiveKind kind) {
  static constexpr std::string_view kAllReducers[] = {"ring", "double-binary-tree", "hierarchical"};
  static constexpr std::string_view kRing[] = {"ring"};
  static constexpr std::string_view kPairwise[] = {"pairwise"};
  static constexpr std::string_view kSwap[] = {"swap"};
  switch (kind) {
    case CollectiveKind::all_reduce:
      return kAllReducers;
    case CollectiveKind::all_to_all:
      return kPairwise;
    case CollectiveKind::exchange:
      return kSwap;
    default:
      return kRing;
  }
}

namespace {

CollectivePlan plan_with(const CollectiveAlgorithm& algorithm, CollectiveKind kind, const CollectiveShape& shape,
                         Bytes bytes, const CollectiveCosts& costs) {
  CollectivePlan plan{&algorithm, shape, 0};
  plan.shape.chunks = best_chunks(algorithm, kind, shape, bytes, costs.flat);
  plan.seconds = collective_seconds(algorithm, kind, plan.shape, bytes, costs);
  return plan;
}

/// The plans of the candidates that accept the shape, by rising time; of equals the first stays first.
std::vector<CollectivePlan> plans_of(CollectiveKind kind, const CollectiveShape& shape, Bytes bytes,
                                     const CollectiveCosts& costs, std::span<const std::string_view> candidates) {
  std::vector<CollectivePlan> plans;
  std::string tried;
  for (const std::string_view each : candidates.empty() ? auto_candidates(kind) : candidates) {
    const CollectiveAlgorithm& algorithm = find_collective_algorithm(each, kind);
    tried += (tried.empty() ? "" : ", ") + std::string{each};
    if (algorithm.refusal(kind, shape).empty()) plans.push_back(plan_with(algorithm, kind, shape, bytes, costs));
  }
  if (plans.empty()) {
    throw InputError{"no algorithm for " + std::string{name_of(kind)} + " among " + tried + " takes " +
                     std::to_string(shape.ranks) + " ranks in these groups"};
  }
  std::ranges::stable_sort(plans, {}, &CollectivePlan::seconds);
  return plans;
}

}  // namespace

CollectivePlan plan_collective(std::string_view name, CollectiveKind kind, const CollectiveShape& shape, Bytes bytes,
                               const CollectiveCosts& costs, std::span<const std::string_view> candidates) {
  if (name != kAutoCollective) return plan_with(find_collective_algorithm(name, kind), kind, shape, bytes, costs);
  return plans_of(kind, shape, bytes, costs, candidates).front();
}

double seconds_on(const IdleFabric& fabric, const CollectiveSchedule& schedule) {
  double seconds = 0;
  for (const CoupledFlow& flow :
       coupled_flows(schedule, fabric.order, fabric.topology, fabric.router, fabric.options)) {
    double slowest = flow.cap > 0 ? 1 / flow.cap : 0;  // seconds per byte of the flow
    for (const LinkShare& use : flow.links) {
      const double bandwidth = fabric.topology.links()[use.link.index()].bandwidth.bytes_per_second();
      slowest = std::max(slowest, use.share / bandwidth);
    }
    seconds += flow.fixed.to_seconds() + flow.bytes * slowest;
  }
  return seconds;
}

CollectivePlan choose_on_fabric(CollectiveKind kind, const CollectiveShape& shape, Bytes bytes,
                                const CollectiveCosts& costs, const IdleFabric& fabric,
                                std::span<const std::string_view> candidates) {
  CollectivePlan best;
  std::vector<CollectivePlan> plans = plans_of(kind, shape, bytes, costs, candidates);
  if (plans.size() == 1) return plans.front();
  for (CollectivePlan& plan : plans) {
    if (best.algorithm != nullptr && plan.seconds >= kHopeless * best.seconds) break;
    plan.seconds = seconds_on(fabric, expand_collective(*plan.algorithm, kind, plan.shape, bytes, StepForm::steady));
    if (best.algorithm == nullptr || plan.seconds < best.seconds) best = plan;
  }
  return best;
}

}  // namespace contend
