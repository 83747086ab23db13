#pragma once
// How Crux (Cao et al., SIGCOMM 2024, section 4.3) fits priorities of jobs into the few levels that switches have.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// Two jobs that share links. It costs `weight` if they get the same level.
struct JobConflict {
  std::size_t high = 0, low = 0;  ///< the one of higher priority, and the other
  double weight = 0;              ///< >= 0
};

struct PriorityLevels {
  std::vector<int> level;  ///< by job, 0 is the highest
  double kept = 0;         ///< weight of the conflicts whose jobs have different levels
};

/// Levels for `jobs` jobs, 1 <= levels, that keep much of the weight: of `tries` random orders in which no job comes
/// before one of higher priority that it conflicts with, each is cut into levels in the best way, and the best result
/// is taken. No conflict is turned around. Conflicts must not form a circle (InputError).
[[nodiscard]] PriorityLevels priority_levels(std::size_t jobs, std::span<const JobConflict> conflicts, int levels,
                                             int tries, std::uint64_t seed);

}  // namespace contend
