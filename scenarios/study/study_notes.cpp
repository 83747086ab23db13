#include "scenarios/study/study_notes.hpp"

#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/study/fitted_workers.hpp"
#include "scenarios/study/study_run.hpp"
#include "sim/error.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

bool messages_start_free(const ClusterSetup& cluster, const NetworkSetup& network, const IterationStudy& study) {
  const CostBasis basis = cost_formula(network).basis;
  if (!study.given() || basis == CostBasis::library || basis == CostBasis::sites) return false;
  return network.alpha == Time{} && (cluster.gpus_per_server == 1 || network.inside.alpha == Time{});
}

std::string free_start_note() {
  return "network.alpha is 0s, so messages cost nothing to start and merging them can gain nothing: fusion policies "
         "that "
         "merge, such as mg-wfbp and ddp, give at best the times of wfbp; set network.alpha to the start-up time of "
         "your network";
}

std::vector<std::string> study_notes(const ClusterSetup& cluster, const NetworkSetup& network,
                                     const IterationStudy& study) {
  std::vector<std::string> notes;
  if (std::string unfitted = unfitted_workers(network, study).note(); !unfitted.empty())
    notes.push_back(std::move(unfitted));
  if (study.fusion.size() > 1 && messages_start_free(cluster, network, study)) notes.push_back(free_start_note());
  return notes;
}

std::vector<std::string> link_notes(const TrainingSystem& system) {
  if (!system.network.sites) return {};
  const RunResult result = run_study(system, {});
  if (std::vector<Complaint> found = why_impossible(system.overlap, result); !found.empty())
    throw InputError{std::move(found)};
  std::vector<std::string> notes;
  for (const JobResult& job : result.jobs)
    if (job.state == JobState::failed) notes.push_back(fmt::format("overlap: {}: {}", job.name, job.reason));
  return notes;
}

}  // namespace contend
