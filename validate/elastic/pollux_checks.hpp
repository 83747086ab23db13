#pragma once
// Pollux' workloads 1 to 4 of 160 jobs on 16 nodes of 4 T4: parts of the suite `elastic`. Each prints its figures and
// returns false if one is missed. Without the data it counts as skipped.

#include <cstdio>

namespace contend {

/// Pollux' simulator by its rules. Held: under Tiresias every job ends at the released second; under Optimus the mean
/// of all is within 2%, and longer than under Tiresias.
[[nodiscard]] bool check_pollux_simulator(std::FILE* out, int& skipped);

/// The same jobs in the engine. Held: `pollux` with the released limit of growth is within 5% of the released mean, and
/// shorter than `dlas-gpu`, which is shorter than `optimus`. Policies without published figures for them are shown.
[[nodiscard]] bool check_pollux_orders(std::FILE* out, int& skipped);

}  // namespace contend
