#pragma once
// What a placement policy may know of how the ranks of a job depend on each other.

#include <cstdint>

namespace contend {

/// Groups of consecutive ranks of a job.
struct RankLayout {
  std::int32_t together = 1;  ///< ranks that exchange most (a tensor-parallel group): they belong on one server; >= 1
  std::int32_t replica = 1;   ///< ranks that do the parts of one micro-batch in a stage; a multiple of `together`
  std::int32_t stage = 0;     ///< ranks of a stage, among which gradients are added up; 0: all ranks of the job
  bool may_part = true;       ///< ranks that belong together may lie on several servers
  bool operator==(const RankLayout&) const = default;
};

}  // namespace contend
