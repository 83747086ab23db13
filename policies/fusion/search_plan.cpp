#include "models/overlap/bound.hpp"
#include "models/overlap/steady_state.hpp"
#include "policies/fusion/dear.hpp"
#include "policies/fusion/merging.hpp"
#include "policies/fusion/partition.hpp"
#include "policies/fusion/search.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace contend {

namespace {

/// Ways to turn one grouping of gradients into a schedule.
enum class Family : std::uint8_t { barrier, two_at_once, four_at_once, crossing, halves, pieces };

std::vector<Family> families(const OverlapProblem& problem) {
  std::vector<Family> all{Family::barrier, Family::two_at_once, Family::four_at_once, Family::crossing};
  if (problem.method != nullptr) return all;
  if (problem.cost.kind() == ExchangeKind::all_reduce) all.push_back(Family::halves);
  all.push_back(Family::pieces);
  return all;
}

/// Pieces of a gradient that the search tries, at most.
constexpr std::int64_t kMostPieces = 1024;

/// No schedule is faster. Without a method the bound covers the exchange, too.
double floor_ns(const OverlapProblem& problem) {
  const Time least = problem.method != nullptr ? problem.compute() : iteration_bound(problem).value();
  return static_cast<double>(least.ns());
}

/// The merges from which the search sets out.
MergePlan first_plan(const OverlapProblem& problem) {
  if (problem.method != nullptr) return optimal_stream_merge(problem);
  return optimal_merge(problem, serial_cost(problem.cost));
}

/// cuts[i] is true if a group ends with gradient i.
using Cuts = std::vector<bool>;

Cuts cuts_of(const MergePlan& plan, std::size_t gradients) {
  Cuts cuts(gradients, false);
  for (const GradientGroup& group : plan) cuts[group.last] = true;
  return cuts;
}

MergePlan plan_of(const Cuts& cuts) {
  MergePlan plan;
  std::size_t first = 0;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (!cuts[i]) continue;
    plan.push_back({first, i});
    first = i + 1;
  }
  return plan;
}

class Search {
 public:
  Search(const OverlapProblem& problem, std::int64_t evaluations, double floor_ns)
      : problem_{problem}, left_{evaluations}, floor_{floor_ns} {}

  void offer(FusedIteration graph) {
    const double time = steady_state(graph.graph, problem_.cost).iteration_ns;
    if (best_.graph.ops().empty() || time < best_time_) {
      best_time_ = time;
      best_ = std::move(graph);
    }
  }

  void climb(Family family, const Cuts& start) {
    Cuts cuts = start;
    double time = evaluate(family, cuts);
    if (family == Family::pieces) choose_piece(cuts, time);
    // The search moves the ends of groups in coarse steps first, then in fine ones.
    for (std::size_t step = std::max<std::size_t>(1, cuts.size() / 8); !done(); step /= 2) {
      bool improved = true;
      while (improved && !done()) {
        improved = false;
        for (std::size_t i = 0; i + 1 < cuts.size() && !done(); ++i)
          improved = move(family, cuts, i, step, time) || improved;
      }
      if (step == 1) return;
    }
  }

  [[nodiscard]] bool done() const { return left_ <= 0 || best_time_ <= floor_; }
  FusedIteration take() { return std::move(best_); }

 private:
  /// Halves the pieces, of merged gradients and of single ones, and keeps the best size.
  void choose_piece(Cuts& cuts, double& time) {
    const Cuts merged = cuts, single(cuts.size(), true);
    Bytes best = piece_;
    const Bytes least{std::max<std::int64_t>(1, problem_.gradient().count() / kMostPieces)};
    for (Bytes size = problem_.gradient(); size > least && !done(); size = Bytes{(size.count() + 1) / 2}) {
      piece_ = size;
      for (const Cuts& each : {merged, single}) {
        const double now = evaluate(Family::pieces, each);
        if (now >= time) continue;
        time = now;
        best = size;
        cuts = each;
      }
    }
    piece_ = best;
  }

  /// Toggles a cut or moves it by `step`, and keeps the change if it is an improvement.
  bool move(Family family, Cuts& cuts, std::size_t i, std::size_t step, double& time) {
    bool improved = false;
    const auto attempt = [&](const Cuts& changed) {
      const double now = evaluate(family, changed);
      if (now >= time) return;
      time = now;
      cuts = changed;
      improved = true;
    };
    if (!cuts[i] && i % step != 0) return false;
    Cuts changed = cuts;
    changed[i] = !changed[i];
    attempt(changed);
    for (const bool up : {true, false}) {
      if (!cuts[i] || (up ? i + step + 1 >= cuts.size() : i < step)) continue;
      changed = cuts;
      changed[i] = false;
      changed[up ? i + step : i - step] = true;
      attempt(changed);
    }
    return improved;
  }

  double evaluate(Family family, const Cuts& cuts) {
    --left_;
    FusedIteration graph = graph_of(family, plan_of(cuts));
    const double time = steady_state(graph.graph, problem_.cost).iteration_ns;
    if (time < best_time_) {
      best_time_ = time;
      best_ = std::move(graph);
    }
    return time;
  }

  [[nodiscard]] FusedIteration graph_of(Family family, const MergePlan& plan) const {
    switch (family) {
      case Family::barrier:
        return barrier_graph(problem_, plan, 1);
      case Family::two_at_once:
        return barrier_graph(problem_, plan, 2);
      case Family::four_at_once:
        return barrier_graph(problem_, plan, 4);
      case Family::crossing:
        return crossing_graph(problem_, plan);
      case Family::pieces:
        return partitioned_graph(problem_, plan, piece_, Bytes{1});
      case Family::halves:
        break;
    }
    LayerGroups groups;  // of layers, in forward order
    for (auto group = plan.rbegin(); group != plan.rend(); ++group) {
      const std::size_t low = problem_.gradients[group->last].layer;
      const std::size_t high = problem_.gradients[group->first].layer;
      if (!groups.empty() && low <= groups.back().second) {
        groups.back().second = std::max(groups.back().second, high);  // a layer is not cut in two
      } else {
        groups.emplace_back(low, high);
      }
    }
    return dear_graph(problem_, groups);
  }

  const OverlapProblem& problem_;
  std::int64_t left_;
  double floor_;
  Bytes piece_ = problem_.gradient();
  double best_time_ = std::numeric_limits<double>::infinity();
  FusedIteration best_;
};

}  // namespace

FusedIteration search_plan(const OverlapProblem& problem, std::vector<FusedIteration> candidates,
                           std::int64_t evaluations) {
  const double floor = floor_ns(problem);
  Search best{problem, evaluations, floor};
  for (FusedIteration& graph : candidates) best.offer(std::move(graph));
  const Cuts start = cuts_of(first_plan(problem), problem.gradients.size());
  const std::vector<Family> all = families(problem);
  // Pieces have a share of their own, so that they take no trial from the others.
  const auto shares = std::count_if(all.begin(), all.end(), [](Family each) { return each != Family::pieces; });
  for (const Family family : all) {
    if (best.done()) break;
    Search part{problem, evaluations / static_cast<std::int64_t>(shares), floor};
    part.climb(family, start);
    best.offer(part.take());
  }
  return best.take();
}

}  // namespace contend
