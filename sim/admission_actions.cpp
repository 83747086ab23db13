// What a scheduling policy decides in a pass, carried out (SchedulingActions).

#include "sim/admission.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"
#include "sim/job_body.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

void Admission::check_waits(JobId job) {
  asks_for_starts_ = true;
  if (!in_pass_ || job.index() >= state_.jobs.size() || !state_.run(job).waits) illegal_step(job, "started");
}

bool Admission::start(JobId job) {
  check_waits(job);
  return start_on_first(job, state_.types_for(*state_.run(job).spec), state_);
}

bool Admission::start_in(JobId job, const ClusterView& usable) {
  check_waits(job);
  return start_on_first(job, state_.types_for(*state_.run(job).spec), usable);
}

bool Admission::plan_in(JobId job, const ClusterView& then, std::vector<GpuId>& place) {
  asks_for_starts_ = true;
  const bool is_known = in_pass_ && job.index() < state_.jobs.size();
  if (!is_known || !(state_.run(job).waits || state_.run(job).state == JobState::running)) illegal_step(job, "planned");
  for (const std::int32_t type : state_.types_for(*state_.run(job).spec)) {
    JobView view = state_.view_on(job, type);
    if (view.running) view.since = state_.clock;  // it would wait from now on
    view.running = false;
    state_.policies.ask_placement([&](PlacementPolicy& policy) { policy.plan(then, view, place); });
    if (!place.empty()) return true;
  }
  return false;
}

bool Admission::start_on(JobId job, std::int32_t type) {
  check_waits(job);
  const std::int32_t one = state_.spec.types.empty() ? -1 : type;
  const auto types = state_.types_for(*state_.run(job).spec);
  if (std::find(types.begin(), types.end(), one) == types.end()) {
    refused_alike_ = true;
    return false;
  }
  return start_on_first(job, {&one, 1}, state_);
}

bool Admission::start_with(JobId job, int gpus, std::int32_t type) {
  check_waits(job);
  check_size(job, gpus);
  JobRun& run = state_.run(job);
  run.width = gpus;
  const bool is_started = type < 0 ? start(job) : start_on(job, type);
  if (!is_started) run.width = run.spec->gpus;
  return is_started;
}

bool Admission::start_at(JobId job, std::span<const GpuId> gpus) {
  check_waits(job);
  refused_alike_ = false;
  const std::vector<GpuId> chosen{gpus.begin(), gpus.end()};  // the view may show them as GPUs of a job
  if (!allocation_.may_share(job, chosen)) return false;
  note_second_order(job, chosen);
  allocation_.start_sharing(job, chosen);
  return true;
}

void Admission::check_size(JobId job, int gpus) const {
  const JobSpec& spec = *state_.run(job).spec;
  if (gpus == spec.gpus || state_.size_of(spec, gpus) != nullptr) return;
  const auto sizes = state_.sizes_of(job);
  throw PolicyError{fmt::format(
      "scheduling policy `{}`: job `{}` can't have {} GPUs, only {}", state_.policies.scheduling_name, spec.name, gpus,
      sizes.empty() ? fmt::format("{}", spec.gpus) : fmt::format("{}", fmt::join(sizes, ", ")))};
}

bool Admission::resize(JobId job, int gpus) {
  const bool runs = in_pass_ && job.index() < state_.jobs.size() && state_.run(job).state == JobState::running;
  if (!runs) illegal_step(job, "resized");
  check_size(job, gpus);
  if (gpus == state_.run(job).width) return true;
  find_place_resized(job, gpus);
  if (chosen_.empty()) return false;
  if (state_.options.decisions != nullptr) state_.options.decisions->resized(state_.clock, job);
  in_vain_ = allocation_.resize(job, chosen_) ? 0 : in_vain_ + 1;
  watch_progress(job);
  return true;
}

void Admission::refuse(JobId job, std::string_view reason) {
  const bool is_new =
      in_pass_ && job.index() < state_.jobs.size() && state_.run(job).waits && state_.run(job).start == Time::never();
  if (!is_new) illegal_step(job, "refused");
  JobRun& run = state_.run(job);
  run.totals.waited += state_.clock - run.since;
  run.waits = false;
  --state_.waiting;
  end(job, JobState::failed);
  state_.reasons.emplace_back(job, reason);
  if (state_.options.decisions != nullptr) state_.options.decisions->rejected(state_.clock, job, reason);
}

void Admission::find_place_resized(JobId job, int gpus) {
  JobRun& run = state_.run(job);
  chosen_.clear();
  if (state_.pace_on(*run.spec, gpus, run.type).together == 0) return;
  allocation_.forget_refusals();
  allocation_.reserve(job, run.gpus, false);
  state_.hide(job);
  const int had = std::exchange(run.width, gpus);
  if (allocation_.has_room(*run.spec, gpus, run.type)) {
    JobView view = state_.view_on(job, run.type);
    view.running = false;  // it is to be placed
    state_.policies.ask_placement([&](PlacementPolicy& policy) { policy.place(state_, view, chosen_); });
    if (!chosen_.empty()) allocation_.check(job, chosen_);
  }
  run.width = had;
  state_.show(job);
  allocation_.reserve(job, run.gpus, true);
  allocation_.forget_refusals();
}

void Admission::note_second_order(JobId job, std::span<const GpuId> gpus) {
  if (!state_.run(job).was_struck || state_.run(job).was_planned) return;
  std::erase_if(pushed_out_, [&](const PushedOut& each) {
    const auto was_its = [&](GpuId gpu) { return std::ranges::find(each.gpus, gpu) != each.gpus.end(); };
    if (each.by.valid() ? each.by != job : std::ranges::none_of(gpus, was_its)) return false;
    JobTotals& totals = state_.run(each.job).totals;
    ++totals.second_order_preemptions;
    totals.lost_to_second_order += each.undone;
    return true;
  });
}

bool Admission::has_place_without(JobId job, std::span<const GpuId> gpus) {
  const JobRun& run = state_.run(job);
  const std::uint64_t given_back = state_.given_back;
  allocation_.forget_refusals();
  allocation_.reserve(job, run.gpus, false);
  state_.hide(job);
  std::vector<GpuId> taken;
  std::ranges::copy_if(gpus, std::back_inserter(taken), [&](GpuId gpu) { return state_.capacity.is_free(gpu); });
  std::sort(taken.begin(), taken.end());  // two slow components may have a GPU
  taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
  for (const GpuId gpu : taken) state_.take_out_of_service(gpu);
  const auto types = state_.types_for(*run.spec);
  const bool has_place = std::ranges::any_of(types, [&](std::int32_t type) {
    if (!allocation_.has_room(*run.spec, run.width, type)) return false;
    JobView view = state_.view_on(job, type);
    view.running = false;  // it is to be placed
    return state_.policies.ask_placement([&](PlacementPolicy& policy) { return policy.has_place(state_, view); });
  });
  for (const GpuId gpu : taken) state_.put_into_service(gpu);
  state_.show(job);
  allocation_.reserve(job, run.gpus, true);
  allocation_.forget_refusals();
  state_.given_back = given_back;
  return has_place;
}

bool Admission::start_on_first(JobId job, std::span<const std::int32_t> types, const ClusterView& usable) {
  refused_alike_ = true;
  const JobRun& run = state_.run(job);
  for (const std::int32_t type : types) {
    if (run.elastic() && state_.pace_on(*run.spec, run.width, type).together == 0) continue;
    if (!allocation_.has_room(*run.spec, run.width, type)) continue;
    refused_alike_ = state_.policies.placement->refuses_alike();
    chosen_.clear();
    state_.policies.ask_placement(
        [&](PlacementPolicy& policy) { policy.place(usable, state_.view_on(job, type), chosen_); });
    if (chosen_.empty()) continue;
    note_second_order(job, chosen_);
    allocation_.start(job, chosen_);
    return true;
  }
  return false;
}

bool Admission::start_preempting(JobId job, std::span<const JobId> candidates) {
  check_waits(job);
  for (const JobId candidate : candidates) {
    const bool runs = candidate.index() < state_.jobs.size() && state_.run(candidate).state == JobState::running;
    if (!runs) illegal_step(candidate, "preempted");
  }
  refused_alike_ = state_.policies.placement->refuses_alike();
  for (const std::int32_t type : state_.types_for(*state_.run(job).spec)) {
    if (!eviction_.choose(job, type, candidates, victims_, chosen_)) continue;
    for (const JobId victim : victims_) preempt(victim, job);
    note_second_order(job, chosen_);
    allocation_.start(job, chosen_);
    return true;
  }
  return false;
}

void Admission::place_anew(std::span<const Claim> claims, std::int64_t capacity) {
  asks_for_starts_ = true;
  const auto runs = [&](JobId job) { return state_.run(job).state == JobState::running; };
  std::vector<Claim> order;
  for (const Claim& claim : claims) {
    const bool is_known = in_pass_ && claim.job.index() < state_.jobs.size();
    // A service that has as many GPUs as its load needs, or a job that shrank, stays where it is.
    const bool stays = is_known && runs(claim.job) && state_.run(claim.job).width != state_.run(claim.job).spec->gpus;
    if (stays) capacity -= claim.width;
    if (!stays) order.push_back(claim);
  }
  for (const auto& [job, width] : order) {
    const bool is_known = in_pass_ && job.index() < state_.jobs.size();
    if (!is_known || (!runs(job) && !state_.run(job).waits)) illegal_step(job, "placed again");
    if (!runs(job)) continue;
    allocation_.reserve(job, state_.run(job).gpus, false);
    state_.hide(job);
  }
  const std::vector<std::vector<GpuId>> places = find_places(order, capacity);
  while (!state_.away.empty()) state_.show(state_.away.back());
  std::vector<std::size_t> leaving, starting;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const JobId job = order[i].job;
    bool stays = false;
    if (runs(job)) {
      std::vector<GpuId> held = state_.run(job).gpus, next = places[i];
      allocation_.reserve(job, held, true);
      std::sort(held.begin(), held.end());
      std::sort(next.begin(), next.end());
      stays = held == next;
      if (!stays) leaving.push_back(i);
    }
    if (!stays && !places[i].empty()) starting.push_back(i);
  }
  for (const std::size_t i : leaving) preempt(order[i].job, JobId::none());
  for (const std::size_t i : starting) {
    note_second_order(order[i].job, places[i]);
    allocation_.start(order[i].job, places[i]);
  }
}

std::vector<std::vector<GpuId>> Admission::find_places(std::span<const Claim> order, std::int64_t capacity) {
  std::vector<std::vector<GpuId>> places(order.size());
  std::set<Demand> refused;
  allocation_.forget_refusals();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const JobId job = order[i].job;
    const JobSpec& spec = *state_.run(job).spec;
    const Demand demand = EngineState::demand_of(spec, spec.gpus);
    if (order[i].width > capacity || refused.contains(demand)) continue;
    chosen_.clear();
    bool has_room = false;
    for (const std::int32_t type : state_.types_for(spec)) {
      if (!chosen_.empty()) break;
      if (!allocation_.has_room(spec, spec.gpus, type)) continue;
      has_room = true;
      JobView view = state_.view_on(job, type);
      if (view.running) view.since = state_.clock;  // it would wait from now on
      view.running = false;
      state_.policies.ask_placement([&](PlacementPolicy& policy) { policy.place(state_, view, chosen_); });
    }
    if (chosen_.empty()) {
      if (has_room && state_.policies.placement->refuses_alike()) refused.insert(demand);
      continue;
    }
    allocation_.check(job, chosen_);
    capacity -= order[i].width;
    places[i] = chosen_;
    allocation_.reserve(job, places[i], true);  // for those behind it
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!places[i].empty()) allocation_.reserve(order[i].job, places[i], false);
  allocation_.forget_refusals();
  return places;
}

bool Admission::plan_together(std::span<SizedClaim> claims) {
  asks_for_starts_ = true;
  const auto runs = [&](JobId job) { return state_.run(job).state == JobState::running; };
  for (const SizedClaim& claim : claims) {
    const bool is_known = in_pass_ && claim.job.index() < state_.jobs.size();
    if (!is_known || (!runs(claim.job) && !state_.run(claim.job).waits)) illegal_step(claim.job, "planned");
    if (claim.gpus > 0) check_size(claim.job, claim.gpus);
  }
  const std::uint64_t given_back = state_.given_back;
  for (const SizedClaim& claim : claims) {
    if (!runs(claim.job)) continue;
    allocation_.reserve(claim.job, state_.run(claim.job).gpus, false);
    state_.hide(claim.job);
  }
  allocation_.forget_refusals();
  std::vector<SizedClaim*> reserved;
  const bool found = find_places_for(claims, reserved);
  for (const SizedClaim* const claim : reserved) allocation_.reserve(claim->job, claim->place, false);
  for (const SizedClaim& claim : claims) {
    if (!runs(claim.job)) continue;
    state_.show(claim.job);
    allocation_.reserve(claim.job, state_.run(claim.job).gpus, true);
  }
  allocation_.forget_refusals();
  state_.given_back = given_back;
  return found;
}

bool Admission::find_places_for(std::span<SizedClaim> claims, std::vector<SizedClaim*>& reserved) {
  const auto place = [&](SizedClaim& claim) {
    JobRun& run = state_.run(claim.job);
    const JobSpec& spec = *run.spec;
    const int had = std::exchange(run.width, claim.gpus);
    const bool is_given = !claim.place.empty();
    bool has_room = false;  // within the quota
    for (const std::int32_t type : state_.types_for(spec)) {
      if (run.elastic() && state_.pace_on(spec, claim.gpus, type).together == 0) continue;
      if (!allocation_.has_room(spec, claim.gpus, type)) continue;
      has_room = true;
      JobView view = state_.view_on(claim.job, type);
      if (view.running) view.since = state_.clock;  // it would wait from now on
      view.running = false;
      if (!is_given)
        state_.policies.ask_placement([&](PlacementPolicy& policy) { policy.plan(state_, view, claim.place); });
      if (!claim.place.empty()) break;
    }
    const bool has_place =
        has_room && std::ssize(claim.place) == claim.gpus && allocation_.why_not(claim.job, claim.place).empty();
    if (has_place) allocation_.reserve(claim.job, claim.place, true);
    if (has_place) reserved.push_back(&claim);
    run.width = had;
    return has_place;
  };
  std::vector<SizedClaim*> open;
  for (SizedClaim& claim : claims) {
    if (claim.gpus == 0) continue;
    if (claim.place.empty()) {
      open.push_back(&claim);
    } else if (!place(claim)) {
      return false;
    }
  }
  return std::ranges::all_of(open, [&](SizedClaim* claim) { return place(*claim); });
}

void Admission::take_places(std::span<const SizedClaim> claims) {
  const auto runs = [&](JobId job) { return state_.run(job).state == JobState::running; };
  std::vector<const SizedClaim*> left;
  for (const SizedClaim& claim : claims) {
    const bool is_known = in_pass_ && claim.job.index() < state_.jobs.size();
    if (!is_known || (!runs(claim.job) && !state_.run(claim.job).waits)) illegal_step(claim.job, "given a place");
    check_size(claim.job, static_cast<int>(claim.place.size()));
    std::vector<GpuId> held = state_.run(claim.job).gpus, next = claim.place;
    std::ranges::sort(held);
    std::ranges::sort(next);
    if (!runs(claim.job) || held != next) left.push_back(&claim);
  }
  const auto has_room = [&](const SizedClaim* claim) {
    SizedClaim asked = *claim;
    asked.gpus = static_cast<int>(asked.place.size());
    return plan_together({&asked, 1});
  };
  while (!left.empty()) {
    const auto next = std::ranges::find_if(left, has_room);
    if (next == left.end()) {
      const auto in_the_way = std::ranges::find_if(left, [&](const SizedClaim* claim) { return runs(claim->job); });
      if (in_the_way == left.end()) illegal_step(left.front()->job, "given a place that others hold");
      preempt((*in_the_way)->job, JobId::none());
      continue;
    }
    const SizedClaim& claim = **next;
    left.erase(next);
    note_second_order(claim.job, claim.place);
    if (!runs(claim.job)) {
      state_.run(claim.job).width = static_cast<int>(claim.place.size());
      allocation_.start(claim.job, claim.place);
      continue;
    }
    if (state_.options.decisions != nullptr) state_.options.decisions->resized(state_.clock, claim.job);
    in_vain_ = allocation_.resize(claim.job, claim.place) ? 0 : in_vain_ + 1;
    watch_progress(claim.job);
  }
}

void Admission::preempt(JobId job, JobId by) {
  if (!in_pass_ || job.index() >= state_.jobs.size() || state_.run(job).state != JobState::running) {
    illegal_step(job, "preempted");
  }
  const GpuTime lost = state_.run(job).totals.lost;
  if (state_.options.failures.any()) pushed_out_.push_back({job, by, state_.run(job).gpus});
  in_vain_ = allocation_.stop(job) ? 0 : in_vain_ + 1;
  if (!pushed_out_.empty()) pushed_out_.back().undone = state_.run(job).totals.lost - lost;
  watch_progress(job);
  if (state_.options.decisions != nullptr) state_.options.decisions->preempted(state_.clock, job, by);
  enqueue(job);
}

void Admission::watch_progress(JobId preempted) const {
  constexpr std::size_t kMany = 10'000, kManyForEachJob = 20;
  if (in_vain_ < kMany || in_vain_ < kManyForEachJob * (state_.waiting + state_.running.size() + 1)) return;
  const PreemptionCosts& costs = state_.costs_of(state_.run(preempted));
  std::string to_save = state_.run(preempted).body->work_to_save(costs);
  to_save +=
      to_save.empty() ? "all of their work, because nothing is saved before they end" : " to the next checkpoint";
  throw InputError{fmt::format(
      "scheduling policy `{}`: the last {} preemptions, until {:.0f} s, undid all work since the last checkpoint, "
      "and no job ended; the last was that of job `{}`. Jobs need {:g} s for the restart and {}: longer time slices or "
      "more checkpoints would let them save some work",
      state_.policies.scheduling_name, in_vain_, state_.clock.to_seconds(), state_.run(preempted).spec->name,
      costs.restart.to_seconds(), to_save)};
}

void Admission::remark(std::string_view what, std::span<const JobId> jobs) {
  constexpr std::size_t kNamed = 3;
  if (!remarked_.emplace(what).second) return;
  std::string names;
  for (const JobId job : jobs.first(std::min(jobs.size(), kNamed)))
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", state_.run(job).spec->name);
  if (jobs.size() > kNamed) names += fmt::format(" and {} more", jobs.size() - kNamed);
  state_.remarks.push_back(
      fmt::format("`{}`, at {:.0f} s: {} {}", state_.policies.scheduling_name, state_.clock.to_seconds(), names, what));
}

void Admission::blocked(JobId job, Why why, JobId by) {
  if (state_.options.decisions == nullptr) return;
  // If the quota alone keeps the job out, report that, whatever reason the policy found first.
  const JobSpec& spec = *state_.run(job).spec;
  if (spec.gpus > state_.capacity.quota_left(spec.vc)) {
    why = Why::quota;
    by = JobId::none();
  } else if (const JobId holder = holder_of_place(spec);
             holder.valid() && (why == Why::no_place || why == Why::no_gpus)) {
    why = Why::place_taken;
    by = holder;
  } else if (why == Why::no_place && RankDemand{spec}.share == kWholeGpu &&
             spec.gpus > state_.capacity.free_gpus_of_vc(spec.vc)) {
    why = Why::no_gpus;
  } else if (why == Why::no_place && lacks_domain(spec)) {
    why = Why::no_domain;
  } else if (why == Why::passed_over && !has_enough_in_service(spec)) {
    why = Why::no_gpus;
  }
  state_.options.decisions->blocked(state_.clock, job, why, by);
}

bool Admission::has_enough_in_service(const JobSpec& job) const {
  int least = job.gpus;
  if (job.sizes >= 0)
    for (const int gpus : state_.size_gpus[static_cast<std::size_t>(job.sizes)]) least = std::min(least, gpus);
  return std::ranges::any_of(state_.types_for(job),
                             [&](std::int32_t type) { return state_.capacity.gpus_in_service(job.vc, type) >= least; });
}

bool Admission::lacks_domain(const JobSpec& job) const {
  if (job.level < 0) return false;
  const ServerRange servers = state_.capacity.servers_of_vc(job.vc);
  std::vector<int> free(static_cast<std::size_t>(state_.spec.servers));
  for (std::uint32_t s = servers.first; s < servers.last; ++s) free[s] = state_.capacity.free_gpus(ServerId{s});
  return !has_room(state_.spec.levels, state_.spec.levels.demand(job.level), job.gpus, free);
}

JobId Admission::holder_of_place(const JobSpec& job) const {
  if (job.place < 0) return JobId::none();
  std::vector<JobId> holders;
  for (const GpuId gpu : state_.workload.places[static_cast<std::size_t>(job.place)]) {
    state_.jobs_on(gpu, holders);
    if (!state_.capacity.fits(gpu, RankDemand{job}) && !holders.empty()) return holders.front();
    holders.clear();
  }
  return JobId::none();
}

void Admission::illegal_step(JobId job, const char* what) const {
  const auto its_state = [&] {
    const JobRun& run = state_.run(job);
    if (run.waits) return std::string{"it waits"};
    if (run.state == JobState::running) return std::string{"it runs"};
    return has_ended(run.state) ? fmt::format("it is {}", to_string(run.state)) : std::string{"it isn't queued yet"};
  };
  const bool is_known = job.index() < state_.jobs.size();
  throw PolicyError{fmt::format(
      "scheduling policy `{}`: {} can't be {} at {} s: {}", state_.policies.scheduling_name,
      is_known ? fmt::format("job `{}`", state_.run(job).spec->name) : fmt::format("job number {}", job.value()), what,
      state_.clock.to_seconds(),
      !is_known  ? fmt::format("the last of the {} jobs has number {}", state_.jobs.size(), state_.jobs.size() - 1)
      : in_pass_ ? its_state()
                 : std::string{"policies decide in a pass only"})};
}

std::string Admission::why_nothing_starts() const {
  const bool may_change = state_.options.failures.any();  // GPUs may be out of service for ever
  if (asks_for_starts_ || may_change || state_.waiting == 0 || !state_.running.empty()) return {};
  for (std::size_t j = 0; j < state_.jobs.size(); ++j) {
    if (!state_.jobs[j].waits || !why_never_starts(JobId{j}).empty()) continue;
    return fmt::format(
        "scheduling policy `{}`: the run ended at {} s because nothing can happen any more: {} free, {}, first `{}` on "
        "{}, "
        "and the policy starts none",
        state_.policies.scheduling_name, state_.clock.to_seconds(), counted(state_.free_gpus(), "GPU is", "GPUs are"),
        counted(static_cast<std::int64_t>(state_.waiting), "job waits", "jobs wait"), state_.jobs[j].spec->name,
        counted(state_.jobs[j].spec->gpus, "GPU"));
  }
  return {};
}

}  // namespace contend
