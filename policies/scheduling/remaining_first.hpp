#pragma once
// RemainingFirst implements the variants of srtf and srsf that walk over all jobs (parameter `rewalk`).

#include "sim/ports.hpp"

#include <cstdint>
#include <memory>

namespace contend {

enum class Remaining : std::uint8_t { time, service };

struct RemainingFirstOptions {
  /// Jobs with equal keys keep the order of the last event, as in a list that is sorted again by a stable sort at each
  /// event (the released simulator of Tiresias). Otherwise a running job goes before a waiting job, and a job that was
  /// submitted earlier before a later one.
  bool list_order = false;
  bool migrate = false;  ///< running jobs may be moved to other GPUs
};

[[nodiscard]] std::unique_ptr<SchedulingPolicy> make_remaining_first(Remaining what,
                                                                     const RemainingFirstOptions& options);

}  // namespace contend
