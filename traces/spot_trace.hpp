#pragma once
// Reads when spot instances came and went, as Bamboo publishes it (Thorpe et al., NSDI 2023; traces/p3-trace.csv of
// uclasystem/bamboo): rows without a header, in order of time,
//   time in ms, `add` or `remove`, name of the node
// A node is a server of the cluster while it is there: a new one takes the free server with the lowest number. A server
// without a node is out of service.

#include "sim/failure_spec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// True if the text looks like such a trace rather than like a table with a header.
[[nodiscard]] bool is_spot_trace(std::string_view text);

/// The outages of the servers, by server and time; what is there or not at the end of the trace stays so. Throws
/// InputError with the first row that makes no sense: a node that is added twice, one that isn't there to be removed,
/// one for which the cluster has no server left; and with every bad number.
[[nodiscard]] std::vector<Outage> parse_spot_trace(std::string_view text, const std::string& file, int servers,
                                                   int gpus_per_server);

}  // namespace contend
