// How slow jobs of iterations are, and the steps that they take against slowness.

#include "sim/slow_jobs.hpp"

#include "sim/cells.hpp"
#include "sim/job_body.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
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

/// Has a job that restarts save the iterations that it has done.
void save(JobRun& run) {
  JobExecution& live = *run.live;
  if (!live.begun && !live.goes_on) return;
  const Time at = live.begun ? live.iterated : live.standing_since;
  live.saved = live.saved_before = {run.completed, at, run.totals.overhead};
  run.saved_itself = true;
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

bool SlowJobs::is_due(JobId job) const {
  const auto slow = slow_.find(job);
  return slow != slow_.end() && slow->second.due == state_.clock;
}

Time SlowJobs::may_step_at(JobId job) const {
  const auto slow = slow_.find(job);
  if (slow == slow_.end()) return Time::never();
  return slow->second.is_stuck ? state_.clock : slow->second.due;
}

std::vector<JobId> SlowJobs::take_stuck() {
  if (state_.given_back == looked_at_) return {};
  return std::exchange(stuck_, {});
}

bool SlowJobs::look_at(JobId job) {
  JobRun& run = state_.run(job);
  if (run.state != JobState::running || !run.live) {
    slow_.erase(job);
    return false;
  }
  Slow& slow = slow_.try_emplace(job, Slow{.since = state_.clock}).first->second;
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
      return false;
    }
    const std::optional<Step> next = next_step_of(run);
    if (!next) return false;
    if (slow.lost < next->cost) {
      const Time needed = time_to_lose(next->cost - slow.lost, slow.pace);
      if (needed >= kEndOfClock - slow.since) return false;
      slow.due = slow.since + needed;
      agenda_.schedule(slow.due, Agenda::Kind::step, job.value());
      return false;
    }
    if (next->kind == Step::Kind::restart) {
      slow.is_stuck = !has_other_place(job);
      slow.is_stuck ? stuck_.push_back(job) : save(run);
      return !slow.is_stuck;
    }
    take(job, *next);
  }
}

void SlowJobs::recover(JobId job) {
  JobRun& run = state_.run(job);
  slow_.erase(job);
  run.reroutes = false;
  if (std::exchange(run.balances, false)) state_.set_job_work(run);
}

/// The cheapest step that the job has not taken and that can help.
std::optional<SlowJobs::Step> SlowJobs::next_step_of(const JobRun& run) const {
  const Mitigation& steps = state_.options.failures.mitigation;
  const bool has_replicas = ranks_of_stage(run) > run.spec->layout.replica;
  if (steps.microbatches && !run.balances && has_replicas && state_.slowest_task(run) > Slowdown::kFullPace)
    return Step{Step::Kind::microbatches, *steps.microbatches};
  if (steps.topology && !run.reroutes && steps.left < 1 && state_.slowest_transfer(run) > Slowdown::kFullPace)
    return Step{Step::Kind::topology, *steps.topology};
  if (steps.restart) return Step{Step::Kind::restart, *steps.restart};
  return std::nullopt;
}

/// True if the job could start now without what slows it down.
bool SlowJobs::has_other_place(JobId job) {
  std::vector<GpuId> slow;
  for (const std::uint32_t each : components_.slow_under(state_.run(job).gpus)) {
    const auto [first, last] = components_.isolated_with(each);
    for (std::uint32_t gpu = first; gpu < last; ++gpu) slow.emplace_back(gpu);
  }
  return admission_.has_place_without(job, slow);
}

/// Takes a step after which the job goes on where it is.
void SlowJobs::take(JobId job, const Step& step) {
  JobRun& run = state_.run(job);
  const bool moves_work = step.kind == Step::Kind::microbatches;
  (moves_work ? run.balances : run.reroutes) = true;
  if (state_.options.decisions != nullptr)
    state_.options.decisions->adapted(
        state_.clock, job,
        moves_work ? "gives slow GPUs fewer micro-batches" : "sends around what slows its transfers down");
  state_.run(job).body->go_on(job, step.cost, false);
  slow_[job].since = state_.clock + step.cost;
}

}  // namespace contend
