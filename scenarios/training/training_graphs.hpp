#pragma once
// The iteration graphs of the jobs of a training system: of the entries of `training`, and of the training profiles.

#include "models/layers.hpp"
#include "models/passes/pass.hpp"
#include "models/workload.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/spec/training_system.hpp"
#include "scenarios/training/planned_iteration.hpp"
#include "sim/error.hpp"
#include "traces/recording/recording.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// Names of the entries and of the training profiles, which jobs may give as their model.
[[nodiscard]] std::vector<std::string> trainable_names(const std::vector<TrainingEntry>& training);

/// Throws the complaints with keys of the entry, such as `training.NAME.batch` for `batch`.
[[noreturn]] void rethrow_about(const TrainingEntry& entry, const InputError& error);

/// How jobs of that model, an entry, perhaps with members of a job's own, or a training profile, exchange gradients.
[[nodiscard]] JobExchange exchange_of_model(const NetworkSetup& network, const std::vector<TrainingEntry>& training,
                                            const std::string& model);

/// The network of an entry with what one iteration takes on one of so many workers: its micro-batches, the parts of
/// other workers, the wait for data, and the update of the weights, which the forward pass of each layer begins with.
/// Its batch counts all micro-batches. Adds the passes that made it so to `records`. Throws InputError as
/// trained_model() and layer_passes() do.
[[nodiscard]] TimedModel entry_model(const TrainingEntry& entry, int workers, std::vector<PassRecord>& records);
[[nodiscard]] TimedModel entry_model(const TrainingEntry& entry, int workers = 1);
/// True if entry_model() is sure to make the same of both.
[[nodiscard]] bool same_model(const TrainingEntry& a, const TrainingEntry& b);

/// Memory on each GPU by kind (Rajbhandari et al., SC 2020, section 3.1): with 2-byte gradients the optimizer also
/// keeps the weights in 4 bytes. Activations are the outputs of all layers for one micro-batch; kernels reuse some of
/// them, and need a workspace that is not counted.
struct TrainingMemory {
  Bytes weights, gradients, optimizer, activations;
  [[nodiscard]] Bytes total() const { return weights + gradients + optimizer + activations; }
};
/// Throws InputError as trained_model() does.
[[nodiscard]] TrainingMemory entry_memory(const TrainingEntry& entry);

/// A job that is trained layer by layer, with its messages as they were planned.
struct PlannedTraining {
  std::unique_ptr<CompressionMethod> method;  ///< nullptr: nothing is compressed
  OverlapProblem problem;                     ///< refers to it
  PlannedIteration planned;
  std::vector<PassRecord> passes;  ///< so far
};

/// Makes graphs for the jobs of a training system, which must outlive it. A fusion policy plans for the job on as few
/// servers as can hold it, alone in the network.
class TrainingGraphs {
 public:
  explicit TrainingGraphs(const TrainingSystem& system) : system_{system} {}

  /// As GraphMaker. Throws InputError that names the entry if its policies can't work together, or for members of the
  /// job's own that can't be read (variant_entry()).
  [[nodiscard]] TrainedJob operator()(const std::string& name, int gpus);
  /// The messages of the jobs of an entry; nothing for a training profile, a recording, or an entry with `parallel`.
  /// Throws InputError as the operator does.
  [[nodiscard]] std::optional<PlannedTraining> planned(const std::string& name, int gpus);
  /// The source of the graph of such a job, and the passes over it. Throws InputError as the operator does.
  [[nodiscard]] std::vector<PassRecord> passes(const std::string& name, int gpus);
  /// As IterationTime, without kernels of compression.
  [[nodiscard]] Time iteration(const std::string& name);

 private:
  /// An entry, or one with members of a job's own, and what has been derived from it.
  struct Known {
    TrainingEntry entry;
    std::map<int, std::pair<TimedModel, std::vector<PassRecord>>> models;  // by workers; 1 unless they matter
    std::optional<Bytes> memory;
    std::shared_ptr<const Recording> recording{};
  };
  /// Returns nullptr for a training profile.
  [[nodiscard]] Known* known(const std::string& name);
  [[nodiscard]] static const std::pair<TimedModel, std::vector<PassRecord>>& model_of(Known& known, int workers);
  /// Its recording, read once.
  [[nodiscard]] static const Recording& recording_of(Known& known);
  /// What its GPUs compute, of the rank that computes longest.
  [[nodiscard]] static Time recorded_iteration(Known& known);
  [[nodiscard]] PlannedTraining plan_job(Known& known, int gpus) const;
  [[nodiscard]] TrainedJob trained_job(const std::string& name, int gpus, std::vector<PassRecord>& records);

  const TrainingSystem& system_;
  std::map<std::string, Known> known_;  // by name
};

}  // namespace contend
