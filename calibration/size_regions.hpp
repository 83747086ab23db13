#pragma once
// Where the protocol of a communication library changes: the sizes of messages are cut into regions, in each of which
// t = alpha + beta m with its own alpha, beta >= 0. Lines need not meet: another protocol jumps (eager to rendezvous in
// MPI; LL, LL128 and Simple, or ring and tree, in NCCL).

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace contend {

/// The cost of one region over the distinct sizes first..last, both included.
using RegionCost = std::function<double(std::size_t first, std::size_t last)>;

/// 0..count-1 cut into `parts` regions of at least `least` >= 1 each, so that the sum of their costs is least: the
/// first index of every region. Exact, by dynamic programming (Bellman, CACM 4, 1961) in O(parts count^2) and as many
/// costs. Ties: the last region begins as early as possible. parts * least <= count.
[[nodiscard]] std::vector<std::size_t> cheapest_regions(std::size_t count, std::size_t parts, std::size_t least,
                                                        const RegionCost& cost);

/// Sizes ascending, with the times of each; several of one size are allowed. All times > 0.
struct SizedTimes {
  std::vector<double> bytes;
  std::vector<double> times;
};

/// The standard deviation of the relative noise, without a model: how far each time is from the straight line between
/// its neighbours (Gasser, Sroka and Jennen-Steinmetz, Biometrika 73, 1986), by the median, so that neither outliers
/// nor breaks count. Not below 0.001, to which no benchmark repeats.
[[nodiscard]] double local_noise(const SizedTimes& points);

/// Twice the sum of Huber's rho(r / deviation), r = (t - alpha - beta m) / t, for the best alpha, beta >= 0. Convex, so
/// there is one minimum, and cutting a region in two never costs more.
[[nodiscard]] double line_loss(std::span<const double> bytes, std::span<const double> times, double deviation);

inline constexpr std::size_t kMostRegions = 4;
/// Two sizes determine a line, two more show whether it is one.
inline constexpr std::size_t kLeastSizes = 4;
/// Of more distinct sizes only some may begin a region: the costs of all would take minutes.
inline constexpr std::size_t kMostBreaks = 300;

/// The index of the first point of every region. `regions` of them; 0: as many, up to four, as make
///   N ln(S / N) + (3 k - 1) ln N
/// least, with N points, k regions, S their losses: a robust BIC (Machado, Econometric Theory 9, 1993) that counts
/// alpha, beta and the break. S / N below (0.001 / noise)^2 counts as that. Regions have at least kLeastSizes distinct
/// sizes; fewer regions than asked for come back where there are not enough.
[[nodiscard]] std::vector<std::size_t> choose_regions(const SizedTimes& points, std::size_t regions = 0);

}  // namespace contend
