#pragma once
// What time it is, for the record of a run; no simulation sees it.

#include <string>

namespace contend {

/// UTC, such as `2026-11-21T18:20:51Z`.
[[nodiscard]] std::string utc_now();

/// Seconds since some instant, never backwards.
[[nodiscard]] double monotonic_seconds();

}  // namespace contend
