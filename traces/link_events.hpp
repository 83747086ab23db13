#pragma once
// Reads links whose bandwidth changes over time from CSV: failures, repairs, and traces of measured bandwidth. One row
// a change; columns are found by name, in any order:
//   time_s   from the start of the run, in seconds; decimals may reach to the nanosecond
//   link     a link such as `leaf0->spine1` (the second of parallel ones is `leaf0->spine1#2`); or a node, which means
//            all links into it and out of it; `server3` means those between the server and the fabric
//   factor   its bandwidth from then on, relative to the topology: 0 is down, 1 is as built

#include "network/flow_network.hpp"
#include "network/topology.hpp"
#include "sim/units.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// One row of the file.
struct LinkEventRow {
  Time time;
  std::string name;   ///< of a link or node
  double factor = 1;  ///< 0 to 1000
  int line = 0;       ///< of the file, for complaints
};

/// Reads events in row order. Throws InputError with every bad row.
[[nodiscard]] std::vector<LinkEventRow> read_link_events(const std::string& path);
/// The same for text in memory; messages call it `file`.
[[nodiscard]] std::vector<LinkEventRow> parse_link_events(std::string_view text, const std::string& file);

/// Expands events to changes of single links, ordered by time; changes of one instant keep row order, so that the last
/// one counts. Throws InputError with every name that the topology does not have, and its nearest name.
[[nodiscard]] std::vector<LinkEvent> resolve_link_events(const std::vector<LinkEventRow>& events,
                                                         const Topology& topology, const std::string& file);

}  // namespace contend
