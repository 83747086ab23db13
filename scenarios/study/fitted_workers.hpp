#pragma once
// Whether the costs of a network that was measured hold for the workers of a study (`overlap.fitted_workers`).

#include "scenarios/scenario.hpp"

#include <set>
#include <string>
#include <vector>

namespace contend {

/// Numbers of workers that a network wasn't fitted for: those of no measured all-reduce where its costs are of a whole
/// one, those outside of the least and the most ranks where they are of a link. A worker alone exchanges nothing.
struct UnfittedWorkers {
  bool whole = false;       ///< costs of a whole all-reduce
  std::vector<int> fitted;  ///< ranks that were timed
  std::set<int> workers;    ///< of the study; empty: all is well, or nobody says what the costs were fitted to

  /// What somebody who relies on the study must know, on one line; empty for no workers.
  [[nodiscard]] std::string note() const;
};

[[nodiscard]] UnfittedWorkers unfitted_workers(const IterationStudy& study);

}  // namespace contend
