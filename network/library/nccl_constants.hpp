#pragma once
// The constants of NCCL's own cost model, by version: start-up times, latencies of a hop, and bandwidths that a channel
// does not exceed. They come from NVIDIA/nccl, src/graph/tuning.cc (src/tuning/ from 2.30 on), at the tags
// v2.10.3-1, v2.18.5-1, v2.23.4-1 and v2.30.7-1. nccl_model.hpp has the equations.
//
// The model of NVLS of 2.30 is used from 2.28 on: the synchronisation of RCCL with NCCL 2.28.3 (ROCm/rccl, pull request
// 2040) has it already. The same holds for the other constants that differ between 2.27 and 2.30; the version of 2.24
// to 2.30 in which each of them changed is not known.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace contend {

/// A version of NCCL.
struct NcclVersion {
  int major = 2, minor = 23, patch = 4;
  auto operator<=>(const NcclVersion&) const = default;
};
[[nodiscard]] std::string print_version(const NcclVersion& version);
/// Reads a version such as `2.23.4`. Throws InputError for another text and for a version whose constants are not
/// known: 2.10.3, 2.18.5 and 2.23.4 to 2.30.7 are.
[[nodiscard]] NcclVersion read_nccl_version(std::string_view text);

/// How a collective goes through the ranks, in NCCL's order, which decides between equal times.
enum class NcclAlgorithm : std::uint8_t {
  tree,  ///< double binary tree over the servers, a chain in each of them
  ring,
  collnet_direct,  ///< switches of the network add (SHARP), every GPU sends to the GPUs at the interfaces
  collnet_chain,   ///< the same along a chain of GPUs
  nvls,            ///< NVLink SHARP: the switches of the server add, between servers the switches of the network
  nvls_tree,       ///< NVLink SHARP in a server, a tree between servers
  pat,             ///< parallel aggregated trees, for one GPU a server
  sends            ///< grouped sends and receives, which the cost model of NCCL does not rate
};
inline constexpr std::size_t kNcclAlgorithms = 8;
[[nodiscard]] std::string_view to_string(NcclAlgorithm algorithm);

/// The format of the data on their way: LL has a flag beside each 4 bytes, LL128 one in each 128, Simple none.
enum class NcclProtocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::size_t kNcclProtocols = 3;
[[nodiscard]] std::string_view to_string(NcclProtocol protocol);

/// NVIDIA's generations of GPUs: compute capabilities 7, 8, 9 and 10.
enum class GpuGeneration : std::uint8_t { volta, ampere, hopper, blackwell };
[[nodiscard]] std::string_view to_string(GpuGeneration generation);
[[nodiscard]] std::span<const GpuGeneration> gpu_generations();

/// What joins the GPUs of a server.
enum class InsideLink : std::uint8_t { nvlink, pcie };
[[nodiscard]] std::string_view to_string(InsideLink link);

enum class CpuVendor : std::uint8_t { intel, amd };
[[nodiscard]] std::string_view to_string(CpuVendor vendor);

using ByProtocol = std::array<double, kNcclProtocols>;  ///< LL, LL128, Simple
using ByServers = std::array<double, 3>;                ///< 1, 2, more servers
using ByGeneration = std::array<ByServers, 4>;          ///< in order of GpuGeneration
using ByAlgorithm = std::array<ByProtocol, kNcclAlgorithms>;

/// The rule for the bandwidth and latency of NVLink SHARP.
enum class NvlsRule : std::uint8_t {
  none,             ///< the version does not have it
  fixed,            ///< 2.18
  narrowest,        ///< 2.23: the smaller of the bandwidths inside and between servers
  measured,         ///< 2.28: an efficiency by generation, one channel less
  measured_by_ring  ///< 2.30: also for reduce-scatter and all-gather the ring's ratio of algorithm to bus bandwidth
};

/// The constants and rules of a version. Times are in us, bandwidths in GB/s (1e9 B/s).
struct NcclConstants {
  ByAlgorithm base{};  ///< start-up
  ByAlgorithm nvlink_hop{}, pcie_hop{}, network_hop{};
  double ll_inside = 1;  ///< factor of hops inside with LL and several servers
  bool launch_overhead =
      true;  ///< hops of a ring inside take no less than the host's overhead, if there are several servers
  bool ring_returns = false;    ///< an all-reduce over a ring crosses 2 s times between s servers, else 2 (s - 1) times
  bool tree_hop_of_one = true;  ///< with one GPU a server a hop of the network takes the latency of the tree
  double ring_ll = 0.5;         ///< share of the bandwidth of a ring with LL ...
  double ring_ll_forward = 0.5;        ///< ... and of those in one server that do not add, or that only pass on
  double ring_ll128_alone = 0.92;      ///< with fewer than two GPUs a server
  double most_on_ampere = 0;           ///< of all channels, on Ampere; 0: no limit
  double plain_tree = 0.85;            ///< factor of trees in which a GPU both sends and receives at the interface
  bool plateau_by_size = false;        ///< 2.10: the plateau of the ring begins at n / 16 x 64 KiB and has one factor
  bool has_chain = true;               ///< CollNet chain
  double collnet_direct_serial = 0.4;  ///< for each other GPU of the server
  NvlsRule nvls = NvlsRule::none;
  double pat = 0;                            ///< share of the bandwidth; 0: the version does not have it
  ByServers ll_most_intel{}, ll_most_amd{};  ///< of LL between servers, by the CPU; entry 0 is not used
  std::array<double, 4> ll_most_alone{};     ///< of LL in one server, by generation
  ByGeneration ring_ll128_most{}, tree_ll128_most{}, tree_most{}, nvls_tree_most{};  ///< of a channel; 0: no limit
};

/// The constants of a version that read_nccl_version() accepts.
[[nodiscard]] const NcclConstants& nccl_constants(const NcclVersion& version);

/// The factor of a tree's bandwidth in an all-reduce of this size >= 0, from a table that is the same in all versions.
[[nodiscard]] double tree_correction(NcclProtocol protocol, std::int64_t bytes);

/// The time of the host for each step of a ring, us.
[[nodiscard]] double launch_overhead_us(CpuVendor cpu, NcclProtocol protocol);

/// The share of the NVLink bandwidth that NVLink SHARP reaches, from 2.28 on; 0 if the GPU does not have it.
[[nodiscard]] double nvls_efficiency(GpuGeneration generation);

}  // namespace contend
