#include "sim/admission.hpp"

#include "sim/cells.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace contend {

void Admission::begin() {
  for (std::size_t j = 0; j < state_.jobs.size(); ++j) arrivals_.emplace_back(j);
  std::stable_sort(arrivals_.begin(), arrivals_.end(),
                   [&](JobId a, JobId b) { return state_.run(a).spec->submit < state_.run(b).spec->submit; });
  schedule_next_arrival();
}

Time Admission::next_arrival() const {
  return next_ < arrivals_.size() ? state_.run(arrivals_[next_]).spec->submit : Time::never();
}

void Admission::schedule_next_arrival() {
  if (next_ == arrivals_.size()) return;
  state_.calendar.schedule(next_arrival(), Phase::arrivals, {CalendarEvent::Kind::arrival, CellId::none()});
}

void Admission::on_arrival() {
  const JobId job = arrivals_[next_++];
  schedule_next_arrival();
  ++state_.events;
  JobRun& run = state_.run(job);
  if (static_cast<std::size_t>(run.spec->gpus) > state_.gpu.size()) {
    run.reason = fmt::format("needs {} GPUs, the cluster has {}", run.spec->gpus, state_.gpu.size());
  } else if (run.spec->memory_per_gpu > state_.spec.gpu_memory) {
    run.reason = fmt::format("needs {} bytes of GPU memory, a GPU has {}", run.spec->memory_per_gpu.count(),
                             state_.spec.gpu_memory.count());
  }
  if (!run.reason.empty()) return state_.set_state(job, JobState::failed);
  state_.set_state(job, JobState::queued);
  enqueue(job);
  state_.jobs_arrived = true;
}

void Admission::on_finished(JobId job) {
  state_.run(job).finish = state_.clock;
  state_.set_state(job, JobState::finished);
  leave(state_, job);
}

void Admission::scheduling_pass() {
  pushed_at_this_instant_.clear();
  // What a preemption frees or queues is for another pass at the same instant. A job pushes others out only once in it,
  // so that this comes to an end.
  do {
    const bool memory_was_freed = std::exchange(state_.memory_was_freed, false);
    const bool jobs_arrived = std::exchange(state_.jobs_arrived, false);
    if ((!memory_was_freed && !jobs_arrived) || state_.queue.empty()) return;
    too_large_.clear();
    const std::vector<QueuedJob> order = state_.queue;
    for (const QueuedJob& queued : order) {
      if (!try_to_start(queued.job) && state_.policies.scheduling->strict()) break;
    }
  } while (state_.memory_was_freed);
}

void Admission::enqueue(JobId job) {
  const QueuedJob queued{state_.key(job), state_.run(job).spec->submit, job};
  state_.queue.insert(std::upper_bound(state_.queue.begin(), state_.queue.end(), queued), queued);
}

bool Admission::has_room(const JobSpec& job) {
  // During a pass without preemption room only shrinks: what did not fit keeps out all that need no less.
  const bool is_hopeless = std::any_of(too_large_.begin(), too_large_.end(), [&](const JobSpec* other) {
    return job.gpus >= other->gpus && job.memory_per_gpu >= other->memory_per_gpu;
  });
  if (is_hopeless) return false;
  const auto fits = [&](const GpuState& gpu) { return gpu.free_memory >= job.memory_per_gpu; };
  if (std::count_if(state_.gpu.begin(), state_.gpu.end(), fits) >= job.gpus) return true;
  too_large_.push_back(&job);
  return false;
}

bool Admission::try_to_start(JobId job) {
  chosen_.clear();
  const bool preemptive = state_.policies.scheduling->preemptive();
  if (!preemptive && !has_room(*state_.run(job).spec)) return false;
  state_.policies.placement->place(state_, state_.job(job), chosen_);
  if (chosen_.empty() && preemptive && make_room(job)) {
    state_.policies.placement->place(state_, state_.job(job), chosen_);
  }
  if (chosen_.empty()) return false;
  check_placement(job);
  JobRun& run = state_.run(job);
  if (run.start == Time::never()) run.start = state_.clock;
  std::erase_if(state_.queue, [&](const QueuedJob& queued) { return queued.job == job; });
  state_.set_state(job, JobState::running);
  JobView view = state_.job(job);
  view.remaining_service -= run.plan->compute_total;
  run.key_fall = state_.key(job) - state_.policies.scheduling->key(view);
  occupy(state_, job, chosen_);
  executor_.begin(job);
  return true;
}

bool Admission::make_room(JobId job) {
  if (std::count(pushed_at_this_instant_.begin(), pushed_at_this_instant_.end(), job) > 0) return false;
  const JobRun& run = state_.run(job);
  std::vector<Bytes> free;
  for (const GpuState& gpu : state_.gpu) free.push_back(gpu.free_memory);
  const auto has_room = [&] {
    return std::count_if(free.begin(), free.end(), [&](Bytes b) { return b >= run.spec->memory_per_gpu; }) >=
           run.spec->gpus;
  };
  std::vector<std::pair<std::int64_t, JobId>> candidates;
  for (std::size_t j = 0; j < state_.jobs.size(); ++j) {
    const JobId other{j};
    if (state_.run(other).state == JobState::running && state_.key(other) > state_.key(job)) {
      candidates.emplace_back(state_.key(other), other);
    }
  }
  std::sort(candidates.rbegin(), candidates.rend());
  std::vector<JobId> victims;
  for (std::size_t i = 0; i < candidates.size() && !has_room(); ++i) {
    const JobId victim = candidates[i].second;
    victims.push_back(victim);
    for (const CellId cell : state_.run(victim).cells) {
      for (const GpuId gpu : state_.at(cell).gpus) free[gpu.index()] += state_.run(victim).spec->memory_per_gpu;
    }
  }
  if (!has_room()) return false;
  pushed_at_this_instant_.push_back(job);
  for (const JobId victim : victims) preempt(victim);
  return true;
}

void Admission::preempt(JobId job) {
  JobRun& run = state_.run(job);
  courier_.abandon(job);
  leave(state_, job);
  ++run.preemptions;
  run.remaining_service = run.plan->compute_total * (run.spec->iterations - run.completed);
  run.key_is_stale = true;
  run.compute = run.plan->compute_total * run.completed;
  state_.set_state(job, JobState::preempted);
  enqueue(job);
}

void Admission::check_placement(JobId job) const {
  const JobRun& run = state_.run(job);
  const auto illegal = [&](const std::string& what) {
    throw InputError{
        fmt::format("placement policy `{}`: job `{}` {}", state_.policies.placement_name, run.spec->name, what)};
  };
  if (chosen_.size() != static_cast<std::size_t>(run.spec->gpus)) {
    illegal(fmt::format("asked for {} GPUs and was given {}", run.spec->gpus, chosen_.size()));
  }
  std::vector<GpuId> sorted = chosen_;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) illegal("was given a GPU twice");
  for (const GpuId gpu : sorted) {
    if (gpu.index() >= state_.gpu.size()) illegal("was given a GPU that does not exist");
    if (state_.gpu[gpu.index()].free_memory < run.spec->memory_per_gpu) {
      illegal(fmt::format("does not fit into the memory of GPU {}", gpu.value()));
    }
  }
}

}  // namespace contend
