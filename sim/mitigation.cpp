// How slow jobs of iterations are, and the part of Outages that has them do something about it (Mitigation in
// sim/failure_spec.hpp).

#include "sim/cells.hpp"
#include "sim/outages.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace contend {
namespace {

constexpr std::int64_t kFull = Slowdown::kFullPace;

std::int32_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int32_t>(std::min<std::int64_t>((a * b + kFull - 1) / kFull, INT32_MAX));
}

/// What a job at that pace loses of a time, rounded up.
Time lost_of(Time passed, std::int32_t pace) {
  return passed - Time::nanoseconds(static_cast<std::int64_t>(Int128{passed.ns()} * kFull / pace));
}

/// The least time in which it loses that; never() if that is beyond the clock.
Time time_to_lose(Time lost, std::int32_t pace) {
  const Int128 ns = (Int128{lost.ns()} * pace + (pace - kFull) - 1) / (pace - kFull);
  return ns < Int128{kEndOfClock.ns()} ? Time::nanoseconds(static_cast<std::int64_t>(ns)) : Time::never();
}

/// The replica of a stage that the rank belongs to.
std::size_t replica_of(const RankLayout& layout, int ranks_of_stage, std::size_t rank) {
  return rank % static_cast<std::size_t>(ranks_of_stage) / static_cast<std::size_t>(layout.replica);
}

/// True if something on which the job runs is slow, whatever the job does about it.
bool is_on_slow(const EngineState& state, const JobRun& run) {
  const auto is_slow = [](std::int32_t slowness) { return slowness > kFull; };
  return std::ranges::any_of(run.gpus, [&](GpuId gpu) { return is_slow(state.gpu_slowness[gpu.index()]); }) ||
         (run.live->servers.size() > 1 && std::ranges::any_of(run.live->servers, [&](ServerId server) {
            return is_slow(state.server_slowness[server.index()]);
          }));
}

int ranks_of_stage(const JobRun& run) {
  return run.spec->layout.stage > 0 ? run.spec->layout.stage : run.width;
}

}  // namespace

std::vector<std::int32_t> EngineState::shares_of_work(const JobRun& run) const {
  std::vector<std::int32_t> shares(run.gpus.size(), Slowdown::kFullPace);
  if (!run.balances) return shares;
  const RankLayout& layout = run.spec->layout;
  const int of_stage = ranks_of_stage(run);
  std::vector<std::int32_t> slowest(static_cast<std::size_t>(of_stage / layout.replica), Slowdown::kFullPace);
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    std::int32_t& of_replica = slowest[replica_of(layout, of_stage, rank)];
    of_replica = std::max(of_replica, gpu_slowness[run.gpus[rank].index()]);
  }
  double speeds = 0;
  for (const std::int32_t each : slowest) speeds += 1.0 / each;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const double part = 1.0 / slowest[replica_of(layout, of_stage, rank)] / speeds;
    shares[rank] =
        static_cast<std::int32_t>(std::max(1.0, std::floor(part * static_cast<double>(slowest.size()) * kFull + 0.5)));
  }
  return shares;
}

void EngineState::set_job_work(const JobRun& run) {
  if (job_work.empty()) return;
  const RedundancyRule rule = redundancy_of(run);
  std::vector<std::int32_t> work = shares_of_work(run);
  if (rule.any()) {
    const std::vector<std::int32_t> paces = rule.paces(ranks_out(run), run.width, run.spec->layout.replica);
    for (std::size_t rank = 0; rank < work.size(); ++rank) work[rank] = product(work[rank], paces[rank]);
  }
  for (std::size_t rank = 0; rank < work.size(); ++rank) {
    job_work[run.gpus[rank].index()] = work[rank];
    update_slowness(*this, run.gpus[rank]);
  }
}

std::int32_t EngineState::slowest_task(const JobRun& run) const {
  const std::vector<std::int32_t> shares = shares_of_work(run);
  std::int32_t slowest = Slowdown::kFullPace;
  for (std::size_t rank = 0; rank < shares.size(); ++rank)
    slowest = std::max(slowest, product(gpu_slowness[run.gpus[rank].index()], shares[rank]));
  return slowest;
}

std::int32_t EngineState::slowest_transfer(const JobRun& run) const {
  std::int32_t slowest = Slowdown::kFullPace;
  if (run.live->servers.size() > 1)
    for (const ServerId server : run.live->servers) slowest = std::max(slowest, server_slowness[server.index()]);
  return rerouted(run, slowest);
}

std::int32_t EngineState::rerouted(const JobRun& run, std::int32_t slowness) const {
  if (!run.reroutes) return slowness;
  const double beyond = static_cast<double>(slowness - Slowdown::kFullPace) * options.failures.mitigation.left;
  return Slowdown::kFullPace + static_cast<std::int32_t>(std::ceil(beyond));
}

double EngineState::slowness_of(const Traffic& traffic) const {
  std::int32_t slowest = Slowdown::kFullPace;
  for (const ServerId server : traffic.servers()) slowest = std::max(slowest, server_slowness[server.index()]);
  return static_cast<double>(rerouted(jobs[traffic.job.index()], slowest)) / Slowdown::kFullPace;
}

/// The number of the next step of a job among what is due.
std::uint32_t Outages::step_of(JobId job) const {
  return change_of_loans() + 1 + job.value();
}

Time Outages::next_step(JobId job) const {
  const auto slow = slow_jobs_.find(job);
  return slow == slow_jobs_.end() ? Time::never() : slow->second.due;
}

Time Outages::may_step_at(JobId job) const {
  const auto slow = slow_jobs_.find(job);
  if (slow == slow_jobs_.end()) return Time::never();
  return slow->second.is_stuck ? state_.clock : slow->second.due;
}

void Outages::look_at_started() {
  for (const JobId job : state_.started) {
    slow_jobs_.erase(job);
    look_at(job);
  }
  if (!state_.started.empty()) schedule_next();
  state_.started.clear();
}

bool Outages::look_at_stuck() {
  if (stuck_.empty() || state_.given_back == looked_at_) return false;
  const std::int64_t before = restarts_;
  stepping_ = std::exchange(stuck_, {});
  mitigate();
  replace_failed();
  schedule_next();
  looked_at_ = state_.given_back;
  return restarts_ > before;
}

/// Looks at jobs that may have become slower or faster at this instant, or are to take a step.
void Outages::mitigate() {
  if (!spec_.mitigation.any()) return;
  std::vector<JobId> jobs = std::move(stepping_);
  stepping_.clear();
  for (;;) {
    jobs.insert(jobs.end(), slowness_.affected.begin(), slowness_.affected.end());
    slowness_.affected.clear();
    if (jobs.empty()) return;
    std::sort(jobs.begin(), jobs.end());
    jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
    for (const JobId job : jobs) look_at(job);
    jobs.clear();
    interrupt_struck();
    slowness_.settle();
  }
}

/// Counts what a job has lost, and has it take the steps for which that is enough.
void Outages::look_at(JobId job) {
  JobRun& run = state_.run(job);
  if (run.state != JobState::running || run.timed()) {
    slow_jobs_.erase(job);
    return;
  }
  SlowJob& slow = slow_jobs_.try_emplace(job, SlowJob{.since = state_.clock}).first->second;
  if (state_.clock > slow.since) {
    slow.lost += lost_of(state_.clock - slow.since, slow.pace);
    slow.since = state_.clock;
  }
  slow.due = Time::never();
  slow.is_stuck = false;
  for (;;) {
    if (run.balances) state_.set_job_work(run);
    slow.pace = std::max(state_.slowest_task(run), state_.slowest_transfer(run));
    if (state_.options.decisions != nullptr) state_.options.decisions->mitigated(state_.clock, job, slow.pace);
    if (slow.pace == Slowdown::kFullPace) {  // its steps may have taken all of the slowness away
      if (!is_on_slow(state_, run)) recover(job);
      return;
    }
    const Step* const next = next_step_of(run);
    if (next == nullptr) return;
    if (slow.lost >= next->cost) {
      if (next->kind == Step::Kind::restart && !has_other_place(run)) {
        stuck_.push_back(job);
        slow.is_stuck = true;
        return;
      }
      if (take(job, *next)) return;
      continue;
    }
    const Time needed = time_to_lose(next->cost - slow.lost, slow.pace);
    if (needed >= kEndOfClock - slow.since) return;
    slow.due = slow.since + needed;
    return schedule(slow.due, step_of(job));
  }
}

void Outages::recover(JobId job) {
  JobRun& run = state_.run(job);
  slow_jobs_.erase(job);
  run.reroutes = false;
  if (std::exchange(run.balances, false)) state_.set_job_work(run);
}

/// The cheapest step that the job has not taken and that can help; nullptr if there is none.
const Outages::Step* Outages::next_step_of(const JobRun& run) {
  const Mitigation& steps = spec_.mitigation;
  const bool has_replicas = ranks_of_stage(run) > run.spec->layout.replica;
  if (steps.microbatches && !run.balances && has_replicas && state_.slowest_task(run) > Slowdown::kFullPace) {
    next_ = {Step::Kind::microbatches, *steps.microbatches};
  } else if (steps.topology && !run.reroutes && steps.left < 1 && state_.slowest_transfer(run) > Slowdown::kFullPace) {
    next_ = {Step::Kind::topology, *steps.topology};
  } else if (steps.restart) {
    next_ = {Step::Kind::restart, *steps.restart};
  } else {
    return nullptr;
  }
  return &next_;
}

/// The components that slow a job down.
std::vector<std::uint32_t> Outages::slow_under(const JobRun& run) const {
  std::vector<std::uint32_t> found;
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  for (std::uint32_t c = 0; c < components_.size(); ++c) {
    const Component& component = components_[c];
    if (!component.is_down || component.is_isolated || !slows(c)) continue;
    const bool computes = slows(c)->compute > Slowdown::kFullPace;
    const auto is_on = [&](GpuId gpu) {
      if (computes) return component.first <= gpu.value() && gpu.value() < component.last;
      const std::uint32_t server = gpu.value() / per_server;
      return component.first / per_server <= server && server <= (component.last - 1) / per_server;
    };
    if (std::any_of(run.gpus.begin(), run.gpus.end(), is_on)) found.push_back(c);
  }
  return found;
}

/// True if the job could start now without what slows it down.
bool Outages::has_other_place(const JobRun& run) {
  std::vector<GpuId> slow;
  for (const std::uint32_t each : slow_under(run)) {
    const auto [first, last] = isolated_with(each);
    for (std::uint32_t gpu = first; gpu < last; ++gpu) slow.emplace_back(gpu);
  }
  return admission_.has_place_without(JobId{static_cast<std::size_t>(&run - state_.jobs.data())}, slow);
}

/// Takes a step. True if the job no longer runs, or will not once those that are struck are interrupted.
bool Outages::take(JobId job, const Step& step) {
  JobRun& run = state_.run(job);
  if (step.kind == Step::Kind::restart) {
    ++restarts_;
    JobExecution& live = *run.live;
    if (live.begun || live.goes_on) {
      const Time at = live.begun ? live.iterated : live.standing_since;
      live.saved = live.saved_before = {run.completed, at, run.totals.overhead};
      run.saved_itself = true;
    }
    for (const std::uint32_t each : slow_under(run)) {
      isolate(each);
      isolating_.push_back(each);
      // A component that slows transfers down only may have none of the GPUs of the job.
      struck_.push_back({job, FoundBy::slowdown});
    }
    return true;
  }
  (step.kind == Step::Kind::microbatches ? run.balances : run.reroutes) = true;
  tell_adapted(job, [&] {
    return step.kind == Step::Kind::microbatches ? "gives slow GPUs fewer micro-batches"
                                                 : "sends around what slows its transfers down";
  });
  admission_.go_on(job, step.cost, false);
  slow_jobs_[job].since = state_.clock + step.cost;
  return false;
}

}  // namespace contend
