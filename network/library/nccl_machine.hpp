#pragma once
// The machines on which NCCL runs, and how it plans channels over their links.
//
// NCCL takes the first bandwidth of a list for which it finds channels through the links of a server, and doubles the
// channels of fast ones (NVIDIA/nccl, src/graph/search.cc). nccl_communicator() does that from the number and the
// planning rates of links (src/graph/topo.h), without the search through the graph: a ring in a server takes the whole
// NVLink bandwidth of its GPUs, or one channel over PCIe, and a ring between servers has a channel for each interface.
// That gives what NCCL prints for the machines below. Elsewhere the channels that NCCL_DEBUG_SUBSYS=GRAPH prints can be
// given instead.

#include "network/library/nccl_model.hpp"

#include <span>
#include <string_view>

namespace contend {

/// Planning rates of NCCL, GB/s (NVIDIA/nccl v2.23.4-1, src/graph/topo.h); NICs by their line rate / 8.
inline constexpr double kPlannedNvlinkAmpere = 20, kPlannedNvlinkHopper = 20.6;
inline constexpr double kPlannedPcie3 = 12;
inline constexpr double kPlannedSocketIntel = 10, kPlannedSocketAmd = 16;

/// A kind of server and the network between servers.
struct NcclMachine {
  std::string_view name{};
  std::string_view summary{};
  std::string_view source{};
  GpuGeneration gpu = GpuGeneration::hopper;
  CpuVendor cpu = CpuVendor::intel;
  InsideLink link = InsideLink::nvlink;
  bool nvswitch = false;
  int gpus = 8;             ///< of a server, >= 1
  double gpu_rate = 0;      ///< GB/s of all NVLinks of a GPU, or of its PCIe slot
  double socket_rate = 0;   ///< GB/s between the sockets, if GPUs on PCIe lie on two; 0: they do not
  int nics = 0;             ///< of a server; 0: there is no network
  double nic_rate = 0;      ///< GB/s
  double nic_slot = 0;      ///< GB/s of the interface's PCIe slot
  bool near_nics = false;   ///< interfaces share PCIe switches with the GPUs that use them
  bool sharp = false;       ///< the switches of the network add
  double net_latency = 0;   ///< us, of the plug-in
  double network_peer = 2;  ///< us of the host for each peer of grouped sends: 1 to 3 with RDMA, 15 to 17 with sockets
  double inside_peer = 0;   ///< us for each peer in the server; not known, and small beside a hop
  int domain = 0;           ///< GPUs that NVLink joins over several servers; 0: the GPUs of a server
  std::string_view inside{}, between{};  ///< of find_inside_times() and find_network_times(); empty: not known
  NcclVersion version{};                 ///< that is usual on it
};

/// The machines of the catalogue (network/catalogue/machines.txt) on which NCCL or RCCL runs.
[[nodiscard]] std::span<const NcclMachine> nccl_machines();
/// The machine of that name. Throws InputError with the nearest name.
[[nodiscard]] const NcclMachine& find_nccl_machine(std::string_view name);

/// The channels within one server of `gpus` >= 2 ranks, and those between servers with `gpus` >= 1 ranks each. Throws
/// InputError if no bandwidth of the list fits, and for a machine without a network between servers.
[[nodiscard]] ChannelPlan plan_channels(const NcclMachine& machine, int gpus, bool several_servers);
/// The channels of NVLink SHARP; no channels if the machine does not have it.
[[nodiscard]] ChannelPlan plan_nvls_channels(const NcclMachine& machine, int gpus, bool several_servers);

/// The caller's choices for nccl_communicator().
struct NcclChoices {
  NcclVersion version{};
  std::optional<ChannelPlan> graph{};  ///< instead of the planned channels
  /// What is known of the machine counts, inside a server and between servers; else the constants of NCCL alone.
  bool measured = false;
  bool in_place = true;  ///< NcclCommunicator::in_place
};

/// The communicator of the ranks on servers of this machine. Servers of one NVLink domain, the first `domain` GPUs and
/// so on, are one server. With different numbers on the servers, the fewest decide about channels. Throws InputError as
/// plan_channels(), and for more ranks on a server than it has GPUs.
[[nodiscard]] NcclCommunicator nccl_communicator(const NcclMachine& machine, std::vector<int> ranks_by_server,
                                                 const NcclChoices& choices = {});

/// A communication library on a machine: the cost of a collective for any ranks, for studies and network models.
class NcclLibrary {
 public:
  explicit NcclLibrary(NcclMachine machine, NcclChoices choices = {}, NcclFit fit = {})
      : machine_{machine}, choices_{std::move(choices)}, fit_{fit} {}

  [[nodiscard]] const NcclMachine& machine() const { return machine_; }
  /// Bytes that two GPUs have under way at most between full servers, over an interface: each channel there has a
  /// buffer of 4 MiB, in eight slots (NCCL_BUFFSIZE; NVIDIA/nccl issue 391). 0 for a machine without interfaces.
  [[nodiscard]] double in_flight() const;
  /// The model for ranks_by_server[i] ranks on server i.
  [[nodiscard]] NcclModel model(std::span<const int> ranks_by_server) const;
  /// The time of the choice of NCCL, in s; 0 for a single rank. Throws InputError as the functions above.
  [[nodiscard]] double seconds(CollectiveKind kind, Bytes bytes, std::span<const int> ranks_by_server) const;

 private:
  NcclMachine machine_;
  NcclChoices choices_;
  NcclFit fit_;
};

}  // namespace contend
