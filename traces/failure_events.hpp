#pragma once
// Reads outages from CSV: which component was down from when to when. One row an outage; columns are found by name, in
// any order:
//   down_s     from the start of the run, in seconds; decimals may reach to the nanosecond
//   up_s       when it works again; empty: never
//   slows, slows_network   both or neither: how many times as long computing and transfers of the component take
//              meanwhile, 1 to 1000; both empty: it is out of service
//   drain_s    if given, the outage is planned: from then on, at most down_s, its GPUs take no new jobs; not with slows
//   found_by   if given, who notices: exit-code, heartbeat, timeout, or of what is slow slowdown
//   component  `server3`, `gpu17` (GPUs are numbered server by server), or several servers: `server8-server15`

#include "sim/failure_spec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Outages in row order, for a cluster of this size. Throws InputError with every bad row.
[[nodiscard]] std::vector<Outage> read_failure_events(const std::string& path, int servers, int gpus_per_server);
/// The same for text in memory; messages call it `file`.
[[nodiscard]] std::vector<Outage> parse_failure_events(std::string_view text, const std::string& file, int servers,
                                                       int gpus_per_server);

}  // namespace contend
