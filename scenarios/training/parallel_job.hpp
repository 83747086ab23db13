#pragma once
// Plans the iteration of a job whose model is spread over several GPUs (TrainingEntry::parallel).

#include "models/parallel/documents.hpp"
#include "models/parallel/flops.hpp"
#include "models/parallel/layer_split.hpp"
#include "models/parallel/memory.hpp"
#include "models/parallel/training_iteration.hpp"
#include "models/parallel/transformer.hpp"
#include "scenarios/spec/training_system.hpp"
#include "scenarios/training/unit_times.hpp"
#include "sim/job.hpp"

#include <optional>
#include <vector>

namespace contend {

/// The transformer of an entry: of the catalogue, or of its config.json. Throws InputError if it can't be read.
[[nodiscard]] TransformerModel given_transformer_of(const TrainingEntry& entry);

/// The transformer that runs: as given, but where the host is of Megatron-LM, its tables of tokens have rows for
/// padding.
[[nodiscard]] TransformerModel transformer_of(const TrainingEntry& entry);

/// The iteration of a job, and the parts of which the iteration is made.
struct ParallelJob {
  TrainingIteration iteration;
  std::vector<LayerRange> stages;  ///< by model stage
  std::vector<PassShares> shares;  ///< by model stage
  std::vector<Time> exchange;      ///< by model stage: StagePlanner::exchange(), if asked for
  std::vector<double> ratios;      ///< by model stage but the last: how much smaller its messages are than activations
  int micro_batches = 1;
  std::int64_t samples = 1;                  ///< sequences of all GPUs in an iteration
  int sequence = 1;                          ///< tokens of each
  std::optional<PackedDocuments> documents;  ///< that fill them, where these are not whole sequences
  std::vector<GpuMemory> memory;             ///< by pipeline rank
  TrainingWork work;
  /// The partitions of the ranks whose collectives are parts of passes and stay inside servers, where consecutive ranks
  /// fill one server after another.
  std::vector<RankGroups> whole;

  /// Of an iteration; of documents if there are any.
  [[nodiscard]] SequenceSums sums() const;
};

/// The iteration of a job of the entry on so many GPUs, which has `parallel`. Throws InputError with the keys of the
/// entry's members, relative to it, if the degrees don't divide GPUs, model or batch. `with_exchange`: with
/// ParallelJob::exchange.
[[nodiscard]] ParallelJob plan_parallel(const TrainingSystem& system, const TrainingEntry& entry, int gpus,
                                        bool with_exchange = false);

/// The memory of a GPU of each pipeline rank: ParallelJob::memory without the rest of the plan. `model` is the
/// transformer of the entry. Passes are timed only where the division of layers or of experts follows from their times.
/// Throws InputError as plan_parallel() does.
[[nodiscard]] std::vector<GpuMemory> held_memory(const TrainingSystem& system, const TrainingEntry& entry,
                                                 const TransformerModel& model, int gpus);

/// The time for which an iteration computes on each GPU, on as few GPUs as the degrees need. Throws InputError as
/// plan_parallel() does.
[[nodiscard]] Time parallel_iteration_time(const TrainingSystem& system, const TrainingEntry& entry);

}  // namespace contend
