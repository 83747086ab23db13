#pragma once
// The fusion policy `search` plans the exchange of each stage of a spread model by itself, for one micro-batch. What an
// iteration takes with its plan only the engine knows.

#include "models/workload.hpp"
#include "scenarios/spec/training_system.hpp"

#include <functional>

namespace contend {

/// Makes the job of an entry.
using EntryJob = std::function<TrainedJob(const TrainingEntry& entry)>;

/// For an entry with `parallel` and `fusion: search`: of the search and all policies from which it sets out, the one
/// with whose plan an iteration takes least time, as the engine runs it, while the job has the cluster to itself. It is
/// the search if its plan takes as little, or if the cluster has too few GPUs, so that nothing is compared. Policies
/// whose iteration has more than 100 times the operations are left out. Throws InputError as `make` does for the plan
/// of the search.
[[nodiscard]] PolicyChoice fastest_fusion(const TrainingSystem& system, const TrainingEntry& entry, int gpus,
                                          const EntryJob& make);

}  // namespace contend
