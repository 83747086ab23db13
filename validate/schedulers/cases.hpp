#pragma once
// What the released simulators print for real traces, and the rules that give it: figures as data, each with the way
// to get it from the plain schedulers and from the engine. Tiresias: SymbioticLab/Tiresias 959f9b0; Helios:
// S-Lab-System-Group/HeliosArtifact; Muri: Rivendile/Muri 4e69a78. Run by others and noted with 1 to 3 decimals; the
// quantum study is of an event simulator of its own.

#include "scenarios/scenario.hpp"
#include "sim/result.hpp"
#include "validate/schedulers/traces.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct SchedulerCase {
  TraceKind trace;
  std::string_view rules;
  std::string_view figure;      ///< average JCT in s, as printed
  int preemptions = -1;         ///< as printed; -1: it isn't
  double tolerance_s = 0;       ///< how far the average may be off; 0: all printed digits agree
  std::string_view settings{};  ///< scenario of the engine, YAML; empty: a defect that the engine does not offer
  ReferenceSchedule (*plain)(const SchedulerTrace&, std::span<const ReferenceJob>);
};

[[nodiscard]] std::span<const SchedulerCase> scheduler_cases();

/// The scenario of the settings on the cluster of the trace.
[[nodiscard]] Scenario scheduler_scenario(std::string_view settings, const SchedulerTrace& trace);

/// When each job of the trace ends in the engine, in its ticks, and the preemptions. Jobs that don't end, or not on a
/// tick, have a negative finish.
[[nodiscard]] ReferenceSchedule engine_schedule(const RunResult& run, const SchedulerTrace& trace);

/// Whether `value` is `figure` in as many decimals as it has.
[[nodiscard]] bool agrees_in_print(double value, std::string_view figure);

}  // namespace contend
