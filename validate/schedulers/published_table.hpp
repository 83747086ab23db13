#pragma once
// Prints all scheduling policies on three real traces as Markdown, for docs/validation/schedulers.md.

#include <cstdio>

namespace contend {

/// Runs the suite `schedulers-table`: averages of every policy of the registry with default parameters, then the effect
/// of each quirk of a released simulator and of the quantum alone. Missing traces are left out with the reason. Returns
/// 1 if a job does not end.
int validate_schedulers_table(std::FILE* out);

}  // namespace contend
