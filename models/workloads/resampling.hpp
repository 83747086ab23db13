#pragma once
// Other weeks of the same cluster: a job list cut into blocks of time, such as days, that are drawn with replacement
// (block bootstrap; Künsch, "The Jackknife and the Bootstrap for General Stationary Observations", Annals of Statistics
// 17, 1989). Jobs of a block keep their order, gaps and demands, so that bursts and the hours of a day stay as they
// are. Blocks must be longer than what one block's work tells about the next: see correlation_of_blocks().

#include "models/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// From fewer blocks intervals are too narrow.
inline constexpr std::size_t kFewestBlocks = 12;

/// How a list is resampled.
struct Resampling {
  Time block;           ///< length of the blocks, > 0
  bool replace = true;  ///< false: the blocks are only put into another order
  bool operator==(const Resampling&) const = default;
};

/// The blocks of a list, one after the other from the first submission on. A last block of which the submissions cover
/// less than nine tenths is incomplete and left out, unless it is the only one.
struct Blocks {
  Time begin, length;
  std::vector<std::vector<std::size_t>> jobs;  ///< of each block, the indices of its jobs, in the order of the list
};
[[nodiscard]] Blocks blocks_of(std::span<const JobRequest> list, Time length);

/// A resampled list. With replacement it has one block fewer than the list: then its figures scatter as the figures of
/// other lists do, without the factor (n - 1) / n of the plain bootstrap (Rao and Wu, "Resampling Inference With
/// Complex Survey Data", JASA 83, 1988). Names end with `~` and the place of the block, from 1, so that they stay
/// unique. A job comes after those only that lie in the same block.
struct ResampledList {
  std::vector<JobRequest> jobs;   ///< by block
  std::vector<std::size_t> rows;  ///< by job: its index in the list
};
/// Draws with the streams of `seed`. Throws InputError if the list has fewer than two blocks.
[[nodiscard]] ResampledList resample(std::span<const JobRequest> list, const Resampling& resampling,
                                     std::uint64_t seed);

/// How much a block says about the next one.
struct BlockCorrelation {
  std::size_t blocks = 0;
  double lag_1 =
      0;  ///< correlation of the ranks of a block's GPU time and of the next one's; NaN if they have no order
  double limit = 0;  ///< independent blocks stay below it with a probability of 97.5%: 1.96 / sqrt(blocks)
  [[nodiscard]] bool is_significant() const { return lag_1 > limit; }
};
[[nodiscard]] BlockCorrelation correlation_of_blocks(std::span<const JobRequest> list, Time length,
                                                     const IterationTime& iteration = profile_iteration);

/// By how much the standard error of a mean over the units of a list (days, or shorter blocks) exceeds what resamples
/// in blocks of `units_of_block` of them show, if the units are an autoregressive process of first order: the root of
/// its long-run variance (1 + r) / (1 - r) over what blocks keep of it, 1 + 2 sum over k < l of (1 - k / l) r^k (the
/// bias of the block bootstrap; Künsch, section 3). r is the upper 85% confidence limit of their correlation, from 0 to
/// 0.8, because an interval with an estimate that came out too low is too narrow (Berger and Boos, "P Values Maximized
/// Over a Confidence Set for the Nuisance Parameter", JASA 89, 1994): `lag_1` without its bias, + (1 + 3 lag_1) / units
/// (Kendall, Biometrika 41, 1954), and 1.04 of its standard errors sqrt((1 - lag_1^2) / units) (Bartlett, Supplement to
/// the Journal of the Royal Statistical Society 8, 1946). 1 if lag_1 is NaN.
[[nodiscard]] double lost_correlation(const BlockCorrelation& units, double units_of_block);

/// The length of blocks for a list: a day; if the GPU time of days is correlated, as many days up to seven as leave
/// kFewestBlocks; that part of a list of fewer days. `days` is why. Throws InputError if the list is submitted at one
/// instant.
struct ChosenBlock {
  Time length;
  BlockCorrelation days;
  std::size_t blocks = 0;       ///< of that length that the list has
  double lost_correlation = 1;  ///< lost_correlation() of these blocks, over days or, where blocks are shorter, blocks
};
[[nodiscard]] ChosenBlock choose_block(std::span<const JobRequest> list,
                                       const IterationTime& iteration = profile_iteration);

}  // namespace contend
