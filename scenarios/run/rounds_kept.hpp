#pragma once
// Long pipelines are executed with graphs that leave rounds out.

#include "sim/planned_rounds.hpp"

#include <utility>

namespace contend {

/// What `run` returns of the system, a TrainingSystem or a Scenario. Its pipelines leave most of many rounds out
/// (TrainingSystem::rounds_kept): first as many as often suffices to find that they recur, then fewer, at last none.
/// So the result is that of all rounds. A system that says how many rounds it keeps is taken as it is.
template <class System, class Run>
auto leaping_rounds(const System& system, const Run& run) {
  if (system.rounds_kept > 0) return run(system);
  for (const int kept : {16, 128, 1024}) {
    System shorter = system;
    shorter.rounds_kept = kept;
    try {
      return run(std::as_const(shorter));
    } catch (const UnleaptRounds&) {
      continue;
    }
  }
  return run(system);
}

}  // namespace contend
