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

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kMostFirstPoints = 9;
constexpr std::int64_t kWholeFirstPoints = 3;  // of these, under all seeds: what tells the seeds apart

class Search {
 public:
  Search(const SweepPlan& plan, const TuneOptions& options, const TuneRunner& runner, const TuneCheck& check)
      : plan_{plan},
        draws_{draws_of(plan.info())},
        options_{options},
        runner_{runner},
        check_{check},
        seeds_{static_cast<std::size_t>(plan.info().repeat)},
        asked_(plan.points().size(), 0),
        refused_(plan.points().size(), false) {
    const std::size_t points = plan.points().size();
    const TuneFigure empty(points, std::vector<double>(seeds_, kNaN));
    values_ = {
        std::vector<bool>(points, false), std::vector<std::vector<bool>>(points, std::vector<bool>(seeds_, false)),
        std::vector<TuneFigure>(options.goals.size(), empty), std::vector<TuneFigure>(options.bounds.size(), empty)};
    for (std::size_t i = 0; i < options.goals.size(); ++i)
      figures_.push_back({options.goals[i].metric, &values_.goals[i]});
    for (std::size_t i = 0; i < options.bounds.size(); ++i)
      figures_.push_back({options.bounds[i].metric, &values_.bounds[i]});
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
    const auto trials = static_cast<std::size_t>(options_.trials);
    const std::size_t first = std::min({trials, asked_.size(), 2 * space.keys.size() + 1, kMostFirstPoints});
    std::vector<std::size_t> begun = possible(first_points(space, first, options_.start));
    if (begun.empty()) begun = drawn(1);
    if (begun.empty()) return result();  // no point can be run
    bool goes_on = run(begun, 1) && run(best_of(begun), plan_.info().repeat);
    TuneModel model{space, options_, seeds_};
    while (goes_on) {
      const std::size_t left = trials * seeds_ - static_cast<std::size_t>(runs_);
      for (std::size_t point = 0; point < asked_.size(); ++point)
        values_.closed[point] = refused_[point] || (asked_[point] > 0 && !has_value(point));
      std::vector<TuneRun> runs =
          model.most_promising(values_, std::min(left, static_cast<std::size_t>(options_.batch)), left);
      if (runs.empty()) break;
      std::erase_if(runs,
                    [&](const TuneRun& each) { return asked_[each.point] == 0 && possible({each.point}).empty(); });
      goes_on = run(runs);
    }
    return result();
  }

 private:
  struct Figure {
    std::size_t metric = 0;
    TuneFigure* values;  ///< in values_
  };

  /// A third of the trials, and no more than kWholeFirstPoints: the best of these points.
  [[nodiscard]] std::vector<std::size_t> best_of(std::vector<std::size_t> points) const {
    std::erase_if(points, [&](std::size_t point) { return !has_value(point); });
    std::stable_sort(points.begin(), points.end(), [&](std::size_t a, std::size_t b) { return is_better(a, b); });
    const auto most = static_cast<std::size_t>(std::min((options_.trials + 2) / 3, kWholeFirstPoints));
    points.resize(std::min(points.size(), most));
    return points;
  }

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

  /// Returns the given points that can be run. The others aren't tried again; the process doesn't hear of them, because
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

  /// Brings points up to so many seeds; false if that was interrupted.
  bool run(const std::vector<std::size_t>& points, std::int64_t seeds) {
    std::vector<TuneRun> runs;
    for (const std::size_t point : points)
      for (auto seed = static_cast<std::size_t>(asked_[point]); seed < static_cast<std::size_t>(seeds); ++seed)
        runs.push_back({point, seed});
    return run(runs);
  }
  bool run(const std::vector<TuneRun>& wanted) {
    std::vector<std::int64_t> runs;
    for (const TuneRun& each : wanted) {
      runs.push_back(static_cast<std::int64_t>(each.point * seeds_ + each.seed));
      ++asked_[each.point];
    }
    if (runs.empty()) return true;
    const std::vector<StoreRun> done = runner_(runs);
    for (const StoreRun& each : done) {
      const auto point = static_cast<std::size_t>(each.point), seed = static_cast<std::size_t>(each.run) % seeds_;
      values_.ran[point][seed] = true;
      for (const Figure& figure : figures_) {
        const bool counts = each.status == RunStatus::done && (is_whole(each) || counts_jobs(figure));
        const double value = counts ? each.metrics[figure.metric] : kNaN;
        (*figure.values)[point][seed] = value;
        if (!std::isfinite(value)) reasons_.emplace(each.point, why_none(each, figure));
      }
    }
    runs_ += static_cast<std::int64_t>(done.size());
    return done.size() == runs.size();
  }

  /// Why a run has no value of a figure.
  [[nodiscard]] std::string why_none(const StoreRun& run, const Figure& figure) const {
    if (run.status != RunStatus::done) return fmt::format("seed {}: {}", run.seed, run.error);
    if (!is_whole(run) && !counts_jobs(figure)) {
      const auto count = [&](const char* name) { return metric(name) ? run.metrics[*metric(name)] : 0.0; };
      const std::string given_up = count("given_up") > 0 ? fmt::format(", {} given up", count("given_up")) : "";
      return fmt::format("seed {}: {} of {} jobs finished{}", run.seed, count("finished"), count("jobs"), given_up);
    }
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

  /// Of the seeds under which the point has run, in their order.
  [[nodiscard]] std::vector<double> known(std::size_t figure, std::size_t point) const {
    std::vector<double> known;
    for (std::size_t seed = 0; seed < seeds_; ++seed)
      if (values_.ran[point][seed]) known.push_back((*figures_[figure].values)[point][seed]);
    return known;
  }
  [[nodiscard]] double mean_of(std::size_t figure, std::size_t point) const { return mean(known(figure, point)); }
  [[nodiscard]] bool has_value(std::size_t point) const {
    for (std::size_t i = 0; i < figures_.size(); ++i)
      if (!std::isfinite(mean_of(i, point))) return false;
    return true;
  }
  [[nodiscard]] bool holds(std::size_t point) const {
    for (std::size_t i = 0; i < options_.bounds.size(); ++i) {
      const std::size_t figure = options_.goals.size() + i;
      if (!judge_expectation(options_.bounds[i].bound, known(figure, point)).met) return false;
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
      (i < options_.goals.size() ? tuned.goals : tuned.bounds).push_back(estimate(known(i, point), draws_));
    tuned.holds = holds(point);
    return tuned;
  }

  /// Says of each point that holds the bounds whether it is on the front.
  void find_front(std::vector<TunedPoint>& points) const {
    std::vector<ParetoGoal> goals;
    for (std::size_t i = 0; i < options_.goals.size(); ++i) goals.push_back({options_.goals[i].maximise, {}});
    for (std::size_t point = 0; point < asked_.size(); ++point)
      for (std::size_t i = 0; i < goals.size(); ++i) goals[i].values.push_back(known(i, point));
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

  /// The points with a value that ran under the most seeds. A search that was cut short may have different ones for
  /// different points; then those that most points have.
  [[nodiscard]] std::vector<std::size_t> comparable() const {
    std::map<std::vector<bool>, std::vector<std::size_t>> by_seeds;
    for (std::size_t i = 0; i < asked_.size(); ++i)
      if (has_value(i)) by_seeds[values_.ran[i]].push_back(i);
    std::vector<std::size_t> best;
    std::int64_t most = 0;
    for (const auto& [ran, points] : by_seeds) {
      const std::int64_t seeds = std::count(ran.begin(), ran.end(), true);
      if (seeds < most || (seeds == most && points.size() <= best.size())) continue;
      most = seeds;
      best = points;
    }
    return best;
  }

  [[nodiscard]] TuneResult result() const {
    TuneResult result;
    result.tried = tried();
    result.runs = runs_;
    for (const auto& [point, reason] : reasons_) result.useless.push_back({point, reason});
    std::vector<std::size_t> order = comparable();
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return is_better(a, b); });
    for (const std::size_t i : order) result.points.push_back(tuned(i));
    find_front(result.points);
    if (options_.goals.size() > 1)
      std::stable_partition(result.points.begin(), result.points.end(), [](const auto& each) { return each.on_front; });
    for (TunedPoint& each : result.points) {
      const auto best = static_cast<std::size_t>(result.points.front().point);
      each.to_best = paired_ratio(known(0, static_cast<std::size_t>(each.point)), known(0, best), draws_);
    }
    return result;
  }

  const SweepPlan& plan_;
  Draws draws_;  ///< what the runs of a point have in common
  const TuneOptions& options_;
  const TuneRunner& runner_;
  const TuneCheck& check_;
  std::size_t seeds_;
  TuneValues values_;
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
