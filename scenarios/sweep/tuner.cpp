#include "scenarios/sweep/tuner.hpp"

#include "models/gaussian_process.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace contend {
namespace {

constexpr double kExploration =
    0.01;  // improvement that does not count, in deviations (Brochu et al., arXiv 1012.2599)
constexpr double kLeastNoise = 1e-6;

std::string word_of(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : std::string{};
}

/// A coordinate for each point: the rank of its number among all, from 0 to 1.
void add_ranks(std::span<const StorePoint> points, std::size_t parameter, std::vector<std::vector<double>>& places) {
  std::set<double> numbers;
  for (const StorePoint& point : points) numbers.insert(point.numbers[parameter]);
  if (numbers.size() < 2) return;
  std::map<double, double> rank;
  for (const double number : numbers)
    rank.emplace(number, static_cast<double>(rank.size()) / static_cast<double>(numbers.size() - 1));
  for (std::size_t i = 0; i < points.size(); ++i) places[i].push_back(rank.at(points[i].numbers[parameter]));
}

/// A coordinate for each value, at most one of which is not 0; two values are as far apart as the ends of a range.
void add_words(std::span<const StorePoint> points, std::size_t parameter, std::vector<std::vector<double>>& places) {
  std::set<std::string> words;
  for (const StorePoint& point : points) words.insert(word_of(point.values[parameter]));
  if (words.size() < 2) return;
  for (const std::string& word : words) {
    for (std::size_t i = 0; i < points.size(); ++i)
      places[i].push_back(word_of(points[i].values[parameter]) == word ? std::sqrt(0.5) : 0.0);
  }
}

class Search {
 public:
  Search(const SweepPlan& plan, const TuneOptions& options, const TuneRunner& runner)
      : plan_{plan},
        options_{options},
        runner_{runner},
        values_(plan.points().size()),
        asked_(plan.points().size(), 0) {}

  TuneResult halving() {
    std::vector<std::size_t> left = drawn(options_.trials);
    std::int64_t seeds = 1;
    for (;;) {
      if (!run(left, seeds) || seeds == plan_.info().repeat) break;
      const auto keep = static_cast<std::size_t>(std::ceil(static_cast<double>(left.size()) / options_.eta));
      std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return score(a) > score(b); });
      left.resize(std::max<std::size_t>(1, keep));
      seeds = std::min(plan_.info().repeat,
                       static_cast<std::int64_t>(std::ceil(static_cast<double>(seeds) * options_.eta)));
    }
    return result();
  }

  TuneResult bayes() {
    const auto places = tune_coordinates(plan_.info(), plan_.points());
    const std::int64_t most = std::min<std::int64_t>(options_.trials, static_cast<std::int64_t>(values_.size()));
    const auto first = static_cast<std::int64_t>(places.front().size()) * 2 + 2;
    bool goes_on = run(drawn(std::min(most, first)), plan_.info().repeat);
    while (goes_on && tried() < most) {
      std::vector<std::size_t> next;
      const std::int64_t count = std::min(options_.batch, most - tried());
      while (static_cast<std::int64_t>(next.size()) < count) next.push_back(most_promising(places, next));
      goes_on = run(next, plan_.info().repeat);
    }
    return result();
  }

 private:
  /// So many of all points, in their order.
  [[nodiscard]] std::vector<std::size_t> drawn(std::int64_t count) const {
    std::vector<std::size_t> all(values_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    RandomStream stream{0, "tune"};
    const std::size_t taken = std::min(all.size(), static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < taken; ++i) {
      const std::int64_t other =
          stream.uniform_integer(static_cast<std::int64_t>(i), static_cast<std::int64_t>(all.size()) - 1);
      std::swap(all[i], all[static_cast<std::size_t>(other)]);
    }
    all.resize(taken);
    std::sort(all.begin(), all.end());
    return all;
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
      const bool counts = each.status == RunStatus::done && (is_whole(each) || counts_jobs());
      const double value = counts ? each.metrics[options_.metric] : std::nan("");
      values_[static_cast<std::size_t>(each.point)].push_back(value);
    }
    runs_ += static_cast<std::int64_t>(done.size());
    return done.size() == runs.size();
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
  [[nodiscard]] bool counts_jobs() const { return plan_.info().metrics[options_.metric].unit == "jobs"; }

  [[nodiscard]] std::int64_t tried() const {
    return std::count_if(asked_.begin(), asked_.end(), [](std::int64_t seeds) { return seeds > 0; });
  }

  /// The larger the better; the worst there is for a point without value.
  [[nodiscard]] double score(std::size_t point) const {
    const Estimate figure = estimate(values_[point]);
    if (values_[point].empty() || std::isnan(figure.mean)) return -std::numeric_limits<double>::infinity();
    return options_.maximise ? figure.mean : -figure.mean;
  }

  /// Of the points that have not been asked for, and are not among `chosen`. Those are taken to have the value that is
  /// expected of them (Ginsbourger et al., 2010: kriging believer), so that a batch spreads out.
  [[nodiscard]] std::size_t most_promising(const std::vector<std::vector<double>>& places,
                                           const std::vector<std::size_t>& chosen) const {
    std::vector<GaussianProcess::Point> points;
    std::vector<double> scores;
    double worst = std::numeric_limits<double>::infinity(), error = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].empty()) continue;
      points.push_back(places[i]);
      scores.push_back(score(i));
    }
    for (const double each : scores)
      if (std::isfinite(each)) worst = std::min(worst, each);
    for (double& each : scores)
      if (!std::isfinite(each)) each = std::isfinite(worst) ? worst : 0.0;
    for (const auto& values : values_) {
      const double deviation = sample_deviation(values);
      if (std::isfinite(deviation)) error += deviation * deviation / static_cast<double>(values.size());
    }
    const double noise = relative(error / static_cast<double>(scores.size()), scores);
    if (!chosen.empty()) {
      const GaussianProcess before{points, scores, noise};
      for (const std::size_t each : chosen) {
        points.push_back(places[each]);
        scores.push_back(before.at(places[each]).mean);
      }
    }
    const GaussianProcess process{std::move(points), scores, noise};
    std::optional<std::size_t> best;
    double most = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (asked_[i] > 0 || std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
      const double improvement = process.expected_improvement(places[i], kExploration);
      if (best && improvement <= most) continue;
      best = i;
      most = improvement;
    }
    return *best;
  }

  /// A variance as a share of that of all scores.
  [[nodiscard]] static double relative(double variance, const std::vector<double>& scores) {
    const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
    double all = 0;
    for (const double each : scores) all += (each - mean) * (each - mean) / static_cast<double>(scores.size());
    return all > 0 ? std::clamp(variance / all, kLeastNoise, 1.0) : kLeastNoise;
  }

  [[nodiscard]] TuneResult result() const {
    TuneResult result;
    result.tried = tried();
    result.runs = runs_;
    std::size_t most = 0;
    for (const auto& each : values_) most = std::max(most, each.size());
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].empty()) continue;
      if (!std::isfinite(score(i)))
        ++result.useless;
      else if (values_[i].size() == most)
        order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score(a) > score(b); });
    for (const std::size_t i : order) result.points.push_back({static_cast<std::int64_t>(i), estimate(values_[i])});
    return result;
  }

  const SweepPlan& plan_;
  const TuneOptions& options_;
  const TuneRunner& runner_;
  std::vector<std::vector<double>> values_;  ///< of the metric, by point
  std::vector<std::int64_t> asked_;          ///< seeds, by point
  std::int64_t runs_ = 0;
};

}  // namespace

std::vector<std::vector<double>> tune_coordinates(const StoreInfo& info, std::span<const StorePoint> points) {
  std::vector<std::vector<double>> places(points.size());
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    const bool counts = std::all_of(points.begin(), points.end(),
                                    [&](const StorePoint& point) { return std::isfinite(point.numbers[i]); });
    if (counts)
      add_ranks(points, i, places);
    else
      add_words(points, i, places);
  }
  return places;
}

TuneResult tune(const SweepPlan& plan, const TuneOptions& options, const TuneRunner& runner) {
  Search search{plan, options, runner};
  return options.method == TuneMethod::bayes ? search.bayes() : search.halving();
}

}  // namespace contend
