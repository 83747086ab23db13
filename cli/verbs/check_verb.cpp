#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/load.hpp"
#include "cli/sweep_load.hpp"
#include "models/workload.hpp"
#include "models/workloads/fitted.hpp"
#include "scenarios/keys/scheduling_keys.hpp"
#include "scenarios/run/fabric.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_model.hpp"
#include "sim/cluster.hpp"
#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "traces/job_list.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kCheckExamples[] = {
    "contend check scenario.yaml",
    "contend check scenarios/*/*.yaml --set cluster.servers=64",
};
constexpr Option kCheckOptions[] = {kSetOption};

using Complaints = std::vector<Complaint>;

/// A generated job that could never run: the cluster has fewer GPUs than its gang.
void check_size(const Scenario& scenario, const std::string& file, const std::string& key, std::string_view who,
                std::int64_t gpus, Complaints& complaints) {
  const std::int64_t all = std::int64_t{scenario.cluster.servers} * scenario.cluster.gpus_per_server;
  if (gpus <= all) return;
  Complaint complaint;
  complaint.file = file;
  complaint.key = key;
  complaint.reason = fmt::format("{} needs {} GPUs, the cluster has {} ({} x {})", who, gpus, all,
                                 scenario.cluster.servers, scenario.cluster.gpus_per_server);
  complaints.push_back(std::move(complaint));
}

/// The jobs of a list, row by row: their virtual clusters must be there, and a cluster without other jobs run them.
void check_list(const Scenario& scenario, const std::string& path) {
  std::vector<std::string> vcs;
  for (const NamedVirtualCluster& vc : scenario.cluster.vcs) vcs.push_back(vc.name);
  RowReport report{path, false};
  std::vector<JobRequest> requests;
  std::vector<int> lines;
  read_jobs(*open_file(path), report, [&](int line, JobRequest&& job) {
    if (!vcs.empty() && !job.vc.empty() && std::find(vcs.begin(), vcs.end(), job.vc) == vcs.end()) {
      const std::string nearest = nearest_name(job.vc, vcs);
      report.bad(line, "vc", "cluster.vcs has no such virtual cluster",
                 fmt::format("cluster.vcs has no virtual cluster {}", quote_for_message(job.vc)),
                 nearest.empty() ? "" : fmt::format("did you mean \"{}\"?", nearest));
    }
    requests.push_back(std::move(job));
    lines.push_back(line);
  });
  report.throw_if_bad();
  if (requests.empty()) static_cast<void>(read_job_list(path));  // says so
  const Workload workload = build_workload(requests);
  const ClusterSpec cluster = cluster_spec(scenario, workload.vcs);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const JobSpec& job = workload.jobs[j];
    const std::string reason = why_never(cluster, job);
    if (reason.empty()) continue;
    report.bad(lines[j], "gpus", "more than it can ever have",
               fmt::format("job {} {}", quote_for_message(job.name), reason));
  }
  report.throw_if_bad();
}

/// Of generated jobs the first for each reason not to run, where virtual clusters divide the cluster.
void check_generated(const Scenario& scenario, const std::string& file, Complaints& complaints) {
  const Workload workload = scenario_workload(scenario, scenario.seed);
  const ClusterSpec cluster = cluster_spec(scenario, workload.vcs);
  std::set<std::string> told;
  for (const JobSpec& job : workload.jobs) {
    const std::string reason = why_never(cluster, job);
    if (reason.empty() || !told.insert(reason).second) continue;
    Complaint& complaint = complaints.emplace_back();
    complaint.file = file;
    complaint.key = "cluster.vcs";
    complaint.reason = fmt::format("job \"{}\" {}", job.name, reason);
  }
}

void check_jobs(const Scenario& scenario, const std::string& file, Complaints& complaints) {
  if (!scenario.workload.jobs && !scenario.cluster.vcs.empty()) check_generated(scenario, file, complaints);
  if (scenario.workload.like) {
    const FittedWorkload& like = *find_fitted_workload(*scenario.workload.like);
    const int largest = largest_size(like, scenario.workload.synthetic.largest);
    return check_size(scenario, file, "workload.like", fmt::format("the largest job like {}", like.name), largest,
                      complaints);
  }
  if (!scenario.workload.jobs) {
    for (const auto& [gpus, jobs] : scenario.workload.generate.sizes) {
      check_size(scenario, file, "workload.generate.sizes", "a job", gpus, complaints);
    }
    return;
  }
  check_list(scenario, *scenario.workload.jobs);
}

/// Complaints of `check`, those without a file under the name of the scenario's.
template <class Check>
void collect(const std::string& file, Complaints& complaints, Check check) {
  try {
    check();
  } catch (const InputError& error) {
    for (Complaint complaint : error.complaints()) {
      if (complaint.file.empty()) complaint.file = file;
      complaints.push_back(std::move(complaint));
    }
  }
}

void check_network(const Scenario& scenario, const std::string& file, Complaints& complaints) {
  if (scenario.network.fidelity != Fidelity::flow) return;
  const Topology topology = build_topology(scenario);
  collect(file, complaints, [&] { static_cast<void>(build_router(scenario, topology, scenario.seed)); });
  collect(file, complaints, [&] { static_cast<void>(link_changes(scenario, topology)); });
}

/// What there is to say about a scenario without complaints.
std::string check_file(const std::string& file, const Arguments& arguments, Complaints& complaints) {
  const std::vector<std::string> overrides = arguments.values("set");
  if (const std::optional<SweepPlan> sweep = sweep_of(file, overrides))
    return fmt::format("{}: ok, {}\n", file, extent_text(*sweep));
  std::vector<Arguments::Given> given;
  for (const std::string& each : overrides) given.push_back({.name = "set", .value = each});
  const Scenario scenario = load_scenarios({{file}, std::move(given), {}}).scenarios.front();
  if (scenario.overlap.given()) {
    collect(file, complaints, [&] { static_cast<void>(overlap_model(scenario.overlap)); });
    return fmt::format("{}: ok\n", file);
  }
  collect(file, complaints, [&] { check_jobs(scenario, file, complaints); });
  collect(file, complaints, [&] { check_network(scenario, file, complaints); });
  collect(file, complaints, [&] {
    if (scenario.overlap.given()) static_cast<void>(overlap_model(scenario.overlap));
  });
  return fmt::format("{}: ok\n", file);
}

int run_check(const Arguments& arguments) {
  Complaints complaints;
  std::string verdicts;
  for (const std::string& file : arguments.positionals())
    collect(file, complaints, [&] { verdicts += check_file(file, arguments, complaints); });
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  fmt::print("{}", verdicts);
  return kExitOk;
}

}  // namespace

const Command& check_command() {
  static constexpr Command kCommand = {.name = "check",
                                       .arguments = "SCENARIO...",
                                       .summary = "Read scenarios and the files that they name, without running them.",
                                       .examples = kCheckExamples,
                                       .options = kCheckOptions,
                                       .min_arguments = 1,
                                       .max_arguments = SIZE_MAX,
                                       .run = run_check};
  return kCommand;
}

}  // namespace contend
