#pragma once
// Finds where the warm-up of a simulation ends: the jobs that came while the cluster was emptier than it is later.
//
// The rule is MSER-5. Of a series in order of time, take the means Z_1 ... Z_n of batches of five, and cut away the
// first d of them for the d that minimises
//
//   (Z_{d+1} - mean)^2 + ... + (Z_n - mean)^2   by   (n - d)^2,   mean = (Z_{d+1} + ... + Z_n) / (n - d),
//
// which is the width of a confidence interval of the mean of what is left (White, "An effective truncation heuristic
// for bias reduction in simulation output", Simulation 69(6), 1997; batches of five: White, Cobb and Spratt, "A
// comparison of five steady-state truncation heuristics for simulation", Winter Simulation Conference 2000). At least
// five batches are left: the last few are often alike by chance (Hoad, Robinson and Davies, "Automating warm-up length
// estimation", J. Operational Research Society 61, 2010). A cut in the second half of the series says that the series
// is too short to tell (both of the latter).

#include "results/result_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace contend {

/// The fewest values of a series for which the rule is asked: 20 batches.
inline constexpr std::size_t kFewestForWarmUp = 100;

/// How many values at the start of the series the rule cuts away, a multiple of 5. Nothing if the series has fewer than
/// kFewestForWarmUp values. The values must be finite.
[[nodiscard]] std::optional<std::size_t> mser_5(std::span<const double> series);

/// What the rule says about runs of one scenario.
struct WarmUp {
  enum class Verdict : std::uint8_t {
    too_few,  ///< fewer than kFewestForWarmUp jobs
    none,     ///< nothing is cut away
    found,
    undecided,  ///< the cut lies in the second half
  };
  Verdict verdict = Verdict::too_few;
  /// The times are those in the queue, over all waits; else, as these are less than a hundredth of them on average,
  /// completion times.
  bool of_waiting = true;
  std::size_t jobs = 0;  ///< in the series
  std::size_t cut = 0;   ///< of these, before the cut
  /// From this submission on jobs count: the submission of the first job after the cut, the latest over the runs,
  /// rounded up by less than a hundredth to a handy time.
  Time from;
  double mean_s = 0, mean_after_s = 0;  ///< of all times, and of those after the cut
  std::vector<double> tenths_s;         ///< means of ten parts of the series, for the eye; none if it is too short
};

/// The series has the measured jobs that finished, in order of submission; with several runs the mean of each
/// place over the runs, as far as all have jobs. There must be a run.
[[nodiscard]] WarmUp find_warm_up(std::span<const StoredReplica> runs);

}  // namespace contend
