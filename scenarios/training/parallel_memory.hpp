#pragma once
// The memory that a job needs on its GPUs if its model is spread over several of them.

#include "models/parallel/memory.hpp"
#include "models/parallel/training_iteration.hpp"
#include "scenarios/spec/training_system.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// `79.6 GiB`: messages about memory have all amounts in one unit, so that a reader can compare them.
[[nodiscard]] std::string gib(Bytes bytes);

/// What a parameter of the entry takes, with gradients of so many bytes.
[[nodiscard]] StateWidths state_widths(const TrainingEntry& entry, std::int64_t gradient_bytes);

/// What the GPUs of each pipeline rank hold. Activations are counted at the worst instant of the schedule.
[[nodiscard]] std::vector<GpuMemory> rank_memory(const TrainingEntry& entry, const TransformerModel& model,
                                                 const MicroBatch& work, const TrainingIteration& job,
                                                 const std::vector<LayerRange>& stages);

/// The pipeline rank whose GPUs hold most.
[[nodiscard]] std::size_t fullest(const std::vector<GpuMemory>& memory);

/// Throws InputError if a GPU of the cluster has less memory than the job of the entry needs, by what rank_memory()
/// said of it; the hint names a setting that fits.
void check_memory(const TrainingSystem& system, const TrainingEntry& entry, int gpus,
                  const std::vector<GpuMemory>& memory);

}  // namespace contend
