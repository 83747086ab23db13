#pragma once
// The suite `network`: fair sharing by hand and against SimGrid, collectives against closed forms and measurements.

#include <cstdio>

namespace contend {

/// Prints its tables and verdicts; 0 if everything held, or was skipped with a reason.
int validate_network(std::FILE* out);

}  // namespace contend
