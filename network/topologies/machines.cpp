// Servers of real machines: a kind of server with the figures of a machine of the catalogue (network/catalogue/
// machines.txt) as defaults. A scenario may still set each of them.

#include "network/topologies/machines.hpp"

#include "network/catalogue.hpp"
#include "network/topologies/assembly.hpp"
#include "sim/check.hpp"

#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

ServerBuilder builder_of(std::string_view kind) {
  for (ServerBuilder (*const make)() : {pcie_server, nvswitch_server, cube_mesh_server, mi250x_server}) {
    ServerBuilder builder = make();
    if (builder.kind.name == kind) return builder;
  }
  check_failed(__FILE__, __LINE__, "a kind of server that a machine is built as", "unknown");
}

/// A machine has as many GPUs as its entry says, and is checked as its kind of server.
void check_machine(const ServerSpec& spec, std::size_t gpus, Complaints& complaints) {
  const TextEntry* const machine = find_machine(spec.kind);
  CONTEND_CHECK(machine != nullptr, "a machine is an entry of the catalogue");
  const auto expected = static_cast<std::size_t>(machine->number("gpus"));
  if (gpus != expected)
    complaints.add("gpus_per_server", fmt::format("a {} has {} GPUs, not {}", spec.kind, expected, gpus),
                   "a kind of server, such as `nvswitch` or `pcie`, may have any number");
  if (complaints.empty()) builder_of(machine->text("server")).check(spec, gpus, complaints);
}

ServerBuilder machine(const TextEntry& entry) {
  constexpr double kGiga = 1e9;
  ServerBuilder builder = builder_of(entry.text("server"));
  builder.built_as = builder.kind.name;
  builder.kind.name = entry.name;
  builder.kind.summary = entry.text("summary");
  builder.kind.source = entry.text("source");
  builder.check = check_machine;
  ServerSpec spec = builder.defaults;
  spec.kind = entry.name;
  spec.nics = static_cast<std::size_t>(entry.number("nics"));
  if (entry.has("pcie")) spec.pcie_bandwidth = ByteRate{entry.number("pcie") * kGiga};
  if (entry.has("socket-link")) spec.socket_bandwidth = ByteRate{entry.number("socket-link") * kGiga};
  if (entry.has("switch")) spec.gpus_per_pcie_switch = static_cast<std::size_t>(entry.number("switch"));
  if (entry.has("nvlinks")) {
    spec.nvlinks_per_gpu = static_cast<std::size_t>(entry.numbers("nvlinks").at(0));
    spec.nvlink_bandwidth = ByteRate{entry.numbers("nvlinks").at(1) * kGiga};
  }
  builder.defaults = std::move(spec);
  return builder;
}

}  // namespace

std::vector<ServerBuilder> machine_servers() {
  std::vector<ServerBuilder> all;
  for (const TextEntry& each : machines())
    if (each.has("server")) all.push_back(machine(each));
  return all;
}

}  // namespace contend
