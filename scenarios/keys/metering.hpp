#pragma once
// The meters of a scenario: which power the GPUs of each type have in each state, and the figures of a kWh where they
// are.

#include "models/energy/meter.hpp"
#include "scenarios/spec/cluster_setup.hpp"

#include <string>
#include <vector>

namespace contend {

/// True if the scenario gives the power of GPUs.
[[nodiscard]] bool meters(const ClusterSetup& cluster);

struct Metering {
  std::vector<MeteredGpus> gpus;  ///< as measure() wants them; empty if nothing is metered
  std::string currency;
};
/// Throws InputError if a power, a site or a rate is missing or unknown, or if a table of rates can't be read.
[[nodiscard]] Metering metering_of(const ClusterSetup& cluster, const MeterSetup& meter);

}  // namespace contend
