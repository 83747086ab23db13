#include "models/overlap/bound.hpp"
#include "models/overlap/steady_state.hpp"
#include "policies/fusion/dear.hpp"
#include "policies/fusion/merging.hpp"
#include "policies/fusion/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace contend {

namespace {

/// Ways to turn one grouping of gradients into a schedule.
enum class Family : std::uint8_t { barrier, two_at_once, four_at_once, crossing, halves };
constexpr Family kFamilies[] = {Family::barrier, Family::two_at_once, Family::four_at_once, Family::crossing,
                                Family::halves};

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
  Search(const OverlapProblem& problem, std::int64_t evaluations)
      : problem_{problem}, left_{evaluations}, floor_{static_cast<double>(iteration_bound(problem).value().ns())} {}

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
  double best_time_ = std::numeric_limits<double>::infinity();
  FusedIteration best_;
};

}  // namespace

FusedIteration search_plan(const OverlapProblem& problem, std::vector<FusedIteration> candidates,
                           std::int64_t evaluations) {
  const std::size_t n = problem.gradients.size();
  const bool halves = problem.cost.kind() == ExchangeKind::all_reduce;
  const std::int64_t families = static_cast<std::int64_t>(std::size(kFamilies)) - (halves ? 0 : 1);
  Search best{problem, evaluations};
  for (FusedIteration& graph : candidates) best.offer(std::move(graph));
  const MergePlan merged = optimal_merge(problem, serial_cost(problem.cost));
  for (const Family family : kFamilies) {
    if ((family == Family::halves && !halves) || best.done()) continue;
    Search part{problem, evaluations / families};
    part.climb(family, cuts_of(merged, n));
    best.offer(part.take());
  }
  return best.take();
}

}  // namespace contend
