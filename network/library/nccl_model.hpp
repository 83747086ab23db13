#pragma once
// NCCL's own cost model: the time that NCCL expects of a collective with each algorithm and protocol, by which it
// chooses between them for every call. (NVIDIA/nccl, src/graph/tuning.cc; nccl_constants.hpp has the constants.)
//
//   t = L + m / (Bw f)
//
// m is the size of the full tensor on one rank, s the number of servers, n the number of ranks, g = n / s. L counts
// hops inside a server (a_in) and between servers (a_net), each with its own latency by algorithm and protocol:
//   ring            base + (K - k) a_in + k a_net; K = 2 (n-1) and k = 2 (s-1) for an all-reduce (in 2.18 k = 2 s),
//   half
//                   of that for reduce-scatter and all-gather; k = 0 with one server. The all-reduce with Simple
//                   between servers has a plateau, on which L is 1.9 times (Volta) or 1.4 times as long.
//   broadcast, reduce  a ring: base + a if all channels have the same ring, else base + n a
//   tree            base + 2 ((g-1) a_in + floor(log2 s) a_net), all-reduce only
//   CollNet direct  base + 2 (min(1, g-1) a_in + 0.4 (g-1)) + a_net, all-reduce only
//   CollNet chain   base + 2 (g-1) a_in + a_net, all-reduce only
//   NVLS            a_in (+ a_net between servers); not for broadcast and reduce
//   NVLSTree        a_in + 2 floor(log2 s) a_net, all-reduce only
//   PAT             8 + floor(log2 s) a_net / 3.5 + 2.8 n, for reduce-scatter and all-gather with one GPU a server
// Bw is what the channels of the plan carry together, less limits by generation of GPU, times the ratio of algorithm
// bandwidth to bus bandwidth. f corrects trees by the size and is not monotone, and neither is t: where it steps, or
// where the choice changes, a larger call may take less time.
//
// An all-to-all consists of grouped sends and receives, which tuning.cc does not rate. Here all are posted at once:
//   t = base + a + o_net P + o_in (g-1) + max(bytes out of a server / rate, bytes out of a GPU / link)
// with P peers on other servers, s-1 messages if NCCL aggregates them by rail (PXN), and o the time of the host a peer.
//
// These constants rank algorithms and are no times. On machines that are known, library_times.hpp has what collectives
// take inside a server, and what a network adds to hops and leaves of rates. Users fit both to their own measurements
// (NcclFit). When the model is wrong: docs/models/nccl.md.

#include "network/library/library_times.hpp"
#include "network/library/nccl_constants.hpp"
#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace contend {

/// The channels of one kind of graph, as NCCL prints them with NCCL_DEBUG_SUBSYS=GRAPH ("nChannels 12, bw 30/30").
struct ChannelPlan {
  int channels = 0;    ///< 0: there is no such graph
  double inside = 0;   ///< GB/s of a channel inside a server, > 0
  double between = 0;  ///< GB/s of a channel between servers, > 0; not used with one server
  bool operator==(const ChannelPlan&) const = default;
};

/// What NCCL knows of the ranks of a communicator and of the links between them.
struct NcclCommunicator {
  NcclVersion version;
  GpuGeneration gpu = GpuGeneration::hopper;
  CpuVendor cpu = CpuVendor::intel;
  InsideLink link = InsideLink::nvlink;
  std::vector<int> ranks_by_server;      ///< each > 0; two ranks or more
  ChannelPlan graph;                     ///< of rings, trees and CollNet
  ChannelPlan nvls;                      ///< of NVLink SHARP
  int launched = 2;                      ///< channels of the communicator, usually twice as many as in the graph
  bool same_ring = false;                ///< all channels have the same ring
  bool plain_tree = false;               ///< a GPU does both, sending and receiving, at the interface: always if g = 1
  bool ll128 = false;                    ///< the links are such that NCCL allows LL128
  bool nvswitch = false, sharp = false;  ///< switches in the servers; a network that adds
  double net_latency = 0;                ///< us, of the plug-in of the network; 0 for the plug-ins of NCCL itself
  // of grouped sends
  double server_rate = 0;                    ///< GB/s of all interfaces of a server; not used with one server
  double gpu_rate = 0;                       ///< GB/s out of a GPU inside its server
  double network_peer = 0, inside_peer = 0;  ///< us of the host for each peer
  bool aggregates = false;                   ///< one message for each server and rail (PXN)
  // What real machines take, in place of the constants by which NCCL ranks its choices.
  const InsideTimes* inside_times = nullptr;  ///< in one server; nullptr: the constants
  NetworkTimes network_times{};               ///< between servers
  bool in_place = true;  ///< the result of an all-gather or reduce-scatter lies where its input does
};

/// What a user has fitted to measurements instead of what NCCL assumes.
struct NcclFit {
  /// Latency in us of a hop of the tree with LL, between servers, or inside if there is only one. The hops of other
  /// algorithms and protocols become longer or shorter by the same amount.
  std::optional<double> hop{};
  /// GB/s of a channel of the graph; the rates of other graphs change by the same factor. For grouped sends it is the
  /// factor of their rates.
  std::optional<double> channel_rate{};
  /// Between servers, in place of the communicator's; the two numbers above come on top.
  std::optional<NetworkTimes> network{};
};

/// The expected time of one algorithm with one protocol.
struct NcclTime {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  double seconds = 0;
  double start_up = 0;   ///< s, without bytes
  double bandwidth = 0;  ///< B/s, of the algorithm
};

/// Bus bandwidth over algorithm bandwidth, as nccl-tests has it: 2 (n-1) / n for an all-reduce, (n-1) / n for
/// reduce-scatter, all-gather and all-to-all, else 1.
[[nodiscard]] double bus_factor(CollectiveKind kind, int ranks);

/// True for the collectives that the library has, which are all but `exchange`.
[[nodiscard]] bool nccl_has(CollectiveKind kind);

class NcclModel {
 public:
  /// Throws InputError with all that is missing or contradictory: fewer than two ranks, no channels, a bandwidth or
  /// time that is not finite, Blackwell before 2.28.
  explicit NcclModel(NcclCommunicator communicator, const NcclFit& fit = {});

  /// The times of every algorithm and protocol that NCCL may choose for this collective of `bytes` > 0, in NCCL's
  /// order.
  [[nodiscard]] std::vector<NcclTime> times(CollectiveKind kind, Bytes bytes) const;
  /// NCCL's choice: the least time, the first of equals.
  [[nodiscard]] NcclTime choice(CollectiveKind kind, Bytes bytes) const;

  [[nodiscard]] const NcclCommunicator& communicator() const { return communicator_; }
  [[nodiscard]] int ranks() const { return ranks_; }

 private:
  struct Hops {
    double inside, between;
  };
  [[nodiscard]] bool offers(NcclAlgorithm algorithm, NcclProtocol protocol, CollectiveKind kind) const;
  [[nodiscard]] Hops hops(NcclAlgorithm algorithm, NcclProtocol protocol) const;
  [[nodiscard]] double start_up(NcclAlgorithm algorithm, NcclProtocol protocol, CollectiveKind kind, Bytes bytes) const;
  [[nodiscard]] double ring_start_up(NcclProtocol protocol, CollectiveKind kind, Bytes bytes, Hops hops) const;
  [[nodiscard]] double one_way_start_up(NcclProtocol protocol) const;
  [[nodiscard]] double bandwidth(NcclAlgorithm algorithm, NcclProtocol protocol, CollectiveKind kind) const;
  [[nodiscard]] double ring_bandwidth(NcclProtocol protocol, CollectiveKind kind) const;
  [[nodiscard]] double tree_bandwidth(NcclProtocol protocol) const;
  [[nodiscard]] double collnet_bandwidth(NcclAlgorithm algorithm) const;
  [[nodiscard]] double nvls_bandwidth(NcclAlgorithm algorithm, CollectiveKind kind) const;
  [[nodiscard]] double all_channels(const ChannelPlan& plan) const;
  [[nodiscard]] double ll_most() const;
  [[nodiscard]] NcclTime sends(Bytes bytes) const;
  [[nodiscard]] std::vector<NcclTime> times_inside(CollectiveKind kind, Bytes bytes) const;
  [[nodiscard]] double steps(CollectiveKind kind) const;

  NcclCommunicator communicator_;
  const NcclConstants* constants_;
  int servers_ = 0, ranks_ = 0;
  double per_server_ = 0;   ///< ranks, the mean
  double further_hop_ = 0;  ///< us, from the fit
  double rate_factor_ = 1;  ///< from the fit
};

}  // namespace contend
