// The engine executes the graph of a plan; evaluate() says when. Both must agree on every step, to the nanosecond.

#include "models/passes/spread_passes.hpp"
#include "tests/effort.hpp"
#include "tests/models/parallel/equal_costs.hpp"
#include "tests/policies/pipeline/executed_pipeline.hpp"
#include "tests/policies/pipeline/pipeline_kit.hpp"
#include "tests/policies/pipeline/plain_iteration.hpp"

#include <map>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// The tasks of each GPU in their order.
class TasksByGpu final : public Observer {
 public:
  explicit TasksByGpu(std::size_t gpus) : of_gpu(gpus) {}
  struct Task {
    std::string name;
    Time start, end;
  };
  void compute(GpuId gpu, JobId, const Op& op, std::int64_t, Time start, Time end) override {
    of_gpu[gpu.index()].push_back({op.name, start, end});
  }
  void transfer(const TransferRequest&, const Op&, std::int64_t, Time, Time) override { ++transfers; }

  std::vector<std::vector<Task>> of_gpu;
  int transfers = 0;
};

/// One iteration, as the engine executes it.
TasksByGpu executed(const IterationGraph& graph) {
  TasksByGpu seen{static_cast<std::size_t>(graph.ranks())};
  static_cast<void>(run_of(graph, 1, false, &seen));
  return seen;
}

}  // namespace

TEST_CASE("the engine takes every step of every schedule when evaluate() says so") {
  RandomStream random{11, "pipeline-engine"};
  std::map<std::string_view, int> rounds;
  int steps = 0, transfers = 0, merged = 0;
  for (int round = 0; round < effort(30); ++round) {
    for (const PolicyRow<PipelineSchedule>& row : pipeline_schedules()) {
      if (row.name == "file") continue;
      INFO(row.name, " ", round);
      const PipelinePlan plan = valid_plan({std::string{row.name}, {}}, random_shape(row.name, random, 5));
      const RandomCosts drawn{plan, random};
      const PipelineTimes times = evaluate(plan, drawn.costs);
      const int alike = round % 2 + 1;  // ranks that do the same
      const TasksByGpu seen = executed(training_graph(plain_iteration(plan, drawn.costs, drawn.messages, alike)));
      int differ = 0;
      for (std::size_t gpu = 0; gpu < seen.of_gpu.size(); ++gpu) {
        const std::size_t rank = gpu / static_cast<std::size_t>(alike);
        REQUIRE(seen.of_gpu[gpu].size() == plan.order[rank].size() + 1);  // and the update
        for (std::size_t i = 0; i < plan.order[rank].size(); ++i) {
          const auto& task = seen.of_gpu[gpu][i];
          const bool agrees = task.start == times.start[rank][i] && task.end == times.end[rank][i] &&
                              task.name == step_name(plan, rank, plan.order[rank][i]);
          differ += agrees ? 0 : 1;
          merged += plan.order[rank][i].is_merged ? 1 : 0;
          ++steps;
        }
      }
      CHECK(differ == 0);
      transfers += seen.transfers;
      ++rounds[row.name];
    }
  }
  for (const auto& [name, times] : rounds) CHECK(times == effort(30));
  CHECK(rounds.size() + 1 == pipeline_schedules().size());  // all but `file`
  CHECK(steps > effort(30) * 200);
  CHECK(transfers > effort(30) * 100);
  CHECK(merged > effort(30) * 10);
}

TEST_CASE("a rank goes on to the next iteration when it has ended its own part, with and without leaping") {
  for (const auto* name : {"zb-h2", "zb-v"}) {
    const PipelinePlan plan = valid_plan({name, {}}, {.ranks = 4, .micro_batches = 8});
    const PipelineCosts costs =
        test::equal_costs(plan, Time::nanoseconds(10), Time::nanoseconds(10), Time::nanoseconds(10));
    const PipelineTimes times = evaluate(plan, costs);
    const std::vector<Bytes> none(static_cast<std::size_t>(plan.stages - 1));
    const IterationGraph graph = training_graph(plain_iteration(plan, costs, none));
    CHECK(test::longest_span(times) < times.makespan);
    for (const std::int64_t iterations : {1, 2, 50}) {
      const Time known = times.makespan + (iterations - 1) * test::longest_span(times);
      CHECK(run_of(graph, iterations, false, nullptr).jobs[0].finish == known);
      CHECK(run_of(graph, iterations, true, nullptr).jobs[0].finish == known);
    }
  }
}
