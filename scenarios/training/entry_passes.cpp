#include "scenarios/training/entry_passes.hpp"

#include "models/passes/graph_passes.hpp"
#include "models/passes/spread_passes.hpp"
#include "scenarios/training/host_work.hpp"
#include "scenarios/training/optimizer_update.hpp"
#include "scenarios/training/trained_model.hpp"
#include "sim/error.hpp"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// What a worker computes of the parts of others in a step, if its own takes so long; rounded up.
Time more_parts(const CodedSteps& coded, Time own) {
  // With fewer stragglers than workers the number of these does not matter.
  const CodedParts parts = coding_parts(coded.scheme(coded.stragglers + 1));
  const Int128 more = Int128{own.ns()} * (parts.computed - parts.of);
  return GpuTime::nanoseconds((more + parts.of - 1) / parts.of).on_each_of(1);
}

TimedLayer pause(std::string name, Time duration, std::string origin) {
  TimedLayer layer;
  layer.name = std::move(name);
  layer.forward = duration;
  layer.origin = std::move(origin);
  return layer;
}

/// The micro-batches of a worker between two exchanges.
int micro_batches(const TrainingEntry& entry, int batch, int workers) {
  if (!entry.global_batch) return entry.accumulate;
  const std::int64_t together = std::int64_t{batch} * workers;
  if (*entry.global_batch % together != 0)
    throw InputError{{{.key = "global_batch",
                       .reason = fmt::format("{} is no multiple of batch {} x {} workers = {}", *entry.global_batch,
                                             batch, workers, together)}}};
  return static_cast<int>(*entry.global_batch / together);
}

/// Lets the steps of a job leave late workers behind, of which each copy of the model has so many ranks. `where` and
/// `hint` are for a graph that permits it not.
Pass<FusedIteration> late_workers(const TrainingEntry& entry, int workers, int copy_ranks, const std::string& where,
                                  const std::string& hint) {
  std::optional<Patience> patience;
  const char* const member = entry.backup > 0 ? "backup_workers" : "gradient_coding";
  if (entry.late() >= workers)
    throw InputError{{{.key = member,
                       .reason = fmt::format("a step can't do without {} of {} workers", entry.late(), workers),
                       .hint = "fewer of them, or jobs with more GPUs"}}};
  if (entry.coded.tolerance) {
    const LatePattern pattern = late_pattern(entry.coded.scheme(workers));
    constexpr double kThousand = 1000;
    patience = {static_cast<std::int32_t>(std::lround(*entry.coded.tolerance * kThousand)), pattern.burst,
                pattern.window};
  }
  return {"late workers", [=, late = entry.late()](FusedIteration& iteration) {
            try {
              leave_ranks_behind(iteration, late, patience, copy_ranks);
            } catch (const InputError& error) {
              throw InputError{{{.key = member, .reason = where + error.what(), .hint = hint}}};
            }
          }};
}

/// The ranks that have a copy of the model together, or compute what is mixed between them.
int ranks_of_copy(const TrainingIteration& job) {
  return std::lcm(job.tensor * job.context, job.expert * job.expert_tensor);
}

}  // namespace

std::vector<Pass<TimedModel>> layer_passes(const TrainingEntry& entry, const TimedModel& model, int workers) {
  std::vector<Pass<TimedModel>> passes;
  const Time computing = model.forward() + model.backward();
  const int count = micro_batches(entry, model.batch, workers);
  if (entry.optimizer != nullptr)
    passes.push_back({"update", [&entry, workers](TimedModel& timed) { add_update(entry, timed, workers); }});
  if (count > 1)
    passes.push_back({"accumulate", [=](TimedModel& timed) {
                        timed.batch *= count;
                        timed.layers.push_back(
                            pause("micro-batches before the last", computing * (count - 1), "accumulate"));
                      }});
  if (entry.coded.stragglers > 0)
    passes.push_back({"code", [=, parts = more_parts(entry.coded, computing * count)](TimedModel& timed) {
                        timed.layers.push_back(pause("parts of other workers", parts, "gradient_coding"));
                      }});
  if (entry.input > Time{})
    passes.push_back({"input", [wait = entry.input](TimedModel& timed) {
                        timed.layers.insert(timed.layers.begin(), pause("wait for input", wait, "input"));
                      }});
  return passes;
}

std::optional<Pass<FusedIteration>> layer_loads(const TrainingEntry& entry, int workers) {
  if (!entry.data) return std::nullopt;
  const int batch = trained_model(entry).batch;
  const std::int64_t samples = std::int64_t{batch} * micro_batches(entry, batch, workers);
  return Pass<FusedIteration>{"load", [=, data = *entry.data](FusedIteration& iteration) {
                                load_beside(iteration.graph, loading_time(data, samples), filling_time(data, samples));
                              }};
}

std::vector<Pass<FusedIteration>> worker_passes(const TrainingEntry& entry, int workers, std::size_t layers,
                                                bool joins) {
  std::vector<Pass<FusedIteration>> passes;
  if (std::optional<Pass<FusedIteration>> loads = layer_loads(entry, workers); loads)
    passes.push_back(std::move(*loads));
  std::optional<Pass<FusedIteration>> launches = layer_launches(entry, workers);
  const auto join = [&] {
    passes.push_back({"join tasks", [=](FusedIteration& iteration) { join_layers(iteration, layers); }});
  };
  if (joins && !launches) join();
  if (entry.late() > 0)
    passes.push_back(late_workers(entry, workers, 1, fmt::format("fusion {}: ", entry.fusion.name),
                                  "another fusion policy, such as ddp or bsp"));
  if (!launches) return passes;
  passes.push_back(std::move(*launches));
  if (joins && entry.late() == 0) join();
  return passes;
}

std::vector<Pass<FusedIteration>> spread_passes(const TrainingEntry& entry, const TrainingIteration& job) {
  std::vector<Pass<FusedIteration>> passes;
  std::vector<ExchangeWork> work;
  for (std::size_t rank = 0; rank < job.plan.ranks(); ++rank) work.push_back(exchange_work(entry_of_rank(entry, rank)));
  if (const ExchangeWork& any = work.front(); any.framework || any.host_ns_per_value > 0 || any.staging)
    passes.push_back({"framework", [=, bytes = job.gradient_bytes](FusedIteration& iteration) {
                        add_exchange_work(iteration, bytes,
                                          [&](RoleId role) -> const ExchangeWork& { return work[role.index()]; });
                      }});
  if (entry.coded.stragglers > 0) {
    const Time own = evaluate(job.plan, job.costs()).busy.front();
    passes.push_back({"code", [parts = more_parts(entry.coded, own)](FusedIteration& iteration) {
                        begin_with(iteration.graph, "parts of other workers", parts);
                      }});
  }
  if (entry.input > Time{})
    passes.push_back({"input", [wait = entry.input](FusedIteration& iteration) {
                        begin_with(iteration.graph, "wait for input", wait);
                      }});
  if (entry.late() > 0)
    passes.push_back(late_workers(entry, job.data, ranks_of_copy(job), {},
                                  "parallel: {zero: 0, 1 or 2} with one GPU for each copy of the model"));
  return passes;
}

IterationGraph spread_graph(const TrainingEntry& entry, const TrainingIteration& job,
                            std::vector<PassRecord>& records) {
  SpreadIteration spread = spread_source(job);
  check_subject(spread);
  records.push_back({"transformer", {}, sizes_of(spread)});
  apply_passes(spread, training_passes(job), records);
  std::vector<Pass<FusedIteration>> passes = spread_passes(entry, job);
  if (std::optional<Pass<FusedIteration>> launches = spread_launches(entry, job, spread); launches)
    passes.push_back(std::move(*launches));
  FusedIteration iteration = std::move(spread);
  apply_passes(iteration, passes, records);
  return std::move(iteration.graph);
}

}  // namespace contend
