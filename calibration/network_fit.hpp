#pragma once
// Costs of a network from timed collectives: start-up and time per byte of each collective by region of sizes, those of
// the link behind them, and what several at once cost. Times are in ns, times per byte in ns/B, all with 95% intervals
// (robust_fit.hpp says under which suppositions).

#include "calibration/collective_sample.hpp"
#include "calibration/robust_fit.hpp"

#include <optional>
#include <span>
#include <vector>

namespace contend {

/// How well a fit meets its points.
struct FitQuality {
  std::size_t points = 0;
  std::size_t outliers = 0;  ///< further off than 4.685 deviations
  double median_error = 0;   ///< of |time / fit - 1|
  double r_squared = 0;      ///< weighted by 1 / fit^2, without outliers
};

/// t = alpha + beta m for the sizes first..last.
struct LineRegion {
  Bytes first, last;
  FittedNumber alpha, beta;
  bool one_size = false;  ///< alpha can't be told from beta: it is taken as 0
  FitQuality quality;
};

/// One exchange among so many ranks, alone on the network.
struct SeriesFit {
  TimedExchange exchange = TimedExchange::all_reduce;
  int ranks = 0;                          ///< 0: unknown
  std::vector<CollectiveSample> samples;  ///< by size, then as they came
  std::vector<double> fitted;             ///< of each, ns
  std::vector<LineRegion> regions;        ///< by size
};

/// Series by exchange, then ranks. `regions` 0: as many as choose_regions() finds. Samples with jobs > 1 are left out.
[[nodiscard]] std::vector<SeriesFit> fit_series(std::span<const CollectiveSample> samples, std::size_t regions = 0);

enum class GammaStatus {
  fitted,
  inseparable,  ///< from beta: every exchange has the two in the same proportion; beta has gamma in it
  absent        ///< nothing was added up
};

/// The link whose ring (ExchangeCost::ring) takes as long as what was measured: an all-reduce
///   2(n-1) alpha + 2(n-1)/n m beta + (n-1)/n m gamma,
/// its halves, pairwise all-to-all, and single messages. Non-negative, all series at once.
struct LinkFit {
  FittedNumber alpha, beta, gamma;
  GammaStatus gamma_status = GammaStatus::fitted;
  Bytes first, last;                  ///< sizes that were used
  std::vector<std::size_t> series;    ///< that were used, by their index
  std::vector<double> median_errors;  ///< of each, of the sizes that were used; NaN if it has none of them
  FitQuality quality;
  double own_error = 0;  ///< median error of lines of their own through the same samples; NaN if they are too few
  /// One link and a ring don't describe the samples: further off than lines of their own by more than these again and
  /// one per cent. The intervals, which suppose that they do, are then too narrow.
  [[nodiscard]] bool misfit() const { return quality.median_error > 2 * own_error + 0.01; }
};

/// Of the sizes first..last, and nothing if these don't determine alpha and beta. Broadcast and reduce are not used:
/// what they cost depends on the library's algorithm.
[[nodiscard]] std::optional<LinkFit> fit_link(std::span<const SeriesFit> series, Bytes first, Bytes last);

/// k at once take k + (k-1) penalty times as long for a byte, each; alpha, where a line of the series tells it, doesn't
/// stretch. Fitted as t = A + C (k-1) with A, C >= 0; penalty = C / (A - alpha) - 1, its interval by the delta method.
struct ContentionFit {
  TimedExchange exchange = TimedExchange::all_reduce;
  int ranks = 0;
  Bytes size;
  double alpha = 0;            ///< ns, that was taken off
  FittedNumber penalty;        ///< >= -1
  std::vector<int> jobs;       ///< those that were measured, ascending
  std::vector<double> ratio;   ///< mean time of each over that of one alone; NaN if that wasn't measured
  std::vector<double> fitted;  ///< the same of the fit
  FitQuality quality;
};

/// One fit for every exchange, number of ranks and size with two or more numbers of jobs.
[[nodiscard]] std::vector<ContentionFit> fit_contention(std::span<const CollectiveSample> samples,
                                                        std::span<const SeriesFit> series);
/// Their mean, with the interval that their spread gives; of a single fit that of the fit. At least one.
[[nodiscard]] FittedNumber common_penalty(std::span<const ContentionFit> fits);

struct SizeRange {
  Bytes first, last;  ///< both included
};

/// All that samples tell.
struct NetworkCalibration {
  std::vector<SeriesFit> series;
  std::optional<LinkFit> link;  ///< where several series tell of it, or one that isn't an all-reduce
  std::vector<ContentionFit> contention;
  std::optional<FittedNumber> penalty;  ///< common to all of these
};

struct CalibrationChoice {
  std::size_t regions = 0;  ///< of every series; 0: as many as choose_regions() finds
  /// Of the link; if not given, those from which on every series of it is in its last region.
  std::optional<SizeRange> sizes{};
  int at_once = 0;  ///< contention: not of more jobs than this; 0: of all
};
[[nodiscard]] NetworkCalibration calibrate_network(std::span<const CollectiveSample> samples,
                                                   const CalibrationChoice& choice = {});

/// One line for the samples of a series within `sizes`; nothing if there are none.
[[nodiscard]] std::optional<LineRegion> fit_line(const SeriesFit& series, SizeRange sizes);

}  // namespace contend
