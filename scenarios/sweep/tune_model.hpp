#pragma once
// What a search by Gaussian processes believes about the points that it has not run, and which of them it would run
// next.

#include "models/gaussian_process.hpp"
#include "scenarios/sweep/tune_scores.hpp"
#include "scenarios/sweep/tune_space.hpp"
#include "scenarios/sweep/tuner.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

/// What is known so far.
struct TuneValues {
  std::vector<bool> closed;            ///< by point: it can't be run, or has no value; not proposed
  std::vector<std::vector<bool>> ran;  ///< by point and seed
  std::vector<TuneFigure> goals;       ///< of each goal
  std::vector<TuneFigure> bounds;      ///< of the metric of each bound
};

/// True if a kernel that was fitted to so many runs is fitted again to these: always to the first few, and beyond them
/// when there are a tenth more.
[[nodiscard]] constexpr bool fits_again(std::size_t runs, std::size_t fitted) {
  constexpr std::size_t kAlwaysFitted = 30;
  return runs <= kAlwaysFitted || runs * 10 >= fitted * 11;
}

/// Proposes runs. A goal and the metric of a bound have a Gaussian process each, over the scores of runs (TuneScores).
/// The seed is a key of this process like the keys of the space, whose values are words: how much runs of one seed say
/// of another is learnt as how much a key matters is (like Swersky, Snoek and Adams, "Multi-task Bayesian
/// optimization", NIPS 2013). What the search is after is the score of a point, a weighted sum over its seeds. So a
/// point under one seed says something of its score and of its neighbours', and a point under all seeds has a score
/// without any noise: all points run under the same seeds.
///
/// - One goal: the point with the largest expected improvement of its score for each run that it lacks. Of the seeds
///   that it lacks the one with the largest weight runs next. So a point that disappoints under one seed isn't run
///   under the others.
/// - Bounds: times the probability that all hold, and that probability alone until a point holds all of them (Schonlau,
///   Welch and Jones, 1998; Gardner et al., ICML 2014).
/// - Several goals: every proposal weighs them again at random and minimises the largest weighted distance to the ideal
///   point (Knowles, "ParEGO", IEEE Trans. Evolutionary Computation 10, 2006).
/// - Several runs at once: those proposed already are taken to have the score that is expected of them (kriging
///   believer; Ginsbourger, Le Riche and Carraro, 2010).
class TuneModel {
 public:
  /// `space` and `options` must outlive it.
  TuneModel(const TuneSpace& space, const TuneOptions& options, std::size_t seeds);
  /// At most `count` runs of points that are not closed. A point gets its first run only if `left` runs suffice for all
  /// of its seeds, so that the runs end with points that are known. None if there is no such run.
  [[nodiscard]] std::vector<TuneRun> most_promising(const TuneValues& values, std::size_t count, std::size_t left);

 private:
  struct Belief;
  class Proposals;
  [[nodiscard]] GaussianProcess::Point place(const TuneRun& run) const;
  [[nodiscard]] Belief believed(const std::vector<TuneRun>& runs, TuneScores scores, std::size_t slot);
  [[nodiscard]] TuneScores goal_scores(const TuneValues& values, const std::vector<TuneRun>& runs) const;
  [[nodiscard]] bool holds(const TuneValues& values, std::size_t point) const;
  /// The best score of a point that has run under all seeds and holds all bounds; less than all scores: there is none.
  [[nodiscard]] double best_score(const TuneValues& values, const std::vector<TuneRun>& runs,
                                  const TuneScores& scores) const;

  const TuneSpace& space_;
  const TuneOptions& options_;
  std::size_t seeds_;
  std::vector<std::size_t> key_of_;  ///< by coordinate of place()
  /// The last kernel of the goal and of each bound, and the number of runs that it was fitted to (fits_again()).
  struct Fitted {
    GaussianKernel kernel;
    std::size_t runs = 0;
  };
  std::vector<Fitted> fitted_;
  std::uint64_t proposals_ = 0;
};

}  // namespace contend
