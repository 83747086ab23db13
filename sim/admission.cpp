#include "sim/admission.hpp"

#include "sim/cells.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <climits>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {
// Between the places of two jobs of the list among those with equal keys: room for retries.
constexpr std::int64_t kTieStep = std::int64_t{1} << 32;

/// True if the attempt of a timed job that ends now is followed by another.
bool is_retried(const SchedulingRules& rules, const JobRun& run) {
  if (run.is_cut) return run.timeouts < rules.timeouts.times.value_or(0);
  if (!run.is_last_attempt()) return true;
  return run.spec->outcome == JobOutcome::failed && run.failures < rules.failures.times.value_or(0);
}
}  // namespace

void Admission::begin() {
  arrivals_.reserve(state_.jobs.size());
  for (std::size_t j = 0; j < state_.jobs.size(); ++j)
    if (state_.jobs[j].spec->after.empty()) arrivals_.emplace_back(j);
  find_followers();
  std::stable_sort(arrivals_.begin(), arrivals_.end(),
                   [&](JobId a, JobId b) { return state_.run(a).spec->submit < state_.run(b).spec->submit; });
  order_ties();
  look_at_empty_cluster();
  schedule_next_arrival();
}

void Admission::find_followers() {
  const std::size_t jobs = state_.jobs.size();
  if (arrivals_.size() == jobs) return;
  followers_.resize(jobs);
  not_ended_.resize(jobs);
  for (std::size_t j = 0; j < jobs; ++j) {
    const std::vector<JobId>& after = state_.jobs[j].spec->after;
    not_ended_[j] = static_cast<std::uint32_t>(after.size());
    for (const JobId before : after) followers_[before.index()].emplace_back(j);
  }
}

void Admission::look_at_empty_cluster() {
  if (!state_.policies.placement->refuses_alike()) return;  // its answers may depend on time or chance
  std::set<std::pair<Demand, std::int32_t>> elastic;        // that have been looked at, with their JobSpec::sizes
  for (std::size_t j = 0; j < state_.jobs.size(); ++j) {
    const JobSpec& job = *state_.jobs[j].spec;
    if (job.place >= 0) continue;
    const auto [at, is_new] = has_place_.try_emplace(EngineState::demand_of(job, job.gpus), true);
    if (is_new && why_never(state_.spec, job, paces_of(job)).empty()) at->second = look_for_place(JobId{j}, job.gpus);
    if (job.sizes < 0 || !elastic.insert({at->first, job.sizes}).second) continue;
    for (const int gpus : state_.sizes_of(JobId{j}))
      if (gpus != job.gpus) look_for_place(JobId{j}, gpus);
  }
}

bool Admission::look_for_place(JobId id, int gpus) {
  JobRun& run = state_.run(id);
  const int had = std::exchange(run.width, gpus);
  bool has_any = false;
  for (const std::int32_t type : state_.types_for(*run.spec)) {
    if (!allocation_.has_room(*run.spec, gpus, type)) continue;
    const bool has_place = state_.policies.ask_placement(
        [&](PlacementPolicy& policy) { return policy.has_place(state_, state_.view_on(id, type)); });
    if (!has_place) state_.placeless.insert({EngineState::demand_of(*run.spec, gpus), type});
    has_any = has_any || has_place;
  }
  run.width = had;
  return has_any;
}

std::span<const JobPace> Admission::paces_of(const JobSpec& job) const {
  if (job.pace < 0) return {};
  return state_.workload.paces[static_cast<std::size_t>(job.pace)];
}

std::string Admission::why_never_starts(JobId id) const {
  const JobSpec& job = *state_.jobs[id.index()].spec;
  std::string reason = why_never(state_.spec, job, paces_of(job));
  if (reason.empty() && job.place >= 0)
    reason = why_no_place(state_.spec, job, state_.workload.places[static_cast<std::size_t>(job.place)]);
  const LoanSpec& loans = state_.options.failures.loans;
  const int absent = state_.absent_servers();
  if (const std::int64_t usable = std::int64_t{state_.spec.servers - absent} * state_.spec.gpus_per_server;
      reason.empty() && job.gpus > usable)
    reason = fmt::format("needs {}, the servers {} have {}", counted(job.gpus, "GPU"),
                         loans.any() ? "of the cluster and the most that are lent to it at once" : "that aren't spares",
                         usable);
  if (reason.empty() && absent > 0) {
    reason = why_never(without_last(state_.spec, absent), job, paces_of(job));
    if (!reason.empty()) reason += loans.any() ? ", without servers that are never lent" : ", without spares";
  }
  if (!reason.empty() || job.place >= 0) return reason;
  const auto at = has_place_.find(EngineState::demand_of(job, job.gpus));
  if (at == has_place_.end() || at->second) return {};
  reason = fmt::format("has no place under the placement policy `{}`, not even in the empty cluster",
                       state_.policies.placement_name);
  const std::int64_t ranks = ranks_by_host(state_.spec, job);
  if (ranks < state_.spec.gpus_per_server) {
    reason += fmt::format(": the {} of a server suffice for {} of its {} GPUs",
                          job.host_memory > Bytes{} ? "CPUs and memory" : "CPUs", ranks, state_.spec.gpus_per_server);
  }
  return reason;
}

void Admission::order_ties() {
  std::vector<JobId> order = arrivals_;             // by submission, then as in the list
  if (state_.options.rules.ties == TieOrder::name)  // jobs after others get another place when they are submitted
    for (std::size_t j = 0; j < state_.jobs.size(); ++j)
      if (!state_.jobs[j].spec->after.empty()) order.emplace_back(j);
  const auto sort_by = [&](const auto& goes_first) { std::stable_sort(order.begin(), order.end(), goes_first); };
  switch (state_.options.rules.ties) {
    case TieOrder::submission:
      break;
    case TieOrder::list_reversed:
      std::reverse(order.begin(), order.end());
      sort_by([&](JobId a, JobId b) { return state_.run(a).spec->submit < state_.run(b).spec->submit; });
      break;
    case TieOrder::latest:
      std::reverse(order.begin(), order.end());
      break;
    case TieOrder::name:
      sort_by([&](JobId a, JobId b) { return state_.run(a).spec->name < state_.run(b).spec->name; });
      break;
  }
  for (std::size_t i = 0; i < order.size(); ++i) state_.run(order[i]).tie = static_cast<std::int64_t>(i + 1) * kTieStep;
}

std::int64_t Admission::tie_of_resubmission(std::int64_t tie) {
  const auto is_later = [&](Time now, JobId job) { return now < state_.run(job).spec->submit; };
  const auto submitted =
      std::upper_bound(arrivals_.begin(), arrivals_.end(), state_.clock, is_later) - arrivals_.begin();
  switch (state_.options.rules.ties) {
    case TieOrder::submission:
    case TieOrder::list_reversed:  // behind all jobs submitted until now, and earlier retries
      return submitted * kTieStep + ++resubmissions_;
    case TieOrder::latest:  // in front of them
      return (std::ssize(arrivals_) - submitted + 1) * kTieStep - ++resubmissions_;
    case TieOrder::name:
      break;
  }
  return tie;
}

Time Admission::next_arrival() const {
  return next_ < arrivals_.size() ? state_.run(arrivals_[next_]).spec->submit : Time::never();
}

Time Admission::next_intervention() const {
  Time next = std::min(next_arrival(), pass_at_);
  if (!coming_.empty()) next = std::min(next, coming_.front());
  return next;
}

void Admission::schedule_next_arrival() {
  if (next_ == arrivals_.size()) return;
  state_.calendar.schedule(next_arrival(), Phase::arrivals, {CalendarEvent::Kind::arrival});
}

void Admission::on_arrival() {
  const JobId job = arrivals_[next_++];
  schedule_next_arrival();
  submit(job);
}

void Admission::on_follow(JobId id) {
  std::pop_heap(coming_.begin(), coming_.end(), std::greater<>{});
  coming_.pop_back();
  JobRun& run = state_.run(id);
  run.submitted = state_.clock;
  run.tie = tie_of_resubmission(run.tie);
  if (state_.options.window.holds(state_.clock)) ++state_.measured_left;
  submit(id);
}

void Admission::submit(JobId job) {
  ++state_.events;
  std::string reason = why_never_starts(job);
  if (!reason.empty()) {
    if (state_.options.decisions != nullptr) state_.options.decisions->rejected(state_.clock, job, reason);
    state_.reasons.emplace_back(job, std::move(reason));
    return end(job, JobState::failed);
  }
  state_.set_state(job, JobState::queued);
  enqueue(job);
}

void Admission::end(JobId job, JobState state) {
  state_.set_state(job, state);
  release_followers(job);
}

void Admission::release_followers(JobId job) {
  if (!has_followers(job)) return;
  for (const JobId follower : followers_[job.index()]) {
    if (--not_ended_[follower.index()] > 0) continue;
    JobRun& run = state_.run(follower);
    run.arrival = state_.clock + run.spec->think;
    expect(follower, run.arrival, CalendarEvent::Kind::follows);
  }
}

void Admission::enqueue(JobId job) {
  JobRun& run = state_.run(job);
  run.since = state_.clock;
  run.waits = true;
  ++state_.waiting;
  pass_is_due_ = pass_is_due_ || !in_pass_;
  if (state_.options.decisions != nullptr) state_.options.decisions->queued(state_.clock, job);
  state_.policies.ask_scheduling([&](SchedulingPolicy& policy) { policy.queued(state_.job(job)); });
}

void Admission::on_retry(JobId id) {
  std::pop_heap(coming_.begin(), coming_.end(), std::greater<>{});
  coming_.pop_back();
  allocation_.let_go(id);
  if (state_.run(id).gave_up) return give_up(id);
  come_back(id);
}

void Admission::count_away(JobRun& job) const {
  job.totals.away += state_.clock - job.vacated;
  job.totals.undetected += std::exchange(job.detecting, Time{});
}

void Admission::give_up(JobId id) {
  JobRun& job = state_.run(id);
  count_away(job);
  job.finish = state_.clock;
  end(id, JobState::given_up);
  pass_is_due_ = true;  // its GPUs are free
  const int retries = *state_.options.failures.retries;
  state_.reasons.emplace_back(id, fmt::format("failures interrupted it {}, and failures.retries lets it start again {}",
                                              counted(job.struck, "time"), counted(retries, "time")));
}

void Admission::come_back(JobId id) {
  JobRun& job = state_.run(id);
  count_away(job);
  if (job.resubmits) {
    job.submitted = state_.clock;
    job.tie = tie_of_resubmission(job.tie);
  }
  enqueue(id);
}

void Admission::on_finished(JobId job) {
  in_vain_ = struck_in_vain_ = 0;
  state_.run(job).finish = state_.clock;
  end(job, JobState::finished);
  leave(state_, job);
  allocation_.release(job);
  tell_left(job);
}

void Admission::on_job_end(JobId job) {
  JobRun& run = state_.run(job);
  in_vain_ = struck_in_vain_ = 0;
  ++state_.events;
  const Time saved =
      run.saving ? run.saving->saved : saved_before_end(run.segment(state_.costs_of(run)), state_.costs_of(run));
  const Time unsaved = run.attempt_left() - saved;
  if (run.is_cut)
    if (const WorkDone work = state_.work_done(run); work.done > work.saved)
      run.undone_at_ends += work.done - work.saved;
  const bool comes_back = is_retried(state_.options.rules, run);
  if (!comes_back) run.finish = state_.clock;
  comes_back ? state_.set_state(job, JobState::queued) : end(job, JobState::finished);
  allocation_.release(job);
  tell_left(job);
  if (comes_back) retry(job, unsaved);
}

void Admission::on_answered(JobId job) {
  in_vain_ = struck_in_vain_ = 0;
  state_.run(job).finish = state_.clock;
  end(job, JobState::finished);
  allocation_.release(job);
  tell_left(job);
}

void Admission::retry(JobId job, Time unsaved) {
  JobRun& run = state_.run(job);
  const SchedulingRules& rules = state_.options.rules;
  const RetryRule& rule = run.is_cut ? rules.timeouts : rules.failures;
  if (run.is_cut || run.is_last_attempt()) {
    const Time redone = run.totals.redone, useful = run.totals.held - run.totals.overhead - redone;
    if (rule.from_start) run.undo_until_left(run.attempt_length());
    if (!rule.from_start && !run.is_cut) run.undo_until_left(unsaved);
    state_.kept_time.undo(job, run.totals.redone - redone, useful);
    run.resumes = !rule.from_start;
  } else {
    run.begin_next_attempt();
  }
  const Time queues = state_.clock + rule.delay_before(++(run.is_cut ? run.timeouts : run.failures));
  run.resubmits = rule.at_end;
  queue_at(job, queues);
}

void Admission::queue_at(JobId job, Time time) {
  state_.run(job).vacated = state_.clock;
  expect(job, time, CalendarEvent::Kind::retry);
}

void Admission::expect(JobId job, Time time, CalendarEvent::Kind kind) {
  coming_.push_back(time);
  std::push_heap(coming_.begin(), coming_.end(), std::greater<>{});
  state_.calendar.schedule(time, Phase::arrivals, {kind, CellId{}, job});
}

void Admission::interrupt(JobId job, std::optional<Time> detection) {
  JobRun& run = state_.run(job);
  const FailureSpec& failures = state_.options.failures;
  ++state_.events;
  const bool is_planned = !detection, comes_back = is_planned || run.struck < failures.retries.value_or(INT_MAX);
  const Time delay = detection ? *detection + (comes_back ? failures.diagnosis : Time{}) : Time{};
  const bool keeps_gpus = failures.holds_gpus && delay > Time{};
  const bool has_saved = allocation_.interrupt(job, JobState::queued, keeps_gpus, is_planned);
  struck_in_vain_ = has_saved || !comes_back ? 0 : struck_in_vain_ + 1;
  watch_failures(job);
  run.gave_up = !comes_back;
  tell_left(job);
  run.resubmits = failures.requeues_last;
  run.vacated = state_.clock;
  run.detecting = detection.value_or(Time{});
  if (delay > Time{}) return queue_at(job, state_.clock + delay);
  run.gave_up ? give_up(job) : come_back(job);
}

void Admission::go_on_with(JobId job, std::span<const GpuId> gpus) {
  if (state_.options.decisions != nullptr) state_.options.decisions->resized(state_.clock, job);
  allocation_.resize(job, gpus);
  state_.policies.ask_scheduling([&](SchedulingPolicy& policy) { policy.resized(job, state_); });
}

void Admission::shrink(JobId job, std::span<const GpuId> gpus) {
  go_on_with(job, gpus);
  pass_is_due_ = true;
}

bool Admission::shrinks(JobId job, std::span<const GpuId> lost) {
  const JobRun& run = state_.run(job);
  std::vector<GpuId> kept;
  std::ranges::copy_if(run.gpus, std::back_inserter(kept),
                       [&](GpuId gpu) { return std::ranges::find(lost, gpu) == lost.end(); });
  int size = 0;
  for (const int each : state_.sizes_of(job))
    if (each <= std::ssize(kept) && state_.pace_on(*run.spec, each, run.type).together > 0) size = each;
  if (size == 0) return false;
  kept.resize(static_cast<std::size_t>(size));
  shrink(job, kept);
  return true;
}

void Admission::watch_failures(JobId interrupted) const {
  constexpr std::size_t kMany = 100'000, kManyForEachJob = 20;
  if (struck_in_vain_ < kMany || struck_in_vain_ < kManyForEachJob * (state_.waiting + state_.running.size() + 1))
    return;
  const JobRun& run = state_.run(interrupted);
  FailureSpec without_loans = state_.options.failures;
  without_loans.loans = {};
  const bool fails = without_loans.any();
  throw InputError{fmt::format(
      "{}: the last {} interruptions, until {:.0f} s, undid all work since the last checkpoint, and no job ended; the "
      "last was that of job `{}` on {}. Checkpoints that are nearer to each other, a shorter restart or {} would end "
      "this",
      fails ? "failures" : "loans", struck_in_vain_, state_.clock.to_seconds(), run.spec->name,
      counted(run.spec->gpus, "GPU"), fails ? "`failures.retries`" : "longer loans")};
}

void Admission::on_pass() {
  pass_is_due_ = true;
  pass_at_ = Time::never();
}

void Admission::tell_left(JobId job) {
  pass_is_due_ = true;
  if (state_.options.decisions != nullptr) {
    state_.options.decisions->ended(state_.clock, job, state_.run(job).state == JobState::finished);
  }
  if (in_pass_) {
    ended_in_pass_.push_back(job);
  } else {
    state_.policies.ask_scheduling([&](SchedulingPolicy& policy) { policy.left(job); });
  }
}

Time Admission::at_quantum(Time time) const {
  const std::int64_t quantum = state_.options.rules.quantum.ns();
  if (quantum == 0 || time == Time::never()) return time;
  const std::int64_t after = time.ns() % quantum;
  return after == 0 ? time : time + Time::nanoseconds(quantum - after);
}

void Admission::scheduling_pass() {
  const bool idles = state_.policies.scheduling->idle_passes();
  if (pass_is_due_ && !asking_.empty()) give_to_services();
  if (pass_is_due_ && (state_.waiting > 0 || idles) && at_quantum(state_.clock) != state_.clock) {
    pass_is_due_ = false;
    schedule_pass(std::min(pass_at_, at_quantum(state_.clock)));
  }
  // A job without work ends in the pass that starts it; another pass at the same instant may use its GPUs.
  while (pass_is_due_ && (state_.waiting > 0 || idles)) {
    pass_is_due_ = false;
    allocation_.forget_refusals();
    pushed_out_.clear();
    in_pass_ = true;
    asks_for_starts_ = false;
    state_.policies.ask_scheduling([&](SchedulingPolicy& policy) { policy.pass(state_, *this); });
    in_pass_ = false;
    for (const JobId job : std::exchange(ended_in_pass_, {}))
      state_.policies.ask_scheduling([&](SchedulingPolicy& policy) { policy.left(job); });
    if (!pass_is_due_) ask_for_next_decision();
  }
  pass_is_due_ = false;
  if (state_.waiting == 0 && !idles) schedule_pass(Time::never());
  watch_decisions();
}

void Admission::watch_decisions() {
  constexpr std::size_t kMany = 1'000'000;
  const bool is_all = state_.running.empty() && state_.waiting > 0 && state_.options.until == Time::never() &&
                      state_.calendar.pending(pass_event_) && state_.calendar.size() == 1;
  asked_in_vain_ = is_all ? asked_in_vain_ + 1 : 0;
  if (asked_in_vain_ < kMany) return;
  const JobRun& first = *std::ranges::find_if(state_.jobs, &JobRun::waits);
  throw PolicyError{fmt::format(
      "scheduling policy `{}`, placement policy `{}`: their last {} decisions, until {:.0f} s, started no job, and "
      "nothing else is to happen; {}, first `{}` on {}",
      state_.policies.scheduling_name, state_.policies.placement_name, asked_in_vain_, state_.clock.to_seconds(),
      state_.waiting == 1 ? "1 job waits" : fmt::format("{} jobs wait", state_.waiting), first.spec->name,
      counted(first.spec->gpus, "GPU"))};
}

void Admission::ask_for_next_decision() {
  const auto ask = [&](auto& policy, std::string_view kind, const std::string& name) {
    const Time time = ask_policy(kind, name, policy, [&](auto& asked) { return asked.next_decision(state_); });
    if (time <= state_.clock)
      throw PolicyError{fmt::format("{} policy `{}`: asked for a pass that is not later than now, {} s", kind, name,
                                    state_.clock.to_seconds())};
    return time;
  };
  Time next = Time::never();
  if (state_.waiting > 0 || state_.policies.scheduling->idle_passes())
    next = ask(*state_.policies.scheduling, "scheduling", state_.policies.scheduling_name);
  placement_at_ = state_.waiting == 0 ? Time::never()
                                      : ask(*state_.policies.placement, "placement", state_.policies.placement_name);
  schedule_pass(at_quantum(std::min(next, placement_at_)));
}

void Admission::schedule_pass(Time time) {
  if (time == pass_at_ && (time == Time::never() || state_.calendar.pending(pass_event_))) return;
  if (state_.calendar.pending(pass_event_)) state_.calendar.cancel(pass_event_);
  pass_at_ = time;
  if (time < Time::never()) {
    pass_event_ = state_.calendar.schedule(time, Phase::scheduling, {CalendarEvent::Kind::pass});
  }
}

}  // namespace contend
