#pragma once
// Searches for the best point of a sweep without running all points. Every point is a candidate. Runs are recorded in a
// store as by the sweep itself, so that a search can be resumed and the sweep completed later.

#include "results/expectations.hpp"
#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "sim/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// How the search chooses the next points.
enum class TuneMethod : std::uint8_t {
  /// Bayesian optimisation: a Gaussian process over the runs so far, largest expected improvement (Jones, Schonlau and
  /// Welch, 1998; Snoek et al., NIPS 2012) for each run. Points that disappoint under one seed are not run under
  /// others.
  bayes,
  /// Successive halving (Jamieson and Talwalkar, AISTATS 2016): all points under one seed, the best 1/eta of them under
  /// eta seeds, and so on up to all seeds.
  halving,
  /// Points drawn at random, all seeds of each: what another method has to beat.
  random,
};

/// What the search is for.
struct TuneGoal {
  std::size_t metric = 0;  ///< index into StoreInfo::metrics
  bool maximise = false;
};

/// A bound on the mean of a metric over the seeds of a point, which has a relation to a level and no upper end.
struct TuneBound {
  std::size_t metric = 0;  ///< index into StoreInfo::metrics
  Expectation bound;
};

struct TuneOptions {
  std::vector<TuneGoal> goals;    ///< at least one; several only with bayes and random
  std::vector<TuneBound> bounds;  ///< a point that breaks one is worse than each that breaks none
  TuneMethod method = TuneMethod::bayes;
  /// Points whose runs under all seeds the search may make. bayes spreads as many runs over more points; random and
  /// halving, the latter in the first round, draw so many if there are more.
  std::int64_t trials = 30;
  std::int64_t batch = 1;   ///< bayes: runs chosen at once, to keep several threads busy
  double eta = 3;           ///< halving, > 1
  std::uint64_t start = 0;  ///< another one begins with other points
};

/// Runs the given runs and returns their records from the store, in order, without those that were interrupted.
using TuneRunner = std::function<std::vector<StoreRun>(std::span<const std::int64_t> runs)>;

/// Says why a point can't be run at all, such as a model that doesn't fit; empty if it may be run.
using TuneCheck = std::function<std::string(std::int64_t point)>;

/// A point that the search ran.
struct TunedPoint {
  std::int64_t point = 0;
  std::vector<Estimate> goals;     ///< of each goal, over the seeds that ran
  std::vector<Estimate> bounds;    ///< of the metric of each bound
  bool holds = true;               ///< all bounds
  bool on_front = false;           ///< holds all bounds, and is on the Pareto front of those that do
  bool may_be_on_front = false;    ///< holds all bounds, and is off that front perhaps by chance: ParetoPlace::tie
  RatioEstimate to_best{1, 1, 1};  ///< of the first goal to the first point's goal, paired by seed
};

/// A point that ran and has no value.
struct ValuelessPoint {
  std::int64_t point = 0;
  std::string reason;  ///< of the first run that has none
};

struct TuneResult {
  std::vector<TunedPoint> points;  ///< those run under the most seeds; with one goal the best first, with several the
                                   ///< Pareto front first, by the first goal
  std::int64_t tried = 0;          ///< points that ran
  std::int64_t runs = 0;
  /// Points whose runs failed or were refused, or did not finish all jobs, and those that the search passed over
  /// because they can't be run.
  std::vector<ValuelessPoint> useless;
};

/// Runs the search. It is deterministic: equal results of runs lead to equal choices, whatever the number of threads.
/// It ends early if the runner returns fewer runs than requested. Points that `check` refuses cost no runs.
[[nodiscard]] TuneResult tune(const SweepPlan& plan, const TuneOptions& options, const TuneRunner& runner,
                              const TuneCheck& check = {});

}  // namespace contend
