#include "models/parallel/trained_part.hpp"

#include "models/layer_work.hpp"
#include "models/parallel/narrow_bytes.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::array kQkv{WeightGroup::query, WeightGroup::key, WeightGroup::value};
constexpr std::array kGateUp{WeightGroup::gate, WeightGroup::up};
constexpr std::array kOneMatrix{WeightGroup::output, WeightGroup::down};
constexpr std::array kTargets{AdapterTarget::query, AdapterTarget::key,     AdapterTarget::value,
                              AdapterTarget::qkv,   AdapterTarget::output,  AdapterTarget::gate,
                              AdapterTarget::up,    AdapterTarget::gate_up, AdapterTarget::down};

/// Adds the tensors of the adapters of a layer behind its own.
void add_adapters(const Adapter& adapter, std::vector<StageTensor>& layer) {
  const std::vector<StageTensor> own = layer;
  const bool trains_in = adapter.kind != AdapterKind::lora_fa;
  for (const AdapterTarget target : adapter.targets) {
    const std::span<const WeightGroup> groups = groups_of(target);
    // Tensors of the first matrix of the target: of an encoder-decoder two, or of experts and of shared ones.
    for (std::size_t i = 0; i < own.size(); ++i) {
      const WeightTensor& base = own[i].tensor;
      if (base.group != groups.front()) continue;
      WeightTensor in{.group = WeightGroup::adapter_in,
                      .rows = adapter.rank,
                      .columns = base.columns,
                      .count = base.count,
                      .cut = base.cut,
                      .experts = base.experts,
                      .padded = true};
      WeightTensor out = base;
      out.group = WeightGroup::adapter_out;
      out.columns = adapter.rank;
      if (out.cut == TensorCut::columns) out.cut = TensorCut::rows;
      out.padded = true;
      std::size_t next = 1;  // of the groups: the tensors of a product follow one another, with biases between them
      for (std::size_t j = i + 1; j < own.size() && next < groups.size(); ++j)
        if (own[j].tensor.group == groups[next]) out.rows += own[j].tensor.rows, ++next;
      layer.push_back({in, trains_in});
      layer.push_back({out, true});
    }
  }
}

std::vector<StageTensor> marked(const std::vector<WeightTensor>& tensors, const TrainedPart& part, std::int64_t unit) {
  std::vector<StageTensor> made;
  for (const WeightTensor& each : tensors) made.push_back({each, part.trains(each.group, unit)});
  return made;
}

void append(std::vector<StageTensor>& all, const std::vector<StageTensor>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::vector<StageTensor> marked_layer(const TransformerModel& model, const std::vector<WeightTensor>& tensors,
                                      const TrainedPart& part, std::int64_t layer) {
  std::vector<StageTensor> made = marked(tensors, part, std::min(layer, model.all_layers() - 1));
  if (part.adapter) add_adapters(*part.adapter, made);
  return made;
}

/// Tensors of the first layer of each kind, and of the last one, which is the decoder's if there are two.
std::vector<WeightTensor> tensors_of_layers(const TransformerModel& model) {
  std::vector<WeightTensor> tensors;
  std::set<std::size_t> kinds;
  for (std::int64_t layer = 0; layer < model.all_layers(); ++layer) {
    if (!kinds.insert(model.kind_index(layer)).second && layer + 1 < model.all_layers()) continue;
    for (const WeightTensor& each : layer_tensors(model, layer)) tensors.push_back(each);
  }
  return tensors;
}

/// True if all matrices of a target are there. Of latent attention keys and values come out of one short vector.
bool has_all(const std::vector<WeightTensor>& tensors, AdapterTarget target) {
  return std::ranges::all_of(groups_of(target), [&](WeightGroup group) {
    return std::ranges::find(tensors, group, &WeightTensor::group) != tensors.end();
  });
}

void check_adapter(const Adapter& adapter, const TransformerModel& model, Complaints& found) {
  const std::vector<WeightTensor> tensors = tensors_of_layers(model);
  std::set<WeightGroup> taken;
  std::vector<std::string_view> there;
  for (const AdapterTarget each : kTargets)
    if (has_all(tensors, each)) there.push_back(to_string(each));
  if (adapter.targets.empty())
    found.add("targets", "says no matrices", fmt::format("such as [{}]", fmt::join(there, ", ")));
  for (const AdapterTarget target : adapter.targets) {
    if (!has_all(tensors, target)) {
      found.add("targets", fmt::format("{}: no layer of {} has this matrix", to_string(target), model.name),
                fmt::format("{}", fmt::join(there, ", ")));
      continue;
    }
    for (const WeightGroup group : groups_of(target))
      if (!taken.insert(group).second)
        found.add("targets", fmt::format("{}: another target has this matrix, too", to_string(target)),
                  "each matrix once");
    for (const WeightTensor& tensor : tensors) {
      const std::span<const WeightGroup> groups = groups_of(target);
      const std::int64_t least = std::min(tensor.rows, tensor.columns);
      if (std::ranges::find(groups, tensor.group) == groups.end() || adapter.rank < least) continue;
      found.add("rank",
                fmt::format("{} is no less than the {} x {} numbers of {} have", adapter.rank, tensor.rows,
                            tensor.columns, to_string(target)),
                fmt::format("less than {}, such as 16", least));
      return;
    }
  }
}

}  // namespace

std::span<const std::string_view> adapter_targets() {
  static constexpr std::string_view kNames[] = {"q",       "k",    "v",         "qkv",          "o",  "gate", "up",
                                                "gate-up", "down", "attention", "feed-forward", "all"};
  return kNames;
}

std::string_view to_string(AdapterTarget target) {
  return adapter_targets()[static_cast<std::size_t>(target)];
}

std::span<const WeightGroup> groups_of(AdapterTarget target) {
  switch (target) {
    case AdapterTarget::query:
      return std::span{kQkv}.subspan(0, 1);
    case AdapterTarget::key:
      return std::span{kQkv}.subspan(1, 1);
    case AdapterTarget::value:
      return std::span{kQkv}.subspan(2, 1);
    case AdapterTarget::qkv:
      return kQkv;
    case AdapterTarget::output:
      return std::span{kOneMatrix}.subspan(0, 1);
    case AdapterTarget::gate:
      return std::span{kGateUp}.subspan(0, 1);
    case AdapterTarget::up:
      return std::span{kGateUp}.subspan(1, 1);
    case AdapterTarget::gate_up:
      return kGateUp;
    default:
      break;
  }
  return std::span{kOneMatrix}.subspan(1, 1);
}

Adapter Adapter::of(const TransformerModel& model) const {
  Adapter made = *this;
  made.targets.clear();
  const std::vector<WeightTensor> there = tensors_of_layers(model);
  for (const AdapterTarget target : targets) {
    if (target < AdapterTarget::attention) {
      made.targets.push_back(target);
      continue;
    }
    const auto add = [&](std::initializer_list<AdapterTarget> group) {
      for (const AdapterTarget each : group)
        if (has_all(there, each)) made.targets.push_back(each);
    };
    using enum AdapterTarget;
    if (target != AdapterTarget::feed_forward) add({query, key, value, output});
    if (target != AdapterTarget::attention) add({gate, up, down});
  }
  return made;
}

bool TrainedPart::trains(WeightGroup group, std::int64_t unit) const {
  if (group == WeightGroup::adapter_in) return adapter->kind != AdapterKind::lora_fa;
  if (group == WeightGroup::adapter_out) return true;
  if (adapter) return false;
  if (group == WeightGroup::embedding || unit == kEmbedding) return !frozen_embedding;
  if (group == WeightGroup::head || unit == kHead) return !frozen_head;
  return unit >= frozen_layers;
}

BackwardPart TrainedPart::backward(const TransformerModel& model, std::int64_t unit) const {
  const bool embedding = trains(WeightGroup::embedding, kEmbedding);
  std::int64_t first = embedding ? kEmbedding : frozen_layers;  // the first unit that is trained
  if (adapter) first = 0;
  if (!embedding && !adapter && first >= model.all_layers()) first = kHead;
  if (unit < first) return BackwardPart::none;
  return unit == first ? BackwardPart::weights : BackwardPart::all;
}

void validate(const TrainedPart& part, const TransformerModel& model) {
  Complaints found;
  if (part.adapter) check_adapter(*part.adapter, model, found);
  if (part.frozen_layers > model.all_layers())
    found.add("layers", fmt::format("{} of {} layers can't be frozen", part.frozen_layers, model.all_layers()),
              "at most all of them");
  const bool tied = model.head == OutputHead::tied;
  if (tied && part.frozen_head != part.frozen_embedding)
    found.add("head", fmt::format("the head of {} is its embedding", model.name), "embedding and head alike");
  if (part.frozen_embedding && (part.frozen_head || model.head == OutputHead::none) &&
      part.frozen_layers >= model.all_layers())
    found.add("layers", "nothing is left to train", "fewer layers, or without head");
  found.throw_if_any();
}

std::vector<WeightGroup> groups_of_product(const TransformerModel& model, const TransformerLayer& kind,
                                           std::string_view name) {
  if (name == "qkv") return {kQkv.begin(), kQkv.end()};
  if (name == "query" || name == "query_up" || name == "cross_query") return {WeightGroup::query};
  if (name == "cross_key_value") return {WeightGroup::key, WeightGroup::value};
  if (name == "output" || name == "cross_output") return {WeightGroup::output};
  if (name == "up" || name == "expert_up" || name == "shared_up")
    return kind.gated ? std::vector<WeightGroup>{kGateUp.begin(), kGateUp.end()} : std::vector{WeightGroup::up};
  if (name == "down" || name == "expert_down" || name == "shared_down") return {WeightGroup::down};
  if (name == "logits") return {model.head == OutputHead::tied ? WeightGroup::embedding : WeightGroup::head};
  return {};
}

std::vector<StageTensor> stage_tensors(const TransformerModel& model, const LayerRange& stage,
                                       const TrainedPart& part) {
  std::vector<StageTensor> all;
  if (stage.embedding) append(all, marked(embedding_tensors(model), part, TrainedPart::kEmbedding));
  for (std::int64_t layer = stage.first; layer < stage.last; ++layer)
    append(all, marked_layer(model, layer_tensors(model, layer), part, layer));
  if (!stage.head) return all;
  append(all, marked(head_tensors(model), part, TrainedPart::kHead));
  for (std::int64_t i = 0; i < model.mtp_layers; ++i)
    append(all, marked_layer(model, mtp_tensors(model), part, model.all_layers()));
  if (!stage.embedding)
    if (const std::optional<WeightTensor> table = table_of_head(model))
      all.push_back({*table, part.trains(WeightGroup::embedding, TrainedPart::kEmbedding)});
  return all;
}

double nf4_width() {
  constexpr double kBits = 4 + 0.127;
  return kBits / 8;
}

double frozen_width(const TrainedPart& part, const WeightTensor& tensor, DataType type) {
  if (!tensor.is_hidden() || tensor.group == WeightGroup::router || tensor.group == WeightGroup::adapter_in)
    return activation_bytes(type);
  if (part.adapter && part.adapter->kind == AdapterKind::qlora) return nf4_width();
  return is_narrow(type) ? narrow_bytes(type) : activation_bytes(type);
}

HeldWeights held_weights(const TransformerModel& model, const LayerRange& stage, const LayerSplit& split,
                         const TrainedPart& part, DataType type) {
  HeldWeights held;
  if (!part.is_part()) {
    held.trained = rank_parameters(model, stage, split);
    return held;
  }
  for (const auto& [tensor, trained] : stage_tensors(model, stage, part)) {
    const WeightShape shape = tensor.part(split);
    if (!trained) {
      (tensor.experts ? held.frozen_experts : held.frozen_dense) +=
          frozen_width(part, tensor, type) * static_cast<double>(shape.elements());
      continue;
    }
    (tensor.experts ? held.trained.experts : held.trained.dense) += shape.elements();
    (tensor.experts ? held.trained.expert_tensors : held.trained.dense_tensors) += shape.count;
    if (!tensor.experts && tensor.cut == TensorCut::none) held.trained.whole += shape.elements();
  }
  return held;
}

HeldWeights held_by_head(const TransformerModel& model, const LayerRange& stage, const LayerSplit& split,
                         const TrainedPart& part, DataType type) {
  LayerRange ends{stage.last, stage.last, stage.embedding, true};
  HeldWeights held = held_weights(model, ends, split, part, type);
  if (!stage.embedding) return held;
  ends.head = false;
  const HeldWeights counted = held_weights(model, ends, split, part, type);
  held.trained.dense -= counted.trained.dense;
  held.trained.whole -= counted.trained.whole;
  held.trained.experts -= counted.trained.experts;
  held.trained.dense_tensors -= counted.trained.dense_tensors;
  held.trained.expert_tensors -= counted.trained.expert_tensors;
  held.frozen_dense -= counted.frozen_dense;
  held.frozen_experts -= counted.frozen_experts;
  return held;
}

std::int64_t trained_parameters(const TransformerModel& model, const TrainedPart& part) {
  TransformerModel without_modules = model;
  without_modules.mtp_layers = 0;
  std::int64_t sum = 0;
  for (const StageTensor& each : stage_tensors(without_modules, {0, model.all_layers(), true, true}, part))
    if (each.trained) sum += each.tensor.elements();
  return sum;
}

}  // namespace contend
