#pragma once
// Workloads fitted to the first half of the days of a trace, so that the second half is unseen: tests and the suite
// `workloads` compare with that. Scenarios cannot name them.

#include "models/workloads/fitted.hpp"

#include <string_view>

namespace contend {

/// The fit to the first half of the trace of that name, which has one.
[[nodiscard]] const FittedWorkload& first_half_of(std::string_view name);

/// Their text: validate/workloads/first_half/*.txt.
[[nodiscard]] std::string_view first_half_tables();

}  // namespace contend
