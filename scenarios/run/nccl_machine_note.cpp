#include "scenarios/run/nccl_machine_note.hpp"

#include "network/library/nccl_machine.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/run/network_costs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace contend {

std::string nccl_machine_note(const NetworkSetup& network) {
  if (cost_formula(network).basis != CostBasis::library || !network.nccl.machine) return {};
  const NcclMachine& machine = find_nccl_machine(*network.nccl.machine);
  if (!network.traits().has_topology) {
    constexpr double kBytesOfGB = 1e9, kAlike = 0.1;
    const double rate = machine.nic_rate * kBytesOfGB;
    if (!network.nic || network.nic == default_scenario().network.nic || rate == 0) return {};
    if (std::abs(network.nic->bytes_per_second() / rate - 1) < kAlike) return {};
    return fmt::format(
        "network.nic: with network.formula: nccl collectives take what NCCL expects of the interfaces of a {}, of "
        "{:g} GB/s each; network.nic is for messages from GPU to GPU only",
        machine.name, machine.nic_rate);
  }
  const std::string& built = network.topology.server.kind;
  const bool is_known = std::ranges::find(nccl_machines(), built, &NcclMachine::name) != nccl_machines().end();
  if (!is_known || built == machine.name) return {};
  return fmt::format(
      "network.nccl.machine: NCCL plans with the links of a {}, and network.server has those of a {}; name the same "
      "machine in both",
      machine.name, built);
}

}  // namespace contend
