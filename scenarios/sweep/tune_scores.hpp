#pragma once
// What the runs of a search say of a figure, in units in which the seeds can be compared.

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

/// A run of a search: a point under one of its seeds, both from 0 on.
struct TuneRun {
  std::size_t point = 0, seed = 0;
};

/// The values of a figure by point and seed. NaN: the run has not been made, or has no value.
using TuneFigure = std::vector<std::vector<double>>;

/// Scores of runs; the larger the better. A score is what the run is above the average of its seed, as a multiple of
/// how far the points lie apart under that seed. The score of a point is the sum of the scores of its runs under all
/// seeds, each times the weight of the seed.
struct TuneScores {
  std::vector<double> scores;   ///< of each run
  std::vector<double> weights;  ///< by seed, > 0: how much of the mean over the seeds a seed decides
  bool logarithmic = false;     ///< the figure is positive, and the scores are made of its logarithms
  double offset = 0;  ///< of the mean over the seeds, or of its logarithm, to the score of a point; its sign is turned
                      ///< if the figure is minimised

  /// The score of a point whose mean over the seeds has this level.
  [[nodiscard]] double score_of(double level, bool maximise) const;
};

/// The scores of these runs. Averages and distances of the seeds count only the points that have a value under all
/// seeds, because under seeds that only good points have run the others would look worse than they are. A point that
/// has run and has no value under one of its seeds has the worst score of all in each of its runs.
///
/// Of positive figures the logarithms are taken. The mean of a point is then a sum of exponentials; its logarithm is
/// taken to be linear in the logarithms of the runs around the averages of the seeds, so that a seed with long times
/// weighs more. `offset` makes that exact with one seed, and right on average over the points that ran under all.
[[nodiscard]] TuneScores tune_scores(const TuneFigure& values, std::span<const TuneRun> runs, std::size_t seeds,
                                     bool maximise);

}  // namespace contend
