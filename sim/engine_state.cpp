#include "sim/engine_state.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

namespace contend {

namespace {

void check_cluster(const ClusterSpec& spec) {
  if (spec.servers < 1 || spec.gpus_per_server < 1) throw InputError{"a cluster needs a server with a GPU"};
}

void check_jobs(const Workload& workload) {
  std::set<std::string_view> names;
  for (const JobSpec& job : workload.jobs) {
    const auto complain = [&](std::string_view reason) {
      throw InputError{fmt::format("job `{}`: {}", job.name, reason)};
    };
    if (!names.insert(job.name).second) complain("the name is used twice");
    if (job.graph >= workload.graphs.size()) complain("it has no iteration graph");
    if (job.submit < Time{}) complain("it is submitted before time 0");
    if (job.iterations < 1) complain("it needs at least one iteration");
    if (job.memory_per_gpu < Bytes{}) complain("its memory is negative");
    if (job.gpus != workload.graphs[job.graph].ranks()) complain("its graph has another number of ranks than GPUs");
  }
}

}  // namespace

EngineState::EngineState(const ClusterSpec& cluster, Workload job_list, PolicySet set,
                         std::unique_ptr<NetworkModel> model, SimulationOptions run_options)
    : spec{cluster},
      workload{std::move(job_list)},
      policies{std::move(set)},
      network{std::move(model)},
      options{std::move(run_options)} {
  check_cluster(spec);
  check_jobs(workload);
  if (options.observer != nullptr) options.leap = false;
  fold = options.leap;
  plans.reserve(workload.graphs.size());
  for (const IterationGraph& graph : workload.graphs) plans.emplace_back(graph);
  jobs.resize(workload.jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    jobs[j].spec = &workload.jobs[j];
    jobs[j].plan = &plans[workload.jobs[j].graph];
    jobs[j].remaining_service = jobs[j].plan->compute_total * jobs[j].spec->iterations;
  }
  const auto gpu_count = static_cast<std::size_t>(spec.servers) * static_cast<std::size_t>(spec.gpus_per_server);
  gpu.resize(gpu_count);
  cells.resize(gpu_count);
  for (std::size_t g = 0; g < gpu_count; ++g) {
    gpu[g].cell = CellId{g};
    gpu[g].free_memory = spec.gpu_memory;
    cells[g].gpus.emplace_back(g);
  }
}

Occupant& EngineState::occupant(CellId cell, JobId job) {
  Cell& c = at(cell);
  for (std::size_t i = 0; i < c.who.size(); ++i) {
    if (c.who[i] == job) return c.occupants[i];
  }
  check_failed(__FILE__, __LINE__, "the job occupies the cell", jobs[job.index()].spec->name);
}

std::int64_t EngineState::key(JobId id) {
  JobRun& run = jobs[id.index()];
  if (run.next_promise <= clock) settle(run, clock);
  if (run.key_is_stale) {
    run.key = policies.scheduling->key(job(id));
    run.key_is_stale = false;
  }
  return run.key;
}

void JobRun::promise(Time when, Time service) {
  next_promise = std::min(next_promise, when);
  const auto same =
      std::find_if(promises.begin(), promises.end(), [&](const Promise& other) { return other.at == when; });
  if (same != promises.end()) {
    same->service += service;
  } else {
    promises.push_back({when, service});
  }
}

bool EngineState::stays_behind(JobId other, JobId id) {
  constexpr std::int64_t kIterationsInFlight = 2;
  return key(other) - kIterationsInFlight * std::max<std::int64_t>(0, run(other).key_fall) - kKeyRounding > key(id);
}

Time EngineState::promised(const JobRun& run, Time now) {
  Time service;
  for (const Promise& promise : run.promises) {
    if (promise.at <= now) service += promise.service;
  }
  return service;
}

void EngineState::settle(JobRun& run, Time now) {
  if (run.next_promise > now) return;
  const Time service = promised(run, now);
  run.remaining_service -= service;
  run.compute += service;
  run.key_is_stale = true;
  std::erase_if(run.promises, [&](const Promise& promise) { return promise.at <= now; });
  run.next_promise = Time::never();
  for (const Promise& promise : run.promises) run.next_promise = std::min(run.next_promise, promise.at);
}

void EngineState::touch(CellId id) {
  if (at(id).touched) return;
  at(id).touched = true;
  touched.push_back(id);
}

void EngineState::set_state(JobId id, JobState state) {
  JobRun& run = jobs[id.index()];
  CONTEND_CHECK(is_legal_step(run.state, state), "a job takes only legal steps");
  run.state = state;
  if (state == JobState::finished || state == JobState::failed) ++jobs_ended;
  fingerprint.add(static_cast<std::uint64_t>(clock.ns()));
  fingerprint.add((std::uint64_t{id.value()} << 8) | static_cast<std::uint64_t>(state));
}

JobView EngineState::job(JobId id) const {
  const JobRun& run = jobs[id.index()];
  return {id,
          run.spec->submit,
          run.spec->gpus,
          run.spec->memory_per_gpu,
          run.plan->compute_total * run.spec->iterations,
          run.remaining_service - promised(run, clock)};
}

void EngineState::jobs_on(GpuId id, std::vector<JobId>& on_gpu) const {
  for (const Occupant& occupant : cells[gpu[id.index()].cell.index()].occupants) on_gpu.push_back(occupant.job);
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

Time EngineState::load(GpuId id) const {
  const Cell& cell = cells[gpu[id.index()].cell.index()];
  if (cell.load_is_stale) {
    cell.load = Time{};
    for (const Occupant& occupant : cell.occupants) {
      cell.load += occupant.remaining_compute + jobs[occupant.job.index()].remaining_communication;
    }
    cell.load_is_stale = false;
  }
  return cell.load - done_in_chain(cell).duration;
}

}  // namespace contend
