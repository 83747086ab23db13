#pragma once
// What differs between scenarios, in the keys in which their users wrote them.

#include "scenarios/scenario.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// A key whose value is not the same in all scenarios.
struct KeyDifference {
  std::string key;                  ///< `network.nic`
  std::vector<std::string> values;  ///< of each scenario, as people write it; empty where the key has none
};

/// The keys that differ, in the order of the key table. Name, description and seeds don't count: they say which runs
/// these are, and not what is simulated. Paths differ only if they lead to different places.
[[nodiscard]] std::vector<KeyDifference> differing_keys(std::span<const Scenario> scenarios);

}  // namespace contend
