#include "scenarios/run/scenario_jobs.hpp"

#include "models/workloads/scaling.hpp"
#include "models/workloads/synthetic.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/check.hpp"
#include "text/words.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

std::int64_t gpus_of(const Scenario& scenario) {
  return std::int64_t{scenario.cluster.servers} * scenario.cluster.gpus_per_server;
}

std::vector<JobRequest> drawn_jobs(const Scenario& scenario, std::uint64_t seed) {
  if (!scenario.workload.like) return generate_jobs(scenario.workload.generate, seed);
  SyntheticWorkload synthetic = scenario.workload.synthetic;
  synthetic.like = find_fitted_workload(*scenario.workload.like);
  CONTEND_CHECK(synthetic.like != nullptr, "a scenario names a fitted workload");
  return generate_like(synthetic, gpus_of(scenario), seed);
}

/// The virtual cluster that takes the jobs of those that are not listed, or nullptr.
const NamedVirtualCluster* others_of(const Scenario& scenario) {
  const auto& vcs = scenario.cluster.vcs;
  const auto found = std::ranges::find_if(vcs, &NamedVirtualCluster::others);
  return found == vcs.end() ? nullptr : &*found;
}

std::vector<std::string> vc_names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const NamedVirtualCluster& vc : scenario.cluster.vcs) names.push_back(vc.name);
  return names;
}

/// Throws InputError with the rows that name a virtual cluster that `cluster.vcs` lacks. Without `cluster.vcs`, the
/// virtual clusters of jobs have no effect.
void check_virtual_clusters(const Scenario& scenario, const JobList& list) {
  if (scenario.cluster.vcs.empty() || others_of(scenario) != nullptr) return;
  const std::vector<std::string> names = vc_names(scenario);
  RowReport report{*scenario.workload.jobs, false};
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    report.count_row();
    const std::string& vc = list.jobs[j].vc;
    if (vc.empty() || std::ranges::find(names, vc) != names.end()) continue;
    report.bad(list.lines[j], "vc", "cluster.vcs has no such virtual cluster",
               fmt::format("cluster.vcs has no virtual cluster {}", quote_for_message(vc)), did_you_mean(vc, names));
  }
  report.throw_if_bad(
      "list these virtual clusters in cluster.vcs, let one of them take all others by `others: true`, or ignore the "
      "virtual clusters of jobs by --set cluster.vcs=[]");
}

/// Throws InputError with the rows of jobs of iterations whose model is neither an entry of `training` nor a profile.
void check_models(const Scenario& scenario, const JobList& list) {
  const std::vector<std::string> names = trainable_names(scenario);
  RowReport report{*scenario.workload.jobs, false};
  std::string_view last;
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    const JobRequest& job = list.jobs[j];
    report.count_row();
    if (job.duration || job.model == last) continue;
    if (std::ranges::find(names, job.model) == names.end())
      report_unknown_model(report, list.lines[j], job.model, names);
    else
      last = job.model;
  }
  report.throw_if_bad();
}

bool is_scaled(const Scenario& scenario) {
  const WorkloadScaling& scaling = scenario.workload.synthetic;
  return scaling.rate != 1 || scaling.load || scaling.durations != 1 || scaling.longest || scaling.largest ||
         scenario.workload.sampling != ListSampling{};
}

std::shared_ptr<const JobList> listed_jobs(const Scenario& scenario, std::uint64_t seed, JobLists& lists) {
  std::shared_ptr<const JobList> list = lists.read(*scenario.workload.jobs, trainable_names(scenario));
  check_models(scenario, *list);
  check_virtual_clusters(scenario, *list);
  if (!is_scaled(scenario)) return list;
  TrainingGraphs graphs{scenario};
  ScaledList scaled = scale_list(list->jobs, scenario.workload.synthetic, scenario.workload.sampling, gpus_of(scenario),
                                 seed, [&](const std::string& model) { return graphs.iteration(model); });
  JobList jobs{.sha256 = list->sha256, .jobs = std::move(scaled.jobs), .lines = {}};
  for (const std::size_t row : scaled.rows) jobs.lines.push_back(list->lines[row]);
  return std::make_shared<const JobList>(std::move(jobs));
}

std::shared_ptr<const JobList> with_others(const JobList& list, const Scenario& scenario, const std::string& others) {
  JobList jobs = list;
  const std::vector<std::string> names = vc_names(scenario);
  for (JobRequest& job : jobs.jobs)
    if (std::ranges::find(names, job.vc) == names.end()) job.vc = others;
  return std::make_shared<const JobList>(std::move(jobs));
}

}  // namespace

std::shared_ptr<const JobList> scenario_jobs(const Scenario& scenario, std::uint64_t seed, JobLists& lists) {
  std::shared_ptr<const JobList> jobs =
      scenario.workload.jobs
          ? listed_jobs(scenario, seed, lists)
          : std::make_shared<const JobList>(JobList{.sha256 = {}, .jobs = drawn_jobs(scenario, seed), .lines = {}});
  const NamedVirtualCluster* const others = others_of(scenario);
  return others == nullptr ? jobs : with_others(*jobs, scenario, others->name);
}

bool draws_jobs(const Scenario& scenario) {
  return !scenario.workload.jobs || scenario.workload.sampling != ListSampling{};
}

}  // namespace contend
