#pragma once
// The work of hosts that launch the operations of a training entry (TrainingEntry::host, launch).

#include "models/layers.hpp"
#include "models/parallel/spread_iteration.hpp"
#include "models/passes/host_launches.hpp"
#include "models/passes/pass.hpp"
#include "scenarios/spec/training_entry.hpp"

#include <optional>

namespace contend {

/// True if the times of the entry's layers are measured, so that the host that launched their kernels is in them.
[[nodiscard]] bool has_measured_layers(const TrainingEntry& entry);
/// True if its layers or their sum have measured times, to which they are scaled (`single_worker`).
[[nodiscard]] bool has_measured_host(const TrainingEntry& entry);
/// The costs of the entry's host; nullptr: launches take no time.
[[nodiscard]] const HostCosts* host_of(const TrainingEntry& entry);
/// True if each operation of the update of the weights is a kernel.
[[nodiscard]] bool updates_separately(const TrainingEntry& entry);
[[nodiscard]] LossKernels loss_of(const TrainingEntry& entry);

/// The pass that has hosts launch the operations of a job whose workers have all layers; nothing without a host. Such a
/// pass comes after all others but the one that joins tasks.
[[nodiscard]] std::optional<Pass<FusedIteration>> layer_launches(const TrainingEntry& entry, int workers);
/// The pass for a job that is spread over GPUs, whose graph is `spread` with the additions of passes.
[[nodiscard]] std::optional<Pass<FusedIteration>> spread_launches(const TrainingEntry& entry,
                                                                  const TrainingIteration& job,
                                                                  const SpreadIteration& spread);

}  // namespace contend
