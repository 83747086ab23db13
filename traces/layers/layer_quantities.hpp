#pragma once
// Reads the quantities that all layer formats share, with the same limits.

#include "sim/units.hpp"
#include "text/file_complaints.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace contend {

/// Decimals of a time in microseconds that is kept in nanoseconds.
inline constexpr int kMicroseconds = 3;

/// Reads a time from decimal text in units of 10^decimals ns (us: 3, ms: 6, s: 9), from 0 to one hour, rounded to
/// nanoseconds. Any other text is reported and reads as 0.
[[nodiscard]] Time read_layer_time(std::string_view text, int decimals, TextPlace place, const std::string& key,
                                   FileComplaints& complaints);

/// The largest tensor and the longest table that a reader accepts, so that no sum of bytes or times overflows.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;
inline constexpr std::int64_t kMaxLayers = 1'000'000;

}  // namespace contend
