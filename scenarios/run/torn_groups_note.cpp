#include "scenarios/run/torn_groups_note.hpp"

#include "scenarios/training/training_graphs.hpp"

#include <cstddef>

#include <fmt/core.h>

namespace contend {

std::string seen_torn_groups(const Scenario& scenario, const RunResult& result) {
  const int per_server = scenario.cluster.gpus_per_server;
  const JobResult* first = nullptr;
  std::size_t others = 0;
  for (const JobResult& job : result.jobs) {
    const TrainingEntry* const entry = find_entry(scenario, job.model);
    if (entry == nullptr || !entry->parallel || entry->parallel->tensor == 1) continue;
    if (job.servers <= (job.gpus + per_server - 1) / per_server) continue;
    if (first == nullptr)
      first = &job;
    else
      ++others;
  }
  if (first == nullptr) return {};
  return fmt::format(
      "{}{} lay on {} servers, {} more than needed: passes are timed as if its tensor-parallel groups were inside "
      "servers; policies.placement: consolidated keeps them together",
      first->name, others > 0 ? fmt::format(" (as {} other jobs)", others) : "", first->servers,
      first->servers - (first->gpus + per_server - 1) / per_server);
}

}  // namespace contend
