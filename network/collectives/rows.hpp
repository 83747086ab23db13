#pragma once
// One row of the table of algorithms from each file of this folder, and what several of them share.

#include "network/collectives/algorithm.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace contend {

CollectiveAlgorithm ring_row();
CollectiveAlgorithm bidirectional_ring_row();
CollectiveAlgorithm halving_doubling_row();
CollectiveAlgorithm bruck_row();
CollectiveAlgorithm binomial_tree_row();
CollectiveAlgorithm double_binary_tree_row();
CollectiveAlgorithm hierarchical_row();
CollectiveAlgorithm hierarchical_leader_row();
CollectiveAlgorithm torus_2d_row();
CollectiveAlgorithm parameter_server_row();
CollectiveAlgorithm pairwise_row();
CollectiveAlgorithm hierarchical_all_to_all_row();
CollectiveAlgorithm swap_row();

/// For algorithms of this kind alone.
inline constexpr CollectiveKind kAllReduce[] = {CollectiveKind::all_reduce};

/// For algorithms that take any number of ranks.
inline std::string never_refused(CollectiveKind, const CollectiveShape&) {
  return {};
}

inline int ceil_log2(int n) {
  int log = 0;
  while ((1 << log) < n) ++log;
  return log;
}
inline int floor_log2(int n) {
  int log = 0;
  while ((2 << log) <= n) ++log;
  return log;
}

/// Chunks m of the smallest (c + k m)(a + w V b / m), a pipeline of c + k m steps: d/dm = 0 at m^2 = c w V b / (k a).
inline double pipeline_optimum(double fill, double per_chunk, double share, double bytes, const LinkCost& cost) {
  if (!(fill > 0)) return 1;
  return std::sqrt(fill * share * bytes * cost.beta / (per_chunk * cost.alpha));
}

/// n-1 steps around `members`: afterwards member i has part i of the range, reduced over all members. Returns the step
/// after the last.
std::size_t ring_reduce_scatter(CollectiveSchedule& schedule, std::size_t first, const std::vector<int>& members,
                                ByteRange range, StepForm form);
/// n-1 steps around `members`, of which member i has part i: afterwards all have all.
std::size_t ring_all_gather(CollectiveSchedule& schedule, std::size_t first, const std::vector<int>& members,
                            ByteRange range, StepForm form);

}  // namespace contend
