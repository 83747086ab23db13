#include "scenarios/training/host_work.hpp"

#include "models/overlap/problem.hpp"
#include "scenarios/training/entry_passes.hpp"
#include "scenarios/training/optimizer_update.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/yaml/host_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace contend {
namespace {

LaunchWork work_of(const HostCosts& costs, Time all, bool is_backward) {
  const Time first = std::min(all, costs.first(is_backward));
  return {first, all - first};
}

/// An operation that no pass of a layer is.
LaunchWork work_of(const HostCosts& costs, const Op& op) {
  if (op.kind == OpKind::collective) return {costs.collective * op.times, {}};
  return {op.kind == OpKind::message ? costs.message : costs.kernel(false), {}};
}

/// A part of a pass that begins when its host has waited for the GPU. So units that the GPU takes long for hide no
/// launches of units before them.
LaunchWork waiting_work(const HostCosts& costs, const TrainingIteration& job, const PassPart& part) {
  const std::vector<ModelUnit>& units = job.units[static_cast<std::size_t>(part.stage)];
  const bool is_backward = part.pass.kind != PassKind::forward;
  const Time first = costs.first(is_backward);
  Time launched, computed, done = first;
  for (std::size_t i = part.units.first; i <= part.units.last; ++i) {
    const ModelUnit& unit = units[is_backward ? part.units.first + part.units.last - i : i];
    done = std::max(done, launched) + unit.of(part.pass.kind);
    computed += unit.of(part.pass.kind);
    launched += unit.host.of(part.pass.kind);
  }
  // The GPU computes without a gap from its first launch on. So gaps are time of the host here.
  LaunchWork work = work_of(costs, done > first + computed ? std::max(launched, done) : launched, is_backward);
  work.waits = true;
  return work;
}

/// The layers of the entry with what the host takes for them in place of their times.
TimedModel host_layers(const TrainingEntry& entry, const HostCosts& costs, int workers) {
  TimedModel model = trained_model(entry);
  const LayerTable table = *network_of(entry);
  std::int64_t all = 0, before = 0;
  for (const TimedLayer& layer : model.layers) all += static_cast<std::int64_t>(layer.tensors.size());
  Time update;
  if (entry.optimizer != nullptr) update = costs.update(all) + costs.kernel(false) * product_kernels(entry, model);
  const auto until = [&](std::int64_t tensors) {
    return Time::nanoseconds(
        std::llround(static_cast<double>(update.ns()) * static_cast<double>(tensors) / static_cast<double>(all)));
  };
  std::vector<Time> updates;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    TimedLayer& layer = model.layers[i];
    const HostTimes times = costs.of(table.layers[i]);
    const auto tensors = static_cast<std::int64_t>(layer.tensors.size());
    const Time casts = entry.mixed_precision ? costs.kernel(false) * tensors : Time{};
    layer.forward = times.forward + casts;
    layer.backward = times.of(PassKind::backward) + casts;
    updates.push_back(until(before + tensors) - until(before));
    before += tensors;
  }
  // What passes add is those launches once more, or work of something else.
  TrainingEntry plain = entry;
  plain.optimizer = nullptr;
  plain.input = {};
  std::vector<PassRecord> unused;
  apply_passes(model, layer_passes(plain, model, workers), unused);
  for (std::size_t i = 0; i < updates.size(); ++i) model.layers[i].forward += updates[i];
  return model;
}

}  // namespace

bool has_measured_layers(const TrainingEntry& entry) {
  return entry.device.calibrated || published_profile(entry) != nullptr || (!entry.parallel && entry.layers);
}

bool has_measured_host(const TrainingEntry& entry) {
  return has_measured_layers(entry) || entry.single_worker;
}

const HostCosts* host_of(const TrainingEntry& entry) {
  if (entry.host.name != "auto") return entry.host.name == "none" ? nullptr : &entry.host.costs;
  if (!entry.as_framework || has_measured_host(entry) || entry.launch > Time{}) return nullptr;
  const auto spreads = [](const ParallelSetup& by) { return by.tensor > 1 || by.pipeline > 1 || by.expert > 1; };
  return &host_named(entry.parallel && spreads(*entry.parallel) ? "megatron" : "torch");
}

bool updates_separately(const TrainingEntry& entry) {
  const HostCosts* const host = host_of(entry);
  return host != nullptr && host->optimizer != OptimizerKernels::fused;
}

LossKernels loss_of(const TrainingEntry& entry) {
  const HostCosts* const host = host_of(entry);
  return entry.loss.value_or(host != nullptr ? host->loss : LossKernels::fused);
}

std::optional<Pass<FusedIteration>> layer_launches(const TrainingEntry& entry, int workers) {
  const HostCosts* const costs = host_of(entry);
  if (costs == nullptr && entry.launch == Time{}) return {};
  if (costs == nullptr)
    return Pass<FusedIteration>{"launch", [each = entry.launch, fastest = entry.speed](FusedIteration& iteration) {
                                  iteration.graph = with_launches(
                                      iteration.graph,
                                      [&](OpId, const Op&) {
                                        return LaunchWork{each, {}};
                                      },
                                      {}, false, fastest);
                                }};
  std::unordered_map<std::string, LaunchWork> passes;  // by operation
  for (const OverlapProblem::Layer& layer :
       overlap_problem(host_layers(entry, *costs, workers), workers, {}, entry.granularity).layers) {
    passes.emplace(layer.name + " forward", work_of(*costs, layer.forward, false));
    passes.emplace(layer.name + " backward", work_of(*costs, layer.backward, true));
  }
  return Pass<FusedIteration>{
      "launch", [costs = *costs, fastest = entry.speed, passes = std::move(passes)](FusedIteration& iteration) {
        const auto work = [&](OpId, const Op& op) {
          const auto found = passes.find(op.name);
          return found == passes.end() ? work_of(costs, op) : found->second;
        };
        iteration.graph = with_launches(iteration.graph, work, costs.step, costs.waits != HostWaits::never, fastest);
      }};
}

std::optional<Pass<FusedIteration>> spread_launches(const TrainingEntry& entry, const TrainingIteration& job,
                                                    const SpreadIteration& spread) {
  const HostCosts* const costs = host_of(entry);
  if (costs == nullptr) return layer_launches(entry, 1);
  std::map<OpId, LaunchWork> passes;
  const auto add = [&](OpId op, const LaunchWork& work) {
    LaunchWork& all = passes[op];  // work of two passes, if they are merged
    all = {all.first + work.first, all.rest + work.rest, work.waits};
  };
  for (std::size_t rank = 0; rank < spread.ranks.size(); ++rank) {
    std::optional<PipelinePass> last_pass;
    for (const PassPart& part : spread.ranks[rank].parts) {
      Time all;
      for (std::size_t u = part.units.first; u <= part.units.last; ++u)
        all += job.units[static_cast<std::size_t>(part.stage)][u].host.of(part.pass.kind);
      const bool is_backward = part.pass.kind != PassKind::forward;
      if (costs->waits == HostWaits::pass && part.first == part.last && part.pass != last_pass) {
        add(part.first, waiting_work(*costs, job, part));
        last_pass = part.pass;
        continue;
      }
      // Collectives of the pass that are operations lie between its halves, which have their launches.
      for (std::size_t i = part.first.index() + 1; i < part.last.index(); ++i) add(OpId{i}, {});
      const Time behind = part.first == part.last ? Time{} : Time::nanoseconds(all.ns() / 2);
      add(part.first, work_of(*costs, all - behind, is_backward));
      if (part.first != part.last) add(part.last, work_of(*costs, behind, is_backward));
    }
    const std::vector<OpId>& updates = spread.ranks[rank].updates;
    std::int64_t tensors = 0;
    for (const int stage : job.plan.stage_of[rank])
      for (const ModelUnit& unit : job.units[static_cast<std::size_t>(stage)])
        tensors += unit.dense_tensors + unit.expert_tensors;
    const auto count = static_cast<std::int64_t>(updates.size());
    Time launches = costs->update(tensors);
    if (!job.update_kernels.empty()) launches += costs->kernel(false) * job.update_kernels[rank];
    for (const OpId op : updates) {
      LaunchWork work = work_of(*costs, Time::nanoseconds(launches.ns() / count), false);
      work.waits = costs->waits != HostWaits::never && count == 1;
      add(op, work);
    }
  }
  return Pass<FusedIteration>{
      "launch", [costs = *costs, fastest = entry.speed, passes = std::move(passes)](FusedIteration& iteration) {
        const auto work = [&](OpId id, const Op& op) {
          const auto found = passes.find(id);
          return found == passes.end() ? work_of(costs, op) : found->second;
        };
        iteration.graph = with_launches(iteration.graph, work, costs.step, costs.waits == HostWaits::pass, fastest);
      }};
}

}  // namespace contend
