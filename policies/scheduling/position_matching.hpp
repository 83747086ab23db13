#pragma once
// Matches jobs with positions on the GPUs of several types so that the sum of their completion times is least: the k-th
// job from the last on a GPU delays k jobs, itself included, and so costs k times its own time there (Horn, Operations
// Research 21, 1973; Bruno, Coffman and Sethi, Communications of the ACM 17, 1974). All GPUs of a type are alike there,
// so a position of a type is one column with as many places as the type has GPUs, over which the shortest augmenting
// paths of Jonker and Volgenant (Computing 38, 1987) go.

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

struct Position {
  std::size_t type = 0;
  std::size_t from_last = 1;  ///< 1: nothing runs after it on its GPU
  bool operator==(const Position&) const = default;
};

/// The positions of the jobs at the least cost; ties go to types and positions at the back, unless only others have
/// room. `takes`: [job x types + type], the time of the job there, > 0 and finite; `gpus`: of each type, > 0 for one.
/// O(jobs^2 x positions), with ceil(jobs / GPUs) positions on each type.
[[nodiscard]] std::vector<Position> match_positions(std::span<const double> takes, std::span<const std::size_t> gpus);

}  // namespace contend
