#include "results/wait_recorder.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

namespace contend {

Time Explanation::waited() const {
  Time sum;
  for (const WaitInterval& wait : waits) sum += wait.length();
  return sum;
}

Time Explanation::waited_before_start() const {
  Time sum;
  for (const WaitInterval& wait : waits) {
    if (attempts.empty() || wait.to <= attempts.front().from) sum += wait.length();
  }
  return sum;
}

std::vector<CauseTotal> totals_by_cause(const Explanation& explanation) {
  std::vector<CauseTotal> totals;
  for (const WaitInterval& wait : explanation.waits) {
    auto found = std::find_if(totals.begin(), totals.end(), [&](const CauseTotal& t) { return t.why == wait.why; });
    if (found == totals.end()) found = totals.insert(totals.end(), {wait.why, 0, Time{}});
    ++found->intervals;
    found->time += wait.length();
  }
  std::stable_sort(totals.begin(), totals.end(),
                   [](const CauseTotal& a, const CauseTotal& b) { return a.time > b.time; });
  return totals;
}

const char* cause_name(const std::optional<Why>& why) {
  if (!why) return "not_considered";
  switch (*why) {
    case Why::no_gpus:
      return "no_gpus";
    case Why::no_place:
      return "no_place";
    case Why::no_domain:
      return "no_domain";
    case Why::place_taken:
      return "place_taken";
    case Why::quota:
      return "quota";
    case Why::behind:
      return "behind";
    case Why::reserved:
      return "reserved";
    case Why::outranked:
      return "outranked";
    case Why::passed_over:
      return "passed_over";
    case Why::throttled:
      return "throttled";
    case Why::between_decisions:
      return "between_decisions";
  }
  return "?";
}

WaitRecorder::WaitRecorder(JobId job, std::span<const JobSpec> jobs, int gpus_per_server)
    : job_{job}, gpus_per_server_{static_cast<std::size_t>(gpus_per_server)} {
  explanation_.after = jobs[job.index()].after;
  for (const JobSpec& each : jobs) vcs_.push_back(each.vc);
}

void WaitRecorder::queued(Time now, JobId job) {
  if (job != job_) return;
  auto& attempts = explanation_.attempts;
  if (!attempts.empty() && attempts.back().end == JobAttempt::End::ended) attempts.back().end = JobAttempt::End::failed;
  if (!attempts.empty()) attempts.back().queued_again = now;
  waits_ = true;
  since_ = now;
  open(std::nullopt, JobId::none(), now);
}

bool WaitRecorder::just_preempted(Time now) const {
  const auto& attempts = explanation_.attempts;
  return !attempts.empty() && attempts.back().end == JobAttempt::End::preempted && attempts.back().to == now;
}

void WaitRecorder::started(Time now, JobId job, std::span<const GpuId> gpus, Time pause) {
  running_.push_back(occupancies_.size());
  occupancies_.push_back({job, static_cast<int>(gpus.size()), now, Time::never()});
  if (job != job_) {
    if (waits_ && counts(occupancies_.size() - 1, explanation_.waits.back().why))
      held_by_.back().push_back(occupancies_.size() - 1);
    const auto was_ours = [&](GpuId gpu) { return std::binary_search(gpus_.begin(), gpus_.end(), gpu); };
    if (infers_successors_ && just_preempted(now) && std::any_of(gpus.begin(), gpus.end(), was_ours)) {
      explanation_.attempts.back().successors.push_back(job);
    }
    return;
  }
  if (waits_) close(now);
  waits_ = false;
  gpus_.assign(gpus.begin(), gpus.end());
  std::sort(gpus_.begin(), gpus_.end());
  JobAttempt attempt;
  attempt.from = now;
  attempt.pause = pause;
  attempt.gpus = gpus_;
  attempt.servers = by_server(gpus_);
  explanation_.attempts.push_back(std::move(attempt));
}

void WaitRecorder::preempted(Time now, JobId job, JobId by) {
  release(now, job);
  if (job != job_) return;
  JobAttempt& attempt = explanation_.attempts.back();
  attempt.end = JobAttempt::End::preempted;
  infers_successors_ = !by.valid();
  if (by.valid()) attempt.successors.push_back(by);
}

void WaitRecorder::rejected(Time now, JobId job, std::string_view) {
  if (job != job_ || !waits_) return;  // the cluster can never run it, so it never waited
  close(now);
  waits_ = false;
}

void WaitRecorder::resized(Time now, JobId job) {
  release(now, job);
  if (job == job_) explanation_.attempts.back().end = JobAttempt::End::resized;
}

void WaitRecorder::interrupted(Time, JobId job, std::string_view cause) {
  if (job != job_) return;
  explanation_.attempts.back().end = JobAttempt::End::interrupted;
  explanation_.attempts.back().cause = cause;
}

void WaitRecorder::adapted(Time now, JobId job, std::string_view what) {
  if (job == job_) explanation_.attempts.back().changes.emplace_back(now, what);
}

void WaitRecorder::slowed(Time now, const SlowGpus& component, bool is_over) {
  if (!is_over) {
    slow_.push_back({std::string{component.name}, component.first, component.last, component.times, now});
    return;
  }
  const auto began = std::find_if(slow_.rbegin(), slow_.rend(), [&](const Slow& each) {
    return each.to == Time::never() && each.first == component.first && each.last == component.last &&
           each.times == component.times && each.name == component.name;
  });
  CONTEND_CHECK(began != slow_.rend(), "what is slow no longer has been slow");
  began->to = now;
}

void WaitRecorder::mitigated(Time now, JobId job, std::int32_t pace) {
  if (job == job_) paces_.emplace_back(now, pace);
}

void WaitRecorder::out_of_service(Time, const OutOfService& gpus) {
  out_of_service_ = gpus;
  if (!waits_) return;
  OutOfService& most = explanation_.waits.back().out_of_service;
  if (gpus.total() > most.total()) most = gpus;
}

/// What is left of a component's slowness at that time of an attempt, after the steps that the job has taken in it.
std::int32_t WaitRecorder::left_of(std::int32_t times, const JobAttempt& attempt, Time at) const {
  const auto after =
      std::upper_bound(paces_.begin(), paces_.end(), at, [](Time now, const auto& each) { return now < each.first; });
  if (after == paces_.begin() || std::prev(after)->first < attempt.from) return times;
  return std::min(times, std::prev(after)->second);
}

std::string WaitRecorder::where(const Slow& slow) const {
  const std::size_t first = slow.first / gpus_per_server_, last = (slow.last - 1) / gpus_per_server_;
  if (slow.last - slow.first == 1 && gpus_per_server_ > 1)
    return fmt::format("{} on GPU {} of server {}", slow.name, slow.first % gpus_per_server_, first);
  if (first == last) return fmt::format("{} on server {}", slow.name, first);
  return fmt::format("{} on servers {} to {}", slow.name, first, last);
}

/// Finds at each instant of the attempts the slowest component on their GPUs.
void WaitRecorder::find_slow(Time end) {
  struct Spent {
    Time time;
    double lost_ns = 0;
  };
  std::map<std::pair<std::string, std::int32_t>, Spent> times;
  for (const JobAttempt& attempt : explanation_.attempts) {
    const Time until = std::min(attempt.to, end);
    std::vector<const Slow*> its;
    std::vector<Time> changes{attempt.from, until};
    for (const Slow& each : slow_) {
      const auto gpu = std::lower_bound(attempt.gpus.begin(), attempt.gpus.end(), GpuId{each.first});
      const bool is_its = gpu != attempt.gpus.end() && gpu->value() < each.last;
      if (!is_its || each.from >= until || each.to <= attempt.from) continue;
      its.push_back(&each);
      changes.push_back(std::max(each.from, attempt.from));
      changes.push_back(std::min(each.to, until));
    }
    for (const auto& [at, pace] : paces_)
      if (at > attempt.from && at < until) changes.push_back(at);
    std::sort(changes.begin(), changes.end());
    for (std::size_t c = 0; c + 1 < changes.size(); ++c) {
      const Slow* slowest = nullptr;
      for (const Slow* const each : its) {
        const bool is_slow = each->from <= changes[c] && each->to > changes[c];
        if (is_slow && (slowest == nullptr || each->times > slowest->times)) slowest = each;
      }
      if (slowest == nullptr) continue;
      Spent& spent = times[{where(*slowest), slowest->times}];
      const Time length = changes[c + 1] - changes[c];
      spent.time += length;
      const double kept = 1000.0 / left_of(slowest->times, attempt, changes[c]);
      spent.lost_ns += static_cast<double>(length.ns()) * (1 - kept);
    }
  }
  for (const auto& [key, spent] : times) {
    if (spent.time == Time{}) continue;
    explanation_.slow.push_back(
        {key.first, key.second / 1000.0, spent.time, Time::nanoseconds(std::llround(spent.lost_ns))});
  }
  std::stable_sort(explanation_.slow.begin(), explanation_.slow.end(),
                   [](const SlowTime& a, const SlowTime& b) { return a.lost_at_most > b.lost_at_most; });
}

void WaitRecorder::ended(Time now, JobId job, bool is_done) {
  release(now, job);
  if (job != job_ || explanation_.attempts.back().end == JobAttempt::End::interrupted) return;
  explanation_.attempts.back().end = is_done ? JobAttempt::End::ended : JobAttempt::End::failed;
}

void WaitRecorder::blocked(Time now, JobId job, Why why, JobId by) {
  if (job != job_ || !waits_) return;
  const WaitInterval& current = explanation_.waits.back();
  if (current.why == why && current.by == by) return;
  close(now);
  open(why, by, now);
}

void WaitRecorder::in_line(Time, JobId job, PlaceInLine place) {
  if (job != job_ || !waits_) return;
  WaitInterval& current = explanation_.waits.back();
  if (current.first.place == 0) current.first = place;
  current.last = place;
}

void WaitRecorder::reserved(Time now, JobId job, Time start, std::span<const GpuId> gpus) {
  if (job != job_ || !waits_) return;
  Reservation made{now, start, by_server(gpus)};
  std::vector<Reservations>& all = explanation_.reservations;
  if (all.empty() || all.back().first.made < since_) {
    all.push_back({made, made, 0});
    return;
  }
  Reservations& own = all.back();
  if (own.last.start == made.start && own.last.servers == made.servers) return;
  own.last = std::move(made);
  ++own.changes;
}

GpusByServer WaitRecorder::by_server(std::span<const GpuId> gpus) const {
  std::map<ServerId, int> counts;
  for (const GpuId gpu : gpus) ++counts[ServerId{gpu.index() / gpus_per_server_}];
  return {counts.begin(), counts.end()};
}

void WaitRecorder::release(Time now, JobId job) {
  const auto found =
      std::find_if(running_.begin(), running_.end(), [&](std::size_t i) { return occupancies_[i].job == job; });
  CONTEND_CHECK(found != running_.end(), "a job that gives GPUs back has some");
  occupancies_[*found].until = now;
  running_.erase(found);
  if (job == job_) explanation_.attempts.back().to = now;
}

void WaitRecorder::open(std::optional<Why> why, JobId by, Time now) {
  // Decisions of one instant may revoke each other; then the earlier reason continues.
  if (!explanation_.waits.empty()) {
    const WaitInterval& last = explanation_.waits.back();
    if (last.from >= since_ && last.to == now && last.why == why && last.by == by) {
      // It has missed the jobs that started at this instant after it was closed.
      std::vector<std::size_t>& held_by = held_by_.back();
      for (const std::size_t i : running_)
        if (occupancies_[i].since == now && counts(i, why) && std::ranges::find(held_by, i) == held_by.end())
          held_by.push_back(i);
      return;
    }
  }
  WaitInterval wait;
  wait.from = now;
  wait.out_of_service = out_of_service_;
  wait.why = why;
  wait.by = by;
  std::vector<std::size_t> holders;
  for (const std::size_t i : running_) {
    if (!counts(i, why)) continue;
    holders.push_back(i);
    ++wait.running;
    wait.held_gpus += occupancies_[i].gpus;
  }
  explanation_.waits.push_back(std::move(wait));
  held_by_.push_back(std::move(holders));
  if (held_by_.size() > 2) keep_largest(held_by_.size() - 3);
}

/// True of the time of another job on GPUs that is in the way of a job that waits for this reason.
bool WaitRecorder::counts(std::size_t occupancy, const std::optional<Why>& why) const {
  const JobId job = occupancies_[occupancy].job;
  const bool is_other_quota = why == Why::quota && vcs_[job.index()] != vcs_[job_.index()];
  return job != job_ && !is_other_quota;
}

/// Counts the holders of an interval that has ended, and forgets all but the largest. Intervals come in order.
void WaitRecorder::keep_largest(std::size_t interval) {
  if (interval < kept_) return;
  kept_ = interval + 1;
  WaitInterval& wait = explanation_.waits[interval];
  std::vector<std::size_t>& holders = held_by_[interval];
  // Those that started at its end belong to the next one.
  std::erase_if(holders, [&](std::size_t i) { return occupancies_[i].since >= wait.to; });
  wait.started = holders.size() - wait.running;
  const auto gpu_time = [&](std::size_t i) {
    const GpuHolder& holder = occupancies_[i];
    return GpuTime{std::min(holder.until, wait.to) - std::max(holder.since, wait.from), holder.gpus};
  };
  const auto most = holders.begin() + static_cast<std::ptrdiff_t>(std::min(holders.size(), kMaxHolders));
  std::partial_sort(holders.begin(), most, holders.end(), [&](std::size_t a, std::size_t b) {
    return gpu_time(a) != gpu_time(b) ? gpu_time(a) > gpu_time(b) : occupancies_[a].job < occupancies_[b].job;
  });
  holders.erase(most, holders.end());
}

void WaitRecorder::close(Time now) {
  explanation_.waits.back().to = now;
  if (explanation_.waits.back().from < now) return;
  explanation_.waits.pop_back();
  held_by_.pop_back();
}

Explanation WaitRecorder::take(Time end) {
  find_slow(end);
  if (waits_) close(end);
  waits_ = false;
  for (std::size_t i = 0; i < explanation_.waits.size(); ++i) {
    keep_largest(i);
    for (const std::size_t index : held_by_[i]) explanation_.waits[i].holders.push_back(occupancies_[index]);
  }
  return std::move(explanation_);
}

}  // namespace contend
