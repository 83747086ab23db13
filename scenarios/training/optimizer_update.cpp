#include "scenarios/training/optimizer_update.hpp"

#include "models/layer_work.hpp"
#include "models/overlap/optimizers.hpp"
#include "models/parallel/matrix_updates.hpp"
#include "models/parallel/offload.hpp"
#include "models/parallel/trained_part.hpp"
#include "models/parallel/weight_tensors.hpp"
#include "scenarios/training/host_work.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/training/unit_times.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

namespace contend {
namespace {

/// The tensors of a network of layers. The first and the last layer with parameters have no hidden tensors.
std::vector<WeightShape> shapes_of(const TimedModel& model) {
  std::vector<WeightShape> shapes;
  std::vector<std::size_t> layers;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    for (const ParameterTensor& tensor : model.layers[i].tensors) {
      shapes.push_back({tensor.rows(), tensor.columns(), 1, true});
      layers.push_back(i);
    }
  }
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (layers[i] == layers.front() || layers[i] == layers.back()) shapes[i].hidden = false;
  return shapes;
}

/// Times of the products of updates on the device of an entry, each shape once.
class ProductTimes {
 public:
  explicit ProductTimes(const TrainingEntry& entry) : entry_{entry} {}

  Time operator()(const WeightShape& shape) {
    const auto [known, is_new] = times_.try_emplace({shape.rows, shape.columns});
    if (!is_new) return known->second;
    const MatrixProducts products = products_of(*entry_.optimizer, shape);
    Time& time = known->second;
    if (!products.each.empty()) time = operator_times(products.each, entry_).forward;
    if (!products.seldom.empty())
      time += Time::nanoseconds(operator_times(products.seldom, entry_).forward.ns() / products.interval);
    return time;
  }

 private:
  const TrainingEntry& entry_;
  std::map<std::pair<std::int64_t, std::int64_t>, Time> times_;
};

/// What ranks have of dense weights, or of experts: a list of tensors, and the ranks that share out what is kept of
/// them.
struct SharedWeights {
  std::vector<WeightTensor> tensors;
  RankGroups shards;
  RankGroups parts;  ///< ranks that have parts of a tensor
};

std::vector<WeightShape> parts_of(const SharedWeights& weights, const LayerSplit& split) {
  std::vector<WeightShape> shapes;
  for (const WeightTensor& each : weights.tensors) shapes.push_back(each.part(split));
  return shapes;
}

/// Of what is trained.
std::vector<SharedWeights> weights_of(const TrainingEntry& entry, const TransformerModel& model,
                                      const TrainingIteration& job, const std::vector<LayerRange>& ranges) {
  const bool shares = job.sharding != Sharding::none;
  SharedWeights dense{{}, shares ? job.dense_shards() : RankGroups{}, {1, job.tensor}};
  SharedWeights experts{{}, shares ? job.expert_shards() : RankGroups{}, {1, job.expert_tensor}};
  for (const LayerRange& range : ranges)
    for (const auto& [tensor, trained] : stage_tensors(model, range, entry.trained(model)))
      if (trained) (tensor.experts ? experts : dense).tensors.push_back(tensor);
  return {std::move(dense), std::move(experts)};
}

/// Adds what the rank multiplies and gathers that has most to do.
void add_products(const TrainingEntry& entry, const SharedWeights& weights, const LayerSplit& split,
                  ProductTimes& times, RankUpdate& update) {
  const Optimizer& optimizer = *entry.optimizer;
  constexpr std::int64_t kBytes = 2;  // of a number of a matrix that is iterated
  std::vector<TimedMatrix> matrices;
  for (const WeightTensor& tensor : weights.tensors) {
    const WeightShape part = tensor.part(split);
    const Optimizer& row = optimizer.of(part);
    if (!row.has_products()) continue;
    WeightShape one = row.needs_whole() ? tensor.whole(split) : part;
    one.count = 1;
    TimedMatrix matrix{part.rows * part.columns, part.count, times(one), 0, product_kernels(optimizer, one)};
    if (row.needs_whole() && tensor.cut != TensorCut::none && weights.parts.size > 1) matrix.gathered = one.elements();
    matrices.push_back(matrix);
  }
  const MatrixShare share = fullest_share(matrices, weights.shards.size, optimizer.needs_whole());
  update.time += share.time;
  update.kernels += share.kernels;
  if (!optimizer.needs_whole()) return;
  if (weights.shards.size > 1 && share.elements > 0)
    update.gathers.push_back({Bytes{share.elements * kBytes}, weights.shards});
  if (share.gathered > 0) update.gathers.push_back({Bytes{share.gathered * kBytes}, weights.parts});
}

/// An update on the host.
RankUpdate offloaded_update(const TrainingEntry& entry, const TrainingIteration& job, double elements, double moved,
                            double kept, Time launches) {
  const OffloadSetup& offload = entry.parallel->offload;
  OffloadedUpdate each;
  each.weight = job.weight_bytes;
  each.memory = moved;
  // With numbers of 2 bytes the weights in 4 bytes are part of the state.
  if (offload.weights != StatePlace::gpu) each.weight = 0;  // they stay where the update is
  if (offload.optimizer == StatePlace::nvme) each.stored = kept;
  if (offload.weights == StatePlace::nvme) each.stored += job.weight_bytes / 2.0;  // only written
  const ByteRate link = *offload.link;
  const OffloadRates rates{link, *offload.memory, offload.nvme.value_or(link)};
  const Time time = offloaded_update_time(elements, each, rates);
  return {std::max(launches, time), launches > time, offloaded_update_traffic(elements, each)};
}

/// Bytes that kernels beside the optimizer's move, of a rank that has these stages and updates so many elements. Where
/// gradients are shared out, each has its share of the buffer.
double beside_update(const TrainingEntry& entry, const TrainingIteration& job, const std::vector<int>& stages,
                     double updated) {
  const HostCosts* const host = host_of(entry);
  if (host == nullptr) return 0;
  const auto buffered = [&](std::int64_t elements, const RankGroups& ranks) {
    const int shares = job.sharding >= Sharding::gradients ? ranks.size : 1;
    return host->buffered_bytes(job.gradient_bytes, ranks.size) * static_cast<double>(elements) / shares;
  };
  double bytes = host->clipped_bytes() * updated;
  for (const int stage : stages)
    for (const ModelUnit& unit : job.units[static_cast<std::size_t>(stage)])
      bytes += buffered(unit.dense_elements, job.dense_groups()) + buffered(unit.expert_elements, job.expert_groups());
  return bytes;
}

}  // namespace

std::int64_t product_kernels(const TrainingEntry& entry, const TimedModel& model) {
  std::int64_t kernels = 0;
  if (entry.optimizer == nullptr || !entry.optimizer->has_products()) return kernels;
  for (const WeightShape& shape : shapes_of(model)) kernels += product_kernels(*entry.optimizer, shape) * shape.count;
  return kernels;
}

Bytes kept_by(const TrainingEntry& entry, const TimedModel& model) {
  double bytes = 0;
  for (const WeightShape& shape : shapes_of(model))
    bytes += kept_bytes(*entry.optimizer, shape, model.gradient_element_bytes, entry.keeping());
  return Bytes{static_cast<std::int64_t>(std::ceil(bytes))};
}

void add_update(const TrainingEntry& entry, TimedModel& model, int workers) {
  if (entry.optimizer == nullptr) return;
  const auto values = static_cast<double>(model.gradient_elements());
  const bool separately = updates_separately(entry);
  const int width = model.gradient_element_bytes;
  const Optimizer& optimizer = *entry.optimizer;
  KernelWork work = optimizer.goes_by_shape()
                        ? update_work(optimizer, shapes_of(model), 1, width, separately, entry.keeping())
                        : update_work(optimizer, values, width, separately, entry.keeping());
  if (const HostCosts* const host = host_of(entry))
    work.bytes += (host->clipped_bytes() + host->buffered_bytes(width, workers)) * values;
  Time update = kernel_costs(entry).of(work);
  if (optimizer.has_products()) {
    ProductTimes times{entry};
    for (const WeightShape& shape : shapes_of(model)) update += times(shape) * shape.count;
  }
  constexpr double kUnscaled = 4 + 4 + 4;  // a value is read, divided by the scale and written, and checked
  if (entry.mixed_precision && entry.type == DataType::fp16)
    update += kernel_costs(entry).of({kUnscaled * values, 0, 2});

  std::size_t tensors = 0;
  for (const TimedLayer& layer : model.layers) tensors += layer.tensors.size();
  const Time host = entry.update_per_tensor * static_cast<std::int64_t>(tensors);
  const bool launches = host > update;
  const auto total = static_cast<double>(launches ? host.ns() : update.ns());
  const double all = launches ? static_cast<double>(tensors) : values;
  double before = 0;
  Time given;
  for (TimedLayer& layer : model.layers) {
    for (const ParameterTensor& tensor : layer.tensors) before += launches ? 1 : static_cast<double>(tensor.elements);
    const Time until = Time::nanoseconds(static_cast<std::int64_t>(std::llround(total * (before / all))));
    layer.forward += until - given;
    given = until;
  }
}

RankUpdate rank_update(const TrainingEntry& entry, const TransformerModel& model, const LayerSplit& split,
                       const TrainingIteration& job, const std::vector<int>& stages,
                       const std::vector<LayerRange>& ranges) {
  if (entry.optimizer == nullptr) return {};
  const Optimizer& optimizer = *entry.optimizer;
  const std::int64_t width = activation_bytes(entry.type);
  const bool shares = job.sharding != Sharding::none;
  double elements = 0;
  std::int64_t tensors = 0;
  for (const int stage : stages) {
    for (const ModelUnit& unit : job.units[static_cast<std::size_t>(stage)]) {
      tensors += unit.dense_tensors + unit.expert_tensors;
      elements += static_cast<double>(unit.dense_elements) / (shares ? job.dense_shards().size : 1);
      elements += static_cast<double>(unit.expert_elements) / (shares ? job.expert_shards().size : 1);
    }
  }
  if (elements == 0) return {};
  KernelWork work = update_work(optimizer, elements, width, updates_separately(entry), entry.keeping());
  std::vector<SharedWeights> weights;
  if (optimizer.goes_by_shape()) {
    weights = weights_of(entry, model, job, ranges);
    work = {};
    for (const SharedWeights& each : weights)
      work.bytes += update_work(optimizer, parts_of(each, split), 1.0 / each.shards.size, width,
                                updates_separately(entry), entry.keeping())
                        .bytes;
  }
  const Time launches = entry.update_per_tensor * tensors;
  if (entry.parallel->offload.optimizer != StatePlace::gpu) {
    const double kept =
        keeps_by_parameter(entry)
            ? optimizer.kept(width, entry.keeping())
            : static_cast<double>(kept_by_rank(entry, model, split, job, ranges, width).count()) / elements;
    const double moved = optimizer.goes_by_shape() ? work.bytes / elements : optimizer.moved(width, entry.keeping());
    return offloaded_update(entry, job, elements, moved, kept, launches);
  }
  work.bytes += beside_update(entry, job, stages, elements);
  RankUpdate update{.time = kernel_costs(entry).of(work)};
  ProductTimes times{entry};
  if (optimizer.has_products())
    for (const SharedWeights& each : weights) add_products(entry, each, split, times, update);
  update.by_tensor = launches > update.time;
  update.time = std::max(launches, update.time);
  return update;
}

bool keeps_by_parameter(const TrainingEntry& entry) {
  return entry.optimizer == nullptr ||
         (!entry.optimizer->goes_by_shape() && entry.optimizer_states != StateFormat::int8);
}

Bytes kept_by_rank(const TrainingEntry& entry, const TransformerModel& model, const LayerSplit& split,
                   const TrainingIteration& job, const std::vector<LayerRange>& ranges, std::int64_t width) {
  double bytes = 0;
  for (const SharedWeights& weights : weights_of(entry, model, job, ranges)) {
    double all = 0;
    for (const WeightShape& shape : parts_of(weights, split))
      all += kept_bytes(*entry.optimizer, shape, width, entry.keeping());
    bytes += all / weights.shards.size;
  }
  return Bytes{static_cast<std::int64_t>(std::ceil(bytes))};
}

Bytes whole_state(const TrainingEntry& entry, const TransformerModel& model) {
  const std::int64_t width = activation_bytes(entry.type);
  const TrainedPart part = entry.trained(model);
  const std::int64_t all = part.is_part() ? trained_parameters(model, part) : parameters(model);
  if (keeps_by_parameter(entry)) {
    const double kept = entry.optimizer != nullptr ? entry.optimizer->kept(width, entry.keeping()) : 0;
    return Bytes{all * (width + std::llround(kept))};
  }
  TransformerModel without_modules = model;
  without_modules.mtp_layers = 0;
  double bytes = 0;
  for (const auto& [tensor, trained] : stage_tensors(without_modules, {0, model.all_layers(), true, true}, part))
    if (trained) bytes += kept_bytes(*entry.optimizer, tensor.whole({}), width, entry.keeping());
  return Bytes{all * width + static_cast<std::int64_t>(std::ceil(bytes))};
}

}  // namespace contend
