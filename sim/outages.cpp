#include "sim/outages.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::int64_t kMostWithoutStart = 1'000'000;

/// What a GPU that is out of service takes: all of it, so that no job fits.
const RankDemand& out_of_service() {
  static const RankDemand kAll = [] {
    JobSpec job;
    job.gpu_share = kWholeGpu;
    return RankDemand{job};
  }();
  return kAll;
}

void check_failures(const FailureSpec& failures, const ClusterSpec& cluster) {
  const std::int64_t gpus = std::int64_t{cluster.servers} * cluster.gpus_per_server;
  if (failures.spares < 0 || (failures.spares > 0 && failures.spares >= cluster.servers))
    throw InputError{fmt::format("{} of {} servers can't be spares", failures.spares, cluster.servers)};
  const bool owns = std::any_of(cluster.vcs.begin(), cluster.vcs.end(),
                                [](const VirtualCluster& vc) { return vc.servers.size() > 0; });
  if (failures.spares > 0 && owns)
    throw InputError{"there can't be spares where virtual clusters own servers, because a spare may stand in for any"};
  if (failures.detection < Time{} || failures.diagnosis < Time{} || failures.spare_delay < Time{} ||
      failures.retries.value_or(0) < 0)
    throw InputError{"a delay or a number of retries after failures is negative"};
  for (const ComponentClass& each : failures.components) {
    if (each.gpus < 1) throw InputError{fmt::format("components `{}` have no GPUs", each.name)};
  }
  for (const Outage& each : failures.outages) {
    if (each.from < Time{} || each.until <= each.from || each.first >= each.last || each.last > gpus)
      throw InputError{"an outage has no time, or no GPUs of the cluster"};
    if (each.drain && (each.slows || *each.drain < Time{} || *each.drain > each.from))
      throw InputError{"a planned outage drains servers after it has begun, or only slows them down"};
  }
}

}  // namespace

Outages::Outages(EngineState& state, Admission& admission)
    : state_{state}, admission_{admission}, spec_{state.options.failures}, slowness_{state} {
  check_failures(spec_, state.spec);
  if (!spec_.any()) return;
  gpus_.resize(state.gpus());
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
      if (each.drains) {
        from = from / per_server * per_server;
        to = (to + per_server - 1) / per_server * per_server;
      }
      const std::string stream = fmt::format("failures/{}/{}", each.name, first / width);
      components_.push_back({from, to, kind, false, RandomStream{spec_.seed, stream}});
    }
  }
  if (!spec_.outages.empty()) listed_.resize(servers_.size());
  for (const Outage& each : spec_.outages) {
    for (std::uint32_t s = each.first / per_server; s <= (each.last - 1) / per_server; ++s)
      listed_[s].push_back(static_cast<std::uint32_t>(components_.size()));
    components_.push_back(
        {each.first, each.last, kOutage, false, RandomStream{spec_.seed, "failures/list"}, each.until});
  }
  next_of_.assign(components_.size(), Time::never());
}

Time Outages::next_on(ServerId server) const {
  Time next = Time::never();
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  const std::uint32_t first = server.value() * per_server, last = first + per_server - 1;
  for (std::size_t kind = 0; kind < spec_.components.size(); ++kind) {
    const auto width = static_cast<std::uint32_t>(spec_.components[kind].gpus);
    for (std::uint32_t c = first / width; c <= last / width; ++c)
      next = std::min(next, next_of_[first_of_kind_[kind] + c]);
  }
  if (listed_.empty()) return next;
  for (const std::uint32_t c : listed_[server.index()]) next = std::min(next, next_of_[c]);
  return next;
}

void Outages::withhold_spares() {
  working_ = static_cast<std::int64_t>(servers_.size());
  const auto servers = static_cast<std::uint32_t>(servers_.size());
  for (std::uint32_t s = servers - static_cast<std::uint32_t>(spec_.spares); s < servers; ++s) keep_as_spare(s);
}

void Outages::begin() {
  for (std::uint32_t c = 0; c < components_.size(); ++c) {
    Component& component = components_[c];
    const Outage* const outage = listed(c);
    schedule(outage != nullptr ? outage->from : spec_.components[component.kind].failure.draw(component.stream), c);
    if (outage != nullptr && outage->drain)
      schedule(*outage->drain, static_cast<std::uint32_t>(components_.size() + servers_.size()) + c);
  }
  schedule_next();
}

void Outages::schedule(Time at, std::uint32_t what) {
  if (what < next_of_.size()) next_of_[what] = at;
  if (at == Time::never()) return;
  due_.push_back({at, what});
  std::push_heap(due_.begin(), due_.end(), std::greater<>{});
}

void Outages::schedule_next() {
  state_.next_outage = due_.empty() ? Time::never() : due_.front().at;
  if (state_.next_outage == Time::never() || state_.calendar.pending(event_)) return;
  event_ = state_.calendar.schedule(state_.next_outage, Phase::failures, {CalendarEvent::Kind::outage});
}

void Outages::on_job_failure(JobId job) {
  struck_.push_back(job);
  is_due_ = true;
}

void Outages::strike() {
  if (is_due_) strike_due();
  is_due_ = false;
  withhold_free();
}

void Outages::strike_due() {
  turning_.clear();
  broken_now_.clear();
  const auto components = static_cast<std::uint32_t>(components_.size());
  const auto spares = components + static_cast<std::uint32_t>(servers_.size());
  while (!due_.empty() && due_.front().at == state_.clock) {
    std::pop_heap(due_.begin(), due_.end(), std::greater<>{});
    const std::uint32_t what = due_.back().what;
    due_.pop_back();
    ++state_.events;
    if (what < components) {
      next_of_[what] = Time::never();
      turning_.push_back(what);
    } else if (what < spares) {
      put_into_service(what - components);
    } else {
      begin_to_drain(what - spares);
    }
  }
  std::erase_if(struck_, [&](JobId job) { return state_.run(job).state != JobState::running; });  // it just ended
  for (const std::uint32_t each : turning_) {
    Component& component = components_[each];
    if (!component.is_down) continue;
    slows(each) ? slowness_.end(component.first, component.last, *slows(each)) : repair(component);
  }
  for (const bool by_plan : {false, true}) {  // a job that both strike has failed
    for (const std::uint32_t each : turning_) {
      Component& component = components_[each];
      if (component.is_down || is_planned(each) != by_plan) continue;
      slows(each) ? slowness_.begin(component.first, component.last, *slows(each)) : fail(each);
    }
  }
  for (const std::uint32_t each : turning_) turn(each);
  interrupt_struck();
  slowness_.settle();
  replace_failed();
  watch_for_starts();
  schedule_next();
}

/// Draws how long the component stays as it has become.
void Outages::turn(std::uint32_t index) {
  Component& component = components_[index];
  component.is_down = !component.is_down;
  if (component.kind == kOutage) {
    if (component.is_down) schedule(component.until, index);
    return;
  }
  const ComponentClass& kind = spec_.components[component.kind];
  const Time lasts = (component.is_down ? kind.repair : kind.failure).draw(component.stream);
  if (lasts < kEndOfClock - state_.clock) schedule(state_.clock + lasts, index);
}

const std::optional<Slowdown>& Outages::slows(std::uint32_t component) const {
  const Outage* const outage = listed(component);
  return outage != nullptr ? outage->slows : spec_.components[components_[component].kind].slows;
}

/// The outage of the list that the component stands for; nullptr if it is a component.
const Outage* Outages::listed(std::uint32_t component) const {
  if (components_[component].kind != kOutage) return nullptr;
  return &spec_.outages[component - (components_.size() - spec_.outages.size())];
}

void Outages::begin_to_drain(std::uint32_t component) {
  const Component& of = components_[component];
  if (!of.is_down) draining_.push_back({component, std::vector<bool>(of.last - of.first)});
}

/// Takes what no job holds of the servers that are drained.
void Outages::withhold_free() {
  for (Draining& each : draining_) {
    const std::uint32_t first = components_[each.component].first;
    for (std::size_t i = 0; i < each.withheld.size(); ++i) {
      const GpuId id{first + i};
      Gpu& gpu = gpus_[id.index()];
      if (each.withheld[i] || (gpu.causes == 0 && !state_.capacity.is_free(id))) continue;
      each.withheld[i] = true;
      if (gpu.causes++ > 0) continue;
      gpu.since = state_.clock;
      state_.take(id, out_of_service());
    }
  }
}

/// Which GPUs of the component are withheld; they stay out of service with it.
std::vector<bool> Outages::end_draining(std::uint32_t component) {
  const auto at = std::ranges::find(draining_, component, &Draining::component);
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
  for (std::uint32_t g = component.first; g < component.last; ++g) {
    if (!withheld[g - component.first]) add_cause(GpuId{g}, by_plan ? struck_by_plan_ : struck_);
  }
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  for (std::uint32_t s = component.first / per_server; s <= (component.last - 1) / per_server; ++s) {
    if (works(s)) --working_;
    ready_spares_.erase(s);
    ++servers_[s].broken;
  }
}

void Outages::repair(Component& component) {
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  const std::int64_t wanted = static_cast<std::int64_t>(servers_.size()) - spec_.spares;
  for (std::uint32_t g = component.first; g < component.last; ++g) remove_cause(GpuId{g});
  for (std::uint32_t s = component.first / per_server; s <= (component.last - 1) / per_server; ++s) {
    if (--servers_[s].broken > 0) continue;
    if (servers_[s].role == Role::spare) {
      ready_spares_.insert(s);
    } else if (++working_ > wanted && servers_[s].role == Role::active &&
               state_.free_gpus(ServerId{s}) == state_.spec.gpus_per_server) {
      keep_as_spare(s);  // another one has taken its place, and no job has stayed on its other GPUs
    }
  }
  admission_.room_has_grown();
}

void Outages::add_cause(GpuId id, std::vector<JobId>& struck) {
  Gpu& gpu = gpus_[id.index()];
  if (gpu.causes++ > 0) return;
  gpu.since = state_.clock;
  broken_now_.push_back(id);
  state_.jobs_on(id, struck);
}

void Outages::remove_cause(GpuId id) {
  Gpu& gpu = gpus_[id.index()];
  if (--gpu.causes > 0) return;
  gpu.down += state_.clock - gpu.since;
  state_.give_back(id, out_of_service());
}

void Outages::interrupt_struck() {
  for (std::vector<JobId>* const each : {&struck_, &struck_by_plan_}) {
    std::sort(each->begin(), each->end());
    each->erase(std::unique(each->begin(), each->end()), each->end());
  }
  std::erase_if(struck_by_plan_, [&](JobId job) { return std::ranges::binary_search(struck_, job); });
  for (const JobId job : struck_) interrupt(job, false);
  for (const JobId job : struck_by_plan_) interrupt(job, true);
  struck_.clear();
  struck_by_plan_.clear();
  for (const GpuId gpu : broken_now_) {
    admission_.let_go(gpu);
    state_.take(gpu, out_of_service());
  }
  broken_now_.clear();
}

void Outages::interrupt(JobId job, bool is_planned) {
  OwnFailures* const own = state_.own_failures.empty() ? nullptr : &state_.own_failures[job.index()];
  const bool by_itself = own != nullptr && own->at == state_.clock;
  if (state_.options.decisions != nullptr) tell_cause(job, by_itself);
  admission_.interrupt(job, is_planned);
  if (by_itself) own->left = spec_.of_jobs->draw(own->stream);
}

void Outages::tell_cause(JobId job, bool by_itself) const {
  std::string cause = by_itself ? "the job fails by itself" : "";
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  for (const std::uint32_t each : turning_) {
    const Component& component = components_[each];
    const auto has = [&](GpuId gpu) { return gpu.value() >= component.first && gpu.value() < component.last; };
    const std::vector<GpuId>& gpus = state_.run(job).gpus;
    const auto struck = std::find_if(gpus.begin(), gpus.end(), has);
    if (!component.is_down || slows(each) || struck == gpus.end()) continue;
    const std::string name = listed(each) == nullptr ? spec_.components[component.kind].name
                             : is_planned(each)      ? "a planned outage"
                                                     : "an outage";
    const std::string where =
        component.last - component.first == 1
            ? fmt::format("GPU {} of server {}", struck->value() % per_server, struck->value() / per_server)
            : fmt::format("server {}", struck->value() / per_server);
    cause += fmt::format("{}{} on {}", cause.empty() ? "" : ", ", name, where);
  }
  state_.options.decisions->interrupted(state_.clock, job, cause);
}

void Outages::keep_as_spare(std::uint32_t server) {
  servers_[server].role = Role::spare;
  --working_;
  ready_spares_.insert(server);
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  for (std::uint32_t g = server * per_server; g < (server + 1) * per_server; ++g) {
    if (gpus_[g].causes++ > 0) continue;
    gpus_[g].since = state_.clock;
    state_.take(GpuId{g}, out_of_service());
  }
}

void Outages::put_into_service(std::uint32_t server) {
  servers_[server].role = Role::active;
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  for (std::uint32_t g = server * per_server; g < (server + 1) * per_server; ++g) remove_cause(GpuId{g});
  admission_.room_has_grown();
}

/// Has spares take the places of servers that failed, the first spares first.
void Outages::replace_failed() {
  const std::int64_t wanted = static_cast<std::int64_t>(servers_.size()) - spec_.spares;
  while (working_ < wanted && !ready_spares_.empty()) {
    const std::uint32_t server = *ready_spares_.begin();
    ready_spares_.erase(ready_spares_.begin());
    ++working_;
    if (spec_.spare_delay == Time{}) {
      put_into_service(server);
    } else {
      servers_[server].role = Role::starting;
      schedule(state_.clock + spec_.spare_delay, static_cast<std::uint32_t>(components_.size()) + server);
    }
  }
}

/// Ends a run in which components fail and come back forever, and no job can start.
void Outages::watch_for_starts() {
  const bool may_start = !state_.running.empty() || admission_.expects_jobs();
  without_start_ = may_start ? 0 : without_start_ + 1;
  if (without_start_ < kMostWithoutStart) return;
  throw InputError{fmt::format(
      "failures: no job ran during the last {} instants at which components failed or came back, until {:.0f} s, "
      "though "
      "{} wait. So many components are down on average that they never find room: shorter repairs, more spares or "
      "smaller jobs would help",
      without_start_, state_.clock.to_seconds(), state_.waiting)};
}

Time Outages::down(GpuId gpu, Time now) const {
  if (gpus_.empty()) return Time{};
  const Gpu& of = gpus_[gpu.index()];
  return of.causes > 0 ? of.down + (now - of.since) : of.down;
}

}  // namespace contend
