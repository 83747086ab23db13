#pragma once
// What a search by Gaussian processes believes about the points that it has not run, and which of them it would run
// next.

#include "models/gaussian_process.hpp"
#include "scenarios/sweep/tune_space.hpp"
#include "scenarios/sweep/tuner.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

/// The figures so far: of each goal and of the metric of each bound, by point and seed; NaN for a run without a value.
struct TuneValues {
  std::vector<bool> asked;  ///< by point; these are not proposed again
  std::vector<std::vector<std::vector<double>>> goals, bounds;
};

/// Proposes points. A goal and the metric of a bound have a Gaussian process each, over logarithms if all means are
/// positive. The seeds bring no noise into it: all points run under the same ones, so what a seed does to all points
/// moves all means alike, and the mean over these seeds, which the search is after, is known exactly where a point has
/// run.
///
/// - One goal: the point with the largest expected improvement.
/// - Bounds: times the probability that all hold, and that probability alone until a point holds all of them (Schonlau,
///   Welch and Jones, 1998; Gardner et al., ICML 2014).
/// - Several goals: every proposal weighs them anew at random and minimises the largest weighted distance to the ideal
///   point (Knowles, "ParEGO", IEEE Trans. Evolutionary Computation 10, 2006).
/// - Several points at once: those proposed already are taken to have the value that is expected of them (kriging
///   believer; Ginsbourger, Le Riche and Carraro, 2010).
class TuneModel {
 public:
  /// `space` and `options` must outlive it.
  TuneModel(const TuneSpace& space, const TuneOptions& options);
  /// So many points that have not been asked for, of which there must be as many. At least one must have values.
  [[nodiscard]] std::vector<std::size_t> most_promising(const TuneValues& values, std::size_t count);

 private:
  struct Belief;
  [[nodiscard]] Belief believed(const std::vector<std::size_t>& points, std::vector<double> scores, std::size_t slot);
  [[nodiscard]] std::vector<double> goal_scores(const TuneValues& values, const std::vector<std::size_t>& points) const;

  const TuneSpace& space_;
  const TuneOptions& options_;
  /// The last kernel of the goal and of each bound, and the number of points that it was fitted to: beyond a hundred
  /// points it is fitted again only when there are a tenth more.
  struct Fitted {
    GaussianKernel kernel;
    std::size_t points = 0;
  };
  std::vector<Fitted> fitted_;
  std::uint64_t proposals_ = 0;
};

}  // namespace contend
