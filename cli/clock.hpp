#pragma once
// The wall clock, for records of runs; simulations do not use it.

#include <string>

namespace contend {

/// The current UTC time, such as `2026-11-21T18:20:51Z`.
[[nodiscard]] std::string utc_now();

/// Seconds of a monotonic clock.
[[nodiscard]] double monotonic_seconds();

}  // namespace contend
