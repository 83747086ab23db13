#pragma once
// Members of `cluster.vcs` that a scheduling policy doesn't look at, and which policies do, as their
// own rows say (PolicyRow::accounts).

#include "scenarios/scenario.hpp"

#include <string>
#include <vector>

namespace contend {

/// A warning for each kind of member that is given in vain.
[[nodiscard]] std::vector<std::string> account_notes(const std::vector<NamedVirtualCluster>& vcs,
                                                     const PolicyChoice& scheduling);

}  // namespace contend
