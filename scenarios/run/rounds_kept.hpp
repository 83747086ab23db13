#pragma once
// Long pipelines are executed with graphs that leave rounds out.

#include "scenarios/spec/training_entry.hpp"
#include "sim/error.hpp"
#include "sim/planned_rounds.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

/// Throws InputError if an entry has more than 100,000 micro-batches, which take some 70 KB each where all are
/// executed.
inline void check_executable(const std::vector<TrainingEntry>& training) {
  constexpr int kMostRounds = 100'000;
  for (const TrainingEntry& each : training)
    if (each.parallel && each.accumulate > kMostRounds)
      throw InputError{Complaint{
          .key = fmt::format("training.{}.accumulate", each.name),
          .reason =
              fmt::format("the rounds of its pipeline don't recur, so that all {} micro-batches would be executed",
                          each.accumulate),
          .hint = fmt::format("at most {}", kMostRounds)}};
}

/// What `run` returns of the system, a TrainingSystem or a Scenario. Its pipelines leave most of many rounds out
/// (TrainingSystem::rounds_kept): first as many as often suffices to find that they recur, then fewer, at last none.
/// So the result equals the result of all rounds. A system that says how many rounds it keeps is taken as it is. Throws
/// InputError if no rounds recur and an entry has more micro-batches than can be executed one by one.
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
  check_executable(system.training);
  return run(system);
}

}  // namespace contend
