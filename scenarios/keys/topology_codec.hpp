#pragma once
// The keys `network.fabric` and `network.server`. Their values are maps `{kind: leaf-spine, spines: 4}` or just the
// kind; kinds and parameters come from the tables of network/topologies/topology_spec.hpp. Reading merges: parameters
// given before stay as long as the kind does, another kind starts from its defaults.
//
// The bandwidth of a NIC is the key `network.nic` and therefore no parameter here.

#include "network/topologies/topology_spec.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

[[nodiscard]] Codec<FabricSpec> fabric_codec();
[[nodiscard]] Codec<ServerSpec> server_codec();

/// A parameter of a kind, for lists.
struct TopologyParameterInfo {
  std::string_view name;
  std::string type;
  std::string range;          ///< or empty
  std::string default_value;  ///< in YAML; empty: must be given
  std::string_view text;
};

struct TopologyKindInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::vector<TopologyParameterInfo> parameters;
};

[[nodiscard]] std::vector<TopologyKindInfo> fabric_infos();
[[nodiscard]] std::vector<TopologyKindInfo> server_infos();

/// Keys of parameters that the kind of this spec needs and that it lacks, such as `spines`.
[[nodiscard]] std::vector<std::string> missing_parameters(const FabricSpec& spec);

}  // namespace contend
