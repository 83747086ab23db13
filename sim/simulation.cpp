#include "sim/simulation.hpp"

#include "sim/admission.hpp"
#include "sim/bounds.hpp"
#include "sim/cells.hpp"
#include "sim/courier.hpp"
#include "sim/engine_state.hpp"
#include "sim/executor.hpp"
#include "sim/fairness.hpp"
#include "sim/job_bodies.hpp"
#include "sim/leaper.hpp"
#include "sim/outages.hpp"
#include "sim/pacer.hpp"
#include "sim/pulse.hpp"
#include "sim/saver.hpp"
#include "sim/sharer.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {
constexpr std::uint64_t kInstantsPerMonitor = 4096;
constexpr std::size_t kForeseeAbove = 256;  // cells; what fewer of them need is in the caches
// How many events before its own the processor fetches the cell of a task's end, then what the cell leads to, and then
// what the end of the iteration needs.
constexpr std::size_t kCellAhead = 20, kWorkAhead = 10, kTrafficAhead = 4;
static_assert(kCellAhead <= Calendar<CalendarEvent>::kForeseen);
}  // namespace

class Simulation::Engine {
 public:
  Engine(const ClusterSpec& cluster, Workload workload, PolicySet policies, std::unique_ptr<NetworkModel> network,
         SimulationOptions options)
      : state_{cluster, std::move(workload), std::move(policies), std::move(network), std::move(options)} {
    if (state_.options.keeps_uses) state_.uses = UseLog{state_.jobs.size(), state_.gpus()};
  }

  std::vector<std::string> why_never_start() {
    outages_.withhold_spares();
    admission_.look_at_empty_cluster();
    std::vector<std::string> reasons;
    for (std::size_t j = 0; j < state_.jobs.size(); ++j) reasons.push_back(admission_.why_never_starts(JobId{j}));
    return reasons;
  }

  [[nodiscard]] const Workload& workload() const { return state_.workload; }

  RunResult run() {
    const MeasuredWindow& window = state_.options.window;
    for (const JobRun& run : state_.jobs)
      if (window.holds(run.arrival)) ++state_.measured_left;
    outages_.withhold_spares();
    guarded([&] { admission_.begin(), outages_.begin(); });
    bool stopped = has_failed();
    if (stopped) state_.options.until = state_.clock;
    std::optional<BusyTimes> before, after;  // the begin of the window, and its end
    for (std::uint64_t instant = 1;; ++instant) {
      const Time next = std::min(state_.calendar.next_time(), state_.network->next_end());
      state_.check_awaits(next);
      if (next == Time::never()) break;
      if (state_.jobs_ended == state_.jobs.size() && state_.options.failures.any()) break;  // the rest is repairs
      const Time until = std::min(state_.options.until, end_of_measured()), reached = std::min(next, until);
      if (window.given() && !before && reached >= window.from) before = busy_times(window.from);
      if (window.given() && !after && reached >= window.until) after = busy_times(window.until);
      if (next > until) {
        state_.clock = until;
        break;
      }
      if (next == kEndOfClock) throw_time_overflow();
      guarded([&] { execute(next); });
      if (stopped) continue;  // the instant may have more events
      stopped = has_failed() || pulse_.stops(instant % kInstantsPerMonitor == 0);
      if (stopped) state_.options.until = state_.clock;
    }
    if (stopped)
      leaper_.take_back();
    else
      look_at_standstill();
    RunResult result = collect();
    if (window.given()) result.window = busy_in_window(before, after);
    result.interrupted = state_.jobs_ended < state_.jobs.size() && (stopped || state_.clock == state_.options.until);
    return result;
  }

 private:
  [[nodiscard]] bool has_failed() const { return state_.options.failure && state_.options.failure->failed(); }

  /// The busy times of the window from those at its begin and its end, which a run that stopped earlier hasn't seen.
  [[nodiscard]] BusyTimes busy_in_window(std::optional<BusyTimes> before, std::optional<BusyTimes> after) const {
    const MeasuredWindow& window = state_.options.window;
    if (!before) before = busy_times(state_.clock);
    if (!after) after = busy_times(state_.clock);
    // A run that was cut short has been measured until then; the cluster of one that has ended is idle.
    const bool is_short = state_.clock == state_.options.until && state_.clock < window.until;
    const Time end = is_short || window.until == Time::never() ? state_.clock : window.until;
    return {after->gpu_s - before->gpu_s, after->link_s - before->link_s, after->transfer_s - before->transfer_s,
            after->contended_s - before->contended_s, std::max(0.0, (end - window.from).to_seconds())};
  }

  /// A policy that leaves jobs waiting where nothing else is to happen has failed.
  void look_at_standstill() {
    if (!state_.options.failure || state_.calendar.next_time() != Time::never()) return;
    if (const std::string reason = admission_.why_nothing_starts(); !reason.empty())
      state_.options.failure->record(reason);
  }

  /// Executes a part of the run. A PolicyError ends the run, if there is a place for its reason.
  template <class Part>
  void guarded(Part part) {
    try {
      part();
    } catch (const PolicyError& error) {
      if (!state_.options.failure) throw;
      state_.options.failure->record(error.what());
    }
  }

  void execute(Time instant) {
    state_.clock = instant;
    while (state_.calendar.next_time() == instant) {
      const CalendarEvent event = state_.calendar.pop().payload;
      state_.calendar.foresee(kCellAhead, [this](const CalendarEvent& soon) { state_.fetch_cell(soon); });
      state_.calendar.foresee(kWorkAhead, [this](const CalendarEvent& next) { state_.fetch_work(next); });
      state_.calendar.foresee(kTrafficAhead, [this](const CalendarEvent& next) { state_.fetch_traffic(next); });
      handle(event);
    }
    if (state_.network->next_end() == instant) executor_.end_transfers();
    executor_.leave_behind();
    outages_.strike();
    admission_.scheduling_pass();
    outages_.withhold_free();  // what the pass took from jobs and gave to none
    outages_.look_at_started();
    while (outages_.look_at_stuck()) admission_.scheduling_pass();
    courier_.admit();
    executor_.start_on_hosts();
    executor_.dispatch();
    if (state_.cells.size() > kForeseeAbove) courier_.foresee();
    if (!state_.unpaced.empty()) {
      if (std::min(state_.calendar.next_time(), state_.network->next_end()) == instant) return;
      pacer_.settle();
    }
    if (!state_.unshared.empty()) {
      if (std::min(state_.calendar.next_time(), state_.network->next_end()) == instant) return;
      sharer_.settle();
    }
    leaper_.after_instant();
#ifndef NDEBUG
    if (checked_ != state_.groups_changed) check_seats(state_);
    checked_ = state_.groups_changed;
#endif
  }

  void handle(const CalendarEvent& event) {
    switch (event.kind) {
      case CalendarEvent::Kind::task_end:
        return executor_.on_task_end(event.cell);
      case CalendarEvent::Kind::lane_end:
        return executor_.on_lane_end(event.cell, event.job, event.seat);
      case CalendarEvent::Kind::counted:
        return executor_.on_counted(event.job);
      case CalendarEvent::Kind::job_end:
        return admission_.on_job_end(event.job);
      case CalendarEvent::Kind::arrival:
        return admission_.on_arrival();
      case CalendarEvent::Kind::follows:
        return admission_.on_follow(event.job);
      case CalendarEvent::Kind::retry:
        return admission_.on_retry(event.job);
      case CalendarEvent::Kind::pass:
        return admission_.on_pass();
      case CalendarEvent::Kind::wake:
        return bodies_.graph.wake(event.job);
      case CalendarEvent::Kind::service:
        return bodies_.service.act(event.job);
      case CalendarEvent::Kind::outage:
        return outages_.on_outage();
      case CalendarEvent::Kind::job_failure:
        return outages_.on_job_failure(event.job);
      case CalendarEvent::Kind::stall:
        return outages_.on_outage();
      case CalendarEvent::Kind::timer_end:
        return executor_.on_timer_end(event.job);
      case CalendarEvent::Kind::shifted:
        return executor_.on_shifted(event.job);
      case CalendarEvent::Kind::saves:
        return saver_.begin(event.job);
      case CalendarEvent::Kind::copied:
        return saver_.on_copied(event.job);
      case CalendarEvent::Kind::written:
        return saver_.on_written();
      case CalendarEvent::Kind::hosts:
        return executor_.on_hosts_due();
    }
  }

  /// The monitor of the options with the progress of the run; none if there is none.
  [[nodiscard]] std::function<bool()> monitor() {
    if (!state_.options.monitor) return {};
    return [this] {
      return state_.options.monitor({state_.clock, state_.jobs_ended, state_.jobs.size(), state_.events});
    };
  }

  /// When the measured jobs have ended and the measured window is over; never() until then, or without a window.
  [[nodiscard]] Time end_of_measured() const {
    const Time until = state_.options.window.until;
    if (until == Time::never() || state_.measured_left > 0) return Time::never();
    return std::max(state_.clock, until);
  }

  /// The totals of a GPU until `now`, which lies between the last event and the next.
  [[nodiscard]] GpuTotals totals_of(GpuId gpu, Time now) const;
  /// The work of all jobs until `now`, which lies between the last event and the next.
  [[nodiscard]] BusyTimes busy_times(Time now) const;
  void add_types(RunResult& result) const;
  void add_sharing(RunResult& result) const;
  [[nodiscard]] JobResult result_of(JobId job) const;
  /// Adds the results of GPUs and of servers' interfaces.
  void add_hardware(RunResult& result) const;
  void add_services(RunResult& result) const;
  RunResult collect() const;
  void add_service(const JobRun& run, JobResult& job) const;
  double kept_gpu_s(const JobRun& run, const JobResult& job) const;

  EngineState state_;
#ifndef NDEBUG
  std::uint64_t checked_ = UINT64_MAX;  ///< EngineState::groups_changed when seats were checked last
#endif
  Courier courier_{state_};
  Executor executor_{state_, courier_, [this](JobId job) { admission_.on_finished(job); },
                     [this](JobId job) { saver_.begin(job); }};
  Saver saver_{state_, executor_};
  JobBodies bodies_{state_,
                    executor_,
                    courier_,
                    saver_,
                    [this](JobId job) { admission_.on_answered(job); },
                    [this](JobId job) { admission_.on_service(job); }};
  Admission admission_{state_};
  Outages outages_{state_, admission_};
  Pacer pacer_{state_};
  Sharer sharer_{state_};
  Pulse pulse_{monitor()};
  Leaper leaper_{state_, admission_, outages_, pulse_};
};

void Simulation::Engine::add_service(const JobRun& run, JobResult& job) const {
  const JobSpec& spec = *run.spec;
  job.outcome = run.is_cut && run.state == JobState::finished ? JobOutcome::timeout : spec.outcome;
  if (run.state == JobState::given_up) job.outcome = JobOutcome::failed;
  job.measured_wait = spec.measured_wait;
  job.attempts = run.retries() + (run.start < Time::never() ? 1 : 0);
  if (run.retries() > 0 && run.state == JobState::queued) --job.attempts;  // the next attempt hasn't begun
  const auto name_of = [](const std::vector<std::string>& names, std::int32_t index) {
    return index >= 0 && static_cast<std::size_t>(index) < names.size() ? names[static_cast<std::size_t>(index)] : "";
  };
  if (spec.duration) job.own = (run.total_service - run.remaining_service).on_each_of(spec.gpus) + run.undone_at_ends;
  job.vc = name_of(state_.workload.vcs, spec.vc);
  job.user = name_of(state_.workload.users, spec.user);
  job.elastic = run.elastic();
  job.deadline = run.deadline();
  const auto mixed = state_.mixed.find(job.id);
  if (mixed != state_.mixed.end())
    job.server_type = mixed->second.types;
  else if (run.type >= 0)
    job.server_type = state_.spec.types[static_cast<std::size_t>(run.type)].name;
  const auto has_price = [](const ServerType& type) { return type.price > 0; };
  if (std::any_of(state_.spec.types.begin(), state_.spec.types.end(), has_price)) {
    job.cost = run.cost;
    if (run.state == JobState::running) *job.cost += state_.cost_of(run);
  }
  if (run.waits) job.waited += state_.clock - run.since;
  if (run.state != JobState::running) return;
  job.held += state_.clock - run.since;
  job.gpu_time += GpuTime{state_.clock - run.since, run.width};
  run.body->add_present(run, job);
}

/// GPU time of its work that was kept, or is in progress.
double Simulation::Engine::kept_gpu_s(const JobRun& run, const JobResult& job) const {
  if (!state_.kept_time.measures()) return 0;
  if (run.state != JobState::running) return state_.kept_time.seconds(job.id);
  return state_.kept_time.seconds(job.id, run.gpus, RankDemand{*run.spec}.share, job.overhead + job.redone,
                                  state_.clock - run.since, state_.clock);
}

GpuTotals Simulation::Engine::totals_of(GpuId id, Time now) const {
  GpuTotals totals = state_.is_covered(id) ? *state_.covered[id.index()] : state_.totals_of(id, now);
  for (const JobId job : state_.gpu[id.index()].timed) {
    const JobRun& run = state_.jobs[job.index()];
    totals.busy += run.body->busy_now(run, id, now);
  }
  return totals;
}

BusyTimes Simulation::Engine::busy_times(Time now) const {
  BusyTimes busy;
  for (std::size_t g = 0; g < state_.gpu.size(); ++g) busy.gpu_s += totals_of(GpuId{g}, now).busy.to_seconds();
  for (std::size_t s = 0; s < state_.servers(); ++s)
    busy.link_s += state_.network->server_usage(ServerId{s}, now).active.to_seconds();
  for (std::size_t j = 0; j < state_.jobs.size(); ++j) {
    const NetworkModel::Usage usage = state_.network->job_usage(JobId{j}, now);
    busy.transfer_s += usage.active.to_seconds();
    busy.contended_s += usage.contended.to_seconds();
  }
  return busy;
}

void Simulation::Engine::add_types(RunResult& result) const {
  for (const ServerType& type : state_.spec.types) {
    result.types.push_back(
        {type.name, type.servers, std::int64_t{type.servers} * type.gpus_per_server, {}, 0, type.price, 0});
  }
  for (const GpuResult& gpu : result.gpus) {
    if (result.types.empty()) return;
    TypeResult& type = result.types[static_cast<std::size_t>(state_.server_types[gpu.server.index()])];
    type.busy += GpuTime{gpu.busy, 1};
    type.jobs += gpu.jobs;
  }
  for (TypeResult& type : result.types) {
    const double all_s = GpuTime{result.end, type.gpus}.to_seconds();
    type.utilisation = all_s > 0 ? type.busy.to_seconds() / all_s : 0;
  }
}

void Simulation::Engine::add_sharing(RunResult& result) const {
  auto times = state_.shared_times;
  for (const JobId id : state_.running) {
    const JobRun& run = state_.jobs[id.index()];
    if (!run.shared || run.shared->beside.empty() || run.shared->changed() == state_.clock) continue;
    const SharedClock& own = *run.shared;
    const Time passed = state_.clock - own.changed();
    auto& [time, lost] = times[{id, own.beside}];
    time += passed;
    lost += Int128{passed.ns()} * kFullSpeed - (own.exact(state_.clock) - own.exact(own.changed()));
  }
  for (const auto& [key, spent] : times) {
    const Time lost = Time::nanoseconds(static_cast<std::int64_t>(spent.second / kFullSpeed));
    result.sharing.push_back({key.first, key.second, spent.first, lost});
    JobResult& job = result.jobs[key.first.index()];
    job.shared += spent.first;
    job.lost_to_sharing += lost;
  }
  std::stable_sort(result.sharing.begin(), result.sharing.end(), [](const SharedTime& a, const SharedTime& b) {
    return a.job != b.job ? a.job < b.job : a.time > b.time;
  });
  for (const SharedTime& each : result.sharing)
    if (JobResult& job = result.jobs[each.job.index()]; job.shared_with.empty())
      job.shared_with = names_of(result, each.beside);
}

JobResult Simulation::Engine::result_of(JobId id) const {
  const JobRun& run = state_.jobs[id.index()];
  const NetworkModel::Usage usage = state_.network->job_usage(id, state_.clock);
  JobResult job;
  static_cast<JobTotals&>(job) = run.totals;
  job.id = id;
  job.name = run.spec->name;
  job.model = run.spec->model;
  job.state = run.state;
  job.measured = state_.options.window.holds(run.arrival);
  job.gpus = run.spec->gpus;
  job.servers = run.servers_spanned;
  job.torn = run.is_torn;
  if (id.index() < state_.folding.size() && state_.folding[id.index()].gpus > 0)
    job.folding = state_.folding[id.index()];
  job.iterations = run.spec->iterations;
  job.iterations_done = run.completed;
  job.submit = run.arrival;
  job.follows = !run.spec->after.empty();
  job.start = run.start;
  job.finish = run.finish;
  job.compute += EngineState::promised(run, state_.clock);
  job.communication = usage.active;
  job.contended = usage.contended;
  if (run.live && run.live->waiting > 0) job.communication_wait += state_.clock - run.live->waiting_since;
  add_service(run, job);
  job.kept_gpu_s = kept_gpu_s(run, job);
  return job;
}

void Simulation::Engine::add_hardware(RunResult& result) const {
  UseLog uses = state_.uses;
  if (uses.keeps())
    for (const JobId job : state_.running) log_use(state_, job, uses);
  for (std::size_t g = 0; g < state_.gpu.size(); ++g) {
    if (!has_gpu(state_.spec, GpuId{g})) continue;
    const Time held = uses.keeps() ? uses.held(GpuId{g}) : Time{};
    result.gpus.push_back({totals_of(GpuId{g}, state_.clock), GpuId{g}, state_.server_of(GpuId{g}),
                           state_.gpu[g].jobs_started, outages_.down(GpuId{g}, state_.clock), held});
  }
  result.uses = uses.spans();  // jobs that end at one instant end in another order where they leap
  std::ranges::stable_sort(result.uses, {}, &HeldSpan::job);
  for (std::size_t s = 0; s < state_.servers(); ++s) {
    const NetworkModel::Usage usage = state_.network->server_usage(ServerId{s}, state_.clock);
    result.links.push_back(
        {fmt::format("server{}/nic", s), ServerId{s}, usage.active, usage.contended, usage.transfers, usage.bytes});
  }
}

void Simulation::Engine::add_services(RunResult& result) const {
  for (JobResult& job : result.jobs) {
    const JobRun& run = state_.jobs[job.id.index()];
    if (!run.serving) continue;
    result.services.push_back({run.serving->its->report(state_.clock), job.id});
    const ServiceReport* const report = &result.services.back();
    job.answers = figures_of({&report, 1}, state_.clock);
  }
}

RunResult Simulation::Engine::collect() const {
  RunResult result;
  result.jobs.reserve(state_.jobs.size());
  for (std::size_t j = 0; j < state_.jobs.size(); ++j) result.jobs.push_back(result_of(JobId{j}));
  add_services(result);
  for (const auto& [job, reason] : state_.reasons) result.jobs[job.index()].reason = reason;
  add_hardware(result);
  state_.network->report(state_.clock, result.fabric);
  result.end = state_.clock;
  add_types(result);
  add_sharing(result);
  result.events = state_.events;
  result.leapt_events = state_.leapt_events;
  for (const Cell& cell : state_.cells) {
    result.leapt_events += static_cast<std::uint64_t>(state_.done_in_chain(cell).tasks * cell.ranks());
  }
  result.leaps = state_.leaps;
  result.failures = outages_.failures();
  result.may_fail = state_.options.failures.any();
  result.remarks = state_.remarks;
  result.fingerprint = state_.fingerprint.value();
  result.stops_iterations = std::any_of(state_.jobs.begin(), state_.jobs.end(), [this](const JobRun& run) {
    return run.body->has_iterations() && state_.costs_of(run).stops_iterations();
  });
  result.digest = digest_of(result);
  // Derived from the work above, and so not part of the digest.
  const ClusterSpec without_spares = without_last(state_.spec, state_.options.failures.all_spares());
  add_finish_time_fairness(without_spares, state_.workload, result);
  const SchedulingRules& rules = state_.options.rules;
  const BoundRules bounded{
      .kills_at_limit = rules.kill_at_limit,
      .limits_attempts = rules.failures.times.has_value(),
      .counts_gpu_time = !state_.options.sharing.any() && !state_.options.failures.redundancy.any()};
  add_lower_bounds(state_.spec, state_.workload, bounded, result);
  // Without its iterations a job list means 1.
  for (JobResult& job : result.jobs) {
    const JobRun& run = state_.jobs[job.id.index()];
    job.iterations -= run.spec->extra_iterations;
    job.iterations_done = std::max<std::int64_t>(0, job.iterations_done - run.spec->extra_iterations);
    job.iterations_done = run.body->iterations_done(run, job.iterations_done, run.spec->iterations);
  }
  return result;
}

Simulation::Simulation(const ClusterSpec& cluster, Workload workload, PolicySet policies,
                       std::unique_ptr<NetworkModel> network, SimulationOptions options)
    : engine_{std::make_unique<Engine>(cluster, std::move(workload), std::move(policies), std::move(network),
                                       std::move(options))} {}

Simulation::~Simulation() = default;

std::vector<std::string> Simulation::why_never_start() {
  return engine_->why_never_start();
}

RunResult Simulation::run() {
  return engine_->run();
}

const Workload& Simulation::workload() const {
  return engine_->workload();
}

std::string names_of(const RunResult& run, std::span<const JobId> jobs) {
  std::string names;
  for (const JobId job : jobs) names += (names.empty() ? "" : ";") + run.jobs[job.index()].name;
  return names;
}

namespace {

/// Adds the totals of one part of the digest.
template <Totals T>
void add_totals(Fingerprint& digest, const T& totals, InDigest part) {
  const auto add = [&digest](const auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, GpuTime>) {
      digest.add(static_cast<std::uint64_t>(value.ns()));
      if (const auto high = value.ns() >> 64; high != 0) digest.add(static_cast<std::uint64_t>(high));
    } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, Time>) {
      digest.add(static_cast<std::uint64_t>(value.ns()));
    } else {
      digest.add(static_cast<std::uint64_t>(value));
    }
  };
  T::for_each([&](const TotalTraits& traits, auto total) {
    if (traits.digest == part) add(totals.*total);
    const bool if_any = part == InDigest::failures && traits.digest == InDigest::failures_if_any;
    if (if_any && totals.*total != std::remove_cvref_t<decltype(totals.*total)>{}) add(totals.*total);
  });
}

}  // namespace

std::uint64_t digest_of(const RunResult& result) {
  Fingerprint digest;
  const auto add = [&digest](auto value) { digest.add(static_cast<std::uint64_t>(value)); };
  for (const JobResult& job : result.jobs) {
    add(job.state);
    add(job.start.ns());
    add(job.finish.ns());
    add_totals(digest, job, InDigest::times);
    add(job.iterations_done);
    add_totals(digest, job, InDigest::counts);
    if (job.follows) add(job.submit.ns());
    if (result.may_fail || result.stops_iterations) add_totals(digest, job, InDigest::stops);
    if (job.left_behind > 0) add_totals(digest, job, InDigest::late_ranks);
    if (job.host > GpuTime{}) add_totals(digest, job, InDigest::hosts);
    if (result.may_fail) add_totals(digest, job, InDigest::failures);
  }
  for (const SharedTime& each : result.sharing) {
    for (const JobId other : each.beside) add(other.value());
    for (const Time time : {each.time, each.lost}) add(time.ns());
  }
  for (const ServiceResult& service : result.services) {
    for (const std::int64_t count : {service.tokens, service.recomputed, service.busy.ns()}) add(count);
    for (const RequestResult& each : service.requests) {
      for (const Time time : {each.arrival, each.first, each.end}) add(time.ns());
      for (const std::int64_t count : {each.prompt, each.answer}) add(count);
      for (const std::int32_t number : {each.evictions, each.replica}) add(number);
    }
  }
  for (const GpuResult& gpu : result.gpus) add_totals(digest, gpu, InDigest::times);
  for (const LinkResult& link : result.links) {
    add(link.busy.ns());
    add(link.contended.ns());
    add(link.transfers);
    add(link.bytes.count());
  }
  return digest.value();
}

}  // namespace contend
