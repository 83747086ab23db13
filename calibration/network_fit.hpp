#pragma once
// Fits network costs to timed collectives: start-up time and time per byte of each collective by region of sizes, those
// of the underlying link, and the cost of several transfers at once. Times are in ns and times per byte in ns/B; all
// have 95% intervals (robust_fit.hpp states their assumptions).

#include "calibration/collective_sample.hpp"
#include "calibration/robust_fit.hpp"

#include <optional>
#include <span>
#include <vector>

namespace contend {

/// How well a fit agrees with its points.
struct FitQuality {
  std::size_t points = 0;
  std::size_t outliers = 0;  ///< points more than 4.685 deviations off
  double median_error = 0;   ///< median of |time / fit - 1|
  double r_squared = 0;      ///< weighted by 1 / fit^2, without outliers
};

/// t = alpha + beta m for sizes from `first` to `last`, both included.
struct LineRegion {
  Bytes first, last;
  FittedNumber alpha, beta;
  bool one_size = false;  ///< with a single size alpha cannot be separated from beta and is taken as 0
  FitQuality quality;
};

/// One exchange among a number of ranks, alone on the network.
struct SeriesFit {
  TimedExchange exchange = TimedExchange::all_reduce;
  int ranks = 0;                          ///< 0 if unknown
  std::vector<CollectiveSample> samples;  ///< by size; equal sizes in input order
  std::vector<double> fitted;             ///< fitted time of each sample, ns
  std::vector<LineRegion> regions;        ///< by size
};

/// Fits each series, ordered by exchange and then ranks. `regions` 0 lets choose_regions() decide. Samples with jobs >
/// 1 are left out.
[[nodiscard]] std::vector<SeriesFit> fit_series(std::span<const CollectiveSample> samples, std::size_t regions = 0);

enum class GammaStatus {
  fitted,
  inseparable,  ///< every exchange has gamma and beta in the same proportion; beta includes gamma
  absent        ///< no exchange added anything up
};

/// The link for which a ring (ExchangeCost::ring) takes the measured times: an all-reduce of n ranks takes
///   2(n-1) alpha + 2(n-1)/n m beta + (n-1)/n m gamma;
/// its halves reduce-scatter and all-gather, pairwise all-to-all and single messages are used too. All series are
/// fitted together with non-negative coefficients.
struct LinkFit {
  FittedNumber alpha, beta, gamma;
  GammaStatus gamma_status = GammaStatus::fitted;
  Bytes first, last;                  ///< the sizes used
  std::vector<std::size_t> series;    ///< the series used, by their index
  std::vector<double> median_errors;  ///< of each series used, over the sizes used; NaN if it has none of them
  FitQuality quality;
  double own_error = 0;  ///< median error of separate lines through the same samples; NaN if there are too few
  /// True if one link and a ring do not describe the samples: the error is more than twice the error of separate lines
  /// plus one per cent. The intervals, which assume that they do, are then too narrow.
  [[nodiscard]] bool misfit() const { return quality.median_error > 2 * own_error + 0.01; }
};

/// Fits the link to the sizes from `first` to `last`; nothing if they do not determine alpha and beta. Broadcast and
/// reduce are not used, because their cost depends on the library's algorithm.
[[nodiscard]] std::optional<LinkFit> fit_link(std::span<const SeriesFit> series, Bytes first, Bytes last);

/// The contention penalty: with k exchanges at once, a byte takes k + (k-1) penalty times as long for each; alpha, if a
/// line of the series gives it, does not stretch. Fitted as t = A + C (k-1) with A, C >= 0; penalty = C / (A - alpha) -
/// 1, its interval by the delta method.
struct ContentionFit {
  TimedExchange exchange = TimedExchange::all_reduce;
  int ranks = 0;
  Bytes size;
  double alpha = 0;            ///< ns, subtracted
  FittedNumber penalty;        ///< >= -1
  std::vector<int> jobs;       ///< the measured numbers of jobs, ascending
  std::vector<double> ratio;   ///< mean time over the time of one alone, for each of `jobs`; NaN if one alone was not
                               ///< measured
  std::vector<double> fitted;  ///< the same ratio from the fit
  FitQuality quality;
};

/// One fit for every exchange, number of ranks and size that was measured with two or more numbers of jobs.
[[nodiscard]] std::vector<ContentionFit> fit_contention(std::span<const CollectiveSample> samples,
                                                        std::span<const SeriesFit> series);
/// The mean penalty of at least one fit, with the interval of its spread; a single fit keeps its own interval.
[[nodiscard]] FittedNumber common_penalty(std::span<const ContentionFit> fits);

struct SizeRange {
  Bytes first, last;  ///< both included
};

/// All fits to a set of samples.
struct NetworkCalibration {
  std::vector<SeriesFit> series;
  std::optional<LinkFit> link;  ///< set if several series, or one that is not an all-reduce, describe it
  std::vector<ContentionFit> contention;
  std::optional<FittedNumber> penalty;  ///< the common penalty of `contention`
};

/// The caller's choices for calibrate_network().
struct CalibrationChoice {
  std::size_t regions = 0;  ///< of every series; 0 lets choose_regions() decide
  /// Sizes for the link fit. If not given, the sizes that lie in the last region of every series used.
  std::optional<SizeRange> sizes{};
  int at_once = 0;  ///< contention: ignore samples of more jobs than this; 0 uses all
};
[[nodiscard]] NetworkCalibration calibrate_network(std::span<const CollectiveSample> samples,
                                                   const CalibrationChoice& choice = {});

/// One line for the samples of a series within `sizes`; nothing if there are none.
[[nodiscard]] std::optional<LineRegion> fit_line(const SeriesFit& series, SizeRange sizes);

}  // namespace contend
