#pragma once
// The rules of a released simulator, for the plain schedulers and for the engine.

#include "scenarios/scenario.hpp"
#include "sim/result.hpp"
#include "validate/schedulers/reference.hpp"
#include "validate/schedulers/traces.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace contend {

struct SchedulerRules {
  enum class Kind : std::uint8_t {
    queue,             ///< reference_queue: nobody is preempted
    walk,              ///< reference_walk
    dlas,              ///< reference_dlas with Tiresias' limits: 3,250 and 7,200 s
    dlas_gpu,          ///< the same in GPU-seconds, waking up late
    dlas_gpu_stale,    ///< ... with the ends that outlive a preemption
    dlas_gpu_gittins,  ///< ... without, but with the ranks of its 1,000 past jobs
    helios_srtf,       ///< reference_helios_srtf
  };
  Kind kind = Kind::queue;
  ReferenceOrder order = ReferenceOrder::submission;
  bool strict = true;
  ReferencePlacement placement = ReferencePlacement::count;
  int quantum_s = 0;  ///< 0: event-driven
};

[[nodiscard]] ReferenceSchedule plain_schedule(const SchedulerRules& rules, const SchedulerTrace& trace);

/// How the engine is told the rules, as in a scenario.
struct EngineRules {
  std::string scheduling;  ///< empty: a defect that the engine does not offer
  std::string placement = "first-fit";
  std::string keys{};  ///< further keys under `scheduling:`
};

[[nodiscard]] EngineRules engine_rules(const SchedulerRules& rules);

/// The scenario of the rules on the cluster of the trace.
[[nodiscard]] Scenario scheduler_scenario(const EngineRules& rules, const SchedulerTrace& trace);

/// When each job of the trace ends in the engine, in its ticks, and the preemptions. Jobs that don't end, or not on a
/// tick, have a negative finish.
[[nodiscard]] ReferenceSchedule schedule_of(const RunResult& run, const SchedulerTrace& trace);

}  // namespace contend
