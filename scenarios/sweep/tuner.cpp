#include "scenarios/sweep/tuner.hpp"

#include "scenarios/sweep/pareto.hpp"
#include "scenarios/sweep/store_query.hpp"
#include "scenarios/sweep/tune_model.hpp"
#include "scenarios/sweep/tune_space.hpp"
#include "sim/check.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kMostFirstPoints = 9;

class Search {
 public:
  Search(const SweepPlan& plan, const TuneOptions& options, const TuneRunner& runner, const TuneCheck& check)
      : plan_{plan},
        draws_{draws_of(plan.info())},
        options_{options},
        runner_{runner},
        check_{check},
        asked_(plan.points().size(), 0),
        refused_(plan.points().size(), false) {
    for (const TuneGoal& each : options.goals) figures_.push_back({each.metric, {}});
    for (const TuneBound& each : options.bounds) figures_.push_back({each.metric, {}});
    for (Figure& each : figures_) each.values.resize(plan.points().size());
  }

  TuneResult halving() {
    std::vector<std::size_t> left = drawn(options_.trials);
    std::int64_t seeds = 1;
    for (;;) {
      if (!run(left, seeds) || seeds == plan_.info().repeat) break;
      const auto keep = static_cast<std::size_t>(std::ceil(static_cast<double>(left.size()) / options_.eta));
      std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return is_better(a, b); });
      left.resize(std::max<std::size_t>(1, keep));
      seeds = std::min(plan_.info().repeat,
                       static_cast<std::int64_t>(std::ceil(static_cast<double>(seeds) * options_.eta)));
    }
    return result();
  }

  TuneResult random() {
    run(drawn(options_.trials), plan_.info().repeat);
    return result();
  }

  TuneResult bayes() {
    const TuneSpace space = tune_space(plan_.info(), plan_.points());
    const std::size_t first = std::min({left(), asked_.size(), 2 * space.keys.size() + 1, kMostFirstPoints});
    bool goes_on = run(possible(first_points(space, first, options_.start)), plan_.info().repeat);
    if (goes_on && tried() == 0) goes_on = run(drawn(1), plan_.info().repeat);
    TuneModel model{space, options_};
    while (goes_on) {
      const std::size_t count = std::min({static_cast<std::size_t>(options_.batch), left(), unasked()});
      if (count == 0) break;
      goes_on = run(possible(model.most_promising(values(), count)), plan_.info().repeat);
    }
    return result();
  }

 private:
  struct Figure {
    std::size_t metric = 0;
    std::vector<std::vector<double>> values;  ///< by point, of each seed
  };

  /// So many of all points that can be run and haven't, at random.
  [[nodiscard]] std::vector<std::size_t> drawn(std::int64_t count) {
    std::vector<std::size_t> all(asked_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    RandomStream{options_.start, "tune"}.shuffle(std::span{all});
    std::vector<std::size_t> taken;
    for (auto each = all.begin(); each != all.end() && std::ssize(taken) < count; ++each)
      if (asked_[*each] == 0 && !refused_[*each] && !possible({*each}).empty()) taken.push_back(*each);
    return taken;
  }

  /// Those of some points that can be run. The others aren't tried again; the process doesn't hear of them, because
  /// asking costs nothing and it would grow with them.
  std::vector<std::size_t> possible(const std::vector<std::size_t>& points) {
    std::vector<std::size_t> possible;
    for (const std::size_t point : points) {
      const std::string reason = check_ ? check_(static_cast<std::int64_t>(point)) : std::string{};
      if (reason.empty()) {
        possible.push_back(point);
        continue;
      }
      refused_[point] = true;
      reasons_.emplace(static_cast<std::int64_t>(point), reason);
    }
    return possible;
  }

  /// Points that may still be run, of the trials and of those that are left.
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(options_.trials - tried()); }
  [[nodiscard]] std::size_t unasked() const {
    std::size_t count = 0;
    for (std::size_t point = 0; point < asked_.size(); ++point) count += asked_[point] == 0 && !refused_[point];
    return count;
  }

  /// Brings points up to so many seeds; false if that was interrupted.
  bool run(const std::vector<std::size_t>& points, std::int64_t seeds) {
    std::vector<std::int64_t> runs;
    for (const std::size_t point : points) {
      for (; asked_[point] < seeds; ++asked_[point])
        runs.push_back(static_cast<std::int64_t>(point) * plan_.info().repeat + asked_[point]);
    }
    const std::vector<StoreRun> done = runner_(runs);
    for (const StoreRun& each : done) {
      for (Figure& figure : figures_) {
        const bool counts = each.status == RunStatus::done && (is_whole(each) || counts_jobs(figure));
        const double value = counts ? each.metrics[figure.metric] : kNaN;
        figure.values[static_cast<std::size_t>(each.point)].push_back(value);
        if (!std::isfinite(value)) reasons_.emplace(each.point, why_none(each, figure));
      }
    }
    runs_ += static_cast<std::int64_t>(done.size());
    return done.size() == runs.size();
  }

  /// Why a run has no value of a figure.
  [[nodiscard]] std::string why_none(const StoreRun& run, const Figure& figure) const {
    if (run.status != RunStatus::done) return fmt::format("seed {}: {}", run.seed, run.error);
    if (!is_whole(run) && !counts_jobs(figure))
      return fmt::format("seed {}: {} of {} jobs finished", run.seed, run.metrics[*metric("finished")],
                         run.metrics[*metric("jobs")]);
    return fmt::format("seed {}: {} has no value", run.seed, plan_.info().metrics[figure.metric].name);
  }

  [[nodiscard]] std::optional<std::size_t> metric(std::string_view name) const {
    const auto& metrics = plan_.info().metrics;
    for (std::size_t i = 0; i < metrics.size(); ++i)
      if (metrics[i].name == name) return i;
    return std::nullopt;
  }

  /// Figures over the jobs that finished say nothing where some didn't: the run that loses the longest jobs would win.
  [[nodiscard]] bool is_whole(const StoreRun& run) const {
    const auto jobs = metric("jobs"), finished = metric("finished");
    return !jobs || !finished || run.metrics[*finished] >= run.metrics[*jobs];
  }
  [[nodiscard]] bool counts_jobs(const Figure& figure) const {
    return plan_.info().metrics[figure.metric].unit == "jobs";
  }

  [[nodiscard]] std::int64_t tried() const {
    return std::count_if(asked_.begin(), asked_.end(), [](std::int64_t seeds) { return seeds > 0; });
  }

  [[nodiscard]] TuneValues values() const {
    TuneValues values;
    for (std::size_t i = 0; i < asked_.size(); ++i) values.asked.push_back(asked_[i] > 0 || refused_[i]);
    for (std::size_t i = 0; i < figures_.size(); ++i)
      (i < options_.goals.size() ? values.goals : values.bounds).push_back(figures_[i].values);
    return values;
  }

  [[nodiscard]] double mean_of(std::size_t figure, std::size_t point) const {
    return mean(figures_[figure].values[point]);
  }
  [[nodiscard]] bool has_value(std::size_t point) const {
    for (std::size_t i = 0; i < figures_.size(); ++i)
      if (!std::isfinite(mean_of(i, point))) return false;
    return true;
  }
  [[nodiscard]] bool holds(std::size_t point) const {
    for (std::size_t i = 0; i < options_.bounds.size(); ++i) {
      const std::size_t figure = options_.goals.size() + i;
      if (!judge_expectation(options_.bounds[i].bound, figures_[figure].values[point]).met) return false;
    }
    return true;
  }
  /// The larger the better.
  [[nodiscard]] double score(std::size_t goal, std::size_t point) const {
    return options_.goals[goal].maximise ? mean_of(goal, point) : -mean_of(goal, point);
  }

  /// By the first goal: those that hold the bounds first, those without a value last.
  [[nodiscard]] bool is_better(std::size_t a, std::size_t b) const {
    if (has_value(a) != has_value(b)) return has_value(a);
    if (!has_value(a)) return false;
    if (holds(a) != holds(b)) return holds(a);
    return score(0, a) > score(0, b);
  }

  [[nodiscard]] TunedPoint tuned(std::size_t point) const {
    TunedPoint tuned;
    tuned.point = static_cast<std::int64_t>(point);
    for (std::size_t i = 0; i < figures_.size(); ++i)
      (i < options_.goals.size() ? tuned.goals : tuned.bounds).push_back(estimate(figures_[i].values[point], draws_));
    tuned.holds = holds(point);
    return tuned;
  }

  /// Says of each point that holds the bounds whether it is on the front.
  void find_front(std::vector<TunedPoint>& points) const {
    std::vector<ParetoGoal> goals;
    for (std::size_t i = 0; i < options_.goals.size(); ++i)
      goals.push_back({options_.goals[i].maximise, figures_[i].values});
    std::vector<std::size_t> holding;
    for (const TunedPoint& each : points)
      if (each.holds) holding.push_back(static_cast<std::size_t>(each.point));
    const std::vector<ParetoPlace> places = pareto_places(goals, holding, draws_);
    auto place = places.begin();
    for (TunedPoint& each : points) {
      if (!each.holds) continue;
      each.on_front = *place == ParetoPlace::front;
      each.may_be_on_front = *place++ == ParetoPlace::tie;
    }
  }

  [[nodiscard]] TuneResult result() const {
    TuneResult result;
    result.tried = tried();
    result.runs = runs_;
    const auto& first = figures_.front().values;
    std::size_t most = 0;
    for (const auto& each : first) most = std::max(most, each.size());
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i].empty() && !refused_[i]) continue;
      if (!has_value(i))
        result.useless.push_back({static_cast<std::int64_t>(i), reasons_.at(static_cast<std::int64_t>(i))});
      else if (first[i].size() == most)
        order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return is_better(a, b); });
    for (const std::size_t i : order) result.points.push_back(tuned(i));
    find_front(result.points);
    if (options_.goals.size() > 1)
      std::stable_partition(result.points.begin(), result.points.end(), [](const auto& each) { return each.on_front; });
    for (TunedPoint& each : result.points) {
      const auto best = static_cast<std::size_t>(result.points.front().point);
      each.to_best = paired_ratio(first[static_cast<std::size_t>(each.point)], first[best], draws_);
    }
    return result;
  }

  const SweepPlan& plan_;
  Draws draws_;  ///< what the runs of a point have in common
  const TuneOptions& options_;
  const TuneRunner& runner_;
  const TuneCheck& check_;
  std::vector<Figure> figures_;                  ///< of the goals, then of the bounds
  std::vector<std::int64_t> asked_;              ///< seeds, by point
  std::vector<bool> refused_;                    ///< by point: it can't be run
  std::map<std::int64_t, std::string> reasons_;  ///< of the points without a value
  std::int64_t runs_ = 0;
};

}  // namespace

TuneResult tune(const SweepPlan& plan, const TuneOptions& options, const TuneRunner& runner, const TuneCheck& check) {
  CONTEND_CHECK(!options.goals.empty(), "a search needs a goal");
  CONTEND_CHECK(options.goals.size() == 1 || options.method != TuneMethod::halving, "halving has one goal");
  Search search{plan, options, runner, check};
  switch (options.method) {
    case TuneMethod::halving:
      return search.halving();
    case TuneMethod::random:
      return search.random();
    case TuneMethod::bayes:
      break;
  }
  return search.bayes();
}

}  // namespace contend
