#pragma once
// The engine's scheduling policies against released simulators (Tiresias, Helios, Muri) on real traces.

#include "validate/schedulers/cases.hpp"

#include <cstdio>
#include <string_view>
#include <vector>

namespace contend {

/// One case: the plain scheduler and the engine on the same trace.
struct SchedulerOutcome {
  double plain_s = 0, engine_s = 0;  ///< average JCT
  double plain_queueing_s = 0;       ///< average time without GPUs
  std::int64_t plain_preemptions = 0, engine_preemptions = 0;
  std::vector<std::size_t> differing;  ///< jobs that end at another tick in the engine
  bool plain_holds = false;
  bool engine_has_rules = false;
  bool engine_holds = false;  ///< the figure, and each job as in the plain scheduler
};

[[nodiscard]] SchedulerOutcome run_scheduler_case(const SchedulerCase& each, const SchedulerTrace& trace);

/// Whether `value` is `figure` in as many decimals as it has.
[[nodiscard]] bool agrees_in_print(double value, std::string_view figure);

/// Suite `schedulers`. Cases whose trace is not there are skipped with the reason. Returns 1 if a figure is missed or
/// the engine ends any job elsewhere than the plain scheduler.
int validate_schedulers(std::FILE* out);

}  // namespace contend
