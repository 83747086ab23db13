// The part of Outages that has jobs go on without GPUs that have failed (sim/redundancy.hpp). Such a job goes on
// holding them, so that they need not be taken out of service before it leaves them.

#include "sim/counted.hpp"
#include "sim/outages.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
void Outages::tell_adapted(JobId job, const std::function<std::string()>& what) const {
  if (state_.options.decisions != nullptr) state_.options.decisions->adapted(state_.clock, job, what());
}

/// Has a job go on without those of its GPUs that have broken now, if its redundancy covers that.
bool Outages::goes_on(JobId job, Time detection) {
  JobRun& run = state_.run(job);
  const RedundancyRule rule = state_.redundancy_of(run);
  if (!rule.any()) return false;
  std::vector<GpuId> now;
  for (const GpuId gpu : broken_now_)
    if (std::ranges::find(run.gpus, gpu) != run.gpus.end()) now.push_back(gpu);
  if (now.empty()) return true;  // something else has failed on what is out already
  for (const GpuId gpu : now) state_.cover(gpu);
  if (!rule.covers(state_.ranks_out(run), run.width, run.spec->layout.replica)) {
    for (const GpuId gpu : now) state_.uncover(gpu);
    return false;
  }
  ++run.totals.covered;
  tell_adapted(job, [&] { return fmt::format("goes on without {}: {}", counted(now.size(), "GPU"), cause_of(job)); });
  admission_.go_on(job, detection + rule.failover, true);
  return true;
}

/// Interrupts a job; those of its GPUs that it went on without are out of service from now on.
void Outages::take_from(JobId job, std::optional<Time> detection) {
  std::vector<GpuId> out;
  std::ranges::copy_if(state_.run(job).gpus, std::back_inserter(out),
                       [this](GpuId gpu) { return state_.is_covered(gpu); });
  admission_.interrupt(job, detection);
  for (const GpuId gpu : out) {  // the others have been released with their job
    if (!state_.is_covered(gpu)) continue;
    state_.uncover(gpu);
    admission_.let_go(gpu);
    state_.take_out_of_service(gpu);
  }
}

/// Has jobs go on with GPUs that have come back.
void Outages::rejoin() {
  std::vector<JobId> jobs;
  for (const GpuId gpu : back_now_) state_.jobs_on(gpu, jobs);
  back_now_.clear();
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  for (const JobId job : jobs) {
    tell_adapted(job, [&]() -> std::string {
      const std::size_t out = state_.ranks_out(state_.run(job)).size();
      return out == 0 ? "goes on with all of its GPUs again"
                      : fmt::format("goes on with GPUs that are back, still without {}", counted(out, "GPU"));
    });
    admission_.go_on(job, spec_.redundancy.rejoin, false);
  }
}

}  // namespace contend
