#include "sim/sharer.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

void sort_each_once(std::vector<JobId>& jobs) {
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
}

}  // namespace

std::vector<JobId> Sharer::beside(JobId job, double& gpus) const {
  std::vector<JobId> others;
  gpus = 0;
  for (const GpuId gpu : state_.run(job).gpus) {
    const auto& holders = state_.gpu[gpu.index()].timed;
    gpus += 1.0 / static_cast<double>(holders.size());
    for (const JobId other : holders)
      if (other != job) others.push_back(other);
  }
  sort_each_once(others);
  return others;
}

std::int64_t Sharer::speed_of(JobId job) const {
  const JobRun& run = state_.run(job);
  std::int64_t slowest = kFullSpeed;
  std::vector<JobId> here, before;
  for (const GpuId gpu : run.gpus) {
    here.clear();
    for (const JobId other : state_.gpu[gpu.index()].timed)
      if (other != job) here.push_back(other);
    std::sort(here.begin(), here.end());
    if (here.empty() || here == before) continue;
    before = here;
    const std::int64_t speed = state_.speed_of(job, here, run.type);
    if (speed < kSlowestSpeed || speed > kFullSpeed)
      throw InputError{
          fmt::format("jobs `{}` and `{}` are on GPU {} of server {}, and the law of sharing (sharing.law) can't have "
                      "them run there "
                      "together",
                      run.spec->name, state_.run(here.front()).spec->name, gpu.value(), state_.server_of(gpu).value())};
    slowest = std::min(slowest, speed);
  }
  return slowest;
}

void Sharer::settle() {
  std::vector<JobId> marked = std::exchange(state_.unshared, {});
  sort_each_once(marked);
  for (const JobId job : marked)
    if (state_.run(job).state == JobState::running) settle(job);
}

void Sharer::settle(JobId job) {
  JobRun& run = state_.run(job);
  double gpus = 0;
  std::vector<JobId> others = beside(job, gpus);
  if (!run.shared && others.empty()) return;
  // The same others may have moved among its GPUs, and so run beside each other there.
  std::vector<char> is_shared;
  for (const GpuId gpu : run.gpus) is_shared.push_back(state_.gpu[gpu.index()].timed.size() > 1 ? 1 : 0);
  const std::int64_t speed = speed_of(job);
  if (!run.shared) {
    state_.show_run(job);
    run.shared = std::make_unique<SharedClock>(run.since, run.pause(state_.costs_of(run)), state_.clock);
    run.shared->paid_gpu_s = (state_.clock - run.since).to_seconds() * run.width;
  } else {
    const SharedClock& known = *run.shared;
    if (others == known.beside && gpus == known.gpus && is_shared == known.is_shared && speed == known.speed()) return;
    state_.count_sharing(job);
    run.shared->paid_gpu_s = state_.paid_gpu_s(run);
  }
  SharedClock& clock = *run.shared;
  clock.is_shared = std::move(is_shared);
  clock.beside = std::move(others);
  clock.gpus = gpus;
  clock.set_speed(speed, state_.clock);
  state_.end_by_clock(run);
}

}  // namespace contend
