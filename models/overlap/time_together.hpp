#pragma once
// The closed form of interference for one task and one transfer (sim/interference.hpp).

#include "sim/interference.hpp"
#include "sim/units.hpp"

namespace contend {

/// From the begin of a task and a transfer that begin together to the end of both; each is the time that it takes
/// alone, and 0 or more.
[[nodiscard]] Time time_together(Time task, Time transfer, const Interference& interference);

}  // namespace contend
