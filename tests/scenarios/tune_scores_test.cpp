// Scores of runs by hand, and against the mean over the seeds that they stand for.

#include "scenarios/sweep/tune_scores.hpp"
#include "sim/statistics.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// All runs that have been made, where `ran` says up to which seed by point.
std::vector<TuneRun> first_runs(const std::vector<std::size_t>& ran) {
  std::vector<TuneRun> runs;
  for (std::size_t point = 0; point < ran.size(); ++point)
    for (std::size_t seed = 0; seed < ran[point]; ++seed) runs.push_back({point, seed});
  return runs;
}

/// The score of a point that ran under all seeds: the sum over its runs.
double score_of_point(const TuneScores& scores, const std::vector<TuneRun>& runs, std::size_t point) {
  double sum = 0;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].point == point) sum += scores.weights[runs[i].seed] * scores.scores[i];
  return sum;
}

}  // namespace

TEST_CASE("scores: with one seed the score of a point is the score of its value") {
  const TuneFigure values{{8}, {2}, {4}};
  const std::vector<TuneRun> runs = first_runs({1, 1, 1});
  for (const bool maximise : {false, true}) {
    const TuneScores scores = tune_scores(values, runs, 1, maximise);
    CHECK(scores.logarithmic);
    CHECK(scores.weights == std::vector<double>{1});
    // The logarithms are log 4 and log 2 on either side of it.
    const double best = scores.scores[maximise ? 0 : 1];
    CHECK(best == near(std::log(2)));
    for (std::size_t i = 0; i < 2; ++i) CHECK(scores.scores[i] == near(scores.score_of(values[i][0], maximise)));
  }
  // A figure that isn't positive has no logarithms.
  const TuneScores plain = tune_scores({{3}, {0}, {-3}}, runs, 1, true);
  CHECK_FALSE(plain.logarithmic);
  CHECK(plain.scores == std::vector<double>{3, 0, -3});
  CHECK(plain.score_of(2, true) == near(2));
  CHECK(tune_scores({{3}, {0}, {-3}}, runs, 1, false).score_of(2, false) == near(-2));
}

TEST_CASE("scores: seeds that scale all points alike give the same scores, and the offset leads to the mean") {
  // Points of 1, 2 and 8 under seeds that take once, thrice and half as long.
  const double points[] = {1, 2, 8}, seeds[] = {1, 3, 0.5};
  TuneFigure values(3, std::vector<double>(3));
  for (std::size_t p = 0; p < 3; ++p)
    for (std::size_t s = 0; s < 3; ++s) values[p][s] = points[p] * seeds[s];
  const std::vector<TuneRun> runs = first_runs({3, 3, 3});
  const TuneScores scores = tune_scores(values, runs, 3, false);
  // The mean of the logarithms is log 16 / 3.
  for (std::size_t i = 0; i < runs.size(); ++i)
    CHECK(scores.scores[i] == near(std::log(16.0) / 3 - std::log(points[runs[i].point])));
  // A seed weighs as much as its share of the sum over the seeds, 4.5.
  for (std::size_t s = 0; s < 3; ++s) CHECK(scores.weights[s] == near(seeds[s] / 4.5));
  for (std::size_t p = 0; p < 3; ++p)
    CHECK(score_of_point(scores, runs, p) == near(scores.score_of(mean(values[p]), false)));
}

TEST_CASE("scores: the weights are the derivatives of the mean, whatever the seeds do") {
  // Under the second seed the points lie farther apart, under the third hardly.
  const TuneFigure values{{10, 100, 31}, {12, 300, 30}, {9, 50, 30.5}, {11, 700, 29}};
  const std::vector<TuneRun> runs = first_runs({3, 3, 3, 3});
  const TuneScores scores = tune_scores(values, runs, 3, true);
  // The slow way: the logarithm of the mean of exponentials, with one of them moved a little.
  std::vector<double> averages(3, 0);
  for (const auto& point : values)
    for (std::size_t s = 0; s < 3; ++s) averages[s] += std::log(point[s]) / 4;
  const auto log_mean = [](const std::vector<double>& logarithms) {
    double sum = 0;
    for (const double each : logarithms) sum += std::exp(each) / 3;
    return std::log(sum);
  };
  for (std::size_t s = 0; s < 3; ++s) {
    // How much the score of a run moves with the logarithm of its value.
    const double slope = (scores.scores[3 + s] - scores.scores[s]) / std::log(values[1][s] / values[0][s]);
    std::vector<double> up = averages, down = averages;
    up[s] += 1e-5;
    down[s] -= 1e-5;
    CHECK(scores.weights[s] * slope == near((log_mean(up) - log_mean(down)) / 2e-5, 1e-6));
  }
  // The seed under which the points lie far apart and times are long says most of the mean.
  CHECK(scores.weights[1] > 10 * scores.weights[0]);
  // The offset is right on average.
  double off = 0;
  for (std::size_t p = 0; p < 4; ++p) off += score_of_point(scores, runs, p) - scores.score_of(mean(values[p]), true);
  CHECK(off == near_absolute(0, kRounding));
}

TEST_CASE("scores: that only good points ran under a seed makes none of them look worse") {
  // Two points of four ran under both seeds; the second takes twice as long.
  const TuneFigure values{{10, 20}, {20, 40}, {40, kNaN}, {80, kNaN}};
  const std::vector<TuneRun> runs = first_runs({2, 2, 1, 1});
  const TuneScores scores = tune_scores(values, runs, 2, false);
  CHECK(scores.scores[0] == near(scores.scores[1]));
  CHECK(scores.scores[2] == near(scores.scores[3]));
  CHECK(scores.scores[4] == near(scores.scores[2] - std::log(2)));
  CHECK(scores.scores[5] == near(scores.scores[2] - std::log(4)));
}

TEST_CASE("scores: a point without a value is as bad as the worst, in all of its runs") {
  const TuneFigure values{{10, 20}, {20, 40}, {5, kNaN}, {30, kNaN}};
  const TuneScores scores = tune_scores(values, first_runs({2, 2, 2, 1}), 2, false);
  // The third failed under its second seed; the fourth has not run under it.
  CHECK(scores.scores[4] == scores.scores[6]);
  CHECK(scores.scores[5] == scores.scores[6]);
  CHECK(scores.scores[6] < scores.scores[2]);
  // Where no run has a value all are alike.
  const TuneScores none = tune_scores({{kNaN}, {kNaN}}, first_runs({1, 1}), 1, false);
  CHECK(none.scores == std::vector<double>{0, 0});
}
