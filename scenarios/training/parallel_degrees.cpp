#include "scenarios/training/parallel_degrees.hpp"

#include "sim/complaints.hpp"
#include "sim/counted.hpp"

#include <fmt/format.h>

namespace contend {
namespace {

/// Complains of groups of ranks that don't divide servers, or the ranks of a stage.
void check_grid(const ParallelSetup& setup, int per_server, int data, Complaints& found) {
  if (per_server % setup.tensor != 0 && !setup.across_servers)
    found.add("parallel.tensor",
              fmt::format("{} does not divide the {} GPUs of a server, so that groups would lie on "
                          "two of them",
                          setup.tensor, per_server),
              "parallel.across_servers: true allows that");
  const int ranks = setup.tensor * setup.context * data;
  if (ranks % (setup.expert * setup.expert_tensor) != 0)
    found.add("parallel.expert", fmt::format("expert {} x expert_tensor {} does not divide the {} GPUs of a stage",
                                             setup.expert, setup.expert_tensor, ranks));
  if (setup.shards > 0) {
    const int copies = setup.context * data;
    if (copies % setup.shards != 0)
      found.add("parallel.shards",
                fmt::format("{} does not divide the context {} x data {} = {} ranks that have the same "
                            "weights",
                            setup.shards, setup.context, data, copies));
    else if (setup.tensor * setup.shards % (setup.expert * setup.expert_tensor) != 0)
      found.add("parallel.shards", fmt::format("tensor {} x shards {}: expert {} x expert_tensor {} does not divide it",
                                               setup.tensor, setup.shards, setup.expert, setup.expert_tensor));
  }
}

}  // namespace

std::string micro_batches_member(const TrainingEntry& entry) {
  return entry.says("accumulate") && !entry.global_batch ? "accumulate" : "global_batch";
}

Degrees degrees_of(const ClusterSetup& cluster, const TrainingEntry& entry, int gpus) {
  const ParallelSetup& setup = *entry.parallel;
  const std::int64_t there = std::int64_t{cluster.servers} * cluster.gpus_per_server;
  if (gpus > there) {
    throw InputError{
        {{.key = "parallel", .reason = fmt::format("a job of {}: the cluster has {}", counted(gpus, "GPU"), there)}}};
  }
  Complaints found;
  const std::int64_t model_ranks = std::int64_t{setup.tensor} * setup.context * setup.pipeline;
  if (gpus % model_ranks != 0) {
    throw InputError{{{.key = "parallel",
                       .reason = fmt::format("tensor {} x context {} x pipeline {} = {} does not divide the {} GPUs of "
                                             "the job",
                                             setup.tensor, setup.context, setup.pipeline, model_ranks, gpus),
                       .hint = "the degree of data parallelism is what is left"}}};
  }
  Degrees degrees;
  degrees.data = static_cast<int>(gpus / model_ranks);
  check_grid(setup, cluster.gpus_per_server, degrees.data, found);
  const int batch = entry.batch.value_or(1);
  const std::int64_t together = std::int64_t{batch} * degrees.data;
  degrees.micro_batches = entry.accumulate;
  if (entry.global_batch) {
    degrees.micro_batches = static_cast<int>(*entry.global_batch / together);
    if (*entry.global_batch % together != 0)
      found.add("global_batch", fmt::format("{} is no multiple of batch {} x {} data-parallel ranks = {}",
                                            *entry.global_batch, batch, degrees.data, together));
  }
  found.throw_if_any();
  degrees.samples = together * degrees.micro_batches;
  return degrees;
}

}  // namespace contend
