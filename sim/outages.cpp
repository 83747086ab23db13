#include "sim/outages.hpp"

#include "sim/check_failures.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::int64_t kMostWithoutStart = 1'000'000;

}  // namespace

Outages::Outages(EngineState& state, Admission& admission)
    : state_{state}, admission_{admission}, spec_{state.options.failures}, slowness_{state} {
  check_failure_spec(state);
  if (!spec_.any()) return;
  gpus_.resize(state.gpus());
  state.kept_time = KeptTime{state.jobs.size(), state.gpus()};
  if (spec_.redundancy.any()) state_.covered.resize(state.gpus());
  if ((spec_.redundancy.any() || spec_.mitigation.microbatches) &&
      std::ranges::any_of(state.jobs, [](const JobRun& run) { return !run.timed(); }))
    state_.job_work.assign(state.gpus(), Slowdown::kFullPace);
  servers_.resize(state.servers());
  add_components();
  if (!spec_.of_jobs) return;
  state.own_failures.reserve(state.jobs.size());
  for (const JobRun& run : state.jobs) {
    RandomStream stream{spec_.seed, "failures/job/" + run.spec->name};
    const Time first = spec_.of_jobs->draw(stream);
    state.own_failures.push_back({stream, first, Time::never(), {}});
  }
}

void Outages::add_components() {
  const auto all = static_cast<std::uint32_t>(state_.gpus());
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  for (std::uint32_t kind = 0; kind < spec_.components.size(); ++kind) {
    const ComponentClass& each = spec_.components[kind];
    const auto width = static_cast<std::uint32_t>(each.gpus);
    first_of_kind_.push_back(static_cast<std::uint32_t>(components_.size()));
    for (std::uint32_t first = 0; first < all; first += std::min(width, all - first)) {
      std::uint32_t from = first, to = first + std::min(width, all - first);
      if (each.drains && !each.slows) {
        from = from / per_server * per_server;
        to = (to + per_server - 1) / per_server * per_server;
      }
      const std::string stream = fmt::format("failures/{}/{}", each.name, first / width);
      components_.push_back({from, to, kind, false, RandomStream{spec_.seed, stream}});
    }
  }
  if (!spec_.outages.empty() || spec_.loans.any()) listed_.resize(servers_.size());
  if (spec_.loans.any()) add_loans();
  for (const Outage& each : spec_.outages) {
    for (std::uint32_t s = each.first / per_server; s <= (each.last - 1) / per_server; ++s)
      listed_[s].push_back(static_cast<std::uint32_t>(components_.size()));
    components_.push_back(
        {each.first, each.last, kOutage, false, RandomStream{spec_.seed, "failures/list"}, each.until});
  }
  next_of_.assign(components_.size(), Time::never());
  isolated_at_.assign(components_.size(), Time::never());
}

Time Outages::next_on(ServerId server) const {
  Time next = Time::never();
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  const std::uint32_t first = server.value() * per_server, last = first + per_server - 1;
  for (std::size_t kind = 0; kind < spec_.components.size(); ++kind) {
    const auto width = static_cast<std::uint32_t>(spec_.components[kind].gpus);
    for (std::uint32_t c = first / width; c <= last / width; ++c)
      next = std::min({next, next_of_[first_of_kind_[kind] + c], isolated_at_[first_of_kind_[kind] + c]});
  }
  if (listed_.empty()) return next;
  for (const std::uint32_t c : listed_[server.index()]) next = std::min({next, next_of_[c], isolated_at_[c]});
  return next;
}

void Outages::begin() {
  for (std::uint32_t c = 0; c < components_.size(); ++c) {
    if (is_lent(c)) continue;
    Component& component = components_[c];
    const Outage* const outage = listed(c);
    const Time at = outage != nullptr ? outage->from : spec_.components[component.kind].failure.draw(component.stream);
    component.left = at;
    if (!is_cold(component)) schedule(at, c);
    if (outage != nullptr && outage->drain)
      schedule(*outage->drain, static_cast<std::uint32_t>(components_.size() + servers_.size()) + c);
  }
  if (spec_.loans.any()) schedule_loans();
  schedule_next();
}

void Outages::schedule(Time at, std::uint32_t what) {
  if (what < next_of_.size()) next_of_[what] = at;
  if (at == Time::never()) return;
  due_.push_back({at, what});
  std::push_heap(due_.begin(), due_.end(), std::greater<>{});
}

void Outages::schedule_next() {
  const auto is_stale = [this](const Due& due) { return due.what < next_of_.size() && next_of_[due.what] != due.at; };
  while (!due_.empty() && is_stale(due_.front())) {
    std::pop_heap(due_.begin(), due_.end(), std::greater<>{});
    due_.pop_back();
  }
  state_.next_outage = due_.empty() ? Time::never() : due_.front().at;
  if (state_.next_outage == Time::never()) return;
  if (state_.calendar.pending(event_)) {
    if (state_.next_outage < event_at_) state_.calendar.reschedule(event_, event_at_ = state_.next_outage);
    return;
  }
  event_at_ = state_.next_outage;
  event_ = state_.calendar.schedule(state_.next_outage, Phase::failures, {CalendarEvent::Kind::outage});
}

void Outages::on_job_failure(JobId job) {
  struck_.push_back({job, spec_.jobs_found_by});
  is_due_ = true;
}

void Outages::strike() {
  watch_stalls();
  if (is_due_) strike_due();
  is_due_ = false;
  withhold_free();
}

void Outages::strike_due() {
  turning_.clear();
  isolating_.clear();
  broken_now_.clear();
  const auto components = static_cast<std::uint32_t>(components_.size());
  const auto spares = components + static_cast<std::uint32_t>(servers_.size());
  while (!due_.empty() && due_.front().at == state_.clock) {
    std::pop_heap(due_.begin(), due_.end(), std::greater<>{});
    const std::uint32_t what = due_.back().what;
    due_.pop_back();
    if (what < components && next_of_[what] != state_.clock) continue;  // it has become part of a cold spare
    ++state_.events;
    if (what < components) {
      next_of_[what] = Time::never();
      turning_.push_back(what);
    } else if (what < spares) {
      on_started(what - components);
    } else if (what < spares + components) {
      begin_to_drain(what - spares);
    } else if (what == change_of_loans()) {
      change_loans();
    } else if (what > change_of_loans()) {
      const JobId job{what - change_of_loans() - 1};
      if (next_step(job) == state_.clock) stepping_.push_back(job);
    } else if (isolated_at_[what - spares - components] == state_.clock) {
      isolating_.push_back(what - spares - components);
    }
  }
  for (const auto& [job, stall] : stalls_)
    if (stall.at == state_.clock && !state_.calendar.pending(stall.event)) struck_.push_back({job, FoundBy::stall});
  // Of these jobs some have just ended.
  std::erase_if(struck_, [&](const Struck& each) { return state_.run(each.job).state != JobState::running; });
  for (const std::uint32_t each : turning_) {
    Component& component = components_[each];
    if (!component.is_down) continue;
    if (component.is_isolated) {
      reunite(each);
    } else if (slows(each)) {
      slowness_.end(component.first, component.last, *slows(each));
      tell_slow(each, true);
    } else {
      repair(component);
    }
    isolated_at_[each] = Time::never();
    std::erase(isolating_, each);
  }
  for (const std::uint32_t each : isolating_) isolate(each);
  for (const bool by_plan : {false, true}) {  // a job that both strike has failed
    for (const std::uint32_t each : turning_) {
      Component& component = components_[each];
      if (component.is_down || is_planned(each) != by_plan) continue;
      if (!slows(each)) {
        fail(each);
        continue;
      }
      slowness_.begin(component.first, component.last, *slows(each));
      tell_slow(each, false);
      watch_slow(each);
    }
  }
  for (const std::uint32_t each : turning_) turn(each);
  interrupt_struck();
  slowness_.settle();
  mitigate();
  looked_at_ = 0;  // what is stuck may have a place now
  replace_failed();
  watch_for_starts();
  schedule_next();
}

/// Draws how long the component stays as it has become.
void Outages::turn(std::uint32_t index) {
  Component& component = components_[index];
  component.is_down = !component.is_down;
  if (is_lent(index)) return;
  if (component.kind == kOutage) {
    if (component.is_down) schedule(component.until, index);
    return;
  }
  const ComponentClass& kind = spec_.components[component.kind];
  const Time lasts = (component.is_down ? kind.repair : kind.failure).draw(component.stream);
  component.left = lasts;
  if (!component.is_down && is_cold(component)) return;
  if (lasts < kEndOfClock - state_.clock) schedule(state_.clock + lasts, index);
}

const std::optional<Slowdown>& Outages::slows(std::uint32_t component) const {
  static const std::optional<Slowdown> kNothing;
  if (is_lent(component)) return kNothing;
  const Outage* const outage = listed(component);
  return outage != nullptr ? outage->slows : spec_.components[components_[component].kind].slows;
}

FoundBy Outages::found_by(std::uint32_t component) const {
  if (is_lent(component)) return FoundBy::delay;
  const Outage* const outage = listed(component);
  return outage != nullptr ? outage->found_by : spec_.components[components_[component].kind].found_by;
}

void Outages::tell_slow(std::uint32_t index, bool is_over) const {
  if (state_.options.decisions == nullptr) return;
  const Component& component = components_[index];
  const std::string_view name =
      listed(index) != nullptr ? "an event" : std::string_view{spec_.components[component.kind].name};
  const Slowdown& by = *slows(index);
  state_.options.decisions->slowed(state_.clock,
                                   {name, component.first, component.last, std::max(by.compute, by.network)}, is_over);
}

/// Has a component that has become slow isolated in time, if it is slow enough and a monitor looks for that.
void Outages::watch_slow(std::uint32_t component) {
  const Slowdown& by = *slows(component);
  if (found_by(component) != FoundBy::slowdown || std::max(by.compute, by.network) < spec_.detectors.slow) return;
  isolated_at_[component] = state_.clock + spec_.detectors.slow_for;
  schedule(isolated_at_[component], static_cast<std::uint32_t>(2 * components_.size() + servers_.size()) + component);
}

/// Takes a slow component out of service: a GPU with its server, if its class drains.
void Outages::isolate(std::uint32_t index) {
  Component& component = components_[index];
  slowness_.end(component.first, component.last, *slows(index));
  tell_slow(index, true);
  isolated_at_[index] = Time::never();
  component.is_isolated = true;
  std::tie(component.first, component.last) = isolated_with(index);
  fail(index);
}

/// The GPUs first, ..., last - 1 that go out of service when a slow component is isolated.
std::pair<std::uint32_t, std::uint32_t> Outages::isolated_with(std::uint32_t index) const {
  const Component& component = components_[index];
  if (component.kind == kOutage || !spec_.components[component.kind].drains) return {component.first, component.last};
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  return {component.first / per_server * per_server, (component.last + per_server - 1) / per_server * per_server};
}

/// Puts it back: it is repaired.
void Outages::reunite(std::uint32_t index) {
  Component& component = components_[index];
  repair(component);
  component.is_isolated = false;
  if (component.kind == kOutage) return;
  const auto width = static_cast<std::uint32_t>(spec_.components[component.kind].gpus);
  component.first = (index - first_of_kind_[component.kind]) * width;
  component.last = std::min(component.first + width, static_cast<std::uint32_t>(state_.gpus()));
}

/// The outage of the list that the component stands for; nullptr if it is a component.
const Outage* Outages::listed(std::uint32_t component) const {
  if (components_[component].kind != kOutage) return nullptr;
  return &spec_.outages[component - (components_.size() - spec_.outages.size())];
}

void Outages::begin_to_drain(std::uint32_t component) {
  const Component& of = components_[component];
  if (!of.is_down) draining_.push_back({component, of.first, std::vector<bool>(of.last - of.first)});
}

void Outages::withhold_free() {
  for (Draining& each : draining_) withhold(each, reason_of(each.of));
  for (Draining& each : vacating_) withhold(each, OutReason::spare);
  if (!vacating_.empty()) keep_vacated();
  tell_out_of_service();
}

void Outages::withhold(Draining& each, OutReason reason) {
  for (std::size_t i = 0; i < each.withheld.size(); ++i) {
    const GpuId id{each.first + i};
    if (each.withheld[i] || (!gpus_[id.index()].out() && !state_.capacity.is_free(id))) continue;
    each.withheld[i] = true;
    if (goes_out(id, reason)) state_.take_out_of_service(id);
  }
}

/// Why GPUs of the component are out of service while it is down, or will be.
OutReason Outages::reason_of(std::uint32_t component) const {
  if (is_lent(component)) return OutReason::not_lent;
  return is_planned(component) ? OutReason::drained : OutReason::failed;
}

/// Adds so many causes of this kind for which a GPU doesn't work.
void Outages::count_cause(GpuId id, OutReason reason, int by) {
  Gpu& gpu = gpus_[id.index()];
  if (const auto before = gpu.out()) --out_.of(*before);
  std::uint16_t& causes = gpu.causes[static_cast<std::size_t>(reason)];
  causes = static_cast<std::uint16_t>(causes + by);
  if (const auto after = gpu.out()) ++out_.of(*after);
}

/// Counts a further cause for which a GPU doesn't work. True if it is the first.
bool Outages::goes_out(GpuId id, OutReason reason) {
  Gpu& gpu = gpus_[id.index()];
  const bool was_out = gpu.out().has_value();
  count_cause(id, reason, 1);
  if (!was_out) gpu.since = state_.clock;
  return !was_out;
}

void Outages::tell_out_of_service() {
  if (std::exchange(told_out_, out_) != out_ && state_.options.decisions != nullptr)
    state_.options.decisions->out_of_service(state_.clock, out_);
}

/// Which GPUs of the component are withheld; they stay out of service with it.
std::vector<bool> Outages::end_draining(std::uint32_t component) {
  const auto at = std::ranges::find(draining_, component, &Draining::of);
  if (at == draining_.end()) return std::vector<bool>(components_[component].last - components_[component].first);
  std::vector<bool> withheld = std::move(at->withheld);
  draining_.erase(at);
  return withheld;
}

void Outages::fail(std::uint32_t index) {
  const Component& component = components_[index];
  const bool by_plan = is_planned(index);
  if (!by_plan) ++failures_;
  state_.fingerprint.add(static_cast<std::uint64_t>(state_.clock.ns()));
  state_.fingerprint.add((std::uint64_t{component.first} << 32) | component.last);
  const std::vector<bool> withheld = end_draining(index);
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  for (std::uint32_t s = component.first / per_server; s <= (component.last - 1) / per_server; ++s) stay_in_service(s);
  for (std::uint32_t g = component.first; g < component.last; ++g) {
    if (!withheld[g - component.first]) add_cause(GpuId{g}, index);
  }
  for (std::uint32_t s = component.first / per_server; s <= (component.last - 1) / per_server; ++s) {
    if (works(s)) --working_;
    for (auto* const pool : {&hot_, &warming_, &cold_}) pool->erase(s);
    ++servers_[s].broken;
  }
}

void Outages::repair(Component& component) {
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  const OutReason reason = reason_of(static_cast<std::uint32_t>(&component - components_.data()));
  for (std::uint32_t g = component.first; g < component.last; ++g) remove_cause(GpuId{g}, reason);
  for (std::uint32_t s = component.first / per_server; s <= (component.last - 1) / per_server; ++s) {
    if (--servers_[s].broken > 0) continue;
    if (!works(s))
      settle_spare(s);
    else if (++working_ > wanted() && servers_[s].role == Role::active)
      vacate(s);  // another one has taken its place
  }
  admission_.room_has_grown();
}

void Outages::add_cause(GpuId id, std::uint32_t component) {
  on_gpu_.clear();
  state_.jobs_on(id, on_gpu_);
  for (const JobId job : on_gpu_) {
    if (is_planned(component))
      struck_by_plan_.push_back(job);
    else
      struck_.push_back({job, components_[component].is_isolated ? FoundBy::slowdown : found_by(component)});
  }
  if (goes_out(id, reason_of(component))) broken_now_.push_back(id);
}

void Outages::remove_cause(GpuId id, OutReason reason) {
  Gpu& gpu = gpus_[id.index()];
  count_cause(id, reason, -1);
  if (gpu.out()) return;
  gpu.down += state_.clock - gpu.since;
  if (state_.is_covered(id)) {
    state_.uncover(id);
    back_now_.push_back(id);
    return;
  }
  state_.put_into_service(id);
}

void Outages::interrupt_struck() {
  std::sort(struck_.begin(), struck_.end());
  std::sort(struck_by_plan_.begin(), struck_by_plan_.end());
  struck_by_plan_.erase(std::unique(struck_by_plan_.begin(), struck_by_plan_.end()), struck_by_plan_.end());
  std::erase_if(struck_by_plan_, [&](JobId job) { return std::ranges::binary_search(struck_, job, {}, &Struck::job); });
  for (std::size_t first = 0, last = 0; first < struck_.size(); first = last) {
    while (last < struck_.size() && struck_[last].job == struck_[first].job) ++last;
    interrupt(struck_[first].job, std::span{struck_}.subspan(first, last - first));
  }
  for (const JobId job : struck_by_plan_)
    if (!shrinks(job)) interrupt(job, {});
  rejoin();
  struck_.clear();
  struck_by_plan_.clear();
  for (const GpuId gpu : broken_now_) {
    if (state_.is_covered(gpu)) continue;
    admission_.let_go(gpu);
    state_.take_out_of_service(gpu);
  }
  broken_now_.clear();
}

/// Interrupts a job that these failures strike, of which the first to be noticed counts; none: a planned outage.
void Outages::interrupt(JobId job, std::span<const Struck> by) {
  const JobRun& run = state_.run(job);
  OwnFailures* const own = state_.own_failures.empty() ? nullptr : &state_.own_failures[job.index()];
  const bool by_itself = own != nullptr && own->at == state_.clock;
  const bool hangs = by_itself && spec_.hangs > 0 && own->stream.uniform() < spec_.hangs;
  bool has_own = by_itself;
  const bool is_stalled = std::ranges::find(by, FoundBy::stall, &Struck::by) != by.end();
  FoundBy first = FoundBy::delay;
  Time detection = Time::never();
  for (const Struck& each : by) {
    const bool is_own = each.by == spec_.jobs_found_by && std::exchange(has_own, false);
    const FoundBy found_by = is_own && hangs ? FoundBy::timeout : each.by;
    const Time delay = found_by == FoundBy::delay
                           ? spec_.detection
                           : spec_.detectors.delay(found_by, state_.clock - run.since, run.mean_iteration());
    if (delay >= detection) continue;
    detection = delay;
    first = found_by;
  }
  if (!by.empty() && !by_itself && !is_stalled && goes_on(job, detection)) return;
  if (state_.options.decisions != nullptr) {
    constexpr const char* kWords[] = {"", "its exit code", "its heartbeats", "a time-out", "its slowness"};
    std::vector<std::string> causes;
    if (by_itself) causes.emplace_back("the job fails by itself");
    if (is_stalled)
      causes.push_back(fmt::format("a transfer has had no route for {:g} s, its time-out",
                                   (state_.clock - stalls_.at(job).since).to_seconds()));
    if (const std::string failed = cause_of(job); !failed.empty()) causes.push_back(failed);
    std::string cause = fmt::format("{}", fmt::join(causes, ", "));
    const std::string later = detection > Time{} ? fmt::format(" {:g} s later", detection.to_seconds()) : "";
    if (first != FoundBy::delay && first != FoundBy::stall)
      cause += fmt::format(", found{} by {}", later, kWords[static_cast<std::size_t>(first)]);
    else if (!by.empty() && !later.empty())
      cause += fmt::format(", noticed{}", later);
    state_.options.decisions->interrupted(state_.clock, job, cause);
  }
  take_from(job, by.empty() ? std::nullopt : std::optional{detection});
  if (by_itself) own->left = spec_.of_jobs->draw(own->stream);
}

/// What a slow component is called.
std::string Outages::slow_name(std::uint32_t component) const {
  if (listed(component) != nullptr) return "a slow component";
  return spec_.components[components_[component].kind].name + ", which is slow,";
}

/// What has failed under a job at this instant, in words.
std::string Outages::cause_of(JobId job) const {
  std::string cause;
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  std::vector<std::uint32_t> all = turning_;
  all.insert(all.end(), isolating_.begin(), isolating_.end());
  for (const std::uint32_t each : all) {
    const Component& component = components_[each];
    const auto has = [&](GpuId gpu) { return gpu.value() >= component.first && gpu.value() < component.last; };
    const std::vector<GpuId>& gpus = state_.run(job).gpus;
    const auto struck = std::find_if(gpus.begin(), gpus.end(), has);
    if (!component.is_down || (slows(each) && !component.is_isolated) || struck == gpus.end()) continue;
    const std::string name = is_lent(each)             ? "the owner takes back the GPUs"
                             : component.is_isolated   ? slow_name(each)
                             : listed(each) == nullptr ? spec_.components[component.kind].name
                             : is_planned(each)        ? "a planned outage"
                                                       : "an outage";
    const std::string where =
        component.last - component.first == 1
            ? fmt::format("GPU {} of server {}", struck->value() % per_server, struck->value() / per_server)
            : fmt::format("server {}", struck->value() / per_server);
    cause += fmt::format("{}{} on {}", cause.empty() ? "" : ", ", name, where);
  }
  return cause;
}

/// Ends a run in which components fail and come back forever, and no job can start.
void Outages::watch_for_starts() {
  const bool may_start = !state_.running.empty() || admission_.expects_jobs();
  without_start_ = may_start ? 0 : without_start_ + 1;
  if (without_start_ < kMostWithoutStart) return;
  if (std::ranges::all_of(components_, [](const Component& each) { return each.kind == kLoan; }))
    throw InputError{fmt::format(
        "loans: no job ran during the last {} instants at which servers were lent or went back, until {:.0f} s, though "
        "{} wait. They never find room: more servers that aren't lent, or smaller jobs, would help",
        without_start_, state_.clock.to_seconds(), state_.waiting)};
  throw InputError{fmt::format(
      "failures: no job ran during the last {} instants at which components failed or came back, until {:.0f} s, "
      "though {} wait. So many components are down on average that they never find room: shorter repairs, more spares "
      "or smaller jobs would help",
      without_start_, state_.clock.to_seconds(), state_.waiting)};
}

Time Outages::down(GpuId gpu, Time now) const {
  if (gpus_.empty()) return Time{};
  const Gpu& of = gpus_[gpu.index()];
  return of.out() ? of.down + (now - of.since) : of.down;
}

}  // namespace contend
