#pragma once
// Single collectives on the network of a scenario, for a comparison with benchmarks and with a library's own model.

#include "network/library/nccl_machine.hpp"
#include "scenarios/scenario.hpp"
#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

struct FabricCollective {
  Time time;
  std::string algorithm;  ///< the one that `network.collectives` chooses for it; empty for messages
};

/// A collective on the idle network of a scenario of fidelity `flow`, as its jobs find it at time 0; without a kind
/// each GPU sends so many bytes to the next one at once, and the last to the first. ranks_by_server[i] GPUs of server i
/// take part. Throws InputError as make_flow_network(), for ranks that the cluster does not have, for fewer than two,
/// and if a failed link makes the collective wait for ever.
[[nodiscard]] FabricCollective fabric_collective(const ClusterSetup& cluster, const NetworkSetup& network,
                                                 const FailureSetup& failures, std::uint64_t seed,
                                                 std::optional<CollectiveKind> kind, Bytes bytes,
                                                 const std::vector<int>& ranks_by_server);

/// The servers of a scenario as a machine on which NCCL plans its channels: its links at NCCL's planning rates, which
/// are 20 to 20.6 GB/s for an NVLink of 25 GB/s, and 12 for 15.75 GB/s of PCIe. The scenario does not say the
/// generation of the GPUs or the vendor of the CPUs.
[[nodiscard]] NcclMachine nccl_machine_of(const ClusterSetup& cluster, const NetworkSetup& network, GpuGeneration gpu,
                                          CpuVendor cpu);

}  // namespace contend
