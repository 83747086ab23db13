#pragma once
// Links whose bandwidth changes over time, as CSV: failures, repairs, and traces of measured bandwidth. One row a
// change, columns found by name in any order:
//   time_s   from the start of the run, in seconds; decimals may reach to the nanosecond
//   link     a link such as `leaf0->spine1` (the second of parallel ones is `leaf0->spine1#2`), or a node, which stands
//            for all links into it and out of it; `server3` stands for those between the server and the fabric
//   factor   its bandwidth from then on, as a part of what the topology gives it: 0 is down, 1 as built

#include "network/flow_network.hpp"
#include "network/topology.hpp"
#include "sim/units.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct LinkEventRow {
  Time time;
  std::string name;   ///< of a link or node
  double factor = 1;  ///< 0 to 1000
  int line = 0;       ///< of the file, for complaints
};

/// Reads events in the order of their rows. Throws InputError with every bad row.
[[nodiscard]] std::vector<LinkEventRow> read_link_events(const std::string& path);
/// The same for text in memory; `file` stands for the file in messages.
[[nodiscard]] std::vector<LinkEventRow> parse_link_events(std::string_view text, const std::string& file);

/// The changes of single links, by time; those of one time in the order of the rows, so that the last one holds. Throws
/// InputError with every name that the topology does not have, and the nearest that it has.
[[nodiscard]] std::vector<LinkEvent> resolve_link_events(const std::vector<LinkEventRow>& events,
                                                         const Topology& topology, const std::string& file);

}  // namespace contend
