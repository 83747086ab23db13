#pragma once
// Nodes of a Chakra execution trace (mlcommons/chakra, schema/protobuf/et_def.proto), made tasks of a recording
// whatever the form of the file.

#include "traces/recording/recording_builder.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace contend {

/// A node as it stands in the file; the texts must last until it has been added.
struct ChakraNode {
  /// The numbers of the schema's NodeType.
  enum class Type : std::uint8_t { invalid, metadata, load, store, compute, send, receive, collective };
  std::uint64_t id = 0;
  std::string_view name;
  std::uint64_t type = 0;
  std::vector<std::uint64_t> data_needs;
  std::uint64_t duration_us = 0;
  std::string_view values;  ///< of the inputs; the groups of the node `## process_group:init ##`
  std::optional<bool> on_host;
  std::optional<std::int64_t> collective;  ///< numbers of the schema's CollectiveCommType
  std::optional<std::int64_t> bytes, source, destination, tag, stream, thread;
  std::optional<std::int64_t> duration_ns, out_bytes;  ///< of chakra_file()
  std::string_view group;

  /// Takes an attribute with a whole number, whatever its type in the file; others are of no use here.
  void set(std::string_view attribute, std::int64_t value);
  /// Takes an attribute with a text.
  void set(std::string_view attribute, std::string_view value);
};

/// Says where a node stands, for messages, such as `message 3 at offset 70`.
using NodePlace = std::function<std::string()>;

class ChakraNodes {
 public:
  explicit ChakraNodes(const std::string& file) : builder_{file}, file_{file} { builder_.rank().format = "Chakra"; }

  [[nodiscard]] RecordedRank& rank() { return builder_.rank(); }
  /// Throws InputError for a node that contradicts itself or another.
  void add(const ChakraNode& node, const NodePlace& place);
  /// Throws InputError if a node needs one that isn't there, or if nodes need each other.
  [[nodiscard]] RecordedRank take();

 private:
  [[noreturn]] void refuse(std::uint64_t node, std::string reason) const;
  [[nodiscard]] RecordedTransfer transfer_of(const ChakraNode& node, const NodePlace& place);
  void link_needs();

  RecordedRankBuilder builder_;
  std::string file_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_id_;
  std::vector<std::uint64_t> needs_;  ///< ids, task by task
};

/// Its number in the schema's CollectiveCommType; nothing if the schema has no such kind.
[[nodiscard]] std::optional<std::int64_t> chakra_collective(RecordedCollective kind);

/// The schema's words for ChakraNode::Type, in JSON.
inline constexpr std::string_view kChakraTypeWords[] = {"INVALID_NODE",   "METADATA_NODE", "MEM_LOAD_NODE",
                                                        "MEM_STORE_NODE", "COMP_NODE",     "COMM_SEND_NODE",
                                                        "COMM_RECV_NODE", "COMM_COLL_NODE"};
/// The name of the node that lists the groups of a rank, and the version that files of ours say.
inline constexpr std::string_view kChakraGroups = "## process_group:init ##", kChakraVersion = "0.0.4";

/// Throws InputError that names the nodes of a cycle, if tasks of the rank need each other.
void refuse_cycles(const RecordedRank& rank);

}  // namespace contend
