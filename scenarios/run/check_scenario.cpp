#include "scenarios/run/check_scenario.hpp"

#include "models/workload.hpp"
#include "models/workloads/fitted.hpp"
#include "scenarios/keys/key_tables.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/run/account_notes.hpp"
#include "scenarios/run/fabric.hpp"
#include "scenarios/run/job_sharing.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/run/rounds_kept.hpp"
#include "scenarios/run/run_notes.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/run/scenario_failures.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_notes.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/cluster.hpp"
#include "sim/complaints.hpp"
#include "sim/counted.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// A generated job that could never run: the cluster has fewer GPUs than its gang.
void check_size(const ClusterSetup& cluster, const std::string& key, std::string_view who, std::int64_t gpus,
                Complaints& complaints, const std::string& hint = {}) {
  const std::int64_t all = std::int64_t{cluster.servers} * cluster.gpus_per_server;
  if (gpus <= all || !cluster.types.empty()) return;  // check_generated() knows the types
  complaints.add(key,
                 fmt::format("{} needs {}, the cluster has {} ({} x {})", who, counted(gpus, "GPU"), all,
                             cluster.servers, cluster.gpus_per_server),
                 hint);
}

/// Of jobs like the jobs of a trace, only the jobs that the seeds draw count: `contend run` fails for the same jobs.
void check_drawn_sizes(const Scenario& scenario, Complaints& complaints, std::vector<std::string>& warnings) {
  const FittedWorkload& like = *find_fitted_workload(*scenario.workload.like);
  const int largest = largest_size(like, scenario.workload.synthetic.largest);
  const std::int64_t all = std::int64_t{scenario.cluster.servers} * scenario.cluster.gpus_per_server;
  if (largest <= all) return;
  const std::string hint = fmt::format("workload.scaling.largest: {} leaves such jobs out", all);
  JobLists lists;
  for (std::uint64_t seed = scenario.seed; seed < scenario.seed + static_cast<std::uint64_t>(scenario.repeat); ++seed) {
    const std::shared_ptr<const JobList> drawn = scenario_jobs(scenario, seed, lists);
    const auto job = std::ranges::max_element(drawn->jobs, {}, &JobRequest::gpus);
    if (job == drawn->jobs.end() || job->gpus <= all) continue;
    return check_size(scenario.cluster, "workload.like",
                      fmt::format("the largest job of seed {}, \"{}\",", seed, job->name), job->gpus, complaints, hint);
  }
  warnings.push_back(fmt::format(
      "workload.like: jobs like {} have up to {} GPUs, and the cluster has {}; these seeds draw none that is "
      "too large, others may. {}",
      like.name, largest, all, hint));
}

void check_sizes(const Scenario& scenario, Complaints& complaints, std::vector<std::string>& warnings) {
  if (scenario.workload.like) return complaints.collect([&] { check_drawn_sizes(scenario, complaints, warnings); });
  const auto& sizes = scenario.workload.generate.sizes;
  if (sizes == default_scenario().workload.generate.sizes)
    return check_size(scenario.cluster, "workload.generate.sizes", "the largest job of the default sizes",
                      std::ranges::max_element(sizes)->first, complaints,
                      "other sizes, such as {1: 20, 2: 10}, or workload.jobs");
  for (const auto& [gpus, jobs] : sizes)
    check_size(scenario.cluster, "workload.generate.sizes", "a job", gpus, complaints);
}

/// Returns the time on its GPUs that a job needs after a preemption before any of its work is saved.
Time time_to_save(const PreemptionCosts& costs) {
  return costs.restart + costs.checkpoint_interval + costs.checkpoint;
}

/// What a job that comes back needs before any of its work is saved.
std::string words_of_saving(const PreemptionCosts& costs) {
  if (costs.checkpoint_interval == kNeverSaved)
    return "nothing of its work is saved before it ends (checkpoints.policy: none)";
  return fmt::format(
      "it needs {:g} s before any work is saved (checkpoints: restart_cost {:g} s, period {:g} s, cost {:g} s)",
      time_to_save(costs).to_seconds(), costs.restart.to_seconds(), costs.checkpoint_interval.to_seconds(),
      costs.checkpoint.to_seconds());
}

/// Jobs that may work in vain while others wait: their time slices end before any of their work is saved.
void check_slices(const Scenario& scenario, const Workload& workload, std::vector<std::string>& warnings) {
  const PreemptionCosts costs =
      checkpoint_costs(scenario.cluster, scenario.failures, scenario.checkpoints, {1, Bytes{1}});
  const Time needed = time_to_save(costs);
  if (needed == Time{}) return;
  const auto policy = make_policy(scheduling_policies(), scenario.scheduling, PolicyContext{});
  const JobSpec* largest = nullptr;
  std::size_t in_vain = 0;
  for (const JobSpec& job : workload.jobs) {
    const Time slice = policy->slice(job.gpus);
    if (!job.duration || slice >= needed || *job.duration <= slice) continue;
    ++in_vain;
    if (largest == nullptr || largest->gpus < job.gpus) largest = &job;
  }
  if (in_vain == 0) return;
  warnings.push_back(fmt::format(
      "policies.scheduling: under `{}` a job of {} GPUs has time slices of {:g} s on its GPUs, and after a preemption "
      "{}; {} of {} jobs may work in vain while others wait. Longer slices or {} would help",
      scenario.scheduling.name, largest->gpus, policy->slice(largest->gpus).to_seconds(), words_of_saving(costs),
      in_vain, workload.jobs.size(),
      costs.checkpoint_interval == kNeverSaved ? "checkpoints" : "shorter checkpoint intervals"));
}

/// Jobs that repeat an attempt in vain: their limit kills them before any of its work is saved.
void check_limits(const Scenario& scenario, const Workload& workload, std::vector<std::string>& warnings) {
  const SchedulingRules& rules = scenario.rules;
  const PreemptionCosts costs =
      checkpoint_costs(scenario.cluster, scenario.failures, scenario.checkpoints, {1, Bytes{1}});
  if (!rules.kill_at_limit || rules.timeouts.times.value_or(0) == 0 || rules.timeouts.from_start) return;
  const Time needed = time_to_save(costs);
  std::size_t in_vain = 0;
  const JobSpec* first = nullptr;
  for (const JobSpec& job : workload.jobs) {
    if (!job.duration || !job.limit || *job.limit >= needed || *job.duration <= *job.limit) continue;
    if (++in_vain == 1) first = &job;
  }
  if (in_vain == 0) return;
  warnings.push_back(fmt::format(
      "scheduling.retries.timeout: job {} is killed after {:g} s (limit_s), and when it comes back from its last "
      "checkpoint {}; {} of {} jobs repeat their work in vain. Longer limits or {} would help",
      quote_for_message(first->name), first->limit->to_seconds(), words_of_saving(costs), in_vain, workload.jobs.size(),
      costs.checkpoint_interval == kNeverSaved ? "checkpoints" : "shorter checkpoint intervals"));
}

/// Of generated jobs the first that is too long, and the first for each reason not to run where virtual clusters or
/// types of servers divide the cluster.
void check_generated(const Scenario& scenario, Complaints& complaints, std::vector<std::string>& warnings) {
  const bool is_divided = !scenario.cluster.vcs.empty() || !scenario.cluster.types.empty();
  const bool runs_anywhere = !is_divided && scenario.workload.like;
  if (runs_anywhere && time_to_save(checkpoint_costs(scenario.cluster, scenario.failures, scenario.checkpoints,
                                                     {1, Bytes{1}})) == Time{})
    return;
  const Workload workload = scenario_workload(scenario, scenario.seed);
  check_slices(scenario, workload, warnings);
  if (runs_anywhere) return;
  for (const JobSpec& job : workload.jobs) {
    const std::string reason = why_too_long(workload, job);
    if (reason.empty()) continue;
    complaints.add("workload.generate.iterations", fmt::format("job \"{}\": {}", job.name, reason));
    break;
  }
  const std::int64_t all = std::int64_t{scenario.cluster.servers} * scenario.cluster.gpus_per_server;
  const ClusterSpec cluster = cluster_spec(scenario.cluster, scenario.workload, workload);
  std::set<std::string> named;
  for (const JobSpec& job : workload.jobs) {
    if (!is_divided && job.gpus > all) continue;  // check_sizes() knows these
    std::span<const JobPace> paces;
    if (job.pace >= 0) paces = workload.paces[static_cast<std::size_t>(job.pace)];
    const std::string reason = why_never(cluster, job, paces);
    if (reason.empty() || !named.insert(reason).second) continue;
    complaints.add(!is_divided                    ? "cluster.gpu_memory"
                   : scenario.cluster.vcs.empty() ? "cluster.types"
                                                  : "cluster.vcs",
                   fmt::format("job \"{}\" {}", job.name, reason));
  }
}

/// Throws InputError with the rows of the jobs that the cluster could not run though it had no others.
void check_demands(const Scenario& scenario, const JobList& list, std::vector<std::string>& warnings) {
  const Workload workload = workload_of(scenario, scenario.workload, list.jobs);
  RowReport report{*scenario.workload.jobs, false};
  const ClusterSpec cluster = cluster_spec(scenario.cluster, scenario.workload, workload);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const JobSpec& job = workload.jobs[j];
    report.count_row();
    const std::string length = why_too_long(workload, job), limit = why_not_killed(scenario.rules, job);
    if (!length.empty())
      report.bad(list.lines[j], job.duration ? "duration_s" : "iterations", "longer than a run can be",
                 fmt::format("job {}: {}", quote_for_message(job.name), length));
    if (const std::string retry = why_not_retried(scenario.rules, job); !retry.empty())
      report.bad(list.lines[j], "outcome", "a retry that can't be carried out",
                 fmt::format("job {}: {}", quote_for_message(job.name), retry),
                 "set scheduling.retries.failed.times to recorded");
    if (const std::string mix = why_not_mixed(scenario.scheduling, cluster, job); !mix.empty())
      report.bad(list.lines[j], "gpu_type", "types that the policy doesn't mix",
                 fmt::format("job {}: {}", quote_for_message(job.name), mix),
                 "name one type, or choose a policy that leaves the type to the engine, such as fifo");
    if (!limit.empty())
      report.bad(list.lines[j], "limit_s", "a limit that can't be applied",
                 fmt::format("job {}: {}", quote_for_message(job.name), limit),
                 "set scheduling.kill_at_limit to false");
  }
  for (const PartFault& each : part_faults(scenario.sharing, workload))
    report.bad(list.lines[each.job], "gpu_share", "a part beside which a law has no speed",
               fmt::format("job {} {}", quote_for_message(workload.jobs[each.job].name), each.reason), kPartHint);
  report.throw_if_bad();  // such jobs can't be handed to the engine
  const std::vector<std::string> reasons = why_never_start(scenario, workload);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    if (reasons[j].empty()) continue;
    report.bad(list.lines[j], workload.jobs[j].place < 0 ? "gpus" : "place", "more than it can ever have",
               fmt::format("job {} {}", quote_for_message(workload.jobs[j].name), reasons[j]));
  }
  report.throw_if_bad();
  check_slices(scenario, workload, warnings);
  check_limits(scenario, workload, warnings);
}

void check_list(const Scenario& scenario, JobLists& lists, std::vector<std::string>& warnings) {
  check_demands(scenario, *scenario_jobs(scenario, scenario.seed, lists), warnings);
}

void check_ranking(const WorkloadSetup& workload, std::vector<std::string>& warnings) {
  if (!workload.like) return;
  const std::string caveat = ranking_caveat(*find_fitted_workload(*workload.like));
  if (!caveat.empty()) warnings.push_back("workload.like: " + caveat);
}

/// Devices with less memory than the cluster's GPUs are said to have.
void check_memory_of_devices(const Scenario& scenario, std::vector<std::string>& warnings) {
  for (const TrainingEntry& entry : scenario.training) {
    std::vector<const Device*> devices;
    if (entry.parallel)
      for (const std::string& name : entry.parallel->devices) devices.push_back(find_device(name));
    const bool is_chosen = entry.parallel || entry.device != DeviceChoice{};
    if (devices.empty() && is_chosen && !entry.device.profile) devices.push_back(&sheet_of(entry.device));
    for (const Device* const device : devices) {
      if (device->memory >= scenario.cluster.gpu_memory) continue;
      warnings.push_back(fmt::format(
          "cluster.gpu_memory: {:.4g} GiB, and {}, the device of training.{}, has {:.4g} GiB; jobs that need "
          "more than that would not fit",
          scenario.cluster.gpu_memory.to_gibibytes(), device->name, entry.name, device->memory.to_gibibytes()));
      break;
    }
  }
}

void check_network(const ClusterSetup& cluster, const NetworkSetup& network, const FailureSetup& failures,
                   std::uint64_t seed, Complaints& complaints, std::vector<std::string>& warnings) {
  if (!network.traits().has_topology) return;
  const Topology topology = build_topology(cluster, network);
  complaints.collect([&] {
    if (std::string note = expected_idle_interfaces(cluster, network, seed); !note.empty())
      warnings.push_back(std::move(note));
  });
  complaints.collect([&] { static_cast<void>(link_changes(network, topology)); });
  complaints.collect([&] { static_cast<void>(failing_links(failures, topology)); });
}

/// A program outside without the command that starts it; it is not started here.
template <class Port>
void check_outside(std::span<const PolicyRow<Port>> table, const PolicyChoice& choice, Complaints& complaints) {
  for (const PolicyRow<Port>& row : table)
    if (row.is_outside && row.name == choice.name)
      complaints.collect([&] { static_cast<void>(make_policy(table, choice, PolicyContext{})); });
}

std::vector<std::string> check_jobs(const Scenario& scenario) {
  std::vector<std::string> warnings;
  Complaints complaints;
  check_outside(scheduling_policies(), scenario.scheduling, complaints);
  check_outside(placement_policies(), scenario.placement, complaints);
  check_outside(communication_policies(), scenario.communication, complaints);
  complaints.throw_if_any();
  JobLists lists;
  if (scenario.workload.jobs) {
    complaints.collect([&] { check_list(scenario, lists, warnings); });
  } else {
    complaints.collect([&] { check_generated(scenario, complaints, warnings); });
    check_ranking(scenario.workload, warnings);
    check_sizes(scenario, complaints, warnings);
  }
  if (scenario.failures.redundancy.any())
    complaints.collect([&] {
      const bool interferes =
          !interference_of(scenario.network, scenario.overlap, scenario.training, TransferPath::between).none();
      check_redundancy(scenario.failures.redundancy, scenario.training, interferes,
                       *scenario_jobs(scenario, scenario.seed, lists));
    });
  complaints.collect([&] {
    if (std::string note = untrained_entries_note(scenario, scenario.workload, lists); !note.empty())
      warnings.push_back(std::move(note));
  });
  complaints.collect([&] {
    if (std::string note = unserved_entries_note(scenario, scenario.workload, lists); !note.empty())
      warnings.push_back(std::move(note));
  });
  if (std::string note = free_tensor_note(scenario.network, scenario.training); !note.empty())
    warnings.push_back(std::move(note));
  if (std::string note = service_share_note(scenario.cluster, scenario.failures); !note.empty())
    warnings.push_back(std::move(note));
  for (std::string& note : account_notes(scenario.cluster.vcs, scenario.scheduling))
    warnings.push_back(std::move(note));
  if (scenario.cluster.types.empty()) check_memory_of_devices(scenario, warnings);
  complaints.collect([&] {
    check_network(scenario.cluster, scenario.network, scenario.failures, scenario.seed, complaints, warnings);
  });
  complaints.collect([&] {
    const FailureSpec failures = failure_spec(scenario.cluster, scenario.failures, scenario.loans, scenario.seed);
    const bool is_checked = scenario.workload.jobs || scenario.workload.like;  // the former with its list
    if (!is_checked) check_failures(scenario, scenario_workload(scenario, scenario.seed, &lists), failures);
  });
  complaints.throw_if_any();
  return warnings;
}

}  // namespace

std::vector<std::string> check_scenario(const Scenario& scenario) {
  if (!scenario.overlap.given()) return leaping_rounds(scenario, check_jobs);
  static_cast<void>(study_model(scenario.overlap));
  std::vector<std::string> warnings = study_notes(scenario.cluster, scenario.network, scenario.overlap);
  for (std::string& each : link_notes(scenario)) warnings.push_back(std::move(each));
  return warnings;
}

}  // namespace contend
