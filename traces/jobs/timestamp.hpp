#pragma once
// Points in time as logs write them.

#include "sim/units.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace contend {

/// `2017-10-07 01:11:39`, with `T` instead of the blank, without seconds, with a fraction of them, and with an offset
/// from UTC behind (`Z`, `+08:00`, `-0700`), to the time since 1970-01-01 00:00; no offset counts as UTC. Years 1990 to
/// 2088. Empty if the text is no such thing, or no date of the calendar.
[[nodiscard]] std::optional<Time> parse_timestamp(std::string_view text);

/// The same the other way, in UTC, cut to seconds: `2017-10-07 01:11:39`.
[[nodiscard]] std::string format_timestamp(Time since_1970);

/// Slurm's lengths of time: `minutes:seconds`, `hours:minutes:seconds`, `days-hours[:minutes[:seconds]]`; seconds
/// perhaps with a fraction.
[[nodiscard]] std::optional<Time> parse_slurm_duration(std::string_view text);

}  // namespace contend
