#include "scenarios/study/study_notes.hpp"

#include "scenarios/run/network_costs.hpp"
#include "scenarios/study/fitted_workers.hpp"

#include <utility>

namespace contend {

bool messages_start_free(const Scenario& scenario) {
  const IterationStudy& study = scenario.overlap;
  if (!study.given() || scenario.network.sites || cost_formula(scenario).basis == CostBasis::library) return false;
  return scenario.network.alpha == Time{} &&
         (scenario.cluster.gpus_per_server == 1 || scenario.network.inside.alpha == Time{});
}

std::string free_start_note() {
  return "network.alpha is 0s, so messages cost nothing to start and merging them can gain nothing: fusion policies "
         "that "
         "merge, such as mg-wfbp and ddp, give at best the times of wfbp; set network.alpha to the start-up time of "
         "your network";
}

std::vector<std::string> study_notes(const Scenario& scenario) {
  std::vector<std::string> notes;
  if (std::string unfitted = unfitted_workers(scenario).note(); !unfitted.empty()) notes.push_back(std::move(unfitted));
  if (scenario.overlap.fusion.size() > 1 && messages_start_free(scenario)) notes.push_back(free_start_note());
  return notes;
}

}  // namespace contend
