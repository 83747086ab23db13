#include "scenarios/keys/machine_preset.hpp"

#include "network/catalogue.hpp"
#include "network/library/nccl_machine.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "sim/check.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace contend {

std::string machine_preset(std::string_view name, Fidelity fidelity) {
  const TextEntry* const found = find_machine(name);
  CONTEND_CHECK(found != nullptr, "a scenario names machines that there are");
  const TextEntry& machine = *found;
  const bool flow = traits_of(fidelity).has_topology;
  const double line = machine.number("line");
  std::string text =
      fmt::format("cluster: {{gpus_per_server: {}, gpu_memory: {}}}\nnetwork:\n  nic: {}Gbps\n", machine.text("gpus"),
                  machine.text("memory"), flow ? line : line * machine.number("nics"));
  const bool has_library = machine.has("gpu");
  if (has_library) text += fmt::format("  {}: nccl\n  nccl: {{machine: {}}}\n", flow ? "collectives" : "formula", name);
  if (flow) {
    if (machine.has("server")) text += fmt::format("  server: {}\n", name);
    return text;
  }
  // Messages: a hop with Simple between servers, and a send inside.
  const NcclConstants& constants = nccl_constants(NcclVersion{});
  constexpr auto kSends = static_cast<std::size_t>(NcclAlgorithm::sends), kSimple = std::size_t{2};
  const NetworkTimes* const between = find_network_times(machine.text("between"));
  const double hop = constants.network_hop[kSends][kSimple] + (between != nullptr ? between->further[kSimple] : 0);
  const InsideTimes* const inside = find_inside_times(machine.text("inside"));
  const double rate = inside != nullptr ? inside->sends[kSimple].rate : machine.number("rate");
  const double start =
      inside != nullptr && inside->sends[0].rate > 0 ? inside->sends[0].start : constants.nvlink_hop[kSends][kSimple];
  return text + fmt::format("  alpha: {:.3g}us\n  inside: {{bandwidth: {:.4g}GB/s, alpha: {:.3g}us}}\n",
                            std::max(hop, 1.0), rate, start);
}

std::string library_preset(const NetworkSetup& network) {
  const std::string& kind = network.topology.server.kind;
  const bool is_known = std::ranges::find(nccl_machines(), kind, &NcclMachine::name) != nccl_machines().end();
  if (!network.as_framework || !network.traits().has_topology || !is_known) return {};
  return fmt::format("network: {{collectives: nccl, nccl: {{machine: {}}}}}\n", kind);
}

void take_device(NetworkSetup& network, std::vector<TrainingEntry>& training) {
  if (!network.machine) return;
  const std::string_view device = find_machine(*network.machine)->text("device");
  for (TrainingEntry& entry : training) {
    const bool computes = entry.model || entry.config || entry.parallel || entry.transformer.layers > 0;
    if (entry.name == kDefaultEntry || !computes || entry.layers || entry.says("device")) continue;
    entry.device = DeviceChoice::named(std::string{device});
    entry.inherited.insert("device");
    if (entry.as_framework) entry.type = framework_type(entry);
    network.of_machine.push_back(fmt::format("training.{}.device", entry.name));
  }
}

std::vector<Complaint> take_rate(NetworkSetup& network, ByteRate usual, bool is_given) {
  if (!network.nic && !network.beta) network.nic = usual;
  if (is_given || (network.formula != kStoreFormula && network.formula != kStoreScatterFormula)) return {};
  return {{.key = "network.formula",
           .reason = "the store has no rate",
           .hint = "give network.nic, at which a worker writes and reads, such as 520Mbps"}};
}

}  // namespace contend
