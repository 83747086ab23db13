#pragma once
// Searches for the best point of a sweep without running all points. Every point is a candidate. Runs are recorded in a
// store as by the sweep itself, so that a search can be resumed and the sweep completed later.

#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "sim/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace contend {

/// How the search chooses the next points.
enum class TuneMethod : std::uint8_t {
  /// Bayesian optimisation: a Gaussian process over the points so far, largest expected improvement (Snoek et al., NIPS
  /// 2012). All seeds of a point are run.
  bayes,
  /// Successive halving (Jamieson and Talwalkar, AISTATS 2016): all points under one seed, the best 1/eta of them under
  /// eta seeds, and so on up to all seeds.
  halving,
};

struct TuneOptions {
  std::size_t metric = 0;  ///< index into StoreInfo::metrics
  bool maximise = false;
  TuneMethod method = TuneMethod::bayes;
  std::int64_t trials = 30;  ///< points to run, in total (bayes) or in the first round (halving); drawn at random if
                             ///< fewer than all
  std::int64_t batch = 1;    ///< bayes: points chosen at once, to keep several threads busy
  double eta = 3;            ///< halving, > 1
};

/// The coordinates of the points for the Gaussian process: one in [0, 1] for each numeric parameter, by rank among the
/// points, and one for each value of another parameter. Parameters that do not vary have none.
[[nodiscard]] std::vector<std::vector<double>> tune_coordinates(const StoreInfo& info,
                                                                std::span<const StorePoint> points);

/// Runs the given runs and returns their records from the store, in order, without those that were interrupted.
using TuneRunner = std::function<std::vector<StoreRun>(std::span<const std::int64_t> runs)>;

/// A point that the search ran.
struct TunedPoint {
  std::int64_t point = 0;
  Estimate figure;  ///< of the metric, over the seeds that ran
};

struct TuneResult {
  std::vector<TunedPoint> points;  ///< those run under the most seeds, best first
  std::int64_t tried = 0;          ///< points
  std::int64_t runs = 0;
  std::int64_t useless = 0;  ///< points whose runs failed or were refused, or did not finish all jobs
};

/// Runs the search. It is deterministic: equal results of runs lead to equal choices, whatever the number of threads.
/// It ends early if the runner returns fewer runs than requested.
[[nodiscard]] TuneResult tune(const SweepPlan& plan, const TuneOptions& options, const TuneRunner& runner);

}  // namespace contend
