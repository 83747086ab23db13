// Servers of real machines: a kind of server with the figures of one machine as defaults. Every figure has its source
// here; a scenario may still set each of them.

#include "network/topologies/machines.hpp"

#include "network/topologies/assembly.hpp"

#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

// x16 slots per direction, GT/s x 16 lanes x 128/130 / 8 (PCI-SIG base specifications 3.1, 4.0, 5.0).
constexpr ByteRate kPcie3x16{15.754e9};
constexpr ByteRate kPcie4x16{31.508e9};
constexpr ByteRate kPcie5x16{63.015e9};

constexpr std::size_t kGpusOfMachine = 8;
constexpr std::size_t kGpusOfBox = 4;

void check_gpus(std::string_view machine, std::size_t gpus, std::size_t expected, Complaints& complaints) {
  if (gpus == expected) return;
  complaints.add("gpus_per_server", fmt::format("a {} has {} GPUs, not {}", machine, expected, gpus),
                 "a kind of server, such as `nvswitch` or `pcie`, may have any number");
}

void check_eight(const ServerSpec& spec, std::size_t gpus, Complaints& complaints) {
  check_gpus(spec.kind, gpus, kGpusOfMachine, complaints);
}
void check_four(const ServerSpec& spec, std::size_t gpus, Complaints& complaints) {
  check_gpus(spec.kind, gpus, kGpusOfBox, complaints);
}

/// The machine is built, and checked, as its kind of server, and has as many GPUs as `check_gpus` says.
template <ServerBuilder (*Kind)(), void (*CheckGpus)(const ServerSpec&, std::size_t, Complaints&)>
ServerBuilder machine(std::string_view name, std::string_view summary, std::string_view source, ServerSpec defaults) {
  ServerBuilder builder = Kind();
  builder.built_as = builder.kind.name;
  builder.kind.name = name;
  builder.kind.summary = summary;
  builder.kind.source = source;
  builder.check = [](const ServerSpec& spec, std::size_t gpus, Complaints& complaints) {
    CheckGpus(spec, gpus, complaints);
    static const ServerBuilder kind = Kind();
    if (complaints.empty()) kind.check(spec, gpus, complaints);
  };
  defaults.kind = name;
  builder.defaults = std::move(defaults);
  return builder;
}

/// E5-2698 v4: two QPI links of 9.6 GT/s, 2 bytes each (Intel ARK). A PCIe switch serves two GPUs and a NIC
/// (NVIDIA WP-08437-002, figure 4).
ServerBuilder dgx_1v() {
  ServerSpec spec;
  spec.nics = 4;
  spec.pcie_bandwidth = kPcie3x16;
  spec.socket_bandwidth = ByteRate{2 * 19.2e9};
  return machine<cube_mesh_server, check_eight>(
      "dgx-1v", "DGX-1: 8 V100 in a cube mesh of NVLinks, PCIe 3.0, 4 interfaces (100 Gbit/s: set network.nic)",
      "NVIDIA WP-08437-002; Intel ARK, E5-2698 v4", spec);
}

/// 12 third-generation NVLinks a GPU. EPYC 7742: an xGMI-2 link of 16 lanes at 16 GT/s is 32 GB/s (at most 18 GT/s). A
/// server with two sockets and many PCIe lanes has three of them (AMD, ROCm documentation, "MI100 microarchitecture",
/// on two EPYC 7002 with eight GPUs).
ServerBuilder dgx_a100() {
  ServerSpec spec;
  spec.nics = 8;
  spec.nvlinks_per_gpu = 12;
  spec.pcie_bandwidth = kPcie4x16;
  spec.socket_bandwidth = ByteRate{3 * 32e9};
  return machine<nvswitch_server, check_eight>(
      "dgx-a100", "8 A100 with NVSwitches, PCIe 4.0, 8 interfaces (200 Gbit/s: set network.nic)",
      "NVIDIA DGX A100 data sheet; AMD ROCm documentation on two-socket EPYC: three xGMI links, 16 GT/s assumed", spec);
}

ServerSpec hopper(std::size_t nics) {
  ServerSpec spec;  // its defaults are those of a DGX H100
  spec.nics = nics;
  spec.nvlinks_per_gpu = 18;
  spec.pcie_bandwidth = kPcie5x16;
  return spec;
}
ServerBuilder dgx_h100() {
  return machine<nvswitch_server, check_eight>(
      "dgx-h100", "8 H100 with NVSwitches, PCIe 5.0, 8 interfaces (400 Gbit/s: set network.nic)",
      "NVIDIA DGX H100 data sheet", hopper(8));
}
ServerBuilder hgx_h100_4() {
  return machine<nvswitch_server, check_eight>(
      "hgx-h100-4", "8 H100 with NVSwitches on an HGX board, PCIe 5.0, 4 interfaces: two GPUs share one",
      "NVIDIA HGX H100 data sheet", hopper(4));
}
ServerBuilder hgx_a100_4() {
  ServerBuilder builder = dgx_a100();
  ServerSpec spec = builder.defaults;
  spec.nics = 4;
  return machine<nvswitch_server, check_eight>(
      "hgx-a100-4", "8 A100 with NVSwitches on an HGX board, PCIe 4.0, 4 interfaces: two GPUs share one",
      "NVIDIA HGX A100 data sheet; sockets as of dgx-a100", spec);
}

/// GeForce cards have no peer access: what one sends to another passes through the memory of the host. Rings of NCCL
/// reach 4.1 to 6.5 GB/s in such servers; the larger figure is the rate of a slot here.
ServerBuilder pcie_2080ti() {
  ServerSpec spec;
  spec.nics = 1;
  spec.pcie_bandwidth = ByteRate{6.5e9};
  spec.gpus_per_pcie_switch = 1;
  spec.socket_bandwidth = ByteRate{3 * 20.8e9};  // three UPI links of 10.4 GT/s, 2 bytes each
  return machine<pcie_server, check_four>(
      "pcie-2080ti", "4 RTX 2080 Ti on PCIe 3.0 and two sockets, copies through the host, one interface",
      "bus bandwidth of NCCL, HKBU-HPML/ddl-benchmarks; sockets of a Xeon Gold 6230 assumed", spec);
}

}  // namespace

std::vector<ServerBuilder> machine_servers() {
  return {dgx_1v(), dgx_a100(), dgx_h100(), hgx_a100_4(), hgx_h100_4(), pcie_2080ti()};
}

}  // namespace contend
