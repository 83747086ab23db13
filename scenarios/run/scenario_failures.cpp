#include "scenarios/run/scenario_failures.hpp"

#include "scenarios/keys/key_tables.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/run/scenario_loans.hpp"

#include "models/reliability/checkpoint_period.hpp"
#include "models/reliability/presets.hpp"
#include "sim/cluster_parts.hpp"
#include "sim/portable_math.hpp"
#include "text/quantities.hpp"
#include "traces/failure_events.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kDay_ns = 86'400e9;

Time in_ns(double ns) {
  return Time::ceil_nanoseconds(std::min(ns, static_cast<double>(DurationLaw::kLongest.ns())));
}

}  // namespace

DurationLaw law_of(const LawChoice& choice) {
  const Time mean = choice.mean ? *choice.mean : in_ns(kDay_ns / *choice.per_day);
  double parameter = choice.shape.value_or(0);
  if (choice.sigma) parameter = *choice.sigma;
  if (choice.median) {
    const double ratio = static_cast<double>(mean.ns()) / static_cast<double>(choice.median->ns());
    parameter = std::sqrt(2 * portable_log(ratio));
  }
  return {*choice.law, mean, parameter};
}

DurationLaw repair_law(const FailingComponents& each, const FailureSetup& failures) {
  return law_of(each.repair ? *each.repair : *failures.repair);
}

namespace {

std::int32_t thousandths_of(const std::optional<double>& factor) {
  return factor ? static_cast<std::int32_t>(std::lround(*factor * Slowdown::kFullPace)) : Slowdown::kFullPace;
}

int gpus_of(const FailingComponents& each, const ClusterSetup& cluster) {
  if (each.of == ComponentScope::gpu) return 1;
  return cluster.gpus_per_server * each.servers.value_or(1);
}

}  // namespace

std::vector<ComponentClass> failing_components(const ClusterSetup& cluster, const FailureSetup& failures) {
  std::vector<ComponentClass> classes;
  if (failures.preset) {
    for (const PresetRate& rate : find_failure_preset(*failures.preset)->rates)
      classes.push_back({std::string{rate.name}, rate.is_gpu ? 1 : cluster.gpus_per_server, rate.is_gpu,
                         DurationLaw::exponential(in_ns(rate.mean_s * 1e9)), law_of(*failures.repair)});
  }
  for (const FailingComponents& each : failures.components) {
    if (each.is_of_fabric() || each.fails->is_never()) continue;  // the network has those: failing_links()
    classes.push_back({each.name, gpus_of(each, cluster),
                       each.of == ComponentScope::gpu && each.drains && (!each.is_slow() || each.found_by),
                       law_of(*each.fails), repair_law(each, failures)});
    classes.back().found_by = each.found_by.value_or(FoundBy::delay);
    if (!each.is_slow()) continue;
    classes.back().slows = Slowdown{thousandths_of(each.slows), thousandths_of(each.slows_network)};
  }
  return classes;
}

namespace {

std::optional<DurationLaw> law_of_jobs(const FailureSetup& failures) {
  if (failures.jobs && failures.jobs->is_never()) return std::nullopt;
  if (failures.jobs) return law_of(*failures.jobs);
  const FailurePreset* const preset = failures.preset ? find_failure_preset(*failures.preset) : nullptr;
  if (preset == nullptr || !preset->job_mean_s) return std::nullopt;
  return DurationLaw::exponential(in_ns(*preset->job_mean_s * 1e9));
}

}  // namespace

FailureSpec failure_spec(const ClusterSetup& cluster, const FailureSetup& failures, const LoanSetup& loans,
                         std::uint64_t seed) {
  FailureSpec spec;
  if (!failures.any_of_servers() && loans.servers == 0) return spec;
  spec.components = failing_components(cluster, failures);
  spec.of_jobs = law_of_jobs(failures);
  spec.jitter = failures.jitter;
  spec.stalls_fail = failures.stalls_fail();
  spec.seed = seed;
  if (failures.events) spec.outages = read_failure_events(*failures.events, cluster.servers, cluster.gpus_per_server);
  spec.detection = failures.detection;
  spec.detectors = failures.detectors;
  spec.detectors.slow = thousandths_of(failures.slow);
  spec.jobs_found_by = failures.jobs_found_by.value_or(FoundBy::delay);
  spec.hangs = failures.hangs;
  spec.diagnosis = failures.diagnosis;
  spec.holds_gpus = failures.holds_gpus;
  spec.requeues_last = failures.requeues_last;
  spec.retries = failures.retries;
  spec.spares = failures.spares;
  spec.spare_delay = failures.spare_delay;
  spec.cold_spares = failures.cold_spares;
  spec.cold_delay = failures.cold_delay;
  spec.mitigation = failures.mitigation;
  if (spec.mitigation.any() && !spec.has_slow_components())
    throw InputError{Complaint{.key = "failures.mitigation.microbatches",
                               .reason = "no component and no row of failures.events slows anything down",
                               .hint = "give slows or slows_network, or leave failures.mitigation out"}};
  spec.redundancy = failures.redundancy;
  spec.loans = loan_spec(loans);
  spec.redundancy.step_cost = thousandths_of(failures.step_cost);
  return spec;
}

double interruption_mean_s(const ClusterSetup& cluster, const FailureSetup& failures, const SavedJob& job) {
  double rate = 0;
  const int most = cluster.gpus_per_server, per_server = job.per_server > 0 ? job.per_server : most;
  const int servers = (job.gpus + per_server - 1) / per_server;
  for (const ComponentClass& each : failing_components(cluster, failures)) {
    const bool is_isolated = each.found_by == FoundBy::slowdown &&
                             std::max(each.slows->compute, each.slows->network) >= thousandths_of(failures.slow);
    if (each.slows && !is_isolated) continue;  // it interrupts nobody
    // Larger components have as many GPUs as if all servers had the most.
    const int covered = each.gpus >= most ? servers * most : each.drains ? servers * per_server : job.gpus;
    rate += (covered + each.gpus - 1) / each.gpus / each.failure.mean().to_seconds();
  }
  if (const auto own = law_of_jobs(failures)) rate += 1 / own->mean().to_seconds();
  return rate > 0 ? 1 / rate : 0;
}

namespace {

/// The bytes that each GPU of a job saves, which `checkpoints.size` gives.
Bytes saved_by_each(const CheckpointSetup& saved, const SavedJob& job) {
  return saved.size->of_model ? Bytes{(job.state.count() + job.gpus - 1) / job.gpus} : saved.size->bytes;
}

/// The time to write a checkpoint of a job that writes alone; 0 if that isn't what its size and a rate give.
Time time_to_write(const CheckpointSetup& saved, const SavedJob& job) {
  if (!saved.size || !(saved.store || saved.rate)) return Time{};
  const auto rate_of = [](const std::optional<ByteRate>& rate) { return rate ? rate->bytes_per_second() : HUGE_VAL; };
  return in_ns(saved_by_each(saved, job).to_double() * job.gpus / std::min(rate_of(saved.store), rate_of(saved.rate)) *
               1e9);
}

/// For how long a checkpoint stops a job that writes alone.
Time stop_of(const CheckpointSetup& saved, const PreemptionCosts& costs, const SavedJob& job) {
  return costs.checkpoint + (saved.store && !costs.writes_beside ? time_to_write(saved, job) : Time{});
}

/// How long a checkpoint takes of a job that writes alone, until it can be restored.
Time checkpoint_time(const CheckpointSetup& saved, const PreemptionCosts& costs, const SavedJob& job) {
  return std::max({stop_of(saved, costs, job), costs.persist, time_to_write(saved, job)});
}

/// What makes checkpoints shorter.
std::string faster_checkpoint(const CheckpointSetup& saved, const PreemptionCosts& costs) {
  if (saved.store && (!saved.rate || saved.store->bytes_per_second() <= saved.rate->bytes_per_second()))
    return "a higher checkpoints.store";
  if (saved.copy_rate && costs.checkpoint >= std::max(costs.persist, Time::nanoseconds(1)))
    return "a higher checkpoints.copy_rate";
  if (saved.size && saved.rate) return "a higher checkpoints.rate";
  return costs.persist > costs.checkpoint ? "a shorter checkpoints.persist" : "a lower checkpoints.cost";
}

/// Work between two stops of a job whose workers live for a while: they start, work and save in that time.
void stop_at_lifetime(const CheckpointSetup& saved, const SavedJob& job, PreemptionCosts& costs) {
  if (!saved.lifetime) return;
  const Time save = stop_of(saved, costs, job);
  costs.checkpoint_interval = *saved.lifetime - costs.start - save;
  if (costs.checkpoint_interval <= costs.restart)
    throw InputError{Complaint{
        .key = "checkpoints.lifetime",
        .reason =
            fmt::format("workers are stopped after {:.6g} s, and a job on {} GPUs needs {:.6g} s until its slowest "
                        "worker has started{}, and {:.6g} s to save its work",
                        saved.lifetime->to_seconds(), job.gpus, costs.start.to_seconds(),
                        costs.restart > Time{} ? fmt::format(", {:.6g} s to restart", costs.restart.to_seconds()) : "",
                        save.to_seconds()),
        .hint = "a longer lifetime"}};
  costs.checkpoint += costs.start;
  costs.renews = costs.stops_iterations();
}

}  // namespace

PreemptionCosts checkpoint_costs(const ClusterSetup& cluster, const FailureSetup& failures,
                                 const CheckpointSetup& checkpoints, const SavedJob& job) {
  const CheckpointSetup& saved = checkpoints;
  PreemptionCosts costs;
  costs.restart = saved.restart;
  costs.start = job.start.value_or(saved.start.mean);
  if (saved.policy == CheckpointPolicy::none) {
    costs.checkpoint_interval = kNeverSaved;
    costs.iterations = kNoIterationSaved;
  } else if (saved.policy == CheckpointPolicy::just_in_time) {
    costs.rescue = saved.cost;
  }
  if (!saved.has_period()) return costs;
  costs.checkpoint = saved.cost;
  if (saved.copy_rate) {
    const Time copied = in_ns(saved_by_each(saved, job).to_double() / saved.copy_rate->bytes_per_second() * 1e9);
    costs.checkpoint = std::max(Time{}, copied - job.passes);
  }
  costs.persist = saved.persist;
  costs.iterations = saved.iterations.value_or(0);
  const Time to_write = time_to_write(saved, job);
  if (saved.store) {
    costs.written = saved_by_each(saved, job);
    costs.writes_beside = saved.policy == CheckpointPolicy::asynchronous;
  } else if (to_write > Time{}) {
    (saved.policy == CheckpointPolicy::synchronous ? costs.checkpoint : costs.persist) = to_write;
  }
  costs.checkpoint_interval = saved.period.time;
  if (saved.period.optimal) {
    const double stop_s = stop_of(saved, costs, job).to_seconds();
    if (stop_s == 0)
      throw InputError{
          Complaint{.key = "checkpoints.period",
                    .reason = fmt::format("the passes of an iteration hide all of the copy of {} on each of {} GPUs, "
                                          "and checkpoints that cost nothing have no optimal period",
                                          print_quantity(saved_by_each(saved, job)), job.gpus),
                    .hint = "give a period"}};
    const double mean_s = interruption_mean_s(cluster, failures, job);
    if (mean_s == 0)
      throw InputError{
          Complaint{.key = "checkpoints.period",
                    .reason = "nothing interrupts jobs at a rate above 0, so that there is no optimal period",
                    .hint = "give a period"}};
    costs.checkpoint_interval = in_ns(optimal_period(stop_s, mean_s) * 1e9);
  }
  const Time longest = checkpoint_time(saved, costs, job);
  if (costs.checkpoint_interval > Time{} && longest > costs.checkpoint_interval)
    throw InputError{Complaint{
        .key = "checkpoints.period",
        .reason = fmt::format("a checkpoint of {} GPUs takes {:.6g} s, longer than the period of {:.6g} s between two "
                              "of them",
                              job.gpus, longest.to_seconds(), costs.checkpoint_interval.to_seconds()),
        .hint = "a longer period, or " + faster_checkpoint(saved, costs)}};
  stop_at_lifetime(saved, job, costs);
  return costs;
}

namespace {

SavedJob saved_job(const ClusterSpec& cluster, const Workload& workload, const JobSpec& job, const StartUp& start = {},
                   std::uint64_t seed = 1) {
  SavedJob saved{job.gpus};
  if (start.given()) saved.start = slowest_start(start, job.gpus, seed, "start/" + job.name);
  std::span<const JobPace> paces;
  if (job.pace >= 0) paces = workload.paces[static_cast<std::size_t>(job.pace)];
  const std::vector<std::int32_t> types = types_in_order(cluster, job, paces);
  if (!types.empty()) saved.per_server = gpus_per_server(cluster, types.front());
  if (job.duration || job.graph >= workload.notes.size()) return saved;
  saved.state = workload.notes[job.graph].state;
  saved.passes = workload.notes[job.graph].passes;
  return saved;
}

/// True if it is known what an iteration of the job takes that is alone.
bool has_usual_iterations(const ClusterSetup& cluster, const JobSpec& job) {
  return cluster.types.empty() && cluster.vcs.empty() && !job.duration && !job.model.empty() && job.sizes < 0 &&
         (job.gpu_share <= 0 || job.gpu_share == kWholeGpu) && job.gpus <= cluster.servers * cluster.gpus_per_server;
}

/// Throws InputError if workers of a job don't live for as long as one of its iterations takes when it is alone.
void check_lifetimes(const Scenario& scenario, const Workload& workload) {
  const CheckpointSetup& saved = scenario.checkpoints;
  if (!saved.lifetime) return;
  std::map<std::pair<std::string, int>, Time> known;
  for (const JobSpec& job : workload.jobs) {
    if (!has_usual_iterations(scenario.cluster, job)) continue;
    const SavedJob its = saved_job({}, workload, job, saved.start, scenario.seed);
    const Time left = checkpoint_costs(scenario.cluster, scenario.failures, saved, its).checkpoint_interval;
    const auto [iteration, is_new] = known.try_emplace({job.model, job.gpus});
    if (is_new) iteration->second = lone_iteration(scenario, job.model, job.gpus);
    if (iteration->second <= left) continue;
    throw InputError{Complaint{
        .key = "checkpoints.lifetime",
        .reason = fmt::format("of {:.6g} s that workers of job {}, on {} GPUs, live, {:.6g} s are left to work, and an "
                              "iteration takes {:.6g} s when the job is alone: it would never get on",
                              saved.lifetime->to_seconds(), quote_for_message(job.name), job.gpus, left.to_seconds(),
                              iteration->second.to_seconds()),
        .hint = "a longer lifetime"}};
  }
}

/// Throws InputError if a checkpoint of a job takes longer than the iterations between two of them when it is alone.
void check_iterations_between(const Scenario& scenario, const Workload& workload) {
  const CheckpointSetup& saved = scenario.checkpoints;
  if (!saved.iterations) return;
  std::set<std::pair<std::string, int>> known;
  for (const JobSpec& job : workload.jobs) {
    if (!has_usual_iterations(scenario.cluster, job) || !known.insert({job.model, job.gpus}).second) continue;
    const SavedJob its = saved_job({}, workload, job);
    const PreemptionCosts costs = checkpoint_costs(scenario.cluster, scenario.failures, scenario.checkpoints, its);
    const double takes_s = checkpoint_time(saved, costs, its).to_seconds();
    const auto count = static_cast<double>(*saved.iterations);
    // An iteration takes at least what a GPU computes in it.
    const GpuTime work = workload.graphs[job.graph].compute_total();
    if (work.to_seconds() / job.gpus * count >= takes_s) continue;
    const double between_s = lone_iteration(scenario, job.model, job.gpus).to_seconds() * count;
    if (between_s >= takes_s) continue;
    throw InputError{Complaint{
        .key = "checkpoints.iterations",
        .reason = fmt::format("a checkpoint of job {}, on {} GPUs, takes {:.6g} s, longer than the {} iterations "
                              "between two of them, which take {:.6g} s when it is alone",
                              quote_for_message(job.name), job.gpus, takes_s, *saved.iterations, between_s),
        .hint = "more iterations, or " + faster_checkpoint(saved, costs)}};
  }
}

void check_saved(const Scenario& scenario, const Workload& workload) {
  const CheckpointSetup& saved = scenario.checkpoints;
  if (!saved.has_period()) return;
  const auto refuse = [](const char* key, std::string reason, const char* hint) {
    throw InputError{Complaint{.key = key, .reason = std::move(reason), .hint = hint}};
  };
  const bool has_period = saved.period.optimal || saved.period.time > Time{} || saved.lifetime;
  const ClusterSpec cluster = cluster_spec(scenario.cluster, scenario.workload, workload);
  std::set<SavedJob> known;
  for (const JobSpec& job : workload.jobs) {
    if (job.service >= 0) continue;  // its answers are with its users
    const std::string name = quote_for_message(job.name);
    const SavedJob its = saved_job(cluster, workload, job, saved.start, scenario.seed);
    if (saved.size && saved.size->of_model && its.state == Bytes{})
      refuse("checkpoints.size",
             fmt::format("auto: nothing says how large the model of job {} is, which {}", name,
                         job.duration ? "has a duration" : "trains no entry of `training`"),
             "give all jobs a training entry, or the bytes that each GPU saves, such as 10GB");
    if (known.insert(its).second)
      static_cast<void>(
          checkpoint_costs(scenario.cluster, scenario.failures, scenario.checkpoints, its));  // it may throw
    if (job.duration && saved.store && scenario.rules.kill_at_limit && job.limit)
      refuse("checkpoints.store",
             fmt::format("job {} is killed at its time limit, which jobs that write to a store can't be", name),
             "set scheduling.kill_at_limit to false, or give the checkpoints a rate in place of a store");
    if (job.duration && !has_period)
      refuse("checkpoints.period", fmt::format("job {} has a duration, and so needs a period", name),
             "such as checkpoints.period: 30min");
  }
  check_iterations_between(scenario, workload);
  check_lifetimes(scenario, workload);
}

/// What slows jobs down: the key that says so, and its value.
struct SlowCause {
  std::string key;
  std::string what;
  bool slows_network = false;
};

std::vector<SlowCause> slow_causes(const FailureSetup& failures, const FailureSpec& spec) {
  std::vector<SlowCause> causes;
  for (const FailingComponents& each : failures.components)
    if (each.is_slow())
      causes.push_back({"failures.components", fmt::format("`{}`", each.name), each.slows_network.value_or(1) > 1});
  for (const Outage& each : spec.outages)
    if (each.slows) causes.push_back({"failures.events", "an event", each.slows->network > Slowdown::kFullPace});
  if (spec.jitter > 0) causes.push_back({"failures.jitter", "jitter"});
  return causes;
}

bool has_interference(const Scenario& scenario) {
  return !interference_of(scenario.network, scenario.overlap, scenario.training, path_of(scenario.cluster.servers))
              .none();
}

void check_slowed(const Scenario& scenario, const Workload& workload, const FailureSpec& spec) {
  const auto timed = std::ranges::find_if(workload.jobs, [](const JobSpec& job) { return job.duration.has_value(); });
  for (const SlowCause& cause : slow_causes(scenario.failures, spec)) {
    const auto refuse = [&](std::string reason, std::string hint) {
      throw InputError{Complaint{.key = cause.key, .reason = std::move(reason), .hint = std::move(hint)}};
    };
    if (cause.slows_network && !scenario.network.traits().paces_transfers)
      refuse(fmt::format("{} slows transfers, which network.fidelity `flow` can't", cause.what),
             "leave slows_network out, change links by network.events, or set network.fidelity to contention");
    if (has_interference(scenario))
      refuse(fmt::format("{} slows what network.interference slows, too, and the two can't be simulated together",
                         cause.what),
             "leave one of the two out, or give network.interference: none");
    if (timed != workload.jobs.end())
      refuse(fmt::format("{} changes the time of iterations, and job {} has a duration", cause.what,
                         quote_for_message(timed->name)),
             "give all jobs a model and iterations, or leave out what slows them");
  }
}

/// A job as far as it matters whether it can go on without some of its GPUs.
struct CoveredJob {
  const std::string& name;
  bool is_timed;
  int gpus;
  bool is_elastic;
  int gpu_share;
  int stages;  ///< of its own pipelines; 1: each GPU holds all of its network
};

void check_covered(const RedundancyRule& rule, const CoveredJob& job) {
  const auto refuse = [](const char* key, std::string reason, const char* hint) {
    throw InputError{Complaint{.key = key, .reason = std::move(reason), .hint = hint}};
  };
  const std::string name = quote_for_message(job.name);
  if (job.is_timed && rule.cover == RedundancyRule::Cover::neighbours && rule.stages < 2)
    refuse("failures.redundancy.stages", fmt::format("job {} has a single stage, which has no neighbour", name),
           "give the stages of the pipelines of jobs with a duration");
  if (job.is_elastic || (job.gpu_share > 0 && job.gpu_share < kWholeGpu))
    refuse("failures.redundancy.cover",
           fmt::format("job {} {}, and so can't go on without some of its GPUs", name,
                       job.is_elastic ? "is elastic" : "reserves parts of GPUs"),
           "leave redundancy out");
}

/// Throws InputError if the rule says of the jobs what has no effect on any, or what `interferes` rules out.
void check_covered_jobs(const RedundancyRule& rule, const std::vector<CoveredJob>& jobs, bool interferes) {
  if (!rule.any() || jobs.empty()) return;
  for (const CoveredJob& job : jobs) check_covered(rule, job);
  if (interferes && !std::ranges::all_of(jobs, &CoveredJob::is_timed))
    throw InputError{Complaint{.key = "failures.redundancy.cover",
                               .reason = "what redundancy adds to the tasks of jobs of iterations can't be simulated "
                                         "together with network.interference",
                               .hint = "leave one of the two out, or give network.interference: none"}};
  const auto is_divided = [&](const CoveredJob& job) { return job.is_timed && job.gpus % rule.stages == 0; };
  if (std::ranges::any_of(jobs, is_divided)) return;
  if (std::ranges::any_of(jobs, &CoveredJob::is_timed))
    throw InputError{
        Complaint{.key = "failures.redundancy.stages",
                  .reason = fmt::format("{} stages divide the GPUs of no job with a duration, so that none "
                                        "has redundancy",
                                        rule.stages),
                  .hint = "give a number of stages that divides the GPUs of some"}};
  const auto has = [&](int stages) { return std::ranges::find(jobs, stages, &CoveredJob::stages) != jobs.end(); };
  if (rule.stages > 1 && !has(rule.stages))
    throw InputError{Complaint{.key = "failures.redundancy.stages",
                               .reason = fmt::format("no job has a duration, and of those with iterations none has {} "
                                                     "stages, which parallel.pipeline of its training entry says",
                                                     rule.stages),
                               .hint = "leave it out"}};
  const auto is_alone = [](const CoveredJob& job) { return job.stages == 1; };
  if (rule.cover == RedundancyRule::Cover::neighbours && std::ranges::all_of(jobs, is_alone))
    throw InputError{Complaint{.key = "failures.redundancy.cover",
                               .reason = "no job has pipelines: each GPU holds all of the network, and there are no "
                                         "neighbouring stages",
                               .hint = "replicas, or a training entry with parallel.pipeline"}};
}

}  // namespace

void check_failures(const Scenario& scenario, const Workload& workload, const FailureSpec& spec) {
  const RedundancyRule& rule = scenario.failures.redundancy;
  std::vector<CoveredJob> covered;
  for (const JobSpec& job : workload.jobs)
    covered.push_back(
        {job.name, job.duration.has_value(), job.gpus, job.sizes >= 0, job.gpu_share, stages_of(job, rule)});
  check_covered_jobs(rule, covered, has_interference(scenario));
  const auto elastic = std::ranges::find_if(workload.jobs, [](const JobSpec& job) { return job.sizes >= 0; });
  if (spec.loans.any() && scenario.sharing.law != SharingKind::none && elastic != workload.jobs.end())
    throw InputError{Complaint{.key = "loans.servers",
                               .reason = fmt::format("job {} is elastic, and jobs that share GPUs can't shrink when a "
                                                     "server is reclaimed",
                                                     quote_for_message(elastic->name)),
                               .hint = "leave out sharing or loans, or give its list no min_gpus and max_gpus"}};
  check_saved(scenario, workload);
  check_slowed(scenario, workload, spec);
}

void check_redundancy(const RedundancyRule& rule, const std::vector<TrainingEntry>& training, bool interferes,
                      const JobList& list) {
  if (!rule.any()) return;
  std::vector<CoveredJob> covered;
  for (const JobRequest& job : list.jobs) {
    const TrainingEntry* const entry = find_entry(training, base_of(job.model));
    const int stages = entry != nullptr && entry->parallel ? entry->parallel->pipeline : 1;
    covered.push_back({job.name, job.duration.has_value(), job.gpus, job.elastic(), job.gpu_share, stages});
  }
  check_covered_jobs(rule, covered, interferes);
}

std::function<PreemptionCosts(const JobSpec&)> costs_by_job(const ClusterSpec& servers, const ClusterSetup& cluster,
                                                            const FailureSetup& failures,
                                                            const CheckpointSetup& checkpoints,
                                                            const Workload& workload, std::uint64_t seed) {
  const bool differs = checkpoints.has_period() && (checkpoints.size || checkpoints.period.optimal);
  if (!differs && !checkpoints.start.given()) return {};
  Workload kept;  // the engine asks when it has the workload
  kept.paces = workload.paces;
  kept.notes = workload.notes;
  return [servers, cluster, failures, checkpoints, kept, seed](const JobSpec& job) {
    return checkpoint_costs(cluster, failures, checkpoints, saved_job(servers, kept, job, checkpoints.start, seed));
  };
}

}  // namespace contend
