#include "scenarios/run/flow_start_up_note.hpp"

#include "scenarios/run/network_costs.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "text/quantities.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace contend {
namespace {

/// Of the jobs that communicate, or of the variants of a study.
int most_ranks(const Scenario& scenario, JobLists& lists) {
  int most = 0;
  if (scenario.overlap.given()) {
    for (const int workers : scenario.overlap.workers) most = std::max(most, workers);
    return most;
  }
  const auto list = scenario_jobs(scenario, scenario.seed, lists);
  for (const JobRequest& job : list->jobs)
    if (!job.duration) most = std::max(most, job.gpus);
  return most;
}

}  // namespace

std::string flow_start_up_note(const Scenario& scenario, JobLists& lists) {
  const Time alpha = scenario.network.alpha;
  if (!scenario.network.traits().has_topology || alpha == Time{} ||
      cost_formula(scenario.network).basis == CostBasis::library)
    return {};
  const int ranks = most_ranks(scenario, lists);
  if (ranks < 2) return {};
  const int messages = 2 * (ranks - 1);
  return fmt::format(
      "network.alpha: at fidelity `flow` a transfer pays it once: {} for a ring all-reduce among {} GPUs, the most of "
      "a "
      "job here. At `analytic` and `contention` each message in a row pays it: {} x {} = {}. network.step_overhead is "
      "what `flow` adds to each step",
      print_quantity(alpha), ranks, messages, print_quantity(alpha), print_quantity(alpha * messages));
}

}  // namespace contend
