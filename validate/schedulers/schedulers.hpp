#pragma once
// Validates the engine's scheduling policies against released simulators (Tiresias, Helios, Muri) on real traces.

#include "validate/schedulers/cases.hpp"

#include <cstdio>
#include <string_view>
#include <vector>

namespace contend {

/// The results of one case: the plain scheduler and the engine on the same trace.
struct SchedulerOutcome {
  double plain_s = 0, engine_s = 0;  ///< average JCT
  double plain_queueing_s = 0;       ///< average time without GPUs
  std::int64_t plain_preemptions = 0, engine_preemptions = 0;
  std::vector<std::size_t> differing;  ///< jobs that end at different ticks in the two
  bool plain_holds = false;            ///< the plain scheduler reproduces the figure
  bool engine_has_rules = false;       ///< the engine can express the rules
  bool engine_holds = false;           ///< the engine reproduces the figure and every job of the plain scheduler
};

[[nodiscard]] SchedulerOutcome run_scheduler_case(const SchedulerCase& each, const SchedulerTrace& trace);

/// True if `value`, rounded to the decimals of `figure`, equals it.
[[nodiscard]] bool agrees_in_print(double value, std::string_view figure);

/// Runs the suite `schedulers`. Cases without their trace are skipped with the reason. Returns 1 if a figure is missed
/// or a job ends at different ticks in the engine and the plain scheduler.
int validate_schedulers(std::FILE* out);

}  // namespace contend
