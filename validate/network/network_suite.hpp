#pragma once
// Declares the suite `network`: fair sharing checked by hand and against SimGrid, collectives against closed forms and
// measurements.

#include <cstdio>

namespace contend {

/// Runs the suite and prints its tables and verdicts. Returns 0 if every check held or was skipped with a reason.
int validate_network(std::FILE* out);

}  // namespace contend
