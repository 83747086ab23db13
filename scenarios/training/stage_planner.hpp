#pragma once
// Times of the stages of a parallel job, each on the device and in the network of its pipeline rank, and how its layers
// are divided among them.

#include "models/parallel/layer_split.hpp"
#include "models/parallel/operators.hpp"
#include "models/parallel/training_iteration.hpp"
#include "models/parallel/transformer.hpp"
#include "scenarios/spec/training_system.hpp"
#include "scenarios/training/unit_times.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// What a pipeline rank sends to the next one for a micro-batch, and gets back.
struct StageMessage {
  Bytes bytes;                   ///< that each rank sends
  Time alone{};                  ///< for which all are on their way in an empty network; 0 where nobody asks
  double ratio = 1;              ///< bytes without compression over those with it
  Time pack{}, unpack{};         ///< kernels of the sender and of the receiver of activations
  Time repack{}, unpack_back{};  ///< the same for the gradients that come back
};

/// What times the units of each pipeline rank. Job ranks fill the cluster from its first GPU on.
class StagePlanner {
 public:
  /// All of these must outlive it, the plan of the job included.
  StagePlanner(const TrainingSystem& system, const TrainingEntry& entry, const TransformerModel& model,
               const MicroBatch& work, const TrainingIteration& job)
      : system_{system}, entry_{entry}, model_{model}, work_{work}, job_{job} {}

  /// Throws InputError if a stage lies on ranks with different devices.
  [[nodiscard]] UnitTimes& of_stage(int stage) { return *found(stage).times; }
  /// The entry with the device of the stage.
  [[nodiscard]] const TrainingEntry& entry_of_stage(int stage) { return found(stage).entry; }

  /// By model stage but the last: its message to the next one, compressed as the entry says. A message between stages
  /// of one rank is never compressed, as it isn't sent.
  [[nodiscard]] std::vector<StageMessage> messages();
  /// For how long each of these sends between servers, in an empty network; 0 for those that stay inside.
  [[nodiscard]] std::vector<Time> between_servers(const std::vector<StageMessage>& messages);
  /// The layers of each stage, as the entry gives them, as even as can be, or such that the longest stage is as short
  /// as possible (balanced_layers()). A stage then takes its computing for a micro-batch in both passes, the messages
  /// that it receives, and its part of the exchange of gradients and weights of an iteration. Throws
  /// InputError.
  [[nodiscard]] std::vector<LayerRange> layers(const std::vector<StageMessage>& messages);
  /// The time of the collectives of a stage's gradients and weights in an iteration, in an empty network.
  [[nodiscard]] Time exchange(int stage, const RankParameters& parameters);

 private:
  struct Timed {
    TrainingEntry entry;
    std::unique_ptr<UnitTimes> times;
  };
  Timed& found(int stage);
  [[nodiscard]] std::vector<LayerRange> balanced(const std::vector<StageMessage>& messages);
  [[nodiscard]] Time alone(int stage, Bytes bytes);
  [[nodiscard]] std::size_t rank_of(int stage) const;
  [[nodiscard]] bool is_sent(int stage) const;
  [[nodiscard]] bool leaves_servers(int stage) const;

  const TrainingSystem& system_;
  const TrainingEntry& entry_;
  const TransformerModel& model_;
  const MicroBatch& work_;
  const TrainingIteration& job_;
  std::map<std::pair<std::string, int>, Timed> timed_;  // by device ("": the entry's device) and first GPU
};

/// Layers of each of `stages` consecutive parts of a model. Where the layers can't be cut evenly, embedding and head
/// count as a layer each, if that makes the parts even; else the parts in the middle get one more.
[[nodiscard]] std::vector<LayerRange> cut_layers(std::int64_t layers, int stages);

}  // namespace contend
