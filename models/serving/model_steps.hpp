#pragma once
// The law of a step out of a model and a device: the operators of models/parallel with as many rows as the step has
// tokens, by the roofline, and the messages of tensor, pipeline and expert groups. docs/models/serving.md has the
// table.

#include "models/cost_model.hpp"
#include "models/devices.hpp"
#include "models/parallel/operators.hpp"
#include "models/parallel/transformer.hpp"
#include "models/serving/step_law.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>

namespace contend {

/// How a replica's model is divided over its GPUs: tensor x pipeline of them. A tensor group is
/// `expert` groups of equal size (expert divides tensor); each of these has as many of the routed experts, divided over
/// it.
struct ServingLayout {
  std::int64_t tensor = 1, pipeline = 1, expert = 1;
  /// Of weights, products and activations. fp8 is of layers' products and weights; all else has two bytes then.
  DataType type = DataType::bf16;
  int cache_bytes = 2;         ///< of a number of keys and values
  std::int64_t tokens = 2048;  ///< of a step at most; the law's table ends there
  std::int64_t answers = 256;  ///< sequences that give a token at most; the table of the head ends there
  std::int64_t context =
      2048;              ///< tokens of a sequence for which the cache's bytes a token hold, where layers have windows
  Time host{};           ///< a step: the scheduler, launches without graphs, sampling
  Time host_sequence{};  ///< and for each sequence
};

/// How long messages take; what isn't given takes no time.
struct ServingMessages {
  std::function<Time(Bytes)> all_reduce{};  ///< of so many bytes over the tensor group
  std::function<Time(Bytes)> all_to_all{};  ///< in which each rank of the expert group sends so many bytes in all
  std::function<Time(Bytes)> send{};        ///< from a stage to the next
};

struct ModelSteps {
  StepLaw law{};
  Bytes weights{};               ///< on the fullest rank
  double cache_bytes_token = 0;  ///< KV bytes of a token on a rank of the fullest stage
};

/// Operators take the roofline's time. Throws InputError for a layout that the model can't have, a device without the
/// type, or a step above a day.
[[nodiscard]] ModelSteps model_steps(const TransformerModel& model, const Device& device, const ServingLayout& layout,
                                     const RooflineOptions& options = {}, const ServingMessages& messages = {});

/// Blocks of KV memory: floor((share x memory - weights - working) / (bytes a token x tokens of a block)); 0 if none
/// fits.
[[nodiscard]] std::int64_t cache_blocks(const ModelSteps& steps, Bytes memory, double share, Bytes working,
                                        std::int64_t block_tokens);

}  // namespace contend
