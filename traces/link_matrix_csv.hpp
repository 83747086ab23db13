#pragma once
// Reads the links between sites from CSV, one row a direction; columns are found by name, in any order:
//   from, to     names of sites; their order is the order of their first appearance
//   latency_ms   one way, in milliseconds, 0 or more; decimals may reach to the nanosecond
//   mbps         10^6 bits per second, more than 0
//   relay        optional: the site that passes the messages of this pair on. Their latency is the sum over both legs,
//                and `latency_ms` more; their rate is the least of both legs, and of `mbps`. Both may be empty then.

#include "network/link_matrix.hpp"

#include <string>
#include <string_view>

namespace contend {

/// Reads the links; pairs may be missing. Throws InputError with every bad row: a number that is malformed or out of
/// range, a link from a site to itself, a pair that occurs twice, a relay without links of its own to both; and for a
/// table without links.
[[nodiscard]] LinkMatrix read_link_matrix(const std::string& path);
/// The same for text in memory; messages call it `file`.
[[nodiscard]] LinkMatrix parse_link_matrix(std::string_view text, const std::string& file);

}  // namespace contend
