#pragma once
// Reads and prints the keys `network.fabric` and `network.server`. Their values are maps such as `{kind: leaf-spine,
// spines: 4}`, or just the kind; kinds and parameters come from the tables of network/topologies/topology_spec.hpp.
// Reading merges with the value so far: its parameters stay if the kind doesn't change; another kind starts from its
// defaults.
//
// The NIC bandwidth has a key of its own, `network.nic`, and is therefore not a parameter here.
// The bandwidth of a NIC is the key `network.nic` and therefore no parameter here.

#include "network/topologies/topology_spec.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

[[nodiscard]] Codec<FabricSpec> fabric_codec();
[[nodiscard]] Codec<ServerSpec> server_codec();

/// A parameter of a topology kind, for listings.
struct TopologyParameterInfo {
  std::string_view name;
  std::string type;
  std::string range;          ///< or empty
  std::string default_value;  ///< in YAML; empty if the parameter is required
  std::string_view text;
};

/// A kind of fabric or server, for listings.
struct TopologyKindInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::vector<TopologyParameterInfo> parameters;
};

[[nodiscard]] std::vector<TopologyKindInfo> fabric_infos();
[[nodiscard]] std::vector<TopologyKindInfo> server_infos();

/// The keys that the kind of this spec requires and the spec lacks, such as `spines`.
[[nodiscard]] std::vector<std::string> missing_parameters(const FabricSpec& spec);

}  // namespace contend
