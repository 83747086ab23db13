#pragma once
// What happened in rounds of federated training.

#include "sim/units.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace contend {

/// A round that was closed, or the time from a version of the model to the next, and what ended in it.
struct FederatedRound {
  Time begin, end;                                    ///< the clients are asked; the version is there
  std::int64_t asked = 0, updates = 0, lost = 0;      ///< clients; updates in the version; clients whose work was lost
  std::int64_t staleness_sum = 0, staleness_max = 0;  ///< of `updates`, in versions
  Bytes down{}, up{};                                 ///< sent, by the server and by clients
  Bytes dropped{};                                    ///< of both: cut off, or an update that came too late
  bool has_version = false;                           ///< false: too few updates

  /// Sums and maxima; begin and end stay.
  void operator+=(const FederatedRound& other) {
    asked += other.asked;
    updates += other.updates;
    lost += other.lost;
    staleness_sum += other.staleness_sum;
    staleness_max = std::max(staleness_max, other.staleness_max);
    down += other.down;
    up += other.up;
    dropped += other.dropped;
  }
  bool operator==(const FederatedRound&) const = default;
};

/// What federated training has done.
struct FederatedReport {
  std::vector<FederatedRound> rounds;
  FederatedRound totals;  ///< with what has ended since the last round
};

}  // namespace contend
