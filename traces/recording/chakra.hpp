#pragma once
// Reads Chakra execution traces, node by node: files of Protocol Buffers (`.et`), and their two forms as JSON.

#include "text/byte_source.hpp"
#include "traces/recording/recording.hpp"

#include <string>

namespace contend {

/// Messages that each follow their length as a varint; the first is the metadata of the file. Throws InputError, which
/// names message and offset, for a message that is cut or damaged.
[[nodiscard]] RecordedRank read_chakra(ByteSource& source, const std::string& file);

/// A document with the array `workload_graph` (keys Id, Name, NodeType, data_deps, runtime, is_cpu_op).
[[nodiscard]] RecordedRank read_chakra_graph(ByteSource& source, const std::string& file);

/// Messages as Protocol Buffers print them, one object after the other or in an array; types may be numbers or words,
/// keys in camel case or with underscores.
[[nodiscard]] RecordedRank read_chakra_messages(ByteSource& source, const std::string& file);

}  // namespace contend
