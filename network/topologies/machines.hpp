#pragma once
// The parameters with which a kind of server starts: the general defaults, or the figures of a machine.

#include "network/topologies/topology_spec.hpp"

#include <string_view>

namespace contend {

/// The spec of a kind of `server_kinds()` with its defaults.
[[nodiscard]] ServerSpec default_server(std::string_view kind);

/// The kind as which a machine is built; of other kinds their own name.
[[nodiscard]] std::string_view built_as(std::string_view kind);

}  // namespace contend
