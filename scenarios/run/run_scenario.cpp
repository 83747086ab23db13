#include "scenarios/run/run_scenario.hpp"
#include "scenarios/run/account_tree.hpp"

#include "models/energy/meter.hpp"
#include "models/overlap/volume.hpp"
#include "models/workload.hpp"
#include "network/clos.hpp"
#include "network/server_groups.hpp"
#include "policies/placement/level_placement.hpp"
#include "policies/placement/pinned.hpp"
#include "results/certificate.hpp"
#include "results/graph_rows.hpp"
#include "results/run_logs.hpp"
#include "results/transfer_rows.hpp"
#include "scenarios/keys/key_tables.hpp"
#include "scenarios/keys/metering.hpp"
#include "scenarios/run/fabric.hpp"
#include "scenarios/run/islands.hpp"
#include "scenarios/run/job_paces.hpp"
#include "scenarios/run/job_regimes.hpp"
#include "scenarios/run/job_sharing.hpp"
#include "scenarios/run/job_sizes.hpp"
#include "scenarios/run/job_traffic.hpp"
#include "scenarios/run/level_tree.hpp"
#include "scenarios/run/make_network.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/run/rounds_kept.hpp"
#include "scenarios/run/scenario_failures.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/study/study_run.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/transfer_log.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

Workload workload_of(const TrainingSystem& system, const WorkloadSetup& setup, const std::vector<JobRequest>& jobs) {
  const ClusterSetup& cluster = system.cluster;
  TrainingGraphs graphs{system};
  Workload workload = build_workload(
      jobs, [&](const std::string& model, int gpus) { return graphs(model, gpus); }, cluster.gpus_per_server);
  add_level_wish(setup.level, workload);
  const bool are_elastic = std::ranges::any_of(jobs, &JobRequest::elastic);
  if (cluster.types.empty() && !are_elastic) return workload;
  const std::optional<ThroughputTable> table = throughputs_of(cluster, setup);
  if (!cluster.types.empty()) add_paces(system, setup, table, workload);
  if (are_elastic) add_sizes(system, setup, table, jobs, workload);
  if (table) add_regimes(cluster, setup, *table, jobs, workload);
  return workload;
}

Workload scenario_workload(const Scenario& scenario, std::uint64_t seed, JobLists* lists) {
  JobLists own;
  return workload_of(scenario, scenario.workload, scenario_jobs(scenario, seed, lists != nullptr ? *lists : own)->jobs);
}

std::vector<std::size_t> observed_gpus(const ClusterSetup& cluster, const NetworkSetup& network,
                                       const IterationStudy& study) {
  const int per_server = cluster.gpus_per_server;
  const bool all = !study.given() || network.traits().has_topology;
  const int servers = all ? cluster.servers : (study.workers.front() + per_server - 1) / per_server;
  std::vector<std::size_t> gpus;
  for (const NamedServerType& type : cluster.types)
    gpus.insert(gpus.end(), static_cast<std::size_t>(type.servers), static_cast<std::size_t>(type.gpus_per_server));
  gpus.resize(static_cast<std::size_t>(servers), static_cast<std::size_t>(per_server));
  return gpus;
}

namespace {

template <class Port>
bool is_outside(std::span<const PolicyRow<Port>> table, const PolicyChoice& choice) {
  return std::ranges::any_of(table, [&](const auto& row) { return row.name == choice.name && row.is_outside; });
}

bool has_outside_policy(const Scenario& scenario) {
  return is_outside(scheduling_policies(), scenario.scheduling) ||
         is_outside(placement_policies(), scenario.placement) ||
         is_outside(communication_policies(), scenario.communication);
}

/// True if a run that leaps need not show every round of its iterations to anybody.
bool may_leave_rounds_out(const Scenario& scenario, const RunHooks& hooks) {
  return scenario.engine.leap && hooks.observer == nullptr && hooks.decisions == nullptr &&
         hooks.link_uses == nullptr && !hooks.watched && !has_outside_policy(scenario) &&
         std::ranges::any_of(scenario.training, [](const TrainingEntry& each) { return each.parallel.has_value(); });
}

}  // namespace

RunResult run_scenario(const Scenario& scenario, std::uint64_t seed, const RunHooks& hooks) {
  if (scenario.overlap.given()) {
    TrainingSystem seeded = scenario;
    seeded.seed = seed;
    if (hooks.observer != nullptr) {
      StudyJob job = study_job(seeded, study_variants(seeded.overlap).front(), kObservedIterations);
      static_cast<void>(
          run_workload(job.scenario, std::move(job.workload), seed, {.observer = hooks.observer, .monitor = {}}));
    }
    return run_study(seeded, {.threads = hooks.threads, .monitor = hooks.monitor, .model = hooks.model});
  }
  const auto run = [&](const Scenario& each) {
    return run_workload(each, scenario_workload(each, seed, hooks.lists), seed, hooks);
  };
  return may_leave_rounds_out(scenario, hooks) ? leaping_rounds(scenario, run) : run(scenario);
}

namespace {

/// The names of the jobs, as PolicyContext wants them.
std::function<std::string(JobId)> names_of(const std::vector<JobSpec>& jobs) {
  auto names = std::make_shared<std::vector<std::string>>();
  for (const JobSpec& job : jobs) names->push_back(job.name);
  return [names](JobId job) { return (*names)[job.index()]; };
}

/// What policies know of the workload and of the cost of transfers.
PolicyContext context_of(const Workload& workload, const AlphaBeta& cost, std::uint64_t seed,
                         const std::shared_ptr<PolicyFailure>& failure) {
  PolicyContext context{.seed = seed, .beta = cost.beta, .eta = cost.eta, .failure = failure};
  context.vc_name = [names = workload.vcs](std::int32_t vc) { return names[static_cast<std::size_t>(vc)]; };
  return context;
}

/// Takes the place of a placement policy outside of the program, which isn't to be started for a check of a scenario.
class UnaskedPlacement final : public PlacementPolicy {
 public:
  void place(const ClusterView&, const JobView&, std::vector<GpuId>&) override {}
};

/// How jobs exchange gradients, by job; empty if all do so as usual.
std::vector<JobExchange> exchanges_of(const NetworkSetup& network, const std::vector<TrainingEntry>& training,
                                      const Workload& workload) {
  std::vector<JobExchange> exchanges;
  if (training.empty()) return exchanges;
  std::map<std::string, JobExchange, std::less<>> by_model;
  for (const JobSpec& job : workload.jobs) {
    const auto [known, is_new] = by_model.try_emplace(job.model);
    if (is_new) known->second = exchange_of_model(network, training, job.model);
    exchanges.push_back(known->second);
  }
  const bool usual = std::ranges::all_of(by_model, [](const auto& each) { return each.second == JobExchange{}; });
  return usual ? std::vector<JobExchange>{} : exchanges;
}

/// The options of the engine but the sharing of GPUs and the place of failures.
SimulationOptions options_of(const Scenario& scenario, const Workload& workload, std::uint64_t seed,
                             const RunHooks& hooks) {
  SimulationOptions options;
  options.leap = scenario.engine.leap;
  options.until = scenario.engine.until.value_or(Time::never());
  options.window = measured_window(scenario.measure);
  options.observer = hooks.observer;
  options.monitor = hooks.monitor;
  options.rules = scheduling_rules(scenario.rules, scenario.workload);
  options.costs = costs_by_job(cluster_spec(scenario.cluster, scenario.workload, workload), scenario.cluster,
                               scenario.failures, scenario.checkpoints, workload, seed);
  const CheckpointSetup& saved = scenario.checkpoints;
  if (saved.store) options.rules.store = StoreRates{*saved.store, saved.rate.value_or(ByteRate{})};
  if (!options.costs)
    options.rules.preemption = checkpoint_costs(scenario.cluster, scenario.failures, scenario.checkpoints, {});
  if (scenario.cluster.host.any())
    options.hosts = make_host_links(scenario.cluster.host, static_cast<std::size_t>(scenario.cluster.servers),
                                    scenario.cluster.gpus_per_server);
  options.failures = failure_spec(scenario.cluster, scenario.failures, scenario.loans, seed);
  check_failures(scenario, workload, options.failures);
  options.interference =
      interference_of(scenario.network, scenario.overlap, scenario.training, path_of(scenario.cluster.servers));
  options.decisions = hooks.decisions;
  options.keeps_uses = meters(scenario.cluster);
  return options;
}

/// PolicyContext::server_groups; the scenario must outlive it.
ServerGroups groups_of(const Scenario& scenario) {
  if (!scenario.network.islands.empty()) return [&] { return island_groups(scenario.cluster, scenario.network); };
  if (scenario.network.sites)
    return [&] {
      return site_groups(read_sites(scenario.network).first(static_cast<std::size_t>(scenario.cluster.servers)));
    };
  if (scenario.network.traits().has_topology)
    return [&] { return server_groups(build_topology(scenario.cluster, scenario.network)); };
  return {};
}

LevelTree levels_of(const Scenario& scenario, const ServerGroups& groups, const std::vector<LevelWish>& wishes) {
  if (scenario.cluster.levels.empty() && !wishes.empty())
    throw InputError{{.key = "cluster.levels",
                      .reason = "jobs ask for levels, and the cluster has none",
                      .hint = "say levels: [{name: rack, servers: 8}]"}};
  if (scenario.placement.name == "vclos" &&
      std::ranges::any_of(wishes, [](const LevelWish& wish) { return wish.segment > 0; }))
    throw InputError{
        {.key = "policies.placement",
         .reason = "vclos gives a job spines for one set of leaves, and segments are placed one after another",
         .hint = "choose another policy, such as consolidated"}};
  return level_tree(scenario.cluster, groups, wishes);
}

std::unique_ptr<Simulation> make_simulation(const Scenario& scenario, Workload workload, std::uint64_t seed,
                                            const RunHooks& hooks, std::unique_ptr<PlacementPolicy> placement,
                                            const std::shared_ptr<PolicyFailure>& failure,
                                            TransferLog* transfers = nullptr) {
  const AlphaBeta cost = network_cost(scenario.network);
  const bool flow = scenario.network.traits().has_topology;
  // First of all: it checks that the cluster has the virtual clusters that jobs name, as policies take for
  // granted.
  ClusterSpec cluster = cluster_spec(scenario.cluster, scenario.workload, workload);
  PolicyContext context = context_of(workload, cost, seed, failure);
  if (has_outside_policy(scenario)) context.job_name = names_of(workload.jobs);
  context.quantum = scenario.rules.quantum;
  context.accounts = [&] { return account_tree(scenario.cluster, workload); };
  GpuSharing sharing = sharing_of(scenario.cluster, scenario.sharing, workload);
  context.server_groups = groups_of(scenario);
  if (flow && scenario.network.routing == Routing::planned) {
    context.clos = [&] { return clos_of(build_topology(scenario.cluster, scenario.network)); };
    context.reserved = std::make_shared<ReservedSpines>();
  }
  cluster.levels = levels_of(scenario, context.server_groups, workload.levels);
  context.levels = std::make_shared<const LevelTree>(cluster.levels);
  context.sent_per_second = [&] { return sent_per_second(scenario.cluster, scenario.network, workload); };
  if (!placement) placement = make_policy(placement_policies(), scenario.placement, context);
  if (!workload.levels.empty()) placement = make_level_placement(context.levels, std::move(placement));
  if (!workload.places.empty()) placement = make_pinned_placement(workload.places, std::move(placement));
  const std::size_t jobs = workload.jobs.size();
  NetworkRecords records{.watched = {}, .uses = hooks.link_uses, .stalls = hooks.stalls, .reserved = context.reserved};
  if (flow) records.job_name = names_of(workload.jobs);
  if (scenario.network.delays || hooks.watched) records.watched.assign(jobs, scenario.network.delays);
  if (hooks.watched) records.watched[hooks.watched->index()] = true;
  auto network = make_network(scenario.cluster, scenario.network, scenario.failures, seed, jobs, std::move(records),
                              exchanges_of(scenario.network, scenario.training, workload));
  if (auto* logged = dynamic_cast<LoggedNetwork*>(network.get()); logged != nullptr && transfers != nullptr)
    logged->log_to(*transfers);
  PolicySet policies{make_policy(scheduling_policies(), scenario.scheduling, context),
                     std::move(placement),
                     make_policy(communication_policies(), scenario.communication, context),
                     scenario.scheduling.name,
                     scenario.placement.name,
                     scenario.communication.name};
  SimulationOptions options = options_of(scenario, workload, seed, hooks);
  options.sharing = std::move(sharing);
  options.failure = failure;
  if (const std::vector<PartFault> faults = part_faults(scenario.sharing, workload); !faults.empty())
    throw InputError{{.key = "scheduling.sharing.law",
                      .reason = fmt::format("job {} {}", quote_for_message(workload.jobs[faults.front().job].name),
                                            faults.front().reason),
                      .hint = kPartHint}};
  for (const JobSpec& job : workload.jobs)
    if (const std::string mix = why_not_mixed(scenario.scheduling, cluster, job); !mix.empty())
      throw InputError{
          fmt::format("job {}: {}; name one type, or choose a policy that leaves the type to the engine, "
                      "such as fifo",
                      quote_for_message(job.name), mix)};
  return std::make_unique<Simulation>(cluster, std::move(workload), std::move(policies), std::move(network),
                                      std::move(options));
}

}  // namespace

RunResult run_workload(const Scenario& scenario, Workload workload, std::uint64_t seed, const RunHooks& hooks,
                       std::unique_ptr<PlacementPolicy> placement) {
  const auto failure = std::make_shared<PolicyFailure>();
  std::optional<CertificateRecorder> recorder;
  std::optional<TransferRows> transfers;
  RunHooks recording = hooks;
  std::string graphs;
  if (hooks.logs != nullptr) {
    recording.decisions = &recorder.emplace(seed, workload.jobs);
    transfers.emplace(seed, workload.jobs);
    graphs = graph_rows(seed, workload);
  }
  const auto simulation = make_simulation(scenario, std::move(workload), seed, recording, std::move(placement), failure,
                                          transfers ? &*transfers : nullptr);
  RunResult result = simulation->run();
  if (recorder) *hooks.logs = {recorder->take(result.end), transfers->take(result.end), std::move(graphs)};
  if (meters(scenario.cluster)) {
    const Metering metering = metering_of(scenario.cluster, scenario.meter);
    measure(metering.gpus, result);
    result.currency = metering.currency;
  }
  if (failure->failed()) {
    if (hooks.failure == nullptr) throw PolicyError{failure->reason()};
    *hooks.failure = failure->reason();
  }
  const Workload& ran = simulation->workload();
  if (ran.graphs.empty()) return result;
  std::map<std::pair<std::size_t, int>, IterationTraffic> known;  // by graph and ranks on a server
  for (JobResult& job : result.jobs) {
    const JobSpec& spec = ran.jobs[job.id.index()];
    if (spec.duration || job.start == Time::never() || job.elastic) continue;  // each size has traffic of its own
    const int per_server = (job.gpus + job.servers - 1) / job.servers;
    const auto [traffic, is_new] = known.try_emplace({spec.graph, per_server});
    if (is_new) traffic->second = iteration_traffic(ran.graphs[spec.graph], per_server);
    job.traffic = traffic->second;
    if (spec.graph < ran.notes.size()) job.notes = ran.notes[spec.graph];
    if (spec.pace >= 0)
      job.notes = {.bound = {}, .stale = job.notes.stale, .work = {}, .plan = {}};  // they are of one device
  }
  return result;
}

std::vector<std::string> why_never_start(const Scenario& scenario, Workload workload) {
  std::unique_ptr<PlacementPolicy> placement;
  if (is_outside(placement_policies(), scenario.placement)) placement = std::make_unique<UnaskedPlacement>();
  return make_simulation(scenario, std::move(workload), scenario.seed, {}, std::move(placement), nullptr)
      ->why_never_start();
}

}  // namespace contend
