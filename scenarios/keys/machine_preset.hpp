#pragma once
// Keys that a scenario takes from the machine that it names (`machine: dgx-h100`), unless its files give them.

#include "scenarios/scenario.hpp"
#include "sim/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The keys of that machine, which is an entry of machines(), as the text of a layer. `fidelity` decides which they
/// are: at `flow` network.nic is the rate of one interface, else the rate of all interfaces of a server together.
[[nodiscard]] std::string machine_preset(std::string_view machine, Fidelity fidelity);

/// Of a scenario at `flow` that has servers of a machine on which NCCL runs, but names no machine: the keys by which
/// its collectives take what NCCL takes there; empty for other scenarios.
[[nodiscard]] std::string library_preset(const NetworkSetup& network);

/// Gives a network without a rate the usual one. Returns what is wrong if no file gives a rate: a store has no usual
/// one.
[[nodiscard]] std::vector<Complaint> take_rate(NetworkSetup& network, ByteRate usual, bool is_given);

/// Gives the machine's device to the entries of training that compute on a device and don't say which.
void take_device(NetworkSetup& network, std::vector<TrainingEntry>& training);

}  // namespace contend
