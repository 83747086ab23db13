#include "scenarios/sweep/tune_model.hpp"

#include "sim/random_stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kLikeness = 0.05;  // weight of the sum in ParEGO's scalar (Knowles 2006, equation 2)

constexpr double kNothing = -std::numeric_limits<double>::infinity();

/// The point has run under all seeds.
bool is_whole(const TuneValues& values, std::size_t point) {
  const std::vector<bool>& ran = values.ran[point];
  return std::find(ran.begin(), ran.end(), false) == ran.end();
}

}  // namespace

/// A process over runs, and the values to which the process was fitted.
struct TuneModel::Belief {
  const TuneModel* model;
  std::vector<GaussianProcess::Point> places;
  TuneScores scores;
  GaussianKernel kernel;
  GaussianProcess process;

  /// What is believed of the score of a point.
  [[nodiscard]] GaussianProcess::Prediction at(std::size_t point) const {
    std::vector<GaussianProcess::Point> runs;
    for (std::size_t seed = 0; seed < model->seeds_; ++seed) runs.push_back(model->place({point, seed}));
    return process.at(runs, scores.weights);
  }
  /// Takes the run to have the score that is expected of it.
  void believe(const TuneRun& run) {
    places.push_back(model->place(run));
    scores.scores.push_back(process.at(places.back()).mean);
    process = GaussianProcess{places, scores.scores, model->key_of_, kernel};
  }
};

TuneModel::TuneModel(const TuneSpace& space, const TuneOptions& options, std::size_t seeds)
    : space_{space}, options_{options}, seeds_{seeds}, key_of_{space.key_of}, fitted_(1 + options.bounds.size()) {
  if (seeds_ > 1) key_of_.insert(key_of_.end(), seeds_, space.keys.size());
}

/// Two seeds are as far apart as two words of a key.
GaussianProcess::Point TuneModel::place(const TuneRun& run) const {
  GaussianProcess::Point place = space_.places[run.point];
  if (seeds_ == 1) return place;
  place.resize(place.size() + seeds_, 0);
  place[place.size() - seeds_ + run.seed] = std::sqrt(0.5);
  return place;
}

TuneModel::Belief TuneModel::believed(const std::vector<TuneRun>& runs, TuneScores scores, std::size_t slot) {
  std::vector<GaussianProcess::Point> places;
  for (const TuneRun& each : runs) places.push_back(place(each));
  Fitted& fitted = fitted_[slot];
  if (fits_again(runs.size(), fitted.runs)) fitted = {likely_kernel(places, scores.scores, key_of_), runs.size()};
  GaussianProcess process{places, scores.scores, key_of_, fitted.kernel};
  return {this, std::move(places), std::move(scores), fitted.kernel, std::move(process)};
}

TuneScores TuneModel::goal_scores(const TuneValues& values, const std::vector<TuneRun>& runs) const {
  if (options_.goals.size() == 1)
    return tune_scores(values.goals.front(), runs, seeds_, options_.goals.front().maximise);
  // Weights uniform over the simplex: the gaps between sorted uniform numbers are distributed like exponential numbers.
  RandomStream stream{options_.start, fmt::format("tune/weights/{}", proposals_)};
  std::vector<double> shares;
  double sum = 0;
  for (std::size_t i = 0; i < options_.goals.size(); ++i) sum += shares.emplace_back(stream.exponential(1));
  std::vector<double> worst(runs.size(), 0), total(runs.size(), 0);
  TuneScores scores;
  scores.weights.assign(seeds_, 0);
  for (std::size_t goal = 0; goal < options_.goals.size(); ++goal) {
    const TuneScores own = tune_scores(values.goals[goal], runs, seeds_, options_.goals[goal].maximise);
    const auto [low, high] = std::minmax_element(own.scores.begin(), own.scores.end());
    const double best = *high, range = *high > *low ? *high - *low : 1.0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double distance = shares[goal] / sum * (best - own.scores[i]) / range;
      worst[i] = std::max(worst[i], distance);
      total[i] += distance;
    }
    double all = 0;
    for (const double each : own.weights) all += each;
    for (std::size_t seed = 0; seed < seeds_; ++seed)
      scores.weights[seed] += shares[goal] / sum * own.weights[seed] / all;
  }
  for (std::size_t i = 0; i < runs.size(); ++i) scores.scores.push_back(-(worst[i] + kLikeness * total[i]));
  return scores;
}

/// The means of a point that ran under all seeds hold the bounds.
bool TuneModel::holds(const TuneValues& values, std::size_t point) const {
  for (std::size_t b = 0; b < options_.bounds.size(); ++b)
    if (!judge_expectation(options_.bounds[b].bound, values.bounds[b][point]).met) return false;
  return true;
}

/// The runs so far, point by point and seed by seed, and those proposed.
class TuneModel::Proposals {
 public:
  Proposals(const TuneValues& values, std::size_t seeds, std::size_t left)
      : values_{values}, missing_(values.ran.size(), seeds), left_{left} {
    for (std::size_t point = 0; point < values.ran.size(); ++point)
      for (std::size_t seed = 0; seed < seeds; ++seed) {
        if (!values.ran[point][seed]) continue;
        runs_.push_back({point, seed});
        --missing_[point];
      }
  }

  [[nodiscard]] const std::vector<TuneRun>& runs() const { return runs_; }
  [[nodiscard]] const std::vector<TuneRun>& chosen() const { return chosen_; }
  [[nodiscard]] std::size_t missing(std::size_t point) const { return missing_[point]; }
  [[nodiscard]] bool may_run(std::size_t point) const {
    return !values_.closed[point] && missing_[point] > 0 && missing_[point] <= left_;
  }
  void choose(std::size_t point, const std::vector<double>& weights) {
    std::optional<std::size_t> heaviest;
    for (std::size_t seed = 0; seed < weights.size(); ++seed) {
      const bool taken = values_.ran[point][seed] ||
                         std::any_of(chosen_.begin(), chosen_.end(),
                                     [&](const TuneRun& run) { return run.point == point && run.seed == seed; });
      if (!taken && (!heaviest || weights[seed] > weights[*heaviest])) heaviest = seed;
    }
    chosen_.push_back({point, *heaviest});
    --missing_[point];
    --left_;
  }

 private:
  const TuneValues& values_;
  std::vector<std::size_t> missing_;  ///< by point: seeds under which it has not run
  std::size_t left_;
  std::vector<TuneRun> runs_, chosen_;
};

double TuneModel::best_score(const TuneValues& values, const std::vector<TuneRun>& runs,
                             const TuneScores& scores) const {
  double best = kNothing;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t point = runs[i].point;
    if (runs[i].seed > 0 || values.closed[point] || !is_whole(values, point) || !holds(values, point)) continue;
    double sum = 0;
    for (std::size_t seed = 0; seed < seeds_; ++seed) sum += scores.weights[seed] * scores.scores[i + seed];
    best = std::max(best, sum);
  }
  return best;
}

std::vector<TuneRun> TuneModel::most_promising(const TuneValues& values, std::size_t count, std::size_t left) {
  Proposals proposals{values, seeds_, left};
  const std::vector<TuneRun>& runs = proposals.runs();

  // A process over the metric of a bound, and the score that it must reach.
  struct Limit {
    Belief belief;
    double level;
  };
  std::vector<Limit> limits;
  for (std::size_t b = 0; b < options_.bounds.size(); ++b) {
    const Expectation& bound = options_.bounds[b].bound;
    const bool lower = bound.relation != Relation::less && bound.relation != Relation::at_most;
    TuneScores scores = tune_scores(values.bounds[b], runs, seeds_, lower);
    const double level = scores.score_of(bound.level.value, lower);
    limits.push_back({believed(runs, std::move(scores), 1 + b), level});
  }

  std::optional<Belief> goal;
  double level = kNothing;
  bool any_holds = false;
  for (; proposals.chosen().size() < count; ++proposals_) {
    if (!goal || options_.goals.size() > 1) {
      TuneScores scores = goal_scores(values, runs);
      level = best_score(values, runs, scores);
      goal = believed(runs, std::move(scores), 0);
      for (const TuneRun& each : proposals.chosen()) goal->believe(each);
      any_holds = level > kNothing;
      // Nothing is known under all seeds: what has begun must beat the best of itself.
      for (const TuneRun& each : runs)
        if (!any_holds && limits.empty()) level = std::max(level, goal->at(each.point).mean);
    }
    std::optional<std::size_t> best;
    double most = 0;
    for (std::size_t point = 0; point < values.closed.size(); ++point) {
      if (!proposals.may_run(point)) continue;
      double promise = any_holds || limits.empty() ? expected_gain(goal->at(point), level) : 1.0;
      for (const Limit& each : limits) promise *= probability_at_least(each.belief.at(point), each.level);
      promise /= static_cast<double>(proposals.missing(point));
      if (best && promise <= most) continue;
      best = point;
      most = promise;
    }
    if (!best) break;
    proposals.choose(*best, goal->scores.weights);
    if (proposals.chosen().size() == count) continue;
    goal->believe(proposals.chosen().back());
    for (Limit& each : limits) each.belief.believe(proposals.chosen().back());
  }
  return proposals.chosen();
}

}  // namespace contend
