#pragma once
// Looks for the best point of a sweep without running all of them. Every point is a candidate; what is run is recorded
// in a store as by the sweep itself, so that a search goes on where it was, and the sweep can be completed later.

#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "sim/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace contend {

/// How the next points are chosen.
enum class TuneMethod : std::uint8_t {
  /// Gaussian process over the points so far, largest expected improvement (Snoek et al., NIPS 2012). All seeds of a
  /// point are run.
  bayes,
  /// Successive halving (Jamieson and Talwalkar, AISTATS 2016): all points under one seed, the best 1/eta of them under
  /// eta seeds, and so on up to all seeds.
  halving,
};

struct TuneOptions {
  std::size_t metric = 0;  ///< index into StoreInfo::metrics
  bool maximise = false;
  TuneMethod method = TuneMethod::bayes;
  std::int64_t trials = 30;  ///< points to run: all in all (bayes), or to begin with (halving); drawn if fewer than all
  std::int64_t batch = 1;    ///< bayes: points chosen at once, so that more threads have something to do
  double eta = 3;            ///< halving, > 1
};

/// Where points lie for the Gaussian process: a coordinate in [0, 1] for each parameter with numbers, by rank among the
/// points, and one for each value of a parameter without. Parameters that don't vary have none.
[[nodiscard]] std::vector<std::vector<double>> tune_coordinates(const StoreInfo& info,
                                                                std::span<const StorePoint> points);

/// Runs these runs and hands back what the store then has of them, in their order; what was interrupted is missing.
using TuneRunner = std::function<std::vector<StoreRun>(std::span<const std::int64_t> runs)>;

struct TunedPoint {
  std::int64_t point = 0;
  Estimate figure;  ///< of the metric, over the seeds that were run
};

struct TuneResult {
  std::vector<TunedPoint> points;  ///< that were run under the most seeds, the best first
  std::int64_t tried = 0;          ///< points
  std::int64_t runs = 0;
  std::int64_t useless = 0;  ///< points whose runs failed or were refused, or in which not all jobs finished
};

/// Deterministic: equal results of runs lead to equal choices, whatever the number of threads. Ends early if a runner
/// hands back less than it was asked for.
[[nodiscard]] TuneResult tune(const SweepPlan& plan, const TuneOptions& options, const TuneRunner& runner);

}  // namespace contend
