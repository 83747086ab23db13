#pragma once
// All scheduling policies on three real traces, as Markdown: the tables of docs/validation/schedulers.md.

#include <cstdio>

namespace contend {

/// Suite `schedulers-table`: averages of every policy of the registry, as users get it without a parameter, then what
/// each quirk of a released simulator and the quantum alone change. Traces that are not there are left out with the
/// reason. Returns 1 if a job does not end.
int validate_schedulers_table(std::FILE* out);

}  // namespace contend
