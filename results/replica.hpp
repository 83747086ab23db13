#pragma once
// One run of a scenario under one seed, with its summary.

#include "results/run_logs.hpp"
#include "sim/result.hpp"
#include "sim/statistics.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace contend {

/// The result of one run.
struct Replica {
  std::uint64_t seed = 0;
  RunResult result;
  Summary summary;
  double wall_s = 0;                 ///< wall-clock time of the run, s
  std::string failure{};             ///< why the run ended early, if a policy outside of the program failed
  RunLogs logs{};                    ///< if it is certified
  Draws draws = Draws::independent;  ///< what the workloads of other seeds have in common with this one
};

/// What the runs of one scenario have in common.
[[nodiscard]] inline Draws draws_of(std::span<const Replica> replicas) {
  return replicas.empty() ? Draws::independent : replicas.front().draws;
}

}  // namespace contend
