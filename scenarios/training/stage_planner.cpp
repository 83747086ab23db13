#include "scenarios/training/stage_planner.hpp"

#include "models/parallel/layer_partition.hpp"
#include "policies/compression/kernels.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/training/trained_model.hpp"
#include "sim/complaints.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kMostShown = 32;  // numbers of layers in a message

/// True if parts are equal only with the embedding and the head as a layer each.
bool ends_make_even(std::int64_t layers, int stages) {
  return layers % stages != 0 && (layers + 2) % stages == 0;
}

/// Consecutive parts of so many layers.
std::vector<LayerRange> ranges_of(const std::vector<std::int64_t>& sizes) {
  std::vector<LayerRange> ranges;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    LayerRange range;
    range.first = at;
    range.last = at += size;
    range.embedding = ranges.empty();
    ranges.push_back(range);
  }
  ranges.back().head = true;
  return ranges;
}

/// The parts of a model as the entry gives them.
std::vector<LayerRange> given_layers(const ParallelSetup& setup, std::int64_t layers, int stages) {
  const std::vector<std::int64_t> sizes{setup.layers.begin(), setup.layers.end()};
  const std::int64_t sum = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  Complaints found;
  if (std::ssize(sizes) != stages)
    found.add("parallel.layers", fmt::format("has {} numbers: the model is cut into {} parts", sizes.size(), stages));
  for (std::size_t part = 1; part + 1 < sizes.size(); ++part) {
    if (sizes[part] == 0)
      found.add("parallel.layers", fmt::format("part {} of the model has no layer", part),
                "only the first part, with the embedding, and the last one, with the head, can do without");
  }
  if (sum != layers) found.add("parallel.layers", fmt::format("add up to {}: the model has {} layers", sum, layers));
  found.throw_if_any();
  return ranges_of(sizes);
}

/// The member that decides on the number of parts.
std::string key_of_parts(const ParallelSetup& setup) {
  return setup.virtual_stages > 1 ? "parallel.virtual" : "parallel.pipeline";
}

InputError too_many_parts(std::string key, std::int64_t layers, int stages) {
  return InputError{
      {{.key = std::move(key),
        .reason = fmt::format("{} parts of a model of {} layers", stages, layers),
        .hint = stages <= layers + 2
                    ? "parallel.layers can leave the first part, with the embedding, or the last one, with the head, "
                      "without a layer"
                    : fmt::format("at most {}, with embedding and head as a part each", layers + 2)}}};
}

/// A message whose largest values are sent with their indices, and what that takes on the devices of both sides.
void compress(StageMessage& message, double ratio, int width, const KernelCosts& sender, const KernelCosts& receiver) {
  const std::int64_t values = message.bytes.count() / width;
  constexpr int kIndex = static_cast<int>(kernels::kIndex);
  const auto kept = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::floor(message.bytes.to_double() / (ratio * (width + kIndex)))));
  if (kept * (width + kIndex) >= message.bytes.count()) return;  // there is nothing to gain
  message.ratio = message.bytes.to_double() / static_cast<double>(kept * (width + kIndex));
  message.bytes = Bytes{kept * (width + kIndex)};
  const KernelWork select = kernels::radix_select(values, kept, width), put = kernels::scatter(values, kept, width);
  message.pack = sender.of(select);
  message.unpack = receiver.of(put);
  message.repack = receiver.of(select);
  message.unpack_back = sender.of(put);
}

}  // namespace

std::size_t StagePlanner::rank_of(int stage) const {
  const auto has = [&](const std::vector<int>& stages) { return std::ranges::find(stages, stage) != stages.end(); };
  return static_cast<std::size_t>(std::ranges::find_if(job_.plan.stage_of, has) - job_.plan.stage_of.begin());
}

bool StagePlanner::is_sent(int stage) const {
  const auto on = [&](const std::vector<StagePlace>& path, int which) {
    return path[static_cast<std::size_t>(which)].rank;
  };
  return std::ranges::any_of(job_.plan.paths, [&](const auto& path) { return on(path, stage) != on(path, stage + 1); });
}

StagePlanner::Timed& StagePlanner::found(int stage) {
  std::string device;
  if (const std::vector<std::string>& devices = entry_.parallel->devices; !devices.empty()) {
    for (std::size_t rank = 0; rank < devices.size(); ++rank) {
      if (std::ranges::find(job_.plan.stage_of[rank], stage) == job_.plan.stage_of[rank].end()) continue;
      if (!device.empty() && device != devices[rank])
        throw InputError{{{.key = "parallel.devices",
                           .reason = fmt::format("stage {} lies on ranks with {} and {}", stage, device, devices[rank]),
                           .hint = "a schedule with stages on two ranks needs equal devices there"}}};
      device = devices[rank];
    }
  }
  // In a network whose parts are all alike it doesn't matter where a stage begins.
  const bool differs = ground_of(system_.cluster, system_.network).differs();
  const int first = differs ? static_cast<int>(rank_of(stage)) * job_.ranks_of_stage() : 0;
  const auto [known, is_new] = timed_.try_emplace({device, first});
  if (is_new) {
    known->second.entry = entry_;
    if (!device.empty()) known->second.entry.device = DeviceChoice::named(device);
    known->second.times = std::make_unique<UnitTimes>(system_, known->second.entry, model_, work_,
                                                      job_.ranks_of_stage(), job_.plan.has_weight_passes(), first);
  }
  return known->second;
}

/// Where micro-batches take several paths through the ranks, the longest one.
Time StagePlanner::alone(int stage, Bytes bytes) {
  Time longest;
  for (const std::vector<StagePlace>& path : job_.plan.paths) {
    const int from = static_cast<int>(path[static_cast<std::size_t>(stage)].rank);
    const int to = static_cast<int>(path[static_cast<std::size_t>(stage) + 1].rank);
    if (from == to) continue;
    const int ranks = job_.ranks_of_stage();
    longest = std::max(longest, of_stage(stage).message_time(from * ranks, to * ranks, bytes));
  }
  return longest;
}

std::vector<StageMessage> StagePlanner::messages() {
  const ActivationCompression& how = entry_.parallel->activation_compression;
  const bool is_balanced = entry_.parallel->partition == LayerPartition::balanced;
  std::vector<StageMessage> all;
  Time longest;
  for (int stage = 0; stage + 1 < job_.plan.stages; ++stage) {
    StageMessage& message = all.emplace_back();
    message.bytes = of_stage(stage).message();
    if (is_sent(stage) && (is_balanced || how.adaptive)) message.alone = alone(stage, message.bytes);
    longest = std::max(longest, message.alone);
  }
  if (!how.ratio) return all;
  for (int stage = 0; stage + 1 < job_.plan.stages; ++stage) {
    StageMessage& message = all[static_cast<std::size_t>(stage)];
    if (!is_sent(stage)) continue;
    double ratio = *how.ratio;
    if (how.adaptive && longest > Time{})
      ratio *= static_cast<double>(message.alone.ns()) / static_cast<double>(longest.ns());
    if (ratio <= 1) continue;
    compress(message, ratio, activation_bytes(entry_.type), kernel_costs(entry_of_stage(stage)),
             kernel_costs(entry_of_stage(stage + 1)));
    if (is_balanced) message.alone = alone(stage, message.bytes);
  }
  return all;
}

bool StagePlanner::leaves_servers(int stage) const {
  const int ranks = job_.ranks_of_stage(), per_server = system_.cluster.gpus_per_server;
  return std::ranges::any_of(job_.plan.paths, [&](const std::vector<StagePlace>& path) {
    const int from = static_cast<int>(path[static_cast<std::size_t>(stage)].rank) * ranks;
    const int to = static_cast<int>(path[static_cast<std::size_t>(stage) + 1].rank) * ranks;
    for (int i = 0; i < ranks; ++i)
      if ((from + i) / per_server != (to + i) / per_server) return true;
    return false;
  });
}

std::vector<Time> StagePlanner::between_servers(const std::vector<StageMessage>& messages) {
  std::vector<Time> all;
  for (int stage = 0; stage + 1 < job_.plan.stages; ++stage)
    all.push_back(leaves_servers(stage) ? alone(stage, messages[static_cast<std::size_t>(stage)].bytes) : Time{});
  return all;
}

Time StagePlanner::exchange(int stage, const RankParameters& parameters) {
  UnitTimes& times = of_stage(stage);
  const auto of = [&](std::int64_t elements, const RankGroups& all, const RankGroups& shards) {
    const Bytes gradients{elements * job_.gradient_bytes}, weights{elements * job_.weight_bytes};
    const auto collective = [&](CollectiveKind kind, const RankGroups& groups, Bytes bytes) {
      return times.collective_time(kind, groups, bytes);
    };
    if (job_.sharding == Sharding::none) return collective(CollectiveKind::all_reduce, all, gradients);
    const Time scatter = collective(CollectiveKind::reduce_scatter, shards, gradients);
    const Time gather = collective(CollectiveKind::all_gather, shards, weights);
    const std::int64_t often = job_.plan.all_micro_batches();
    Time sum;
    if (job_.sharding == Sharding::optimizer) sum = scatter + gather;
    if (job_.sharding == Sharding::gradients) sum = scatter * often + gather;
    if (job_.sharding == Sharding::weights) sum = (scatter + gather * (job_.reshard ? 2 : 1)) * often;
    const RankGroups copies = job_.copies();
    if (copies.size > 1)
      sum += collective(CollectiveKind::all_reduce, copies, Bytes{gradients.count() / std::max(1, shards.size)});
    return sum;
  };
  return of(parameters.dense, job_.dense_groups(), job_.dense_shards()) +
         of(parameters.experts, job_.expert_groups(), job_.expert_shards());
}

std::vector<LayerRange> StagePlanner::balanced(const std::vector<StageMessage>& messages) {
  const std::int64_t layers = model_.all_layers();
  const int stages = job_.plan.stages;
  if (layers + 2 < stages) throw too_many_parts(key_of_parts(*entry_.parallel), layers, stages);
  const auto passes = [](const ModelUnit& unit) { return unit.of(PassKind::forward) + unit.of(PassKind::backward); };
  std::map<UnitTimes*, std::vector<Time>> sums;  // of the passes of the first layers
  const auto sums_of = [&](UnitTimes& times) -> const std::vector<Time>& {
    std::vector<Time>& known = sums[&times];
    if (!known.empty()) return known;
    known.push_back(Time{});
    for (std::int64_t layer = 0; layer < layers; ++layer)
      known.push_back(known.back() + passes(times.layer(layer).unit));
    return known;
  };
  std::vector<ParameterSplit> parameters(1);  // of the first layers
  for (std::int64_t layer = 0; layer < layers; ++layer)
    parameters.emplace_back(parameters.back()) += layer_parameters(model_, layer);
  const auto parameters_of = [&](const LayerRange& range) {
    LayerRange ends = range;
    ends.last = ends.first;
    ParameterSplit stored = stage_parameters(model_, ends);
    stored += parameters[static_cast<std::size_t>(range.last)];
    stored -= parameters[static_cast<std::size_t>(range.first)];
    return rank_parameters(model_, range, work_.split, stored);
  };
  const auto time = [&](int stage, std::int64_t first, std::int64_t last) {
    UnitTimes& times = of_stage(stage);
    const std::vector<Time>& until = sums_of(times);
    LayerRange range;
    range.first = first;
    range.last = last;
    range.embedding = stage == 0;
    range.head = stage + 1 == stages;
    Time sum = until[static_cast<std::size_t>(last)] - until[static_cast<std::size_t>(first)];
    if (range.embedding) sum += passes(times.embedding().unit);
    if (range.head) sum += passes(times.head().unit);
    // Each message counts where it arrives; gradients come back to a stage only if one of its units needs them.
    if (!range.embedding) {
      const StageMessage& before = messages[static_cast<std::size_t>(stage) - 1];
      sum += times.gather_message() + before.alone + before.unpack;
      if (times.has_backward(range.first - 1)) sum += before.repack;
    }
    if (!range.head) {
      const StageMessage& behind = messages[static_cast<std::size_t>(stage)];
      sum += behind.pack;
      if (times.has_backward(range.last - 1)) sum += times.gather_message() + behind.alone + behind.unpack_back;
    }
    const Time exchanged = exchange(
        stage, work_.trained.is_part() ? held_weights(model_, range, work_.split, work_.trained, work_.type).trained
                                       : parameters_of(range));
    return sum + Time::nanoseconds(exchanged.ns() / job_.plan.all_micro_batches());
  };
  return ranges_of(balanced_layers(layers, stages, time));
}

std::vector<LayerRange> StagePlanner::layers(const std::vector<StageMessage>& messages) {
  const ParallelSetup& setup = *entry_.parallel;
  if (!setup.layers.empty()) return given_layers(setup, model_.all_layers(), job_.plan.stages);
  if (setup.partition == LayerPartition::balanced) return balanced(messages);
  if (job_.plan.stages > model_.all_layers() && !ends_make_even(model_.all_layers(), job_.plan.stages))
    throw too_many_parts(key_of_parts(setup), model_.all_layers(), job_.plan.stages);
  std::vector<LayerRange> parts = cut_layers(model_.all_layers(), job_.plan.stages);
  if (setup.partition == LayerPartition::even && model_.all_layers() % job_.plan.stages != 0 &&
      !ends_make_even(model_.all_layers(), job_.plan.stages)) {
    std::vector<std::int64_t> sizes;
    for (const LayerRange& part : parts) sizes.push_back(part.last - part.first);
    throw InputError{
        {{.key = key_of_parts(setup),
          .reason = fmt::format("the {} layers of {} don't divide into {} equal parts, nor do they with embedding and "
                                "head as a layer each",
                                model_.all_layers(), model_.name, job_.plan.stages),
          .hint = sizes.size() <= kMostShown
                      ? fmt::format("parallel.partition: uneven, which is layers: [{}], or balanced",
                                    fmt::join(sizes, ", "))
                      : "parallel.partition: uneven or balanced, or layers"}}};
  }
  return parts;
}

std::vector<LayerRange> cut_layers(std::int64_t layers, int stages) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(stages), layers / stages);
  std::int64_t left = layers % stages;
  if (ends_make_even(layers, stages)) {
    std::fill(sizes.begin(), sizes.end(), (layers + 2) / stages);
    --sizes.front();
    --sizes.back();
    left = 0;
  }
  // From the middle outwards, the later part first: the loss makes the last one the longest already.
  for (std::int64_t i = 0; i < left; ++i) {
    const std::int64_t first = (stages - left) / 2;
    ++sizes[static_cast<std::size_t>(first + i)];
  }
  return ranges_of(sizes);
}

}  // namespace contend
