#pragma once
// How long collectives take on real machines, in place of the constants by which NCCL ranks its algorithms. The figures
// are entries of the catalogue (network/catalogue/inside.txt, networks.txt).

#include "network/library/nccl_constants.hpp"
#include "sim/graph.hpp"

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace contend {

/// Inside one server, a protocol takes
///   start + step k + S (x / rate + y / (n copy))
/// for a tensor of S bytes on each of n ranks; k is the number of steps, x = k / n for rings and (n-1) / n for sends.
/// The last term is the own part, which each rank copies (y = 1) unless the result takes the place of the input (y =
/// 0).
struct InsideLine {
  double start = 0, step = 0;  ///< us
  double rate = 0;             ///< GB/s; 0: there is no such protocol
  double copy = 0;             ///< GB/s; 0: copying takes no time
};

/// The lines of one generation of servers.
struct InsideTimes {
  std::array<InsideLine, kNcclProtocols> ring;   ///< by protocol
  std::array<InsideLine, kNcclProtocols> sends;  ///< of an all-to-all; there is none for LL128
  /// An all-reduce whose sums the switch makes, among 3 ranks or more: start + step n + S / rate.
  InsideLine nvls;
  bool mesh = false;  ///< GPUs have a link to each other one, and so n - 1 times `rate`

  /// Seconds before the bytes and seconds of the bytes; nothing if there is no such line. `further` us for each step
  /// and `factor` on each rate come from a fit.
  struct Parts {
    double start_up = 0, bytes = 0;
  };
  [[nodiscard]] std::optional<Parts> parts(NcclAlgorithm algorithm, NcclProtocol protocol, CollectiveKind kind,
                                           int ranks, double bytes, bool in_place, double further, double factor) const;
};
/// The entry `inside NAME`; nullptr if there is none.
[[nodiscard]] const InsideTimes* find_inside_times(std::string_view name);

/// Between servers: what a network adds to the hops of NCCL's constants, and the share of the planned bandwidth that
/// algorithms reach.
struct NetworkTimes {
  ByProtocol further{};  ///< us, added to each hop between servers; may be < 0
  double ring = 1, tree = 1, nvls = 1, sends = 1;
  double ll128 = 1;  ///< of the algorithm's share, with LL128

  [[nodiscard]] double share(NcclAlgorithm algorithm, NcclProtocol protocol) const;
  bool operator==(const NetworkTimes&) const = default;
};
/// The entry `network NAME`; nullptr if there is none.
[[nodiscard]] const NetworkTimes* find_network_times(std::string_view name);
/// The entry of that name, or NCCL's constants alone where there is none, with what a user has measured in its place:
/// `further` of three numbers, `shares` of ring, tree, nvls, sends and ll128; empty: as the entry has them.
[[nodiscard]] NetworkTimes network_times(std::string_view name, std::span<const double> further,
                                         std::span<const double> shares);

}  // namespace contend
