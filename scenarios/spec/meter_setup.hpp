#pragma once
// The power of GPUs, and the figures of energy where they are, as a scenario gives them (keys `meter.*`, and `power`
// and `site` of the cluster and of types of servers).

#include "models/energy/meter.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The power and the pace of a GPU under a power limit in W, or a cap of its clock in MHz; one of them is given.
struct CapPoint {
  std::optional<double> limit, clock;
  double watts = 0;                ///< while computing
  double pace = 1;                 ///< of computing, beside that without a cap
  std::optional<double> decode{};  ///< as `pace`, of the steps of serving that compute no prompt; none: as `pace`
  bool operator==(const CapPoint&) const = default;

  [[nodiscard]] double decode_pace() const { return decode.value_or(pace); }
};

/// The power of a GPU by state, in W. A state that isn't given follows from its power limit
/// (scenarios/keys/metering.cpp).
struct PowerSetup {
  std::optional<double> idle, waiting, computing;
  std::optional<double> limit, clock;  ///< a cap: computing draws and does what `curve` says; of types of servers
  std::vector<CapPoint> curve;         ///< with rising caps
  bool operator==(const PowerSetup&) const = default;

  [[nodiscard]] bool is_capped() const { return limit || clock; }
  /// The point at the cap, between two given ones on a straight line; the nearest end outside of the curve, which must
  /// not be empty.
  [[nodiscard]] CapPoint at_cap() const;
};

struct MeterSetup {
  std::vector<SiteRates> sites;
  std::optional<std::string> rates;  ///< path of a table of sites by hour, beside `sites`
  std::string currency;              ///< of the prices in `sites`
};

}  // namespace contend
