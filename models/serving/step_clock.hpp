#pragma once
// How fast a replica computes at a clock of its GPUs, and what they draw there. A step that computes tokens of prompts
// is bound by computing, a step in which all sequences decode by reading weights and caches: a lower clock slows the
// first nearly in proportion and the second hardly (Patel et al., "POLCA", arXiv 2308.12908).

#include "models/serving/step_law.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace contend {

/// The power of all GPUs of a replica, in mW.
struct ReplicaPower {
  std::int64_t idle = 0;     ///< in no step
  std::int64_t prompts = 0;  ///< in a step that computes tokens of prompts
  /// In the others, by their sequences: rising numbers with the power there, between them on straight lines, at both
  /// ends constant; empty: as `prompts`.
  std::vector<std::pair<std::int64_t, std::int64_t>> decodes{};

  /// In a step in which so many sequences decode.
  [[nodiscard]] std::int64_t decoding(std::int64_t sequences) const;
};

/// A clock: the laws of steps that compute prompts and of the others, and the power.
struct StepClock {
  StepLaw prompts{}, decodes{};
  ReplicaPower power{};
};

/// The law where GPUs compute at such a pace, > 0, where 1 is the pace of the law. The host is as fast as before. Terms
/// are rounded up to picoseconds.
[[nodiscard]] StepLaw at_pace(StepLaw law, double pace);

}  // namespace contend
