#pragma once
// Members of `cluster.vcs` that the scheduling policy of a scenario doesn't look at, and which policies do, as their
// own rows say (PolicyRow::accounts).

#include "scenarios/scenario.hpp"

#include <string>
#include <vector>

namespace contend {

/// A warning for each kind of member that is given in vain.
[[nodiscard]] std::vector<std::string> account_notes(const Scenario& scenario);

}  // namespace contend
