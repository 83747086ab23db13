#pragma once
// One run of a scenario under one seed, with its summary.

#include "sim/result.hpp"

#include <cstdint>

namespace contend {

/// The result of one run.
struct Replica {
  std::uint64_t seed = 0;
  RunResult result;
  Summary summary;
  double wall_s = 0;  ///< wall-clock time of the run, s
};

}  // namespace contend
