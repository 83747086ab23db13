#pragma once
// The place of a job in an order in which jobs may move with time.

#include "policies/scheduling/rank_tree.hpp"
#include "sim/units.hpp"

#include <compare>
#include <cstdint>

namespace contend {

/// The place of a running job in the order, as a function of time.
struct MovingRank {
  Rank rank;
  std::int64_t rate = 0;  ///< by which the key falls in each ns, >= 0; rank.key is what the key would be at 0

  [[nodiscard]] PolicyKey key_at(Time now) const { return rank.key - PolicyKey{rate} * now.ns(); }
  [[nodiscard]] Rank at(Time now) const { return {key_at(now), rank.tier, rank.label, rank.job}; }
  /// The order of the two places at `now`.
  [[nodiscard]] std::strong_ordering compare(const MovingRank& other, Time now) const {
    if (const auto by_key = key_at(now) <=> other.key_at(now); by_key != 0) return by_key;
    if (rank.tier != other.rank.tier) return rank.tier <=> other.rank.tier;
    if (rank.label != other.rank.label) return rank.label <=> other.rank.label;
    return rank.job <=> other.rank.job;
  }
  bool operator==(const MovingRank&) const = default;
};

}  // namespace contend
