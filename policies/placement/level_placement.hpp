#pragma once
// Places jobs that have to lie in a domain of a level above the servers, or whose segments have to.

#include "sim/levels.hpp"
#include "sim/ports.hpp"

#include <memory>

namespace contend {

/// A placement that offers a job with levels (JobView::level) domains that may do to `others`, one after the other, in
/// the order of its PlacementPolicy::domain_rule, and leaves all other jobs to `others`. A job that only prefers a
/// level is offered the whole cluster at last. Segments fill as few domains as they can.
[[nodiscard]] std::unique_ptr<PlacementPolicy> make_level_placement(std::shared_ptr<const LevelTree> levels,
                                                                    std::unique_ptr<PlacementPolicy> others);

}  // namespace contend
