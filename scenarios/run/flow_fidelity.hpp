#pragma once
// Builds the network model of fidelity `flow` from a scenario.

#include "scenarios/scenario.hpp"
#include "sim/ports.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace contend {

/// Throws InputError for a topology that cannot be built, and for planned routes or link events that cannot be read or
/// that name unknown links.
[[nodiscard]] std::unique_ptr<NetworkModel> make_flow_network(const Scenario& scenario, std::uint64_t seed,
                                                              std::size_t jobs);

}  // namespace contend
