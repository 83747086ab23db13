// Builds the insides of servers. All kinds except `plain` are a PCIe tree: sockets (root complexes) joined to each
// other, PCIe switches below them, and GPUs and NICs below those, so that every GPU has a near NIC. NVLinks between the
// same two devices are one link, because the hardware stripes messages over them.

#include "network/topologies/assembly.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace contend {

namespace {

using Parameter = TopologyParameter<ServerSpec>;

const Parameter kNicBandwidth{"nic_bandwidth", &ServerSpec::nic_bandwidth, 0, 0,
                              "bandwidth of the cable from a NIC to the fabric"};
const Parameter kPcieBandwidth{"pcie_bandwidth", &ServerSpec::pcie_bandwidth, 0, 0, "bandwidth of a PCIe link"};
const Parameter kPcieLatency{"pcie_latency", &ServerSpec::pcie_latency, 0, 0, "latency of a PCIe link"};

std::vector<Parameter> tree_parameters(std::vector<Parameter> more) {
  std::vector<Parameter> all{
      {"nics", &ServerSpec::nics, 1, 1024, "number of network interfaces"},
      kNicBandwidth,
      kPcieBandwidth,
      kPcieLatency,
      {"gpus_per_pcie_switch", &ServerSpec::gpus_per_pcie_switch, 1, 1024, "number of GPUs that share a PCIe switch"},
      {"sockets", &ServerSpec::sockets, 1, 64, "number of root complexes, over which the PCIe switches are spread"},
      {"socket_bandwidth", &ServerSpec::socket_bandwidth, 0, 0, "bandwidth between two sockets"},
      {"nic_near_gpu", &ServerSpec::nic_near_gpu, 0, kLargestCount,
       "for each NIC a GPU whose PCIe switch it shares; empty: the NICs are spread evenly"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The nodes of a server under construction.
struct Inside {
  Topology& topology;
  std::size_t server;
  std::vector<NodeId> gpus{};
  std::vector<NodeId> nics{};

  NodeId add(NodeKind kind, std::string_view name, std::size_t number) {
    return topology.add_node(fmt::format("server{}/{}{}", server, name, number), kind, ServerId{server});
  }
};

Inside add_devices(const ServerSpec& spec, std::size_t gpus, std::size_t server, Topology& topology) {
  Inside inside{topology, server};
  for (std::size_t i = 0; i < gpus; ++i) inside.gpus.push_back(inside.add(NodeKind::gpu, "gpu", i));
  for (std::size_t i = 0; i < spec.nics; ++i) inside.nics.push_back(inside.add(NodeKind::nic, "nic", i));
  return inside;
}

void check_plain(const ServerSpec&, std::size_t, Complaints&) {}

std::vector<NodeId> build_plain(const ServerSpec& spec, std::size_t gpus, std::size_t server, Topology& topology) {
  const Inside inside = add_devices(spec, gpus, server, topology);
  for (const NodeId gpu : inside.gpus) {
    topology.add_cable(gpu, inside.nics[0], spec.pcie_bandwidth, spec.pcie_latency);
  }
  return inside.nics;
}

void check_tree(const ServerSpec& spec, std::size_t gpus, Complaints& complaints) {
  if (spec.nic_near_gpu.empty()) return;
  if (spec.nic_near_gpu.size() != spec.nics) {
    complaints.add("server.nic_near_gpu", fmt::format("{} entries for {} NICs", spec.nic_near_gpu.size(), spec.nics));
  }
  for (const std::size_t gpu : spec.nic_near_gpu) {
    if (gpu >= gpus) {
      complaints.add("server.nic_near_gpu", fmt::format("GPU {} of {}", gpu, gpus), "they are numbered from 0");
    }
  }
}

Inside build_tree(const ServerSpec& spec, std::size_t gpus, std::size_t server, Topology& topology) {
  Inside inside = add_devices(spec, gpus, server, topology);
  const auto pcie = [&](NodeId a, NodeId b) { topology.add_cable(a, b, spec.pcie_bandwidth, spec.pcie_latency); };
  const std::size_t switches = (gpus + spec.gpus_per_pcie_switch - 1) / spec.gpus_per_pcie_switch;
  std::vector<NodeId> sockets;
  for (std::size_t i = 0; i < std::min(spec.sockets, switches); ++i) {
    sockets.push_back(inside.add(NodeKind::bridge, "socket", i));
    for (std::size_t j = 0; j < i; ++j) {
      topology.add_cable(sockets[j], sockets[i], spec.socket_bandwidth, spec.pcie_latency);
    }
  }
  std::vector<NodeId> pcie_switches;
  for (std::size_t i = 0; i < switches; ++i) {
    pcie_switches.push_back(inside.add(NodeKind::bridge, "pcie", i));
    pcie(pcie_switches[i], sockets[i * sockets.size() / switches]);
  }
  for (std::size_t i = 0; i < gpus; ++i) pcie(inside.gpus[i], pcie_switches[i / spec.gpus_per_pcie_switch]);
  for (std::size_t i = 0; i < spec.nics; ++i) {
    const std::size_t near =
        spec.nic_near_gpu.empty() ? i * switches / spec.nics : spec.nic_near_gpu[i] / spec.gpus_per_pcie_switch;
    pcie(inside.nics[i], pcie_switches[near]);
  }
  return inside;
}

std::vector<NodeId> build_pcie(const ServerSpec& spec, std::size_t gpus, std::size_t server, Topology& topology) {
  return build_tree(spec, gpus, server, topology).nics;
}

std::vector<NodeId> build_nvswitch(const ServerSpec& spec, std::size_t gpus, std::size_t server, Topology& topology) {
  Inside inside = build_tree(spec, gpus, server, topology);
  // One node represents all NVSwitches: every GPU has equally many links to each of them, and each is a crossbar.
  const NodeId nvswitch = inside.add(NodeKind::bridge, "nvswitch", 0);
  const ByteRate bandwidth{static_cast<double>(spec.nvlinks_per_gpu) * spec.nvlink_bandwidth.bytes_per_second()};
  for (const NodeId gpu : inside.gpus) topology.add_cable(gpu, nvswitch, bandwidth, spec.nvlink_latency);
  return inside.nics;
}

constexpr std::size_t kMeshGpus = 8;
/// The links between each pair of GPUs; 0: none.
using MeshLinks = std::array<std::array<int, kMeshGpus>, kMeshGpus>;

/// NVLinks of the DGX-1 with V100 as `nvidia-smi topo -m` prints them (NVIDIA, "DGX-1 with Tesla V100 system
/// architecture", WP-08437-002): six links per GPU.
constexpr MeshLinks kCubeMesh{{{0, 1, 1, 2, 2, 0, 0, 0},
                               {1, 0, 2, 1, 0, 2, 0, 0},
                               {1, 2, 0, 2, 0, 0, 1, 0},
                               {2, 1, 2, 0, 0, 0, 0, 1},
                               {2, 0, 0, 0, 0, 1, 1, 2},
                               {0, 2, 0, 0, 1, 0, 2, 1},
                               {0, 0, 1, 0, 1, 2, 0, 2},
                               {0, 0, 0, 1, 2, 1, 2, 0}}};

/// Infinity Fabric links between the eight dies of four MI250X: four in a package, two or one between packages
/// (ROCm/rccl, src/graph/rome_models.h, rome_model_71, connMatrix).
constexpr MeshLinks kMi250x{{{0, 4, 1, 0, 0, 0, 2, 0},
                             {4, 0, 0, 1, 0, 1, 0, 0},
                             {1, 0, 0, 4, 2, 0, 0, 0},
                             {0, 1, 4, 0, 0, 0, 0, 1},
                             {0, 0, 2, 0, 0, 4, 1, 0},
                             {0, 1, 0, 0, 4, 0, 0, 1},
                             {2, 0, 0, 0, 1, 0, 0, 4},
                             {0, 0, 0, 1, 0, 1, 4, 0}}};

void check_mesh(std::string_view what, const ServerSpec& spec, std::size_t gpus, Complaints& complaints) {
  check_tree(spec, gpus, complaints);
  if (gpus != kMeshGpus)
    complaints.add("gpus_per_server", fmt::format("{} has {} GPUs, not {}", what, kMeshGpus, gpus));
}
void check_cube_mesh(const ServerSpec& spec, std::size_t gpus, Complaints& complaints) {
  check_mesh("a hybrid cube mesh", spec, gpus, complaints);
}
void check_mi250x(const ServerSpec& spec, std::size_t gpus, Complaints& complaints) {
  check_mesh("an mi250x", spec, gpus, complaints);
}

template <const MeshLinks& links>
std::vector<NodeId> build_mesh(const ServerSpec& spec, std::size_t gpus, std::size_t server, Topology& topology) {
  const Inside inside = build_tree(spec, gpus, server, topology);
  for (std::size_t i = 0; i < gpus; ++i) {
    if (spec.gpu_relay) topology.make_relay(inside.gpus[i]);
    for (std::size_t j = i + 1; j < gpus; ++j) {
      if (links[i][j] == 0) continue;
      const ByteRate bandwidth{links[i][j] * spec.nvlink_bandwidth.bytes_per_second()};
      topology.add_cable(inside.gpus[i], inside.gpus[j], bandwidth, spec.nvlink_latency);
    }
  }
  return inside.nics;
}

/// The parameters of GPUs that are joined to each other without switches.
std::vector<Parameter> mesh_parameters() {
  return tree_parameters({{"nvlink_bandwidth", &ServerSpec::nvlink_bandwidth, 0, 0, "bandwidth of one link of a GPU"},
                          {"nvlink_latency", &ServerSpec::nvlink_latency, 0, 0, "latency of such a link"},
                          {"gpu_relay", &ServerSpec::gpu_relay, 0, 0,
                           "whether GPUs without a common link send through a third GPU instead of PCIe"}});
}

}  // namespace

ServerBuilder plain_server() {
  return {{"plain",
           "GPUs behind one NIC, which also joins them to each other",
           "textbook",
           {kNicBandwidth, kPcieBandwidth, kPcieLatency}},
          check_plain,
          build_plain};
}
ServerBuilder pcie_server() {
  return {{"pcie", "a PCIe tree: sockets, PCIe switches, and below them GPUs and NICs", "NVIDIA nccl, topology search",
           tree_parameters({})},
          check_tree,
          build_pcie};
}
ServerBuilder nvswitch_server() {
  return {{"nvswitch", "a PCIe tree whose GPUs also reach each other through NVSwitches at full rate",
           "NVIDIA DGX A100 and H100 data sheets",
           tree_parameters({{"nvlinks_per_gpu", &ServerSpec::nvlinks_per_gpu, 1, 1024, "number of NVLinks of a GPU"},
                            {"nvlink_bandwidth", &ServerSpec::nvlink_bandwidth, 0, 0, "bandwidth of one NVLink"},
                            {"nvlink_latency", &ServerSpec::nvlink_latency, 0, 0, "latency of an NVLink"}})},
          check_tree,
          build_nvswitch};
}
ServerBuilder cube_mesh_server() {
  return {{"hybrid-cube-mesh", "a PCIe tree of 8 V100 with six NVLinks each, as in a DGX-1", "NVIDIA WP-08437-002",
           mesh_parameters()},
          check_cube_mesh,
          build_mesh<kCubeMesh>};
}
/// Each die has an Infinity Fabric link of its own to the CPU, which is a PCIe link with a switch here. An interface
/// hangs on one die of each package; the other die reaches it through the first one.
ServerBuilder mi250x_server() {
  ServerSpec spec;
  spec.kind = "mi250x";
  spec.nics = 4;
  spec.nic_near_gpu = {1, 3, 5, 7};
  spec.pcie_bandwidth = ByteRate{36e9};
  spec.gpus_per_pcie_switch = 1;
  spec.sockets = 1;
  spec.nvlink_bandwidth = ByteRate{50e9};
  spec.gpu_relay = true;
  return {{"mi250x", "4 MI250X, 8 GPUs in a mesh of Infinity Fabric links, 4 interfaces (200 Gbit/s: set network.nic)",
           "ROCm/rccl, rome_model_71; OLCF, Frontier User Guide; that interfaces hang on odd GPUs is assumed",
           mesh_parameters()},
          check_mi250x,
          build_mesh<kMi250x>,
          spec};
}

}  // namespace contend
