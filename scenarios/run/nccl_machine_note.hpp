#pragma once
// Warns where the network of a scenario and the machine whose links NCCL plans with don't fit together.

#include "scenarios/scenario.hpp"

#include <string>

namespace contend {

/// What network.nccl.machine contradicts, with the keys: at fidelity `flow` another machine in network.server, at the
/// others interfaces whose rate differs from network.nic by a tenth or more, which collectives then don't heed. Empty
/// if nothing does, or if no collective takes what NCCL expects.
[[nodiscard]] std::string nccl_machine_note(const NetworkSetup& network);

}  // namespace contend
