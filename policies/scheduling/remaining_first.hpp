#pragma once
// The variants of srtf and srsf that walk over all jobs (parameter `rewalk`).

#include "sim/ports.hpp"

#include <cstdint>
#include <memory>

namespace contend {

enum class Remaining : std::uint8_t { time, service };

/// `list_order`: jobs with equal keys keep the order that they had at the last event, as in a list that is sorted anew
/// by a stable sort at each event (the released simulator of Tiresias). Else a running job goes before a waiting one,
/// and the one submitted first before the other.
[[nodiscard]] std::unique_ptr<SchedulingPolicy> make_remaining_first(Remaining what, bool list_order);

}  // namespace contend
