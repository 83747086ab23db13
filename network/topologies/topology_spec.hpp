#pragma once
// TopologySpec is the user's description of a network: a kind of fabric, a kind of server, and their parameters. Every
// kind of server works in every kind of fabric. The tables of kinds name the parameters of each kind and where they are
// stored; lists, scenario keys and checks are derived from them. A new kind is one .cpp file and one row in kinds.cpp.
//
// Bandwidths are per direction. Default speeds are the speeds of an NVIDIA DGX H100 (data sheet; system descriptions of
// MLPerf inference v4.1, which name 18 NVLinks with 900 GB/s both ways, PCIe 5.0 x16 and two Xeon 8480C): ConnectX-7
// NICs of 400 Gb/s, PCIe 5.0 x16, 18 fourth-generation NVLinks of 25 GB/s per GPU. Sapphire Rapids runs UPI at 16 GT/s
// (what its registers say, intel/pcm issue 550); of its up to four links (libpfm: spr_unc_upi0 to 3) three are counted,
// as in that server.

#include "network/topologies/graph_spec.hpp"
#include "network/topology.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace contend {

/// Measured or assumed links between sites, row by row: entry from * sites + to. The diagonal is ignored.
struct WanMatrix {
  std::vector<std::string> sites;
  std::vector<ByteRate> bandwidth;
  std::vector<Time> latency;  ///< one way
  bool operator==(const WanMatrix&) const = default;
};

/// The network outside the servers. Each kind reads only the fields of its row in `fabric_kinds`. Sizes without a
/// useful default are 0 and must be set.
struct FabricSpec {
  std::string kind = "single-switch";
  std::optional<ByteRate> link_bandwidth;      ///< of a cable between switches; none: as the NICs
  Time link_latency = Time::nanoseconds(500);  ///< of a cable with the switch behind it (arXiv 2407.00550, evaluation)
  double oversubscription = 0;                 ///< of the leaves, instead of link_bandwidth; 0: not given
  double core_oversubscription = 0;            ///< of the switches above the leaves; 0: not given
  std::size_t parallel_links = 1;              ///< cables between two switches that are joined
  std::vector<std::size_t> dimensions;         ///< torus: servers along each
  std::size_t servers_per_leaf = 0;
  std::size_t spines = 0;
  std::size_t ports = 0;           ///< fat-tree: k, ports of every switch
  std::size_t leaves_per_pod = 0;  ///< three-tier Clos
  std::size_t aggregations_per_pod = 0;
  std::size_t cores = 0;
  std::size_t planes = 1;              ///< number of separate sets of cores and aggregation switches
  std::size_t routers_per_group = 0;   ///< dragonfly: a
  std::size_t servers_per_router = 0;  ///< dragonfly: p
  std::size_t global_links = 0;        ///< dragonfly: h, of each router
  std::vector<std::string> sites;      ///< multi-cluster: the sites of the matrix to use; empty: all
  WanMatrix wan;                       ///< multi-cluster; without sites: the AWS matrix (`aws_regions`)
  GraphSpec graph;                     ///< custom
};

/// The inside of a server.
struct ServerSpec {
  std::string kind = "plain";
  std::size_t nics = 1;
  ByteRate nic_bandwidth{50e9};                ///< of the cable from NIC to fabric
  ByteRate pcie_bandwidth{63.015e9};           ///< x16 at 32 GT/s, 128b/130b: 32e9 x 16 x 128/130 / 8
  Time pcie_latency = Time::nanoseconds(150);  ///< of each PCIe link (PEX 8796 product brief: 150 ns at most)
  std::size_t gpus_per_pcie_switch = 2;
  std::size_t sockets = 2;                ///< root complexes
  ByteRate socket_bandwidth{96e9};        ///< between two sockets: three UPI links of 16 GT/s, 2 bytes each
  std::vector<std::size_t> nic_near_gpu;  ///< by NIC: a GPU whose PCIe switch it shares; empty: evenly spread
  ByteRate nvlink_bandwidth{25e9};        ///< of one NVLink (2nd to 4th generation: 25 GB/s)
  std::size_t nvlinks_per_gpu = 18;       ///< to the NVSwitches, modelled as one link
  Time nvlink_latency;                    ///< of each NVLink
  bool gpu_relay = false;                 ///< GPUs without a common NVLink send through a third one
};

/// The fabric and the servers of a network.
struct TopologySpec {
  FabricSpec fabric;
  ServerSpec server;
};

/// Where a parameter is stored; its type is the type of the value.
template <class Spec>
using TopologyField = std::variant<std::size_t Spec::*, double Spec::*, bool Spec::*, ByteRate Spec::*,
                                   std::optional<ByteRate> Spec::*, Time Spec::*, std::vector<std::size_t> Spec::*,
                                   std::vector<std::string> Spec::*, WanMatrix Spec::*, GraphSpec Spec::*>;

/// A parameter of a kind of fabric or server.
template <class Spec>
struct TopologyParameter {
  std::string_view name;  ///< also the key in a scenario
  TopologyField<Spec> field;
  double minimum = 0;  ///< inclusive, of whole and real numbers; rates must be > 0, times >= 0
  double maximum = 0;
  std::string_view text;  ///< one line
};

/// A kind of fabric or server: a row of its table.
template <class Spec>
struct TopologyKind {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view source;   ///< paper or origin
  std::vector<TopologyParameter<Spec>> parameters;
};

[[nodiscard]] const std::vector<TopologyKind<FabricSpec>>& fabric_kinds();
[[nodiscard]] const std::vector<TopologyKind<ServerSpec>>& server_kinds();

/// Throws InputError with every bad parameter, as build_topology does before it builds anything.
void check_topology(const TopologySpec& spec, std::size_t servers, std::size_t gpus_per_server);

/// Builds the topology. Its nodes are "server0/gpu1", "server0/nic0" and switches named by their tier. Throws
/// InputError with every bad parameter (keys "fabric.ports", "server.nics", "servers", "gpus_per_server"), or as
/// Topology::finish.
[[nodiscard]] Topology build_topology(const TopologySpec& spec, std::size_t servers, std::size_t gpus_per_server);

}  // namespace contend
