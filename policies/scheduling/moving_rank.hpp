#pragma once
// The place of a job in an order in which jobs may move with time.

#include "policies/scheduling/rank_tree.hpp"
#include "sim/units.hpp"

#include <cstdint>

namespace contend {

/// The place of a running job in the order, as a function of time.
struct MovingRank {
  Rank rank;
  std::int64_t rate = 0;  ///< 0: the key is rank.key. r > 0: the key is r x (rank.key - now), in ns.

  [[nodiscard]] PolicyKey key_at(Time now) const { return rate == 0 ? rank.key : rate * (rank.key - now.ns()); }
  [[nodiscard]] Rank at(Time now) const { return {key_at(now), rank.tier, rank.label, rank.job}; }
};

}  // namespace contend
