#pragma once
// What an iteration study takes for granted beside the network: which costs are in it, how large they are, and where
// the figures come from.

#include "scenarios/scenario.hpp"

#include <string>
#include <vector>

namespace contend {

/// One kind of cost.
struct StudyAssumption {
  std::string what;    ///< such as `interference`
  std::string value;   ///< its size, or that there is none
  std::string source;  ///< a key of the scenario, or a publication
};

/// All of them, also those that are zero.
[[nodiscard]] std::vector<StudyAssumption> study_assumptions(const ClusterSetup& cluster, const NetworkSetup& network,
                                                             const IterationStudy& study,
                                                             const std::vector<TrainingEntry>& training);

}  // namespace contend
