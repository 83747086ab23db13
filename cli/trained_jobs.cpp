#include "cli/trained_jobs.hpp"

#include "scenarios/training/training_graphs.hpp"

#include <cstdint>
#include <numeric>

namespace contend {
namespace {

/// As many GPUs of the cluster as a job of the entry can have; as few as it needs if the cluster has fewer.
int most_gpus(const ClusterSetup& cluster, const TrainingEntry& entry) {
  const int all = cluster.servers * cluster.gpus_per_server;
  if (!entry.parallel) return all;
  const ParallelSetup& setup = *entry.parallel;
  const int ranks = std::lcm(setup.tensor * setup.context, setup.expert * setup.expert_tensor) * setup.pipeline;
  const int in_all = setup.tensor * setup.context * setup.pipeline;
  for (int gpus = all / ranks * ranks; gpus > ranks; gpus -= ranks) {
    const std::int64_t together = std::int64_t{entry.batch.value_or(1)} * (gpus / in_all);
    if (!entry.global_batch || *entry.global_batch % together == 0) return gpus;
  }
  return ranks;
}

}  // namespace

std::set<std::pair<std::string, int>> trained_jobs(const ClusterSetup& cluster,
                                                   const std::vector<TrainingEntry>& training,
                                                   std::span<const JobRequest> jobs, bool only_spread) {
  std::set<std::pair<std::string, int>> wanted;
  std::set<std::string, std::less<>> trained;
  for (const JobRequest& job : jobs) {
    if (job.duration) continue;
    const TrainingEntry* entry = find_entry(training, base_of(job.model));
    if (only_spread ? entry == nullptr || !entry->parallel : entry == nullptr && !training.empty()) continue;
    wanted.insert({job.model, job.gpus});
    if (entry != nullptr) trained.insert(entry->name);
  }
  for (const TrainingEntry& entry : training) {
    if (entry.name == kDefaultEntry || trained.contains(entry.name) || (only_spread && !entry.parallel)) continue;
    if (entry.recording) continue;  // its files know how many GPUs it needs
    wanted.insert({entry.name, most_gpus(cluster, entry)});
  }
  return wanted;
}

}  // namespace contend
