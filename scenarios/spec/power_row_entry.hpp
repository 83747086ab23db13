#pragma once
// An entry of `power_rows`: a row of racks with a budget of power, and the caps that hold it (models/serving/
// power_row.hpp); and what an entry of `serving` says of the power of its GPUs.

#include "models/serving/power_row.hpp"
#include "scenarios/spec/meter_setup.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace contend {

/// The thresholds, clocks and delays are POLCA's (arXiv 2308.12908), for GPUs of 1,410 MHz.
struct PowerRowEntry {
  std::string name;
  std::set<std::string, std::less<>> given;  ///< members
  PowerRowSpec row{.budget_w = 0,
                   .base_w = 0,
                   .period = Time::seconds(2),
                   .caps = RowCaps::polca,
                   .low = 0.8,
                   .high = 0.89,
                   .release = 0.05,
                   .delay = Time::seconds(40),
                   .brake_delay = Time::seconds(5)};
  /// In MHz: of low-priority jobs above the first share and above the second, of the others above the second, of all
  /// that brake.
  double low_clock = 1275, lower_clock = 1110, high_clock = 1305, brake_clock = 288;
};

/// The power of a GPU while sequences decode.
struct DecodeWatts {
  std::int64_t sequences = 1;
  double watts = 0;
  bool operator==(const DecodeWatts&) const = default;
};

struct ServicePower {
  double idle = 0;                     ///< W of a GPU in no step
  double prompts = 0;                  ///< and in a step that computes prompts
  std::vector<DecodeWatts> decodes{};  ///< and in the others, by rising sequences of a replica; empty: as `prompts`
  std::vector<CapPoint> curve{};       ///< by rising clocks; the last is the full clock
  std::optional<std::string> row{};    ///< of `power_rows`
  RowPriority priority = RowPriority::high;
  bool operator==(const ServicePower&) const = default;

  /// The point of the curve at this clock, between two on a straight line; without a curve an unchanged GPU.
  [[nodiscard]] CapPoint at_clock(double mhz) const;
};

}  // namespace contend
