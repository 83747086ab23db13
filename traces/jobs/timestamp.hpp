#pragma once
// Parses and formats the instants and durations of logs.

#include "sim/units.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace contend {

/// Parses an instant as time since 1970-01-01 00:00 UTC: `2017-10-07 01:11:39`, also with `T` instead of the blank,
/// without seconds, with fractional seconds, and with an offset from UTC (`Z`, `+08:00`, `-0700`); without an offset it
/// is UTC. Years 1990 to 2088. Empty if the text has another form or is not a date of the calendar.
[[nodiscard]] std::optional<Time> parse_timestamp(std::string_view text);

/// Formats an instant in UTC, truncated to seconds: `2017-10-07 01:11:39`.
[[nodiscard]] std::string format_timestamp(Time since_1970);

/// Parses Slurm's durations: `minutes:seconds`, `hours:minutes:seconds`, `days-hours[:minutes[:seconds]]`; seconds may
/// have a fraction. Empty if the text has another form.
[[nodiscard]] std::optional<Time> parse_slurm_duration(std::string_view text);

}  // namespace contend
