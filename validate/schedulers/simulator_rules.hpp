#pragma once
// The rules of a released simulator, in the form of the plain schedulers and of the engine.

#include "scenarios/scenario.hpp"
#include "sim/result.hpp"
#include "validate/schedulers/reference.hpp"
#include "validate/schedulers/traces.hpp"

#include <cstdint>
#include <string>

namespace contend {

struct SchedulerRules {
  enum class Kind : std::uint8_t {
    queue,             ///< reference_queue: without preemption
    walk,              ///< reference_walk
    dlas,              ///< reference_dlas with Tiresias' limits: 3,250 and 7,200 s
    dlas_gpu,          ///< the same in GPU-seconds, with late wake-ups
    dlas_gpu_stale,    ///< the same with stale ends
    dlas_gpu_gittins,  ///< as dlas_gpu, with ranks from Tiresias' 1,000 past jobs
    helios_srtf,       ///< reference_helios_srtf
  };
  Kind kind = Kind::queue;
  ReferenceOrder order = ReferenceOrder::submission;
  bool strict = true;
  ReferencePlacement placement = ReferencePlacement::count;
  int quantum_s = 0;  ///< 0: event-driven

  /// True if jobs are placed again at every event, so that running jobs may move.
  [[nodiscard]] bool moves_jobs() const { return kind == Kind::walk && placement != ReferencePlacement::count; }
};

[[nodiscard]] ReferenceSchedule plain_schedule(const SchedulerRules& rules, const SchedulerTrace& trace);

/// The rules as a scenario gives them to the engine.
struct EngineRules {
  std::string scheduling;  ///< empty if the engine does not offer the rule, which is a defect of the simulator
  std::string placement = "first-fit";
  std::string keys{};         ///< further keys under `scheduling:`
  std::string checkpoints{};  ///< keys under `checkpoints:`
};

[[nodiscard]] EngineRules engine_rules(const SchedulerRules& rules);

/// The scenario with these rules on the cluster of the trace.
[[nodiscard]] Scenario scheduler_scenario(const EngineRules& rules, const SchedulerTrace& trace);

/// The end of each job in the engine, in ticks of the trace, and the number of preemptions. A job that does not end, or
/// not on a tick, has a negative finish.
[[nodiscard]] ReferenceSchedule schedule_of(const RunResult& run, const SchedulerTrace& trace);

}  // namespace contend
