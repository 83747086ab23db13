#pragma once
// How long users of a service wait from token to token: a histogram of all gaps.

#include "sim/units.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// Gaps by classes, 32 in each doubling, so that a quantile is known within 1.6%. A gap is from a step that gave tokens
/// to the next step that gave tokens to that request; tokens by accepted drafts come at once and have no gaps.
class TokenGaps {
 public:
  /// So many gaps of this time, in ps; they count as whole nanoseconds, rounded up.
  void add(Int128 ps, std::int64_t count) { add_series(ps, 0, 1, count); }
  /// `count` gaps of each of so many steps, of which each is longer by `growth` >= 0 ps than the one before.
  void add_series(Int128 first_ps, Int128 growth_ps, std::int64_t steps, std::int64_t count);

  [[nodiscard]] std::int64_t count() const;
  /// The gap below which a share of all gaps lies, 0 to 1: the middle of its class. 0 without gaps.
  [[nodiscard]] Time quantile(double share) const;

  TokenGaps& operator+=(const TokenGaps& other);
  bool operator==(const TokenGaps&) const = default;

 private:
  std::vector<std::int64_t> counts_;  // by class, up to the last one with gaps
};

}  // namespace contend
