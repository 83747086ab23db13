#include "sim/engine_state.hpp"

#include "sim/check.hpp"
#include "sim/check_input.hpp"
#include "sim/cluster_parts.hpp"
#include "sim/error.hpp"
#include "sim/fetch.hpp"
#include "sim/job_body.hpp"

#include <algorithm>
#include <span>

#include <fmt/core.h>

namespace contend {

namespace {

/// GPU time of the job over all attempts; negative if it is more than a Time can hold.
GpuTime service_of(const JobSpec& job) {
  GpuTime sum{*job.duration, job.gpus};
  for (const Time attempt : job.attempts) sum += GpuTime{attempt, job.gpus};
  return sum;
}

/// Finds the types of servers on which such jobs may run, the fastest first, and the mix of them last.
void order_types(EngineState& state, const JobSpec& job) {
  const auto [entry, is_new] = state.type_orders.try_emplace({job.gpu_type, job.pace});
  if (!is_new) return;
  std::span<const JobPace> paces;
  if (job.pace >= 0) paces = state.workload.paces[static_cast<std::size_t>(job.pace)];
  entry->second = types_in_order(state.spec, job, paces);
}

/// Gives a job its state before its arrival. Throws InputError if its attempts, sizes or costs can't be simulated.
void prepare(EngineState& state, JobRun& run, JobSpec& its) {
  limit_attempts(state.options.rules.failures, its);
  if ((state.options.failures.redundancy.any() || state.options.failures.mitigation.any()) && its.gpu_share == 0)
    its.gpu_share = kWholeGpu;
  run.spec = &its;
  run.arrival = run.submitted = run.spec->after.empty() ? run.spec->submit : Time::never();
  run.width = run.spec->gpus;
  run.iterations = run.spec->iterations;
  if (run.elastic()) run.parts_left = run.iterations * state.size_of(*run.spec, run.width)->parts;
  if (run.spec->duration) {
    run.total_service = service_of(*run.spec);
    const std::vector<Time>& failed = run.spec->attempts;
    if (!failed.empty()) run.later_attempts = run.total_service.on_each_of(run.spec->gpus) - failed.front();
  } else {
    run.plan = &state.plans[run.spec->graph];
    run.total_service = run.plan->compute_left(0, run.iterations);
  }
  run.remaining_service = run.total_service;
  if (state.options.costs) state.job_costs.push_back(state.options.costs(*run.spec));
  check_costs(state.costs_of(run), *run.spec, state.options.rules);
  if (state.options.sharing.any() && run.spec->duration && state.costs_of(run).written > Bytes{})
    throw InputError{
        fmt::format("job `{}` can't write its checkpoints to a store while jobs share GPUs", run.spec->name)};
}

}  // namespace

EngineState::EngineState(const ClusterSpec& cluster, Workload job_list, PolicySet set,
                         std::unique_ptr<NetworkModel> model, SimulationOptions run_options)
    : spec{checked(cluster)},
      workload{std::move(job_list)},
      policies{std::move(set)},
      network{std::move(model)},
      options{std::move(run_options)},
      capacity{spec} {
  check_workload(workload, spec, options.rules);
  check_rules(options.rules);
  check_sharing(options.sharing);
  check_interference(options.interference, *network);
  if (options.observer != nullptr || options.failures.jitter > 0 || options.failures.stalls_fail) options.leap = false;
  fold = options.leap;
  plans = std::vector<Plan>(workload.graphs.begin(), workload.graphs.end());
  check_counters(workload.graphs);
  jobs.resize(workload.jobs.size());
  running_at.resize(jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j) prepare(*this, jobs[j], workload.jobs[j]);
  if (!spec.types.empty()) {
    for (std::size_t s = 0; s < servers(); ++s) server_types.push_back(type_of(spec, ServerId{s}));
    for (const JobSpec& job : workload.jobs) order_types(*this, job);
  }
  for (const std::vector<JobSize>& sizes : workload.sizes) {
    size_gpus.emplace_back();
    for (const JobSize& size : sizes) size_gpus.back().push_back(size.gpus);
  }
  gpu.resize(capacity.gpus());
  cells.reserve(capacity.gpus());
  for (std::size_t g = 0; g < capacity.gpus(); ++g) cells.emplace_back(&arena.pool);
  loads.resize(cells.size());
  load_is_noted.resize(cells.size());
  for (std::size_t g = 0; g < gpu.size(); ++g) {
    gpu[g].cell = CellId{g};
    cells[g].gpus.emplace_back(g);
  }
}

Occupant& EngineState::occupant(CellId cell, JobId job) {
  Cell& c = at(cell);
  // Mostly the one that runs is asked for, and the list of jobs is not in the caches.
  if (const std::size_t seat = c.running.seat;
      c.running.job == job && seat < c.occupants.size() && c.occupants[seat].job == job)
    return c.occupants[seat];
  for (std::size_t i = 0; i < c.who.size(); ++i) {
    if (c.who[i] == job) return c.occupants[i];
  }
  check_failed(__FILE__, __LINE__, "the job occupies the cell", jobs[job.index()].spec->name);
}

Occupant& EngineState::occupant(SeatedCell& seat, JobId job) {
  std::pmr::vector<Occupant>& occupants = at(seat.cell).occupants;
  if (seat.seat >= occupants.size() || occupants[seat.seat].job != job)
    seat.seat = static_cast<std::uint16_t>(&occupant(seat.cell, job) - occupants.data());
  return occupants[seat.seat];
}

PolicyKey EngineState::key(JobId id) {
  JobRun& run = jobs[id.index()];
  if (run.next_promise <= clock) settle(run, clock);
  if (run.key_is_stale) {
    run.key = policies.ask_scheduling([&](SchedulingPolicy& policy) { return policy.key(view_for_key(id)); });
    run.key_is_stale = false;
  }
  return run.key;
}

void JobRun::promise(Time when, GpuTime service) {
  next_promise = std::min(next_promise, when);
  std::vector<Promise>& promises = live->promises;
  const auto same =
      std::find_if(promises.begin(), promises.end(), [&](const Promise& other) { return other.at == when; });
  if (same != promises.end()) {
    same->service += service;
  } else {
    promises.push_back({when, service});
  }
}

void JobRun::begin_next_attempt() {
  const auto next = static_cast<std::size_t>(++attempt);
  later_attempts -= next < spec->attempts.size() ? spec->attempts[next] : *spec->duration;
}

void JobRun::undo_until_left(Time left) {
  undone_at_ends += left - attempt_left();
  const GpuTime undone{left - attempt_left(), spec->gpus};
  remaining_service += undone;
  totals.compute -= undone;
  const Time on_gpus = at_pace(undone.on_each_of(spec->gpus), segment({}));
  totals.lost += GpuTime{on_gpus, spec->gpus};
  totals.redone += on_gpus;
}

void EngineState::show_run(JobId job) const {
  static const Op kRun = [] {
    Op op;
    op.name = "run";
    return op;
  }();
  const JobRun& run = jobs[job.index()];
  if (options.observer == nullptr) return;
  // Who holds the other parts of its GPUs is not noted where no law slows them down.
  const bool is_part = RankDemand{*run.spec}.share < kWholeGpu && !options.sharing.any();
  const std::span<const JobId> beside =
      run.shared ? std::span<const JobId>{run.shared->beside} : std::span<const JobId>{};
  const Time from = run.shared ? std::min(run.shared->changed(), clock) : run.since;
  if (from == clock) return;
  for (std::size_t rank = 0; rank < run.gpus.size(); ++rank) {
    const GpuId id = run.gpus[rank];
    if (is_part || (run.shared && run.shared->is_shared[rank] != 0))
      options.observer->shared(id, job, beside, kRun, run.retries(), from, clock);
    else
      options.observer->compute(id, job, kRun, run.retries(), from, clock);
  }
}

namespace {

/// What a GPU that is out of service takes.
RankDemand whole_gpu() {
  JobSpec job;
  job.gpu_share = kWholeGpu;
  return RankDemand{job};
}

}  // namespace

void EngineState::take_out_of_service(GpuId id) {
  take(id, whole_gpu());
  capacity.count_in_service(id, -1);
}

void EngineState::put_into_service(GpuId id) {
  capacity.count_in_service(id, 1);
  give_back(id, whole_gpu());
}

void EngineState::end_by_clock(JobRun& run) {
  const PreemptionCosts& costs = costs_of(run);
  const Time end = run.shared->when(length_of(run.segment(costs), costs));
  run.is_cut = options.rules.kill_at_limit && run.spec->limit && end - run.since > *run.spec->limit;
  run.ends = run.is_cut ? run.since + *run.spec->limit : end;
  calendar.reschedule(run.end, run.ends);
}

std::vector<int> EngineState::ranks_out(const JobRun& run) const {
  std::vector<int> out;
  for (std::size_t rank = 0; rank < run.gpus.size(); ++rank)
    if (is_covered(run.gpus[rank])) out.push_back(static_cast<int>(rank));
  return out;
}

RedundancyRule EngineState::redundancy_of(const JobRun& run) const {
  const RedundancyRule& rule = options.failures.redundancy;
  if (!rule.any()) return rule;
  return rule.of_job(run.width, contend::stages_of(*run.spec, rule));
}

void EngineState::go_on_covered(JobId job, Time stands) {
  JobRun& run = jobs[job.index()];
  const RedundancyRule rule = redundancy_of(run);
  show_run(job);
  if (!run.shared) {
    run.shared = std::make_unique<SharedClock>(run.since, run.pause(costs_of(run)), clock);
    run.shared->is_shared.assign(run.gpus.size(), 0);
    run.shared->gpus = run.width;
  }
  run.shared->set_speed(rule.speed(ranks_out(run), run.width), clock, stands);
  run.shared->paid_gpu_s = (run.shared->changed() - run.since).to_seconds() * run.width;
  end_by_clock(run);
}

GpuTotals EngineState::totals_of(GpuId id, Time now) const {
  const GpuState& state = gpu[id.index()];
  const Cell& cell = cells[state.cell.index()];
  GpuTotals totals = state.totals;
  totals += cell.totals;
  if (cell.busy) totals.busy += now - cell.started;
  if (state.whole_jobs > 0) totals.busy += now - state.whole_since;
  return totals;
}

void EngineState::count_sharing(JobId job) {
  const JobRun& run = jobs[job.index()];
  SharedClock& own = *run.shared;
  const Time passed = clock - own.changed();
  show_run(job);
  if (own.beside.empty() || passed <= Time{}) return;
  auto& [time, lost] = shared_times[{job, own.beside}];
  time += passed;
  lost += Int128{passed.ns()} * kFullSpeed - (own.exact(clock) - own.exact(own.changed()));
}

std::int64_t EngineState::speed_of(JobId job, std::span<const JobId> others, std::int32_t type) const {
  if (!options.sharing.by_priority) return options.sharing.law->speed(job, others, type);
  std::vector<JobId> counted;
  for (const JobId other : others)
    if (jobs[other.index()].spec->priority >= jobs[job.index()].spec->priority) counted.push_back(other);
  return counted.empty() ? kFullSpeed : options.sharing.law->speed(job, counted, type);
}

double EngineState::speed_beside(JobId job, std::span<const JobId> others, std::int32_t type) const {
  if (others.empty()) return 1;
  if (static_cast<int>(others.size()) >= most_on_gpu() || !options.sharing.any()) return 0;
  const std::int32_t on = spec.types.empty() ? -1 : type;
  const Bytes memory = on < 0 ? spec.gpu_memory : spec.types[static_cast<std::size_t>(on)].gpu_memory;
  Bytes needed = jobs[job.index()].spec->memory_per_gpu;
  for (const JobId other : others) needed += jobs[other.index()].spec->memory_per_gpu;
  if (needed > memory || !jobs[job.index()].body->shares_by_law()) return 0;
  std::vector<JobId> sorted{others.begin(), others.end()};
  std::sort(sorted.begin(), sorted.end());
  return static_cast<double>(speed_of(job, sorted, on)) / static_cast<double>(kFullSpeed);
}

double EngineState::paid_gpu_s(const JobRun& run) const {
  return run.shared->paid_gpu_s + (clock - run.shared->changed()).to_seconds() * run.shared->gpus;
}

bool EngineState::stays_behind(JobId other, JobId id) {
  if (run(other).plan->leaves_behind) return false;  // without this rank it gets any distance
  return key(other) - std::max<PolicyKey>(0, run(other).key_reach) - kKeyRounding > key(id);
}

const SavedIteration& EngineState::durable(const JobRun& run) const {
  return clock - run.live->saved.at >= costs_of(run).persist ? run.live->saved : run.live->saved_before;
}

GpuTime EngineState::undone(const JobRun& run, std::int64_t iteration) const {
  GpuTime lost = run.plan->compute_left(iteration, run.iterations);
  lost -= run.remaining_service - promised(run, clock);
  const auto job = static_cast<std::size_t>(&run - jobs.data());
  for (const CellId id : run.live->cells) {
    const Cell& cell = cells[id.index()];
    if (!cell.busy || cell.running.job.index() != job) continue;
    lost += GpuTime{clock - cell.started - done_in_chain(cell).duration, cell.ranks()};
  }
  return lost;
}

GpuTime EngineState::promised(const JobRun& run, Time now) {
  GpuTime service;
  if (run.next_promise > now) return service;
  for (const Promise& promise : run.live->promises) {
    if (promise.at <= now) service += promise.service;
  }
  return service;
}

void EngineState::settle(JobRun& run, Time now) {
  if (run.next_promise > now) return;
  const GpuTime service = promised(run, now);
  run.remaining_service -= service;
  run.totals.compute += service;
  run.key_is_stale = true;
  std::erase_if(run.live->promises, [&](const Promise& promise) { return promise.at <= now; });
  run.next_promise = Time::never();
  for (const Promise& promise : run.live->promises) run.next_promise = std::min(run.next_promise, promise.at);
}

void EngineState::mark_pace(CellId cell) {
  if (options.interference.none() || at(cell).is_unpaced) return;
  at(cell).is_unpaced = true;
  unpaced.push_back(cell);
}

void EngineState::touch(CellId id) {
  if (at(id).touched) return;
  at(id).touched = true;
  touched.push_back(id);
}

Time EngineState::length_on(const Cell& cell, Time planned) {
  Time length = planned;
  if (cell.slowness != Slowdown::kFullPace) length = stretched(length, cell.slowness, Slowdown::kFullPace);
  if (jitter.empty()) return length;
  const double factor = jitter[cell.gpus.front().index()].lognormal(0, options.failures.jitter);
  return Time::ceil_nanoseconds(static_cast<double>(length.ns()) * factor);
}

void EngineState::set_state(JobId id, JobState state) {
  JobRun& run = jobs[id.index()];
  CONTEND_CHECK(is_legal_step(run.state, state), "a job takes only legal steps");
  const JobState was = std::exchange(run.state, state);
  if (state == JobState::running) {
    running_at[id.index()] = static_cast<std::uint32_t>(running.size());
    running.push_back(id);
  } else if (was == JobState::running) {
    running_at[running.back().index()] = running_at[id.index()];
    running[running_at[id.index()]] = running.back();
    running.pop_back();
  }
  if (has_ended(state)) {
    ++jobs_ended;
    if (options.window.holds(run.arrival)) --measured_left;
  }
  fingerprint.add(static_cast<std::uint64_t>(clock.ns()));
  fingerprint.add((std::uint64_t{id.value()} << 8) | static_cast<std::uint64_t>(state));
}

namespace {

/// What a timed job has done, on each of the GPUs that it prefers.
Time done_of(const JobView& view) {
  return (view.total_service - view.remaining_service).on_each_of(view.preferred_gpus);
}

/// The regime of a job that has done so much; at its end the last.
std::span<const BatchRegime>::iterator present_regime(std::span<const BatchRegime> regimes, Time done) {
  const auto present = std::ranges::find_if(regimes, [&](const BatchRegime& each) { return done < each.until; });
  return present == regimes.end() ? std::prev(present) : present;
}

}  // namespace

JobView EngineState::view(JobId id, bool for_key) const {
  const JobRun& run = jobs[id.index()];
  const JobSpec& job = *run.spec;
  JobView view;
  view.id = id;
  view.submit = run.submitted;
  view.gpus = run.width;
  view.preferred_gpus = job.gpus;
  view.memory_per_gpu = job.memory_per_gpu;
  view.limit = job.limit;
  view.tie = run.tie;
  view.priority = job.priority;
  view.vc = job.vc;
  view.user = job.user;
  view.gpu_type = job.gpu_type;
  view.place = job.place;
  view.level = job.level;
  view.pace = job.pace;
  view.deadline = run.deadline();
  view.layout = job.layout;
  view.gpu_share = RankDemand{job}.share;
  view.milli_cpus = job.milli_cpus;
  view.host_memory = job.host_memory;
  view.timed = job.duration.has_value();
  view.total_service = run.total_service;
  view.remaining_service = run.remaining_service - promised(run, clock);
  if (for_key) {
    if (job.regimes >= 0 && !options.rules.foresees_batches) take_present_batch(view);
    return view;
  }
  view.attained_service = run.totals.gpu_time;
  view.running = run.state == JobState::running;
  view.finished = run.state == JobState::finished;
  view.since = run.since;
  if (view.running) {
    view.server_type = run.type;
    view.attained_service += GpuTime{clock - run.since, run.width};
    view.remaining_service -= run.body->uncounted(run);
  }
  if (job.regimes >= 0 && !options.rules.foresees_batches) take_present_batch(view);
  return view;
}

void EngineState::take_present_batch(JobView& view) const {
  const std::span<const BatchRegime> regimes = regimes_of(view.id);
  const Time done = done_of(view);
  const auto present = present_regime(regimes, done);
  const bool is_first = present == regimes.begin();
  const double from_s = is_first ? 0 : std::prev(present)->until.to_seconds();
  const double from = is_first ? 0 : std::prev(present)->progress;
  const double length_s = present->until.to_seconds() - from_s, share = present->progress - from;
  if (!(share > 0) || !(length_s > 0)) return;
  const double progress = from + (done.to_seconds() - from_s) / length_s * share;
  const double left_s = std::max(0.0, 1 - progress) * length_s / share;
  const GpuTime left{Time::ceil_nanoseconds(left_s * 1e9), view.preferred_gpus};
  view.total_service += left - view.remaining_service;
  view.remaining_service = left;
}

JobView EngineState::view_on(JobId id, std::int32_t type) const {
  JobView on = view(id, false);
  on.server_type = type;
  return on;
}

std::span<const std::int32_t> EngineState::types_for(const JobSpec& job) const {
  static constexpr std::int32_t kAllAlike[] = {-1};
  if (spec.types.empty()) return kAllAlike;
  return type_orders.at({job.gpu_type, job.pace});
}

const JobSize* EngineState::size_of(const JobSpec& job, int gpus, const BatchRegime* regime) const {
  if (job.sizes < 0) return nullptr;
  const std::int32_t index = regime != nullptr ? regime->sizes : job.sizes;
  const std::vector<JobSize>& sizes = workload.sizes[static_cast<std::size_t>(index)];
  const auto found = std::ranges::lower_bound(sizes, gpus, {}, &JobSize::gpus);
  return found != sizes.end() && found->gpus == gpus ? &*found : nullptr;
}

JobPace EngineState::pace_on(const JobSpec& job, int gpus, std::int32_t type, const BatchRegime* regime) const {
  if (const JobSize* const size = size_of(job, gpus, regime); size != nullptr)
    return size->paces[static_cast<std::size_t>(std::max(0, type))];
  const std::int32_t pace = regime != nullptr ? regime->pace : job.pace;
  if (type < 0 || pace < 0) return {};
  return workload.paces[static_cast<std::size_t>(pace)][static_cast<std::size_t>(type)];
}

std::span<const BatchRegime> EngineState::regimes_of(JobId id) const {
  const std::int32_t regimes = jobs[id.index()].spec->regimes;
  if (regimes < 0) return {};
  return workload.regimes[static_cast<std::size_t>(regimes)];
}

std::int64_t EngineState::parts_left(const JobRun& run, std::int64_t completed) const {
  return std::max<std::int64_t>(0, run.parts_left - (completed - run.sized_at) * size_of(*run.spec, run.width)->parts);
}

std::span<const int> EngineState::sizes_of(JobId id) const {
  const std::int32_t sizes = jobs[id.index()].spec->sizes;
  if (sizes < 0) return {};
  return size_gpus[static_cast<std::size_t>(sizes)];
}

int EngineState::absent_servers() const {
  const LoanSpec& loans = options.failures.loans;
  return loans.any() ? loans.servers - loans.most_lent() : options.failures.all_spares();
}

double EngineState::speed_with(const JobView& view, int gpus, std::int32_t type) const {
  const JobSpec& job = *jobs[view.id.index()].spec;
  const BatchRegime* regime = nullptr;
  if (const auto regimes = regimes_of(view.id); !regimes.empty()) {
    regime = &*present_regime(regimes, done_of(view));
  }
  const JobPace pace = pace_on(job, gpus, spec.types.empty() ? -1 : type, regime);
  if (pace.together == 0) return 0;
  const std::int32_t on = spec.types.empty() ? -1 : type;
  const auto types = types_for(job);
  if (std::find(types.begin(), types.end(), on) == types.end()) return 0;
  if (on >= 0 && job.memory_per_gpu > spec.types[static_cast<std::size_t>(on)].gpu_memory) return 0;
  const ServerRange there{0, static_cast<std::uint32_t>(spec.servers - absent_servers())};
  const auto servers = static_cast<std::int64_t>(common(capacity.servers_of(job.vc, on), there).size());
  if (gpus > servers * contend::ranks_by_host(spec, job, on)) return 0;
  if (!placeless.empty() && placeless.contains({demand_of(job, gpus), on})) return 0;
  return static_cast<double>(kNominalPace) / static_cast<double>(pace.together);
}

void EngineState::fetch_cell(const CalendarEvent& event) const {
  if (event.kind != CalendarEvent::Kind::task_end) return;
  fetch_lines<Cell::kLinesOfTask>(&cells[event.cell.index()]);
  fetch_lines<JobRun::kLines>(&jobs[event.job.index()]);
}

void EngineState::fetch_work(const CalendarEvent& event) const {
  if (event.kind != CalendarEvent::Kind::task_end) return;
  const Cell& cell = cells[event.cell.index()];
  fetch_lines<1>(cell.occupants.data() + event.seat);
  const JobExecution* const live = jobs[event.job.index()].live.get();
  fetch_lines<JobExecution::kLines>(live);
  if (live != nullptr) fetch_lines<1>(&live->iterated);
  if (cell.ready.size() > 1) fetch_lines<1>(&cell.ready.front() + 1);
  fetch_keys(cell);
}

void EngineState::fetch_traffic(const CalendarEvent& event) const {
  if (event.kind != CalendarEvent::Kind::task_end) return;
  const JobExecution* const live = jobs[event.job.index()].live.get();
  if (live == nullptr || live->joined_by.empty()) return;
  fetch_lines<1>(live->joined_by.back());
  fetch_lines<1>(&live->save_every);
}

void EngineState::fetch_occupant(const SeatedCell& cell) const {
  fetch_lines<1>(cells[cell.index()].occupants.data() + cell.seat);
}

void EngineState::fetch_cells_of(JobId job) const {
  for (const SeatedCell& cell : jobs[job.index()].live->cells)
    fetch_lines<Cell::kLinesOfTask + 1>(&cells[cell.index()]);
}

void EngineState::fetch_occupants_of(JobId job) const {
  for (const SeatedCell& cell : jobs[job.index()].live->cells) fetch_occupant(cell);
}

void EngineState::fetch_keys(const Cell& cell) const {
  for (const ReadyTask& task : cell.ready) fetch_lines<1>(&jobs[task.job.index()]);
}

const JobView& EngineState::view_for_key(JobId id) const {
  const JobRun& run = jobs[id.index()];
  run.live->for_key.remaining_service = run.remaining_service - promised(run, clock);
  return run.live->for_key;
}

void EngineState::jobs_on(GpuId id, std::vector<JobId>& on_gpu) const {
  const GpuState& state = gpu[id.index()];
  if (!plans.empty()) {
    for (const JobId job : cells[state.cell.index()].who) on_gpu.push_back(job);
  }
  for (const JobId job : state.timed) on_gpu.push_back(job);
  if (!away.empty()) std::erase_if(on_gpu, [this](JobId job) { return is_away(job); });
}

EngineState::Links EngineState::done_in_chain(const Cell& cell) const {
  Links done;
  if (!cell.busy || !cell.chained) return done;
  const Plan& plan = *jobs[cell.running.job.index()].plan;
  for (OpId op = cell.running.op; plan.ops[op.index()].then.valid(); op = plan.ops[op.index()].then) {
    const Time duration = plan.ops[op.index()].op.duration;
    if (cell.started + done.duration + duration > clock) break;
    done.duration += duration;
    ++done.tasks;
  }
  return done;
}

Time EngineState::load_of_graph_jobs(CellId id) const {
  Time load = loads[id.index()].on_each_of(1);
  if (away.empty() && !fold) return load;  // there are no chains, either
  const Cell& cell = cells[id.index()];
  for (std::size_t i = 0; i < cell.occupants.size() && !away.empty(); ++i) {
    if (is_away(cell.who[i])) load -= load_of(cell.occupants[i]).on_each_of(1);
  }
  if (cell.busy && !is_away(cell.running.job)) load -= done_in_chain(cell).duration;
  return load;
}

Time EngineState::load(GpuId id) const {
  Time load = load_of_graph_jobs(cell_of(id));
  for (const JobId timed : gpu[id.index()].timed) {
    if (is_away(timed)) continue;
    const JobView remaining = view(timed, false);
    load += remaining.remaining_service.on_each_of(remaining.preferred_gpus);
  }
  return load;
}

}  // namespace contend
