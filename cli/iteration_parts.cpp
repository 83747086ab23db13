#include "cli/iteration_parts.hpp"

#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/rounds_kept.hpp"
#include "scenarios/training/entry_passes.hpp"
#include "scenarios/training/host_work.hpp"
#include "scenarios/training/training_graphs.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace contend {
namespace {

TrainingIteration as_it_is(TrainingIteration iteration) {
  return iteration;
}

/// The iteration without what the ways between GPUs and hosts carry, and also without the exchange of gradients and
/// weights, as if they took no time.
TrainingIteration without_host(TrainingIteration iteration) {
  iteration.link.reset();
  iteration.reads_weights.reset();
  iteration.sends_gradients = false;
  iteration.host_update.clear();
  for (std::vector<ModelUnit>& stage : iteration.units)
    for (ModelUnit& unit : stage) unit.offloaded = Bytes{};
  return iteration;
}
TrainingIteration without_exchange(TrainingIteration iteration) {
  iteration = without_host(std::move(iteration));
  iteration.planned.clear();
  iteration.tied_elements = 0;
  for (std::vector<ModelUnit>& stage : iteration.units)
    for (ModelUnit& unit : stage) unit.dense_elements = unit.expert_elements = 0;
  return iteration;
}

}  // namespace

std::vector<SpentPart> parts_of_iteration(const TrainingSystem& system, const TrainingEntry& entry, int gpus,
                                          const ParallelJob& job, const PipelineTimes& times, Time iteration) {
  const std::size_t rank = static_cast<std::size_t>(std::ranges::max_element(times.busy) - times.busy.begin());
  PassShares shares;
  for (const int stage : job.iteration.plan.stage_of[rank]) {
    const PassShares& one = job.shares[static_cast<std::size_t>(stage)];
    // Each path sends its share of the micro-batches through the stage.
    const auto paths = static_cast<int>(job.iteration.plan.paths.size());
    for (int i = 0; i < job.micro_batches / paths; ++i) shares += one;
  }
  // Merged passes hide some of the exchange of experts.
  shares.expert -= std::min(shares.expert, std::max(Time{}, shares.total() - times.busy[rank]));
  const Time update = job.iteration.update[rank], passes = times.makespan;
  // Updates that don't wait for all gradients go on while other stages compute.
  const Time busy = times.busy[rank];
  const Time bubble = std::max(Time{}, std::min(passes, iteration - update) - busy);
  Time left = std::max(Time{}, iteration - passes - update);
  const Time input = std::min(left, entry.input);
  left -= input;
  const auto shorter_by = [&](Time without, Time than) {
    const Time part = std::min(left, std::max(Time{}, than - without));
    left -= part;
    return part;
  };
  TrainingEntry unlaunched = entry;
  unlaunched.host = {.name = "none", .costs = {}};
  unlaunched.launch = {};
  const auto alone = [&](TrainingIteration (*change)(TrainingIteration)) {
    return leaping_rounds(system, [&](const TrainingSystem& each) {
      std::vector<PassRecord> unused;
      const TrainingIteration changed = change(plan_parallel(each, entry, gpus).iteration);
      return lone_iteration(each, entry.name, gpus, spread_graph(unlaunched, changed, unused));
    });
  };
  Time host, exchange, launches, without = iteration;
  if (host_of(entry) != nullptr || entry.launch > Time{}) {
    without = alone(as_it_is);
    launches = shorter_by(without, iteration);
  }
  if (left > Time{} && entry.parallel->offload.any()) {
    const Time inside = alone(without_host);
    host = shorter_by(inside, without);
    without = inside;
  }
  if (left > Time{}) exchange = shorter_by(alone(without_exchange), without);
  return {{"compute_s", "computing", shares.compute, "computing"},
          {"recompute_s", "computing again", shares.recompute, "memory"},
          {"tensor_s", "tensor-parallel communication", shares.tensor, "network"},
          {"context_s", "context-parallel communication", shares.context, "network"},
          {"expert_s", "expert-parallel communication", shares.expert, "network"},
          {"compression_s", "compressing activations and their gradients", shares.compression, "network"},
          {"input_s", "waiting for input", input, "host"},
          {"bubble_s", "waiting for other stages (bubble)", bubble, "bubble"},
          {"messages_s", "messages between stages", left, "network"},
          {"exchange_s", "exchange of gradients and weights (data-parallel)", exchange, "network"},
          {"host_s", "ways to and from the host", host, "host"},
          {"launches_s", "waiting for launches of the host", launches + shares.launches, "host"},
          {"update_s", "update of the weights", update, "computing"}};
}

}  // namespace contend
