#pragma once
// Draws random systems of links and flows for property tests. Small integers as capacities make many ties.

#include "network/max_min_rates.hpp"
#include "sim/random_stream.hpp"

#include <string>
#include <vector>

namespace contend::test {

struct SystemShape {
  int links = 8;
  int flows = 12;
  bool ties = true;  ///< capacities are small integers, weights and shares are 1
  bool caps = true;
};

struct FlowSystem {
  std::vector<double> capacities;
  std::vector<FlowDemand> flows;
};

SystemShape random_shape(RandomStream& random);
std::vector<double> random_capacities(const SystemShape& shape, RandomStream& random);
FlowDemand random_flow(const SystemShape& shape, RandomStream& random);

/// Empty if the rates are max-min fair: no link is overloaded, and every flow is at its cap or has a saturated link on
/// which no flow has a larger level. Otherwise it says what is wrong.
std::string max_min_fault(const FlowSystem& system, const std::vector<double>& rates);

}  // namespace contend::test
