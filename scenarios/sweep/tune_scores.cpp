#include "scenarios/sweep/tune_scores.hpp"

#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace contend {
namespace {

// A seed of which little is known lies between its own distances and the distances of all: so many points are taken to
// have the average ones.
constexpr double kAveragePoints = 2;

/// The values of the runs, negative or as logarithms where the score is.
class RunValues {
 public:
  RunValues(const TuneFigure& values, std::span<const TuneRun> runs, std::size_t seeds, bool maximise)
      : values_{values}, by_point_(values.size()), sign_{maximise ? 1.0 : -1.0} {
    logarithmic_ = std::none_of(runs.begin(), runs.end(), [&](const TuneRun& run) { return plain(run) <= 0; });
    for (const TuneRun& run : runs) by_point_[run.point].push_back(run);
    for (std::size_t point = 0; point < values.size(); ++point)
      if (by_point_[point].size() == seeds && is_finite(point)) whole_.push_back(point);
  }

  [[nodiscard]] bool logarithmic() const { return logarithmic_; }
  [[nodiscard]] double sign() const { return sign_; }
  /// The points that have a value under all seeds.
  [[nodiscard]] const std::vector<std::size_t>& whole() const { return whole_; }
  [[nodiscard]] double at(const TuneRun& run) const { return scaled(plain(run)); }
  /// Of the mean over the seeds of a whole point.
  [[nodiscard]] double of_mean(std::size_t point) const { return scaled(mean(values_[point])); }
  /// All runs of the point so far have a value.
  [[nodiscard]] bool is_finite(std::size_t point) const {
    return std::all_of(by_point_[point].begin(), by_point_[point].end(),
                       [&](const TuneRun& run) { return std::isfinite(plain(run)); });
  }

 private:
  [[nodiscard]] double plain(const TuneRun& run) const { return values_[run.point][run.seed]; }
  [[nodiscard]] double scaled(double value) const { return sign_ * (logarithmic_ ? std::log(value) : value); }

  const TuneFigure& values_;
  std::vector<std::vector<TuneRun>> by_point_;
  std::vector<std::size_t> whole_;
  double sign_;
  bool logarithmic_ = false;
};

/// The average of each seed: over the whole points, or over its own runs where there are none.
std::vector<double> averages_of(const RunValues& values, std::span<const TuneRun> runs, std::size_t seeds) {
  std::vector<double> averages(seeds, 0);
  double all = 0, count = 0;
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    std::vector<double> own;
    for (const std::size_t point : values.whole()) own.push_back(values.at({point, seed}));
    for (const TuneRun& run : runs)
      if (values.whole().empty() && run.seed == seed && values.is_finite(run.point)) own.push_back(values.at(run));
    averages[seed] = mean(own);
    if (own.empty()) continue;
    all += averages[seed];
    ++count;
  }
  for (double& each : averages)
    if (std::isnan(each)) each = count > 0 ? all / count : 0.0;
  return averages;
}

/// How far the whole points lie apart under each seed, the average over the seeds being about 1.
std::vector<double> distances_of(const RunValues& values, const std::vector<double>& averages) {
  std::vector<double> squares(averages.size(), 0);
  for (std::size_t seed = 0; seed < averages.size(); ++seed) {
    for (const std::size_t point : values.whole()) {
      const double apart = values.at({point, seed}) - averages[seed];
      squares[seed] += apart * apart;
    }
  }
  const double pooled = mean(squares);
  const auto freedom = static_cast<double>(values.whole().size()) - 1;
  for (double& each : squares)
    each = pooled > 0 ? std::sqrt((freedom * each / pooled + kAveragePoints) / (freedom + kAveragePoints)) : 1.0;
  return squares;
}

}  // namespace

double TuneScores::score_of(double level, bool maximise) const {
  // The logarithm of a level of 0 is what no value reaches.
  const double scaled = logarithmic ? std::log(std::max(level, std::numeric_limits<double>::min())) : level;
  return (maximise ? scaled : -scaled) - offset;
}

TuneScores tune_scores(const TuneFigure& values, std::span<const TuneRun> runs, std::size_t seeds, bool maximise) {
  const RunValues known{values, runs, seeds, maximise};
  const std::vector<double> averages = averages_of(known, runs, seeds), distances = distances_of(known, averages);
  TuneScores scores;
  scores.logarithmic = known.logarithmic();
  const auto score = [&](const TuneRun& run) { return (known.at(run) - averages[run.seed]) / distances[run.seed]; };

  double worst = std::numeric_limits<double>::infinity();
  for (const TuneRun& run : runs)
    if (known.is_finite(run.point)) worst = std::min(worst, score(run));
  for (const TuneRun& run : runs)
    scores.scores.push_back(known.is_finite(run.point) ? score(run) : std::isfinite(worst) ? worst : 0.0);

  // The derivatives of the logarithm of the mean to the logarithms of the runs: their shares of the sum.
  double sum = 0;
  for (const double each : averages)
    sum += scores.weights.emplace_back(scores.logarithmic ? std::exp(known.sign() * (each - averages.front())) : 1.0);
  double average = 0;
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    scores.weights[seed] /= sum;
    average += scores.weights[seed] * averages[seed];
    scores.weights[seed] *= distances[seed];
  }
  std::vector<double> offsets;
  for (const std::size_t point : known.whole()) {
    double weighted = 0;
    for (std::size_t seed = 0; seed < seeds; ++seed) weighted += scores.weights[seed] * score({point, seed});
    offsets.push_back(known.of_mean(point) - weighted);
  }
  scores.offset = offsets.empty() ? average : mean(offsets);
  return scores;
}

}  // namespace contend
