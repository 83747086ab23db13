#pragma once
// Reads execution traces of PyTorch: the operations of the host threads of one rank in order, with the collectives that
// they ask for, and without times. Schemas 1.0.1 to 1.1.1-chakra.0.0.4 were seen; others are read as the nearest.

#include "text/byte_source.hpp"
#include "traces/recording/recording.hpp"

#include <string>

namespace contend {

[[nodiscard]] RecordedRank read_execution_trace(ByteSource& source, const std::string& file);

}  // namespace contend
