// What a pipeline costs: making, checking and evaluating the plan of an interleaved schedule, and its graph on the
// engine over an analytic network, for more and more micro-batches. Everything in one process on one core, in time of
// the processor; ratios are of one run. The last ends of both must be equal. Then what rounds cost that are left
// out: 1F1B with unequal stages, all 5,000 micro-batches, the same with rounds left out, and a million.

#include "models/passes/spread_passes.hpp"
#include "network/alpha_beta.hpp"
#include "policies/registry.hpp"
#include "sim/simulation.hpp"
#include "tests/models/parallel/equal_costs.hpp"
#include "tests/policies/pipeline/plain_iteration.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace {

using namespace contend;

template <class Port>
std::unique_ptr<Port> make(std::span<const PolicyRow<Port>> rows, std::string_view name) {
  for (const auto& row : rows) {
    if (row.name != name) continue;
    std::vector<std::pair<std::string, ParameterValue>> values;
    for (const ParameterInfo& info : row.parameters) values.emplace_back(info.name, info.default_value);
    return row.make(Parameters{std::move(values)}, {});
  }
  std::abort();
}

class AnyMessage final : public CommunicationPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  [[nodiscard]] bool may_start(const TransferRequest&, ServerId, const NetworkView&) const override { return true; }
};

/// Runs one iteration with each rank on a server of its own; returns when it ends.
Time executed(IterationGraph graph, Time latency) {
  const int ranks = graph.ranks();
  Workload workload;
  JobSpec spec;
  spec.name = "pipeline";
  spec.iterations = 1;
  spec.gpus = ranks;
  spec.memory_per_gpu = Bytes{1};
  workload.jobs.push_back(spec);
  workload.graphs.push_back(std::move(graph));
  AlphaBeta cost{.alpha = latency, .beta = TimePerByte{1e-9}, .eta = {}, .tick = {}};
  Simulation simulation{{ranks, 1, Bytes{1}},
                        std::move(workload),
                        {make(scheduling_policies(), "fifo"), make(placement_policies(), "first-fit"),
                         std::make_unique<AnyMessage>(), "fifo", "first-fit", "any"},
                        make_analytic_network(cost, static_cast<std::size_t>(ranks), 1),
                        {}};
  return simulation.run().jobs[0].finish;
}

double seconds_since(std::clock_t& last) {
  const std::clock_t now = std::clock();
  return static_cast<double>(now - std::exchange(last, now)) / CLOCKS_PER_SEC;
}

/// Plans, evaluates and executes 1F1B on eight ranks, of which the last takes longest; returns the time of the
/// processor.
double long_pipeline(int micro_batches, int kept, Time& end) {
  constexpr int kRanks = 8;
  std::clock_t clock = std::clock();
  const auto schedule = make(pipeline_schedules(), "1f1b");
  const PipelinePlan plan = plan_of_rounds(*schedule, {.ranks = kRanks, .micro_batches = micro_batches}, kept);
  PipelineCosts costs = test::equal_costs(plan, Time::microseconds(300), Time::microseconds(310),
                                          Time::microseconds(290), Time::microseconds(20));
  costs.forward.back() += Time::microseconds(100);
  const PipelineTimes times = evaluate(plan, costs);
  const std::vector<Bytes> none(static_cast<std::size_t>(plan.stages - 1));
  end = executed(training_graph(test::plain_iteration(plan, costs, none)), Time::microseconds(20));
  if (end != times.makespan) {
    fmt::print(stderr, "the engine ends at {} ns, the plan at {} ns\n", end.ns(), times.makespan.ns());
    std::exit(1);
  }
  return seconds_since(clock);
}

/// Prints what rounds cost that are left out; returns false if the results differ.
bool compare_long_pipelines() {
  constexpr int kMany = 5'000, kMost = 1'000'000, kKept = 16;
  Time all, leapt, most;
  const double all_s = long_pipeline(kMany, 0, all), leapt_s = long_pipeline(kMany, kKept, leapt),
               most_s = long_pipeline(kMost, kKept, most);
  fmt::print(
      "1f1b, 8 ranks, time of the processor: {} micro-batches {:.3f} s, with rounds left out {:.4f} s (ratio {:.0f}), "
      "{} {:.4f} s\n",
      kMany, all_s, leapt_s, all_s / leapt_s, kMost, most_s);
  return all == leapt;
}

}  // namespace

int main() {
  constexpr int kRanks = 16, kChunks = 8;
  const Time latency = Time::microseconds(20);
  const auto schedule = make(pipeline_schedules(), "interleaved");
  fmt::print("interleaved, {} ranks, {} chunks; processor time in ns a pass\n", kRanks, kChunks);
  fmt::print("{:>13}  {:>7}  {:>5}  {:>5}  {:>8}  {:>6}  {:>7}  {:>17}\n", "micro-batches", "passes", "plan", "check",
             "evaluate", "graph", "engine", "engine / evaluate");
  for (const int count : {32, 128, 512}) {
    std::clock_t clock = std::clock();
    const PipelinePlan plan = schedule->plan({.ranks = kRanks, .micro_batches = count, .chunks = kChunks});
    const double planned = seconds_since(clock);
    validate(plan);
    const double checked = seconds_since(clock);
    const PipelineCosts costs =
        test::equal_costs(plan, Time::microseconds(300), Time::microseconds(310), Time::microseconds(290), latency);
    const PipelineTimes times = evaluate(plan, costs);
    const double evaluated = seconds_since(clock);
    const std::vector<Bytes> none(static_cast<std::size_t>(plan.stages - 1));
    IterationGraph graph = training_graph(test::plain_iteration(plan, costs, none));
    const double drawn = seconds_since(clock);
    const Time end = executed(std::move(graph), latency);
    const double engine = seconds_since(clock);
    const double passes = 2.0 * kRanks * kChunks * count, ns = 1e9 / passes;
    fmt::print("{:>13}  {:>7.0f}  {:>5.0f}  {:>5.0f}  {:>8.0f}  {:>6.0f}  {:>7.0f}  {:>17.1f}\n", count, passes,
               planned * ns, checked * ns, evaluated * ns, drawn * ns, engine * ns, engine / evaluated);
    if (end != times.makespan) {
      fmt::print(stderr, "the engine ends at {} ns, the plan at {} ns\n", end.ns(), times.makespan.ns());
      return 1;
    }
  }
  return compare_long_pipelines() ? 0 : 1;
}
