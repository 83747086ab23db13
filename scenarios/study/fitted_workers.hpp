#pragma once
// Checks whether measured network costs cover the worker counts of a study (`network.fitted_workers`).

#include "scenarios/scenario.hpp"

#include <set>
#include <string>
#include <vector>

namespace contend {

/// The worker counts of a study that the fit does not cover: if the costs describe a whole all-reduce, every count
/// that was not measured; if they describe a link, every count outside the measured range. A single worker
/// exchanges nothing and is always covered.
struct UnfittedWorkers {
  bool whole = false;       ///< the costs describe a whole all-reduce
  std::vector<int> fitted;  ///< measured numbers of ranks
  std::set<int> workers;    ///< uncovered counts of the study; empty if there are none or if the measured counts are
                            ///< unknown

  /// One line that warns the user of the study; empty if there are no such workers.
  [[nodiscard]] std::string note() const;
};

[[nodiscard]] UnfittedWorkers unfitted_workers(const NetworkSetup& network, const IterationStudy& study);

}  // namespace contend
