#pragma once
// How often the 95% intervals of comparisons contain the truth, and how often a rule raises a false alarm: measured on
// populations of runs whose true change is known.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Two policies on the same workloads: one figure of each, workload by workload.
struct IntervalPopulation {
  std::string name;                 ///< `queue: fifo, sjf`
  std::vector<double> base, other;  ///< of equal length
};

/// The share of the trials in which something happened, 0..1.
struct IntervalCoverage {
  double geometric = 0, of_means = 0;     ///< the interval contains the change of the whole population
  double difference = 0;                  ///< as `of_means`, of the difference, by which rules in seconds judge
  double one_side = 0;                    ///< the interval of the mean of BASE, as `contend run` shows it
  double alarms_up = 0, alarms_down = 0;  ///< significant changes beyond 0 between sides that don't differ
};

/// Draws `pairs` workloads from a population with replacement, `trials` times. The sides that don't differ are made by
/// exchanging the sides of every pair with probability 1/2.
[[nodiscard]] IntervalCoverage coverage_of(const IntervalPopulation& population, std::size_t pairs, std::size_t trials,
                                           std::uint64_t seed);

/// Populations of so many workloads: a network case, and queues whose days are independent or correlated.
[[nodiscard]] std::vector<IntervalPopulation> interval_populations(std::size_t workloads);

/// The share of job lists whose interval contains the mean change over such lists, 0..1.
struct ListCoverage {
  std::string name;
  double block_days = 0;       ///< mean length of the blocks that were chosen
  double around_list = 0;      ///< resampled_change(), which `contend compare` uses
  double difference = 0;       ///< resampled_change() of the difference in seconds
  double resamples_alone = 0;  ///< the scatter of the resamples about their mean
  double as_independent = 0;   ///< that scatter divided by the root of their number, as if each were a list of its own
};
/// Draws job lists of so many days, with the seeds from `first` on, in a queue whose work has this correlation from day
/// to day, and resamples each. One row for each pair of policies and figure.
[[nodiscard]] std::vector<ListCoverage> list_coverages(double persistence, int days, std::size_t traces,
                                                       std::size_t resamples, std::uint64_t first);

/// The share of lists of so many blocks whose intervals by resamples contain the truth, 0..1.
struct BlockCoverage {
  std::string name;  ///< `lognormal, 7 blocks, correlated 0.6`
  double relative = 0, difference = 0;
  /// The same of intervals that reach to both sides as far as twice Student's t without correlation: the most that an
  /// interval around the list's own change can cover which is that wide and does not know the side of a long tail.
  double relative_twice = 0, difference_twice = 0;
  /// Of intervals around the list's own relative change that reach to both sides as far as 1.96 times its true standard
  /// deviation, and of such intervals that also keep within twice Student's t.
  double relative_known = 0, relative_known_capped = 0;
};
/// How a block's value is distributed: exp of a standard normal variable, or gamma of shape 1/2, whose deviation is
/// 1.4 times its mean.
enum class BlockValues : std::uint8_t { exponential, lognormal, gamma };
/// Lists of days whose values are skewed and correlated from day to day. The figure of a list is the mean over its
/// days; NEW has a part of each day's value in BASE, and a scatter of its own. Each list is resampled `resamples` times
/// in blocks of a day, as `contend compare` does, with draws of its own.
[[nodiscard]] BlockCoverage block_coverage(BlockValues values, double persistence, std::size_t blocks,
                                           std::size_t lists, std::size_t resamples, std::uint64_t seed);

/// The suite `intervals`. Returns 0 if coverage and false alarms are as documented.
int validate_intervals(std::FILE* out);

/// The texts of network_case.yaml and queue_case.yaml.
[[nodiscard]] std::string_view interval_network_case();
[[nodiscard]] std::string_view interval_queue_case();

}  // namespace contend
