#include "scenarios/training/parallel_memory.hpp"

#include "models/layer_work.hpp"
#include "models/parallel/fsdp_memory.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/training/optimizer_update.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::int64_t kSingle = 4;  // bytes of a number in fp32

std::string parts_of(const GpuMemory& memory) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, Bytes bytes) {
    if (bytes > Bytes{}) parts.push_back(fmt::format("{} {}", name, gib(bytes)));
  };
  add("weights", memory.weights);
  add("gradients", memory.gradients);
  add("optimizer", memory.optimizer);
  add("activations", memory.activations);
  add("gathered weights", memory.gathered);
  add("working space", memory.working);
  add("buffers of messages", memory.messages);
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The first setting near the entry's setting that needs at most `there` on every GPU, or an empty text.
std::string setting_that_fits(const TrainingSystem& system, const TrainingEntry& entry, int gpus, Bytes there) {
  struct Change {
    std::string text;
    TrainingEntry entry;
  };
  std::vector<Change> changes;
  const auto add = [&](std::string text, const auto& change) {
    changes.push_back({std::move(text), entry});
    change(changes.back().entry);
  };
  const ParallelSetup& setup = *entry.parallel;
  const auto full = [](TrainingEntry& e) { e.recompute = Recomputation::full; };
  if (setup.tensor > 1 && !setup.sequence_parallel)
    add("parallel.sequence_parallel: true", [](TrainingEntry& e) { e.parallel->sequence_parallel = true; });
  if (make_policy(pipeline_schedules(), setup.schedule, {})->traits().holds_all)
    add("parallel.schedule: 1f1b", [](TrainingEntry& e) { e.parallel->schedule = {"1f1b", {}}; });
  if (entry.recompute != Recomputation::full) add("recompute: full", full);
  for (int zero = setup.zero + 1; zero <= 3; ++zero) {
    add(fmt::format("parallel.zero: {}", zero), [&](TrainingEntry& e) { e.parallel->zero = zero; });
    add(fmt::format("recompute: full and parallel.zero: {}", zero), [&](TrainingEntry& e) {
      full(e);
      e.parallel->zero = zero;
    });
  }
  for (int factor = 2; factor <= 64; factor *= 2) {
    add(fmt::format("parallel.tensor: {}", setup.tensor * factor),
        [&](TrainingEntry& e) { e.parallel->tensor *= factor; });
    add(fmt::format("parallel.pipeline: {}", setup.pipeline * factor),
        [&](TrainingEntry& e) { e.parallel->pipeline *= factor; });
    add(fmt::format("recompute: full and parallel.pipeline: {}", setup.pipeline * factor), [&](TrainingEntry& e) {
      full(e);
      e.parallel->pipeline *= factor;
    });
  }
  const TransformerModel model = transformer_of(entry);
  for (const Change& each : changes) {
    try {
      const std::vector<GpuMemory> memory = held_memory(system, each.entry, model, gpus);
      if (memory[fullest(memory)].total() <= there) return each.text;
    } catch (const InputError&) {
      continue;  // it doesn't divide the model or the GPUs
    }
  }
  return {};
}

/// Activations of the layer that leaves most.
Bytes largest_layer(const TrainingEntry& entry, const TransformerModel& model, const MicroBatch& work,
                    const std::vector<HeldStage>& stages) {
  Bytes most;
  for (const HeldStage& stage : stages)
    for (std::int64_t layer = stage.range.first; layer < stage.range.last; ++layer)
      most = std::max(most, layer_activations(model, layer, work, entry.recompute).kept());
  return most;
}

/// Activations of a micro-batch that layers don't leave: of the embedding and the output. They stay on the GPU.
Bytes beside_layers(const TrainingEntry& entry, const TransformerModel& model, const MicroBatch& work,
                    const std::vector<HeldStage>& stages) {
  Bytes sum;
  for (const HeldStage& stage : stages) {
    LayerRange ends = stage.range;
    ends.first = ends.last;
    if (ends.embedding || ends.head) sum += stage_activations(model, ends, work, entry.recompute).kept();
  }
  return sum;
}

/// What PyTorch's allocator has reserved on the GPUs of each pipeline rank.
std::vector<GpuMemory> reserved_by_fsdp(const TrainingEntry& entry, const TransformerModel& model,
                                        const MicroBatch& work, const TrainingIteration& job,
                                        const std::vector<LayerRange>& stages, const std::vector<Bytes>& peaks) {
  const std::vector<int> held = held_activations(job.plan);
  std::vector<GpuMemory> by_rank;
  for (std::size_t rank = 0; rank < job.plan.ranks(); ++rank) {
    FsdpShape shape;
    shape.zero = static_cast<int>(job.sharding);
    shape.shards = job.dense_shards().size;
    shape.expert_shards = job.expert_shards().size;
    if (keeps_by_parameter(entry) && entry.optimizer != nullptr)
      shape.moments = std::llround(entry.optimizer->kept(kSingle, entry.keeping()));
    if (!entry.master_weights.value_or(true)) shape.stored = activation_bytes(entry.type);
    shape.gradients = job.gradient_bytes;
    shape.recomputation = entry.recompute;
    shape.activations = peaks[rank];
    shape.micro_batches = job.plan.all_micro_batches();
    shape.held = held[rank];
    for (const int stage : job.plan.stage_of[rank]) {
      shape.has_previous = shape.has_previous || (job.plan.ranks() > 1 && stage > 0);
      shape.has_next = shape.has_next || (job.plan.ranks() > 1 && stage + 1 < job.plan.stages);
    }
    for (const Bytes& message : job.messages) shape.message = std::max(shape.message, message);
    std::vector<LayerRange> here;
    for (const int stage : job.plan.stage_of[rank]) here.push_back(stages[static_cast<std::size_t>(stage)]);
    by_rank.push_back(fsdp_memory(model, work, here, shape));
    if (!keeps_by_parameter(entry))
      by_rank.back().optimizer = kept_by_rank(entry, model, work.split, job, here, kSingle);
  }
  return by_rank;
}

/// The weights of all units of some stages, and the most weights and gradients of a unit.
struct InUnits {
  Bytes weights, most_weights, most_gradients;
};
InUnits in_units(const TrainingIteration& job, const std::vector<int>& stages) {
  InUnits found;
  for (const int stage : stages) {
    for (const ModelUnit& unit : job.units[static_cast<std::size_t>(stage)]) {
      const Bytes trained{unit.dense_elements + unit.expert_elements};
      const Bytes weights = trained * job.weight_bytes + unit.frozen_dense + unit.frozen_experts;
      found.weights += weights;
      found.most_weights = std::max(found.most_weights, weights);
      found.most_gradients = std::max(found.most_gradients, trained * job.gradient_bytes);
    }
  }
  return found;
}

/// Keys and values that a rank gathers from the others of its sequences, in numbers.
Bytes keys_of_others(ContextExchange exchange, const TransformerModel& model, const MicroBatch& work) {
  std::int64_t width = 0;
  if (exchange == ContextExchange::all_gather) width = model.key_width() + model.value_width();
  if (exchange == ContextExchange::gathered_ring) width = model.query_width() + model.context_width();
  return Bytes{work.context_tokens() * (work.split.context - 1)} * (width / work.split.tensor);
}

}  // namespace

std::string gib(Bytes bytes) {
  return fmt::format("{:.1f} GiB", bytes.to_gibibytes());
}

StateWidths state_widths(const TrainingEntry& entry, std::int64_t gradient_bytes) {
  const int width = activation_bytes(entry.type);
  const bool is_counted = entry.optimizer != nullptr && keeps_by_parameter(entry);
  return {width, gradient_bytes, is_counted ? std::llround(entry.optimizer->kept(width, entry.keeping())) : 0};
}

std::vector<GpuMemory> rank_memory(const TrainingEntry& entry, const TransformerModel& model, const MicroBatch& work,
                                   const TrainingIteration& job, const std::vector<LayerRange>& stages) {
  MemoryOptions options;
  const int width = activation_bytes(entry.type);
  options.widths = state_widths(entry, job.gradient_bytes);
  options.zero = static_cast<int>(job.sharding);
  options.dense_shards = job.dense_shards().size;
  options.expert_shards = job.expert_shards().size;
  options.recomputation = entry.recompute;
  PipelineActivations activations;
  for (const LayerRange& range : stages) {
    const ActivationBytes bytes = stage_activations(model, range, work, entry.recompute);
    activations.until_input.push_back(bytes.until_input);
    activations.until_weight.push_back(bytes.until_weight);
    if (!job.plan.has_weight_passes()) continue;
    // What was recomputed for the gradient of the inputs stays for the gradient of the weights.
    const ActivationBytes whole = stage_activations(model, range, work, Recomputation::none);
    const Bytes again = computes_layers_again(entry.recompute)
                            ? whole.until_weight
                            : std::max(Bytes{}, whole.until_weight - bytes.until_weight);
    activations.for_weight.push_back(whole.output_gradients + again);
  }
  const Bytes gathered_keys = keys_of_others(entry.parallel->context_exchange, model, work) * width;
  const std::vector<Bytes> peaks = peak_activation_bytes(job.plan, activations);
  if (entry.runtime == Runtime::fsdp2) return reserved_by_fsdp(entry, model, work, job, stages, peaks);
  std::vector<GpuMemory> by_rank;
  for (std::size_t rank = 0; rank < job.plan.ranks(); ++rank) {
    std::vector<HeldStage> held;
    std::vector<LayerRange> ranges;
    for (const int stage : job.plan.stage_of[rank]) ranges.push_back(stages[static_cast<std::size_t>(stage)]);
    for (const LayerRange& range : ranges) held.push_back({range, 0});
    by_rank.push_back(gpu_memory(model, work, held, options));
    by_rank.back().activations = peaks[rank];
    if (!keeps_by_parameter(entry))
      by_rank.back().optimizer = kept_by_rank(entry, model, work.split, job, ranges, width);
    // Gradients of a unit are there until it is updated; a share of all may be less.
    const InUnits units = in_units(job, job.plan.stage_of[rank]);
    if (entry.update_in_backward) by_rank.back().gradients = std::min(by_rank.back().gradients, units.most_gradients);
    const OffloadSetup& offload = entry.parallel->offload;
    if (offload.optimizer != StatePlace::gpu) by_rank.back().optimizer = Bytes{};
    if (offload.weights != StatePlace::gpu) {
      by_rank.back().weights = Bytes{};
      // The weights of a unit that computes and of the next unit, also where no other rank has a share of them.
      by_rank.back().gathered = std::max(by_rank.back().gathered, units.most_weights * 2);
    }
    if (offload.activations)
      by_rank.back().activations =
          std::min(peaks[rank], largest_layer(entry, model, work, held) * 2 + beside_layers(entry, model, work, held));
    Bytes& working = by_rank.back().working;
    working = computes_layers_again(entry.recompute) ? working + gathered_keys : std::max(working, gathered_keys);
    if (job.sharding == Sharding::weights && !job.reshard) {
      // Weights stay from the forward pass to the backward pass.
      by_rank.back().gathered = std::max(by_rank.back().gathered, units.weights);
    }
  }
  return by_rank;
}

std::size_t fullest(const std::vector<GpuMemory>& memory) {
  const auto most = std::ranges::max_element(memory, {}, &GpuMemory::total);
  return static_cast<std::size_t>(most - memory.begin());
}

void check_memory(const TrainingSystem& system, const TrainingEntry& entry, int gpus,
                  const std::vector<GpuMemory>& memory) {
  const Bytes there = system.cluster.gpu_memory;
  const std::size_t rank = fullest(memory);
  const Bytes needed = memory[rank].total();
  if (entry.memory ? *entry.memory <= there : needed <= there) return;
  if (entry.memory)
    throw InputError{
        {{.key = "memory", .reason = fmt::format("{}: a GPU of the cluster has {}", gib(*entry.memory), gib(there))}}};
  const std::string fits = setting_that_fits(system, entry, gpus, there);
  throw InputError{
      {{.key = "parallel",
        .reason = fmt::format("needs {} on each GPU of pipeline rank {} ({}), {} more than cluster.gpu_memory, {}",
                              gib(needed), rank, parts_of(memory[rank]), gib(needed - there), gib(there)),
        .hint = fits.empty() ? "no setting near this one fits; `memory` replaces the estimate" : fits + " would fit"}}};
}

}  // namespace contend
