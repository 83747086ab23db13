#pragma once
// From a scenario to the network model of fidelity `flow`.

#include "scenarios/scenario.hpp"
#include "sim/ports.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace contend {

/// Throws InputError: a topology that can't be built, planned routes or link events that can't be read or name links
/// that are not there.
[[nodiscard]] std::unique_ptr<NetworkModel> make_flow_network(const Scenario& scenario, std::uint64_t seed,
                                                              std::size_t jobs);

}  // namespace contend
