#pragma once
// Workloads fitted to the first half of the days of a trace, so that the second half is unseen: tests and the suite
// `workloads` compare with that. Scenarios cannot name them.

#include "models/workloads/fitted.hpp"

namespace contend::first_half_tables {

extern const FittedWorkload kHeliosVenusFirstHalf, kItpFirstHalf, kOpenbFirstHalf, kPhillyFirstHalf;

}  // namespace contend::first_half_tables
