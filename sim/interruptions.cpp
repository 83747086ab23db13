#include "sim/interruptions.hpp"

#include "sim/counted.hpp"
#include "sim/job_body.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace contend {

void Interruptions::strike(GpuId gpu, const Component& by) {
  std::vector<JobId> on_gpu;
  state_.jobs_on(gpu, on_gpu);
  for (const JobId job : on_gpu) {
    if (by.is_planned())
      struck_by_plan_.push_back(job);
    else
      strike(job, by.is_isolated ? FoundBy::slowdown : by.found_by);
  }
  if (gpus_.add_cause(gpu, by.reason)) broken_now_.push_back(gpu);
}

void Interruptions::forget_ended() {
  std::erase_if(struck_, [&](const Struck& each) { return state_.run(each.job).state != JobState::running; });
}

void Interruptions::carry_out(std::span<const std::uint32_t> changed) {
  changed_ = changed;
  std::sort(struck_.begin(), struck_.end());
  std::sort(struck_by_plan_.begin(), struck_by_plan_.end());
  struck_by_plan_.erase(std::unique(struck_by_plan_.begin(), struck_by_plan_.end()), struck_by_plan_.end());
  std::erase_if(struck_by_plan_, [&](JobId job) { return std::ranges::binary_search(struck_, job, {}, &Struck::job); });
  for (std::size_t first = 0, last = 0; first < struck_.size(); first = last) {
    while (last < struck_.size() && struck_[last].job == struck_[first].job) ++last;
    interrupt(struck_[first].job, std::span{struck_}.subspan(first, last - first));
  }
  for (const JobId job : struck_by_plan_)
    if (!lent_.shrinks(job, broken_now_)) interrupt(job, {});
  rejoin();
  struck_.clear();
  struck_by_plan_.clear();
  for (const GpuId gpu : broken_now_)
    if (!state_.is_covered(gpu)) take_out_of_service(gpu);
  broken_now_.clear();
}

void Interruptions::take_out_of_service(GpuId gpu) {
  admission_.let_go(gpu);
  state_.take_out_of_service(gpu);
}

/// Interrupts a job that these failures strike, of which the first to be noticed counts; none: a planned outage.
void Interruptions::interrupt(JobId job, std::span<const Struck> by) {
  OwnFailures* own = state_.own_failures.empty() ? nullptr : &state_.own_failures[job.index()];
  if (own != nullptr && own->at != state_.clock) own = nullptr;  // it doesn't fail by itself
  const bool hangs = own != nullptr && spec_.hangs > 0 && own->stream.uniform() < spec_.hangs;
  const bool is_stalled = std::ranges::find(by, FoundBy::stall, &Struck::by) != by.end();
  const Detection detection = first_detection(state_.run(job), by, hangs);
  if (own == nullptr && !is_stalled && goes_on_with_rest(job, by.empty() ? Time{} : detection.delay)) return;
  if (!by.empty() && own == nullptr && !is_stalled && goes_on(job, detection.delay)) return;
  if (state_.options.decisions != nullptr)
    state_.options.decisions->interrupted(state_.clock, job, cause(job, own != nullptr, is_stalled, detection));
  take_from(job, by.empty() ? std::nullopt : std::optional{detection.delay});
  if (own != nullptr) own->left = spec_.of_jobs->draw(own->stream);
}

/// `hangs`: the failure of the job by itself, which is one of these, is a hang.
Interruptions::Detection Interruptions::first_detection(const JobRun& run, std::span<const Struck> by,
                                                        bool hangs) const {
  Detection first;
  for (const Struck& each : by) {
    const bool is_hang = each.by == spec_.jobs_found_by && std::exchange(hangs, false);
    const FoundBy found_by = is_hang ? FoundBy::timeout : each.by;
    const Time delay = found_by == FoundBy::delay
                           ? spec_.detection
                           : spec_.detectors.delay(found_by, state_.clock - run.since, run.mean_iteration());
    if (delay < first.delay) first = {delay, found_by};
  }
  return first;
}

/// Why a job is interrupted, in words, with `detection` unless that is never.
std::string Interruptions::cause(JobId job, bool by_itself, bool is_stalled, const Detection& detection) const {
  constexpr const char* kWords[] = {"", "its exit code", "its heartbeats", "a time-out", "its slowness"};
  std::vector<std::string> causes;
  if (by_itself) causes.emplace_back("the job fails by itself");
  if (is_stalled)
    causes.push_back(
        fmt::format("a transfer has had no route for {:g} s, its time-out", stalls_.lasted(job).to_seconds()));
  if (const std::string failed = failures_under(job); !failed.empty()) causes.push_back(failed);
  const bool is_found = detection.by != FoundBy::delay && detection.by != FoundBy::stall;
  std::string later;
  if (detection.delay > Time{} && detection.delay < Time::never())
    later = fmt::format(" {:g} s later", detection.delay.to_seconds());
  std::string how;
  if (is_found)
    how = fmt::format(", found{} by {}", later, kWords[static_cast<std::size_t>(detection.by)]);
  else if (!later.empty())
    how = fmt::format(", noticed{}", later);
  return fmt::format("{}{}", fmt::join(causes, ", "), how);
}

/// What has failed under a job at this instant, in words.
std::string Interruptions::failures_under(JobId job) const {
  std::vector<std::string> failures;
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  const std::vector<GpuId>& gpus = state_.run(job).gpus;
  for (const std::uint32_t each : changed_) {
    const GpuRange out = components_.out_with(each);
    const auto struck = std::ranges::find_if(gpus, [&](GpuId gpu) { return out.holds(gpu); });
    if (!components_[each].is_out() || struck == gpus.end()) continue;
    const std::uint32_t gpu = struck->value() % per_server, server = struck->value() / per_server;
    const std::string name = components_.name_of_failure(each);
    failures.push_back(out.last - out.first == 1 ? fmt::format("{} on GPU {} of server {}", name, gpu, server)
                                                 : fmt::format("{} on server {}", name, server));
  }
  return fmt::format("{}", fmt::join(failures, ", "));
}

void Interruptions::tell_adapted(JobId job, const std::function<std::string()>& what) const {
  if (state_.options.decisions != nullptr) state_.options.decisions->adapted(state_.clock, job, what());
}

/// Has a job go on without its GPUs that have broken now, if its redundancy covers that.
bool Interruptions::goes_on(JobId job, Time detection) {
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
  tell_adapted(job,
               [&] { return fmt::format("goes on without {}: {}", counted(now.size(), "GPU"), failures_under(job)); });
  state_.run(job).body->go_on(job, detection + rule.failover, true);
  return true;
}

/// Has a job go on without its GPUs that have broken now, and without others that are of no use then, if it can.
bool Interruptions::goes_on_with_rest(JobId job, Time detection) {
  if (detection == Time::never()) return false;
  JobRun& run = state_.run(job);
  const std::vector<GpuId> left = run.body->left_without(job, broken_now_, detection);
  if (left.empty()) return false;
  ++run.totals.covered;
  const std::size_t gone = run.gpus.size() - left.size();
  tell_adapted(job, [&] { return fmt::format("goes on without {}: {}", counted(gone, "GPU"), failures_under(job)); });
  admission_.shrink(job, left);
  return true;
}

/// Interrupts a job; its GPUs that it went on without are out of service from now on.
void Interruptions::take_from(JobId job, std::optional<Time> detection) {
  std::vector<GpuId> out;
  std::ranges::copy_if(state_.run(job).gpus, std::back_inserter(out),
                       [this](GpuId gpu) { return state_.is_covered(gpu); });
  admission_.interrupt(job, detection);
  for (const GpuId gpu : out) {  // the others have been released with their job
    if (!state_.is_covered(gpu)) continue;
    state_.uncover(gpu);
    take_out_of_service(gpu);
  }
}

/// Has jobs go on with GPUs that have come back.
void Interruptions::rejoin() {
  std::vector<JobId> jobs;
  for (const GpuId gpu : gpus_.take_rejoined()) state_.jobs_on(gpu, jobs);
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  for (const JobId job : jobs) {
    tell_adapted(job, [&]() -> std::string {
      const std::size_t out = state_.ranks_out(state_.run(job)).size();
      return out == 0 ? "goes on with all of its GPUs again"
                      : fmt::format("goes on with GPUs that are back, still without {}", counted(out, "GPU"));
    });
    state_.run(job).body->go_on(job, spec_.redundancy.rejoin, false);
  }
}

}  // namespace contend
