#include "scenarios/run/torn_groups_note.hpp"

#include "scenarios/training/training_graphs.hpp"

#include <cstddef>

#include <fmt/core.h>

namespace contend {

std::string seen_torn_groups(const std::vector<TrainingEntry>& training, const RunResult& result) {
  const JobResult* first = nullptr;
  std::size_t others = 0;
  for (const JobResult& job : result.jobs) {
    const TrainingEntry* const entry = find_entry(training, job.model);
    if (!job.torn || entry == nullptr || entry->parallel->across_servers) continue;
    if (first == nullptr)
      first = &job;
    else
      ++others;
  }
  if (first == nullptr) return {};
  return fmt::format(
      "{}{} lay on {} servers with groups of ranks torn apart that belong on one server: what these send passes the "
      "network; policies.placement: groups keeps them together",
      first->name, others > 0 ? fmt::format(" (as {} other jobs)", others) : "", first->servers);
}

}  // namespace contend
