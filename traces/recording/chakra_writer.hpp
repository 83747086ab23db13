#pragma once
// Writes ranks as Chakra execution traces, which read_chakra() and read_chakra_messages() read.

#include "traces/recording/recording.hpp"

#include <string>
#include <vector>

namespace contend {

enum class ChakraForm : std::uint8_t {
  wire,  ///< messages of Protocol Buffers, each behind its length (`.et`)
  json   ///< Protocol Buffers' JSON, one object after the other
};

/// The file of a rank. Beside the attributes of the schema (is_cpu_op, comm_type, comm_size, comm_src, comm_dst,
/// comm_tag, pg_name, stream, tid) nodes have two that the schema has no field for, which other readers pass over:
/// `duration_ns` of a task that takes no whole number of microseconds (`duration_micros` is rounded), and
/// `comm_out_size` where a collective also says what the rank gets. The groups are in a node
/// `## process_group:init ##`. Starts aren't written.
[[nodiscard]] std::string chakra_file(const RecordedRank& rank, ChakraForm form);

/// The parts of the ranks for which a Chakra trace has no place, in words, each once.
[[nodiscard]] std::vector<std::string> lost_in_chakra(const Recording& recording);

}  // namespace contend
