#pragma once
// Reads lists of flows as CSV: one row a flow, in any order; columns are found by name, in any order, and no others:
//   start_s       when the flow starts, in seconds; decimals may reach to the nanosecond
//   bytes         its size, >= 1: whole bytes, or with a unit, 25MiB
//   source        the GPU that sends, such as server0/gpu3; a server with one GPU may stand for it: server0
//   destination   the GPU that receives, another one
//   flow          name of the flow, unique; without the column the number of its row, from 0

#include "network/topology.hpp"
#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A flow of a list.
struct ListedFlow {
  std::string name;
  Time start;
  Bytes bytes;                ///< >= 1
  GpuId source, destination;  ///< different ones
};

/// Reads the flows in the order of their rows, from a file that may be compressed with gzip. Throws InputError with
/// every bad row (the first 50 in full), for GPUs that the topology does not have with the nearest name, and for a file
/// without flows.
[[nodiscard]] std::vector<ListedFlow> read_flow_list(const std::string& path, const Topology& topology);
/// The same for text in memory; messages call it `file`.
[[nodiscard]] std::vector<ListedFlow> parse_flow_list(std::string_view text, const std::string& file,
                                                      const Topology& topology);

}  // namespace contend
