#include "sim/admission.hpp"

#include "sim/cells.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <functional>
#include <set>
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
  for (std::size_t j = 0; j < state_.jobs.size(); ++j) arrivals_.emplace_back(j);
  std::stable_sort(arrivals_.begin(), arrivals_.end(),
                   [&](JobId a, JobId b) { return state_.run(a).spec->submit < state_.run(b).spec->submit; });
  order_ties();
  look_at_empty_cluster();
  schedule_next_arrival();
}

void Admission::look_at_empty_cluster() {
  PlacementPolicy& placement = *state_.policies.placement;
  if (!placement.refuses_alike()) return;  // its answers may depend on time or chance
  for (std::size_t j = 0; j < state_.jobs.size(); ++j) {
    const JobSpec& job = *state_.jobs[j].spec;
    const auto [at, is_new] = has_place_.try_emplace(Demand{job.vc, job.gpus, job.gpu_type, RankDemand{job}}, true);
    if (!is_new || !why_never(state_.spec, job).empty()) continue;
    chosen_.clear();
    placement.place(state_, state_.job(JobId{j}), chosen_);
    at->second = !chosen_.empty();
  }
}

std::string Admission::why_never_starts(JobId id) const {
  const JobSpec& job = *state_.jobs[id.index()].spec;
  std::string reason = why_never(state_.spec, job);
  if (!reason.empty()) return reason;
  const auto at = has_place_.find(Demand{job.vc, job.gpus, job.gpu_type, RankDemand{job}});
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
  std::vector<JobId> order = arrivals_;  // by submission, then as in the list
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
  if (!retries_.empty()) next = std::min(next, retries_.front());
  return next;
}

void Admission::schedule_next_arrival() {
  if (next_ == arrivals_.size()) return;
  state_.calendar.schedule(next_arrival(), Phase::arrivals, {CalendarEvent::Kind::arrival});
}

void Admission::on_arrival() {
  const JobId job = arrivals_[next_++];
  schedule_next_arrival();
  ++state_.events;
  std::string reason = why_never_starts(job);
  if (!reason.empty()) {
    if (state_.options.decisions != nullptr) state_.options.decisions->rejected(state_.clock, job, reason);
    state_.reasons.emplace_back(job, std::move(reason));
    return state_.set_state(job, JobState::failed);
  }
  state_.set_state(job, JobState::queued);
  enqueue(job);
}

void Admission::enqueue(JobId job) {
  JobRun& run = state_.run(job);
  run.since = state_.clock;
  run.waits = true;
  ++state_.waiting;
  pass_is_due_ = pass_is_due_ || !in_pass_;
  if (state_.options.decisions != nullptr) state_.options.decisions->queued(state_.clock, job);
  state_.policies.scheduling->queued(state_.job(job));
}

void Admission::on_retry(JobId id) {
  std::pop_heap(retries_.begin(), retries_.end(), std::greater<>{});
  retries_.pop_back();
  JobRun& job = state_.run(id);
  if (job.resubmits) {
    job.submitted = state_.clock;
    job.tie = tie_of_resubmission(job.tie);
  }
  enqueue(id);
}

void Admission::on_finished(JobId job) {
  in_vain_ = 0;
  state_.run(job).finish = state_.clock;
  state_.set_state(job, JobState::finished);
  leave(state_, job);
  release(job);
  tell_left(job);
}

void Admission::on_job_end(JobId job) {
  JobRun& run = state_.run(job);
  in_vain_ = 0;
  ++state_.events;
  const WorkSegment ended = run.segment(state_.options.rules.preemption);
  const bool comes_back = is_retried(state_.options.rules, run);
  if (!comes_back) run.finish = state_.clock;
  state_.set_state(job, comes_back ? JobState::queued : JobState::finished);
  release(job);
  tell_left(job);
  if (comes_back) retry(job, ended);
}

void Admission::retry(JobId job, const WorkSegment& ended) {
  JobRun& run = state_.run(job);
  const SchedulingRules& rules = state_.options.rules;
  const RetryRule& rule = run.is_cut ? rules.timeouts : rules.failures;
  if (run.is_cut || run.is_last_attempt()) {
    if (rule.from_start) run.undo_until_left(run.attempt_length());
    if (!rule.from_start && !run.is_cut) run.undo_until_left(ended.work - saved_before_end(ended, rules.preemption));
    run.resumes = !rule.from_start;
  } else {
    run.begin_next_attempt();
  }
  const Time queues = state_.clock + rule.delay_before(++(run.is_cut ? run.timeouts : run.failures));
  run.resubmits = rule.at_end;
  retries_.push_back(queues);
  std::push_heap(retries_.begin(), retries_.end(), std::greater<>{});
  state_.calendar.schedule(queues, Phase::arrivals, {CalendarEvent::Kind::retry, CellId{}, job});
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
    state_.policies.scheduling->left(job);
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
  if (pass_is_due_ && (state_.waiting > 0 || idles) && at_quantum(state_.clock) != state_.clock) {
    pass_is_due_ = false;
    schedule_pass(std::min(pass_at_, at_quantum(state_.clock)));
  }
  // A job without work ends in the pass that starts it; another pass at the same instant may use what it frees.
  while (pass_is_due_ && (state_.waiting > 0 || idles)) {
    pass_is_due_ = false;
    too_large_.clear();
    in_pass_ = true;
    state_.policies.scheduling->pass(state_, *this);
    in_pass_ = false;
    for (const JobId job : std::exchange(ended_in_pass_, {})) state_.policies.scheduling->left(job);
    if (!pass_is_due_) ask_for_next_decision();
  }
  pass_is_due_ = false;
  if (state_.waiting == 0 && !idles) schedule_pass(Time::never());
}

void Admission::ask_for_next_decision() {
  Time next = Time::never();
  const auto ask = [&](auto& policy, std::string_view kind, const std::string& name) {
    const Time time = policy.next_decision(state_);
    if (time <= state_.clock) {
      throw InputError{fmt::format("{} policy `{}`: asked for a pass that is not later than now", kind, name)};
    }
    next = std::min(next, time);
  };
  if (state_.waiting > 0 || state_.policies.scheduling->idle_passes()) {
    ask(*state_.policies.scheduling, "scheduling", state_.policies.scheduling_name);
  }
  if (state_.waiting > 0) ask(*state_.policies.placement, "placement", state_.policies.placement_name);
  schedule_pass(at_quantum(next));
}

void Admission::schedule_pass(Time time) {
  if (time == pass_at_ && (time == Time::never() || state_.calendar.pending(pass_event_))) return;
  if (state_.calendar.pending(pass_event_)) state_.calendar.cancel(pass_event_);
  pass_at_ = time;
  if (time < Time::never()) {
    pass_event_ = state_.calendar.schedule(time, Phase::scheduling, {CalendarEvent::Kind::pass});
  }
}

bool Admission::has_room(const JobSpec& job) {
  const RankDemand rank{job};
  if (job.gpus > state_.capacity.quota_left(job.vc)) return false;
  if (rank.share == kWholeGpu) return job.gpus <= state_.capacity.free_gpus_of_vc(job.vc);
  // Until GPUs are freed, room only shrinks: if a job did not fit, no job with at least its demand does.
  const bool is_hopeless = std::any_of(too_large_.begin(), too_large_.end(), [&](const JobSpec* other) {
    return job.gpus >= other->gpus && job.memory_per_gpu >= other->memory_per_gpu && job.vc == other->vc &&
           job.gpu_share >= other->gpu_share && (job.gpu_share == 0) == (other->gpu_share == 0);
  });
  if (is_hopeless) return false;
  const ServerRange servers = state_.capacity.servers_of_vc(job.vc);
  int room = 0;
  for (GpuId gpu{0U}; (gpu = state_.capacity.next_gpu(rank, gpu, servers)).valid(); gpu = GpuId{gpu.index() + 1}) {
    if (++room == job.gpus) return true;
  }
  too_large_.push_back(&job);
  return false;
}

bool Admission::start(JobId job) {
  if (!in_pass_ || job.index() >= state_.jobs.size() || !state_.run(job).waits) illegal_step(job, "started");
  refused_alike_ = true;
  if (!has_room(*state_.run(job).spec)) return false;
  refused_alike_ = state_.policies.placement->refuses_alike();
  chosen_.clear();
  state_.policies.placement->place(state_, state_.job(job), chosen_);
  if (chosen_.empty()) return false;
  start_on_chosen(job);
  return true;
}

bool Admission::start_preempting(JobId job, std::span<const JobId> candidates) {
  if (!in_pass_ || job.index() >= state_.jobs.size() || !state_.run(job).waits) illegal_step(job, "started");
  for (const JobId candidate : candidates) {
    const bool runs = candidate.index() < state_.jobs.size() && state_.run(candidate).state == JobState::running;
    if (!runs) illegal_step(candidate, "preempted");
  }
  refused_alike_ = state_.policies.placement->refuses_alike();
  if (!eviction_.choose(job, candidates, victims_, chosen_)) return false;
  for (const JobId victim : victims_) preempt(victim, job);
  start_on_chosen(job);
  return true;
}

void Admission::reserve(JobId job, std::span<const GpuId> gpus, bool take) {
  const JobSpec& spec = *state_.run(job).spec;
  for (const GpuId gpu : gpus)
    take ? state_.capacity.take(gpu, RankDemand{spec}) : state_.capacity.give_back(gpu, RankDemand{spec});
  state_.capacity.use_quota(spec.vc, take ? spec.gpus : -spec.gpus);
}

void Admission::place_anew(std::span<const Claim> order, std::int64_t capacity) {
  const auto runs = [&](JobId job) { return state_.run(job).state == JobState::running; };
  for (const auto& [job, width] : order) {
    const bool is_known = in_pass_ && job.index() < state_.jobs.size();
    if (!is_known || (!runs(job) && !state_.run(job).waits)) illegal_step(job, "placed anew");
    if (!runs(job)) continue;
    reserve(job, state_.run(job).gpus, false);
    state_.away.push_back(job);
  }
  const std::vector<std::vector<GpuId>> places = find_places(order, capacity);
  state_.away.clear();
  std::vector<std::size_t> leaving, starting;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const JobId job = order[i].job;
    bool stays = false;
    if (runs(job)) {
      std::vector<GpuId> held = state_.run(job).gpus, next = places[i];
      reserve(job, held, true);
      std::sort(held.begin(), held.end());
      std::sort(next.begin(), next.end());
      stays = held == next;
      if (!stays) leaving.push_back(i);
    }
    if (!stays && !places[i].empty()) starting.push_back(i);
  }
  for (const std::size_t i : leaving) preempt(order[i].job, JobId::none());
  for (const std::size_t i : starting) {
    chosen_ = places[i];
    start_on_chosen(order[i].job);
  }
}

std::vector<std::vector<GpuId>> Admission::find_places(std::span<const Claim> order, std::int64_t capacity) {
  PlacementPolicy& placement = *state_.policies.placement;
  std::vector<std::vector<GpuId>> places(order.size());
  std::set<Demand> refused;
  too_large_.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const JobId job = order[i].job;
    const JobSpec& spec = *state_.run(job).spec;
    const Demand demand{spec.vc, spec.gpus, spec.gpu_type, RankDemand{spec}};
    if (order[i].width > capacity || refused.contains(demand) || !has_room(spec)) continue;
    JobView view = state_.job(job);
    if (view.running) view.since = state_.clock;  // it would wait from now on
    view.running = false;
    chosen_.clear();
    placement.place(state_, view, chosen_);
    if (chosen_.empty()) {
      if (placement.refuses_alike()) refused.insert(demand);
      continue;
    }
    check_placement(job);
    capacity -= order[i].width;
    places[i] = chosen_;
    reserve(job, places[i], true);  // for those behind it
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!places[i].empty()) reserve(order[i].job, places[i], false);
  too_large_.clear();
  return places;
}

void Admission::start_on_chosen(JobId job) {
  check_placement(job);
  JobRun& run = state_.run(job);
  if (run.start == Time::never()) run.start = state_.clock;
  run.waits = false;
  --state_.waiting;
  state_.set_state(job, JobState::running);
  hold(job);
  run.waited += state_.clock - run.since;
  run.since = state_.clock;
  if (state_.options.decisions != nullptr) state_.options.decisions->started(state_.clock, job, run.gpus);
  if (run.timed()) return start_timed(run, job);
  JobView view = state_.view(job, true);
  view.remaining_service -= run.plan->compute_total;
  run.key_fall = state_.key(job) - state_.policies.scheduling->key(view);
  occupy(state_, job);
  executor_.begin(job);
}

void Admission::start_timed(JobRun& run, JobId job) {
  const PreemptionCosts& costs = state_.options.rules.preemption;
  const auto& penalty = state_.options.rules.scatter_penalty;
  const int per_server = state_.spec.gpus_per_server;
  const int beyond = run.servers_spanned - (run.spec->gpus + per_server - 1) / per_server;
  const bool is_scattered = beyond > 0 && !penalty.empty();
  run.pace = is_scattered ? penalty[std::min(static_cast<std::size_t>(beyond), penalty.size()) - 1] : 1000;
  const Time length = length_of(run.segment(costs), costs);
  run.is_cut = state_.options.rules.kill_at_limit && run.spec->limit && length > *run.spec->limit;
  run.ends = state_.clock + (run.is_cut ? *run.spec->limit : length);
  run.end = state_.calendar.schedule(run.ends, Phase::completions, {CalendarEvent::Kind::job_end, CellId{}, job});
}

void Admission::preempt(JobId job, JobId by) {
  if (!in_pass_ || job.index() >= state_.jobs.size() || state_.run(job).state != JobState::running) {
    illegal_step(job, "preempted");
  }
  JobRun& run = state_.run(job);
  if (run.timed()) {
    state_.calendar.cancel(run.end);
  } else {
    run.lost += state_.undone(run);
    courier_.abandon(job);
    leave(state_, job);
    run.remaining_service = run.plan->compute_total * (run.spec->iterations - run.completed);
    run.key_is_stale = true;
    run.compute = run.plan->compute_total * run.completed;
  }
  ++run.preemptions;
  ++in_vain_;
  state_.set_state(job, JobState::preempted);
  release(job);
  if (run.timed()) watch_progress(job);
  run.resumes = run.timed();
  if (state_.options.decisions != nullptr) state_.options.decisions->preempted(state_.clock, job, by);
  too_large_.clear();
  enqueue(job);
}

void Admission::watch_progress(JobId preempted) const {
  constexpr std::size_t kMany = 10'000, kManyForEachJob = 20;
  if (in_vain_ < kMany || in_vain_ < kManyForEachJob * (state_.waiting + state_.running.size() + 1)) return;
  const PreemptionCosts& costs = state_.options.rules.preemption;
  throw InputError{fmt::format(
      "scheduling policy `{}`: the last {} preemptions, until {:.0f} s, undid all work since the last checkpoint, "
      "and no job ended; the last was that of job `{}`. Jobs need {:g} s for the restart and {:g} s to the next "
      "checkpoint before they save any work: longer time slices or shorter checkpoint intervals would let them",
      state_.policies.scheduling_name, in_vain_, state_.clock.to_seconds(), state_.run(preempted).spec->name,
      costs.restart.to_seconds(), costs.checkpoint_interval.to_seconds())};
}

void Admission::blocked(JobId job, Why why, JobId by) {
  if (state_.options.decisions == nullptr) return;
  // If the quota alone keeps the job out, report that, whatever reason the policy found first.
  const JobSpec& spec = *state_.run(job).spec;
  if (spec.gpus > state_.capacity.quota_left(spec.vc)) {
    why = Why::quota;
    by = JobId::none();
  } else if (why == Why::no_place && RankDemand{spec}.share == kWholeGpu &&
             spec.gpus > state_.capacity.free_gpus_of_vc(spec.vc)) {
    why = Why::no_gpus;
  }
  state_.options.decisions->blocked(state_.clock, job, why, by);
}

void Admission::hold(JobId job) {
  JobRun& run = state_.run(job);
  const RankDemand rank{*run.spec};
  run.gpus = chosen_;
  std::vector<ServerId> servers;
  for (const GpuId gpu : run.gpus) {
    state_.capacity.take(gpu, rank);
    ++state_.gpu[gpu.index()].jobs_started;
    if (run.timed()) state_.gpu[gpu.index()].timed.push_back(job);
    servers.push_back(state_.server_of(gpu));
  }
  state_.capacity.use_quota(run.spec->vc, run.spec->gpus);
  std::sort(servers.begin(), servers.end());
  run.servers_spanned = static_cast<int>(std::unique(servers.begin(), servers.end()) - servers.begin());
}

void Admission::show(JobId job) const {
  static const Op kRun = [] {
    Op op;
    op.name = "run";
    return op;
  }();
  const JobRun& run = state_.run(job);
  if (state_.options.observer == nullptr || !run.timed() || RankDemand{*run.spec}.share < kWholeGpu) return;
  if (run.since == state_.clock) return;
  for (const GpuId gpu : run.gpus) {
    state_.options.observer->compute(gpu, job, kRun, run.retries(), run.since, state_.clock);
  }
}

void Admission::release(JobId job) {
  JobRun& run = state_.run(job);
  show(job);
  const RankDemand rank{*run.spec};
  const Time held = state_.clock - run.since;
  for (const GpuId gpu : run.gpus) {
    state_.capacity.give_back(gpu, rank);
    if (!run.timed()) continue;
    std::erase(state_.gpu[gpu.index()].timed, job);
    state_.gpu[gpu.index()].busy += reserved_part(held, rank.share);
  }
  state_.capacity.use_quota(run.spec->vc, -run.spec->gpus);
  run.attained += GpuTime{held, run.spec->gpus};
  if (run.timed()) {
    const WorkDone work = state_.work_done(run);
    run.remaining_service -= GpuTime{work.saved, run.spec->gpus};
    run.compute += GpuTime{work.saved, run.spec->gpus};
    run.overhead += work.overhead;
    run.lost += GpuTime{work.done - work.saved, run.spec->gpus};
    if (work.saved > Time{}) in_vain_ = 0;
    run.resumes = false;
    run.ends = Time::never();
  }
  std::vector<GpuId>{}.swap(run.gpus);
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
  const RankDemand rank{*run.spec};
  const JobView view = state_.job(job);
  const ServerRange servers = state_.servers_for(view);
  ServerId server;
  std::int64_t ranks = 0;  // on the current server
  for (const GpuId gpu : sorted) {
    if (gpu.index() >= state_.gpu.size()) illegal("was given a GPU that does not exist");
    if (state_.capacity.free_memory(gpu) >= Bytes{} && state_.capacity.free_memory(gpu) < rank.memory) {
      illegal(fmt::format("does not fit into the memory of GPU {}", gpu.value()));
    }
    if (!state_.capacity.fits(gpu, rank)) illegal(fmt::format("was given GPU {}, which other jobs hold", gpu.value()));
    ranks = state_.server_of(gpu) == server ? ranks + 1 : 1;
    server = state_.server_of(gpu);
    if (!servers.contains(server)) illegal("was given a server of another virtual cluster");
    if (ranks > state_.ranks_by_host(server, view)) {
      illegal(fmt::format("asks server {} for more CPUs or memory than it has left", server.value()));
    }
  }
}

void Admission::illegal_step(JobId job, const char* what) const {
  const std::string name = job.index() < state_.jobs.size() ? state_.run(job).spec->name : "?";
  throw InputError{
      fmt::format("scheduling policy `{}`: job `{}` can't be {} now", state_.policies.scheduling_name, name, what)};
}

}  // namespace contend
