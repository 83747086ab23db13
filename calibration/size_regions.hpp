#pragma once
// Finds the message sizes at which a communication library changes its protocol: sizes are cut into regions, each with
// its own t = alpha + beta m, alpha, beta >= 0. The lines need not meet, because a change of protocol is a jump (eager
// to rendezvous in MPI; LL, LL128 and Simple, or ring and tree, in NCCL).

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace contend {

/// The cost of one region over the distinct sizes first..last, both included.
using RegionCost = std::function<double(std::size_t first, std::size_t last)>;

/// Cuts 0..count-1 into `parts` regions of at least `least` >= 1 each with the least sum of costs, and returns the
/// first index of every region. Exact, by dynamic programming (Bellman, CACM 4, 1961) with O(parts count^2) steps and
/// calls of `cost`. Among equal sums, the last region begins as early as possible. parts * least <= count.
[[nodiscard]] std::vector<std::size_t> cheapest_regions(std::size_t count, std::size_t parts, std::size_t least,
                                                        const RegionCost& cost);

/// Ascending sizes and the time of each, > 0; a size may occur several times.
struct SizedTimes {
  std::vector<double> bytes;
  std::vector<double> times;
};

/// The standard deviation of the relative noise, estimated without a model: the median distance of each time from the
/// straight line between its neighbours (Gasser, Sroka and Jennen-Steinmetz, Biometrika 73, 1986), so that neither
/// outliers nor breaks count. At least 0.001, because no benchmark repeats more precisely.
[[nodiscard]] double local_noise(const SizedTimes& points);

/// Twice the sum of Huber's rho(r / deviation) with r = (t - alpha - beta m) / t, for the best alpha, beta >= 0. The
/// loss is convex, so it has one minimum, and cutting a region in two never raises it.
[[nodiscard]] double line_loss(std::span<const double> bytes, std::span<const double> times, double deviation);

inline constexpr std::size_t kMostRegions = 4;
/// Two sizes determine a line; two more show whether the points lie on one.
inline constexpr std::size_t kLeastSizes = 4;
/// With more distinct sizes than this only some may begin a region, because computing all costs would take minutes.
inline constexpr std::size_t kMostBreaks = 300;

/// The index of the first point of every region. `regions` sets their number; 0 chooses the number, up to four, that
/// minimises
///   N ln(S / N) + (3 k - 1) ln N
/// with N points, k regions and S the sum of their losses: a robust BIC (Machado, Econometric Theory 9, 1993) that
/// counts alpha, beta and the break. S / N is at least (0.001 / noise)^2. A region has at least kLeastSizes distinct
/// sizes; if there are too few sizes, fewer regions than asked for are returned.
[[nodiscard]] std::vector<std::size_t> choose_regions(const SizedTimes& points, std::size_t regions = 0);

}  // namespace contend
