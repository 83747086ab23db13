#pragma once
// The degrees of parallelism of a job whose model is spread over several GPUs.

#include "scenarios/spec/cluster_setup.hpp"
#include "scenarios/spec/training_entry.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// What an entry leaves open: the degree of data parallelism, and what makes up the batch.
struct Degrees {
  int data = 1, micro_batches = 1;
  std::int64_t samples = 1;  ///< of all GPUs in an iteration
};
/// Of a job of so many GPUs. Throws InputError, with the keys of the entry's members, if its degrees don't divide the
/// GPUs of the job or of servers, or its batch.
[[nodiscard]] Degrees degrees_of(const ClusterSetup& cluster, const TrainingEntry& entry, int gpus);

/// The member that says how many micro-batches an iteration has: accumulate, or global_batch, from which it follows.
[[nodiscard]] std::string micro_batches_member(const TrainingEntry& entry);

}  // namespace contend
