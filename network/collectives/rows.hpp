#pragma once
// Declares the rows of the table of algorithms, each defined in a file of this folder, and the functions that they
// share.

#include "network/collectives/algorithm.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

/// CollectiveAlgorithm::kinds of algorithms for all-reduce alone.
inline constexpr CollectiveKind kAllReduce[] = {CollectiveKind::all_reduce};

/// CollectiveAlgorithm::refusal of algorithms that accept every shape.
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

/// The number of chunks m that minimises (c + k m)(a + w V b / m), the time of a pipeline of c + k m steps: d/dm = 0 at
/// m^2 = c w V b / (k a).
inline double pipeline_optimum(double fill, double per_chunk, double share, double bytes, const LinkCost& cost) {
  if (!(fill > 0)) return 1;
  return std::sqrt(fill * share * bytes * cost.beta / (per_chunk * cost.alpha));
}

/// Calls `expand(members, range, stripe)` for every stripe with the ranks in its order, its part of the bytes and its
/// number.
template <class Expand>
void for_each_stripe(const CollectiveShape& shape, std::int64_t bytes, Expand expand) {
  if (shape.stripes.empty()) {
    std::vector<int> members(static_cast<std::size_t>(shape.ranks));
    std::iota(members.begin(), members.end(), 0);
    expand(members, ByteRange{0, bytes}, 0);
    return;
  }
  const int stripes = static_cast<int>(shape.stripes.size());
  for (int i = 0; i < stripes; ++i)
    expand(shape.stripes[static_cast<std::size_t>(i)], part_of({0, bytes}, stripes, i), i);
}

/// Adds n-1 steps around `members`, after which member i has part i of the range, reduced over all members. Returns the
/// index of the next step.
std::size_t ring_reduce_scatter(CollectiveSchedule& schedule, std::size_t first, const std::vector<int>& members,
                                ByteRange range, StepForm form, int stripe = 0);
/// Adds n-1 steps around `members`, of which member i has part i; afterwards every member has every part. Returns the
/// index of the next step.
std::size_t ring_all_gather(CollectiveSchedule& schedule, std::size_t first, const std::vector<int>& members,
                            ByteRange range, StepForm form, int stripe = 0);

}  // namespace contend
