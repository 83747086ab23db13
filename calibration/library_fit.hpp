#pragma once
// Measured collectives beside the times that NCCL expects of them (network/library), and the fit of the two constants
// that decide most: the latency of a hop and the bandwidth of a channel.
//
// NCCL's constants rank its algorithms; they are not meant to be times. The structure holds over many sizes, so two
// fitted numbers repair most of the difference. The hop takes up every error of start-up times, so it is a latency only
// if the measurements have small sizes.

#include "calibration/collective_sample.hpp"
#include "network/library/nccl_machine.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

/// Measurements on servers of one kind, equally many ranks on each.
struct LibraryMeasurements {
  std::vector<CollectiveSample> samples;  ///< in order of input
  int servers = 1;                        ///< the ranks of every sample are a multiple of it
};

/// A measured collective and what the library expects.
struct LibraryPoint {
  CollectiveSample sample;
  NcclTime predicted;
  bool for_fit = false;  ///< every second size of its collective and ranks, from the smallest one on

  /// Predicted over measured, less 1.
  [[nodiscard]] double deviation() const { return predicted.seconds / sample.time.to_seconds() - 1; }
};

/// True if the library has it and it ran alone; single messages are none of its collectives.
[[nodiscard]] bool is_comparable(const CollectiveSample& sample);

/// The comparable samples, in order of input. Throws InputError if ranks are unknown or do not suit the servers, and
/// for what NcclModel refuses.
[[nodiscard]] std::vector<LibraryPoint> compare_with_library(const LibraryMeasurements& measured,
                                                             const NcclMachine& machine, const NcclChoices& choices,
                                                             const NcclFit& fit = {});

/// Logs of one machine, each with the choices of its run.
struct LibraryLog {
  LibraryMeasurements measured;
  NcclChoices choices;
};
/// What a network between servers adds to hops and leaves of rates.
struct NetworkFit {
  NetworkTimes times;
  bool has_hop = false;  ///< the measurements say it; else the machine's entry gives `times.further`
};
/// Sizes below this one show start-ups.
inline constexpr Bytes kShowsStartUps = Bytes::mebibytes(1);

/// The network of the machine that suits all logs of several servers best: the least mean of |ln(expected / measured)|
/// over the points `for_fit`, plus a penalty for the distance from the entry of the catalogue that the machine has,
/// which decides what the measurements don't. Hops stay as they are there if no size that is measured is below
/// kShowsStartUps. The search goes along one number after the other, with steps that shrink. Throws InputError as
/// fit_library().
[[nodiscard]] NetworkFit fit_network(std::span<const LibraryLog> logs, const NcclMachine& machine);

/// The ends of the hops that fit_library() tries, us. A fitted hop at an end is not determined by the measurements.
inline constexpr double kShortestHop = 0.01, kLongestHop = 1000;

/// The hop, from kShortestHop to kLongestHop, and the bandwidth of a channel, from a hundredth to ten times the planned
/// one, with the least sum of |ln(expected / measured)| over the points `for_fit`, to 1%. The search is a grid that is
/// refined five times. Throws InputError if nothing is comparable, and for too few sizes: two that are `for_fit`, for
/// two numbers, and one that judges them.
[[nodiscard]] NcclFit fit_library(const LibraryMeasurements& measured, const NcclMachine& machine,
                                  const NcclChoices& choices);

}  // namespace contend
