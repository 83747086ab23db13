#pragma once
// Draws random systems of links and flows for property tests, and has the definition of their rates as a program. Small
// integers as capacities make many ties; weights and shares over many decades make sums whose small parts get lost.

#include "network/routing.hpp"
#include "sim/random_stream.hpp"

#include <string>
#include <vector>

namespace contend::test {

/// A flow as MaxMinRates::add takes it.
struct FlowDemand {
  std::vector<LinkShare> links;  ///< each link once, share > 0
  double weight = 1;             ///< > 0
  double cap = 0;                ///< a bound on its rate; 0: none (then it must cross a link)
  int priority = 0;              ///< 0 goes first
};

struct SystemShape {
  int links = 8;
  int flows = 12;
  bool ties = true;  ///< capacities are small integers, weights and shares are 1
  bool caps = true;
  int priorities = 1;
  double share_decades = 0;  ///< without ties: shares lie within so many decades, or near 1
  double weight_decades = 0;
};

struct FlowSystem {
  std::vector<double> capacities;
  std::vector<FlowDemand> flows;
};

SystemShape random_shape(RandomStream& random);
std::vector<double> random_capacities(const SystemShape& shape, RandomStream& random);
FlowDemand random_flow(const SystemShape& shape, RandomStream& random);

/// The definition as a program: priority by priority, it raises the levels of all flows from 0 like water in what
/// higher priorities leave, and freezes those whose link fills up. All sums are computed again in each round. O(rounds
/// x entries).
std::vector<double> max_min_rates(const FlowSystem& system);

/// Empty if the rates are max-min fair within each priority and no priority takes anything from a higher one: no link
/// is overloaded, and every flow is at its cap or has a link that its own and higher priorities saturate, on which no
/// flow of its priority has a larger level. Otherwise it says what is wrong.
std::string max_min_fault(const FlowSystem& system, const std::vector<double>& rates);

}  // namespace contend::test
