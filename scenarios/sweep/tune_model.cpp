#include "scenarios/sweep/tune_model.hpp"

#include "sim/random_stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kLikeness = 0.05;  // weight of the sum in ParEGO's scalar (Knowles 2006, equation 2)
constexpr std::size_t kAlwaysFitted = 100;

using Values = std::vector<std::vector<double>>;

/// The means of these points over their seeds, or the logarithms of these means if all are positive.
struct Means {
  Means(const Values& values, const std::vector<std::size_t>& points) {
    for (const std::size_t each : points) means.push_back(mean(values[each]));
    logarithmic = std::none_of(means.begin(), means.end(), [](double each) { return each <= 0; });
    if (!logarithmic) return;
    for (double& each : means) each = std::log(each);
  }
  std::vector<double> means;  ///< NaN for a point without a value
  bool logarithmic = false;
};

/// A point without a value counts as the worst there is.
void fill_with_worst(std::vector<double>& scores) {
  double worst = std::numeric_limits<double>::infinity();
  for (const double each : scores)
    if (std::isfinite(each)) worst = std::min(worst, each);
  for (double& each : scores)
    if (!std::isfinite(each)) each = std::isfinite(worst) ? worst : 0.0;
}

}  // namespace

/// A process, and what it was fitted to.
struct TuneModel::Belief {
  std::vector<GaussianProcess::Point> places;
  std::vector<double> scores;
  const std::vector<std::size_t>* key_of;
  GaussianKernel kernel;
  GaussianProcess process;

  /// Takes the point to have the value that is expected of it.
  void believe(const GaussianProcess::Point& place) {
    scores.push_back(process.at(place).mean);
    places.push_back(place);
    process = GaussianProcess{places, scores, *key_of, kernel};
  }
};

TuneModel::TuneModel(const TuneSpace& space, const TuneOptions& options)
    : space_{space}, options_{options}, fitted_(1 + options.bounds.size()) {}

TuneModel::Belief TuneModel::believed(const std::vector<std::size_t>& points, std::vector<double> scores,
                                      std::size_t slot) {
  std::vector<GaussianProcess::Point> places;
  for (const std::size_t each : points) places.push_back(space_.places[each]);
  Fitted& fitted = fitted_[slot];
  if (points.size() <= kAlwaysFitted || points.size() * 10 >= fitted.points * 11)
    fitted = {likely_kernel(places, scores, space_.key_of), points.size()};
  GaussianProcess process{places, scores, space_.key_of, fitted.kernel};
  return {std::move(places), std::move(scores), &space_.key_of, fitted.kernel, std::move(process)};
}

std::vector<double> TuneModel::goal_scores(const TuneValues& values, const std::vector<std::size_t>& points) const {
  const auto sign = [&](std::size_t goal) { return options_.goals[goal].maximise ? 1.0 : -1.0; };
  if (options_.goals.size() == 1) {
    Means means{values.goals.front(), points};
    for (double& each : means.means) each *= sign(0);
    fill_with_worst(means.means);
    return means.means;
  }
  // Weights uniform over the simplex: the gaps between sorted uniform numbers are those of exponential ones.
  RandomStream stream{options_.start, fmt::format("tune/weights/{}", proposals_)};
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t i = 0; i < options_.goals.size(); ++i) sum += weights.emplace_back(stream.exponential(1));
  for (double& each : weights) each /= sum;
  std::vector<double> worst(points.size(), 0), total(points.size(), 0);
  for (std::size_t goal = 0; goal < options_.goals.size(); ++goal) {
    Means means{values.goals[goal], points};
    for (double& each : means.means) each *= sign(goal);
    fill_with_worst(means.means);
    const auto [low, high] = std::minmax_element(means.means.begin(), means.means.end());
    const double best = *high, range = *high > *low ? *high - *low : 1.0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double distance = weights[goal] * (best - means.means[i]) / range;
      worst[i] = std::max(worst[i], distance);
      total[i] += distance;
    }
  }
  std::vector<double> scores;
  for (std::size_t i = 0; i < points.size(); ++i) scores.push_back(-(worst[i] + kLikeness * total[i]));
  return scores;
}

std::vector<std::size_t> TuneModel::most_promising(const TuneValues& values, std::size_t count) {
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < values.asked.size(); ++i)
    if (!values.goals.front()[i].empty()) points.push_back(i);

  // A bound as the sign and the level that a process over the metric must reach.
  struct Limit {
    Belief belief;
    double level;
  };
  std::vector<Limit> limits;
  std::vector<bool> holds(points.size(), true);
  for (std::size_t b = 0; b < options_.bounds.size(); ++b) {
    const Expectation& bound = options_.bounds[b].bound;
    const bool upper = bound.relation == Relation::less || bound.relation == Relation::at_most;
    const double sign = upper ? -1.0 : 1.0;
    Means means{values.bounds[b], points};
    for (std::size_t i = 0; i < points.size(); ++i)
      holds[i] = holds[i] && judge_expectation(bound, values.bounds[b][points[i]]).met;
    // The logarithm of a level of 0 is what no value reaches.
    const double level = means.logarithmic ? std::log(std::max(bound.level.value, 1e-300)) : bound.level.value;
    for (double& each : means.means) each *= sign;
    fill_with_worst(means.means);
    limits.push_back({believed(points, std::move(means.means), 1 + b), sign * level});
  }
  const bool any_holds = std::find(holds.begin(), holds.end(), true) != holds.end();

  std::vector<std::size_t> chosen;
  std::optional<Belief> goal;
  double level = 0;
  for (; chosen.size() < count; ++proposals_) {
    if (!goal || options_.goals.size() > 1) {
      std::vector<double> scores = goal_scores(values, points);
      level = -std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < points.size(); ++i)
        if (holds[i]) level = std::max(level, scores[i]);
      goal = believed(points, std::move(scores), 0);
      for (const std::size_t each : chosen) goal->believe(space_.places[each]);
    }
    std::optional<std::size_t> best;
    double most = 0;
    for (std::size_t i = 0; i < values.asked.size(); ++i) {
      if (values.asked[i] || std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
      double promise = any_holds ? goal->process.expected_gain(space_.places[i], level) : 1.0;
      for (const Limit& each : limits)
        promise *= each.belief.process.probability_at_least(space_.places[i], each.level);
      if (best && promise <= most) continue;
      best = i;
      most = promise;
    }
    chosen.push_back(*best);
    if (chosen.size() == count) continue;
    goal->believe(space_.places[*best]);
    for (Limit& each : limits) each.belief.believe(space_.places[*best]);
  }
  return chosen;
}

}  // namespace contend
