#pragma once
// One run of a scenario under one seed, with its summary.

#include "sim/result.hpp"

#include <cstdint>

namespace contend {

struct Replica {
  std::uint64_t seed = 0;
  RunResult result;
  Summary summary;
  double wall_s = 0;  ///< real time it took
};

}  // namespace contend
