// Plans that leave rounds out. A schedule promises which passes each further round adds; evaluate() and the engine must
// find for the shorter plan what they find for all rounds, to the nanosecond.

#include "models/passes/spread_passes.hpp"
#include "sim/planned_rounds.hpp"
#include "tests/effort.hpp"
#include "tests/policies/pipeline/executed_pipeline.hpp"
#include "tests/policies/pipeline/plain_iteration.hpp"

#include <map>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// A shape of 20 to 400 micro-batches that the schedule takes, and its choice.
std::pair<Choice, PipelineShape> long_shape(std::string_view name, RandomStream& random) {
  std::pair<Choice, PipelineShape> made{{std::string{name}, {}}, random_shape(name, random, 5)};
  auto& [choice, shape] = made;
  shape.micro_batches = static_cast<int>(random.uniform_integer(20, 400));
  if (name == "dualpipe") shape.micro_batches += shape.micro_batches % 2;
  if (name == "interleaved" && random.uniform_integer(0, 1) == 1) choice.parameters = {{"merge", true}};
  if (name == "interleaved" && shape.chunks > 1) shape.micro_batches -= shape.micro_batches % shape.ranks;
  return made;
}

/// The passes of a step so many rounds later.
PipelineStep later(const PipelinePlan& plan, PipelineStep step, std::int64_t rounds) {
  const auto each = static_cast<int>(rounds) * plan.round / static_cast<int>(plan.paths.size());
  for (std::size_t i = 0; i < step.passes().size(); ++i) step.pass[i].micro_batch += each;
  return step;
}

bool same(const PipelineStep& a, const PipelineStep& b) {
  return a.is_merged == b.is_merged && std::ranges::equal(a.passes(), b.passes());
}

/// A step of the plan that leaves rounds out, with the micro-batches of the whole plan: the micro-batches of a second
/// path have other numbers there.
PipelineStep renumbered(const PipelinePlan& plan, const PipelinePlan& whole, PipelineStep step) {
  for (std::size_t i = 0; i < step.passes().size(); ++i) {
    int& batch = step.pass[i].micro_batch;
    if (plan.path_of[static_cast<std::size_t>(batch)] == 1) batch += (whole.micro_batches - plan.micro_batches) / 2;
  }
  return step;
}

/// Draws long pipelines of every schedule that says what a round is, so many times, and calls `use` with the name of
/// the schedule, the whole plan, and one that keeps 1 to `most` rounds.
template <class Use>
void with_plans(RandomStream& random, int times, int most, const Use& use) {
  for (int round = 0; round < times; ++round) {
    for (const PolicyRow<PipelineSchedule>& row : pipeline_schedules()) {
      const std::pair<Choice, PipelineShape> asked = long_shape(row.name, random);
      const Choice& choice = asked.first;
      const PipelineShape& shape = asked.second;
      if (row.name == "file" || pipeline(choice)->round(shape) == 0) continue;
      const PipelinePlan whole = pipeline(choice)->plan(shape);
      const PipelinePlan plan =
          plan_of_rounds(*pipeline(choice), shape, static_cast<int>(random.uniform_integer(1, most)));
      INFO(row.name, " ranks ", shape.ranks, " micro-batches ", shape.micro_batches, " chunks ", shape.chunks,
           " left out ", plan.left_out);
      use(row.name, whole, plan);
    }
  }
}

}  // namespace

TEST_CASE("with more rounds the order of each rank has their passes in its middle, and nothing else changes") {
  RandomStream random{3, "pipeline-rounds"};
  std::map<std::string_view, int> seen;
  with_plans(random, effort(40), 9, [&](std::string_view name, const PipelinePlan& whole, const PipelinePlan& plan) {
    CHECK(plan.all_micro_batches() == whole.micro_batches);
    if (plan.left_out == 0) return;
    ++seen[name];
    int differ = 0;
    for (std::size_t rank = 0; rank < plan.ranks(); ++rank) {
      const std::vector<PipelineStep>&steps = plan.order[rank], &all = whole.order[rank];
      const std::size_t added = all.size() - steps.size(), each = added / static_cast<std::size_t>(plan.left_out);
      REQUIRE(added == each * static_cast<std::size_t>(plan.left_out));
      const std::size_t middle = steps.size() / 2;
      for (std::size_t i = 0; i < all.size(); ++i) {
        PipelineStep expected;
        if (i < middle)
          expected = renumbered(plan, whole, steps[i]);
        else if (i < middle + added)
          expected = later(plan, all[i - each], 1);
        else
          expected = later(plan, renumbered(plan, whole, steps[i - added]), plan.left_out);
        differ += same(all[i], expected) ? 0 : 1;
      }
    }
    CHECK(differ == 0);
  });
  for (const PolicyRow<PipelineSchedule>& row : pipeline_schedules())
    CHECK((row.name == "file" || row.name == "gpipe" || seen[row.name] > effort(40) / 4));
}

TEST_CASE("a plan that leaves rounds out takes as long as all rounds, by evaluate() and by the engine") {
  RandomStream random{5, "pipeline-rounds-times"};
  std::map<std::string_view, int> tried, evaluated, executed;
  with_plans(random, effort(12), 30, [&](std::string_view name, const PipelinePlan& whole, const PipelinePlan& plan) {
    if (plan.left_out == 0) return;
    ++tried[name];
    const RandomCosts drawn{whole, random};
    const int alike = static_cast<int>(random.uniform_integer(1, 2));  // ranks that do the same
    try {
      const PipelineTimes times = evaluate(plan, drawn.costs), all = evaluate(whole, drawn.costs);
      CHECK(times.makespan == all.makespan);
      CHECK(times.busy == all.busy);
      CHECK(times.bubble == all.bubble);
      CHECK(times.span == all.span);
      CHECK(times.most_held == all.most_held);
      ++evaluated[name];
    } catch (const UnleaptRounds&) {
    }
    const auto iterations = random.uniform_integer(1, 5);
    TrainingIteration job = plain_iteration(plan, drawn.costs, drawn.messages, alike);
    job.joint = random.uniform_integer(0, 1) == 1;
    TrainingIteration whole_job = job;
    whole_job.plan = whole;
    try {
      const RunResult leapt = run_of(training_graph(job), iterations, true, nullptr);
      const RunResult all = run_of(training_graph(whole_job), iterations, false, nullptr);
      CHECK(leapt.jobs[0].finish == all.jobs[0].finish);
      CHECK(leapt.digest == all.digest);
      CHECK(leapt.events + leapt.leapt_events == all.events + all.leapt_events);
      CHECK(leapt.leaps > 0);
      ++executed[name];
    } catch (const UnleaptRounds&) {
    }
  });
  for (const auto& each : tried) {
    INFO(each.first, " ", each.second, " ", evaluated[each.first], " ", executed[each.first]);
    CHECK(each.second > effort(12) / 4);
    CHECK((evaluated[each.first] > each.second / 4 || each.second < 4));
    CHECK(executed[each.first] > each.second / 4);
  }
}

TEST_CASE("1F1B with a million micro-batches and equal stages: (m + p - 1) (f + b)") {
  constexpr int kRanks = 8, kBatches = 1'000'000;
  const Time forward = Time::nanoseconds(1'000), input = Time::nanoseconds(1'100), weight = Time::nanoseconds(900);
  const PipelinePlan plan = plan_of_rounds(*pipeline({"1f1b", {}}), {.ranks = kRanks, .micro_batches = kBatches}, 16);
  CHECK(plan.all_micro_batches() == kBatches);
  CHECK(plan.micro_batches < 100);
  const PipelineCosts costs = test::equal_costs(plan, forward, input, weight);
  const Time expected = (forward + input + weight) * (kBatches + kRanks - 1);
  const PipelineTimes times = evaluate(plan, costs);
  CHECK(times.makespan == expected);
  CHECK(times.busy == std::vector<Time>(kRanks, (forward + input + weight) * kBatches));
  CHECK(times.most_held.front() == kRanks);
  const IterationGraph graph = training_graph(plain_iteration(plan, costs, std::vector<Bytes>(kRanks - 1)));
  const RunResult run = run_of(graph, 1, true, nullptr);
  CHECK(run.jobs[0].finish == expected);
  CHECK(run.events < 10'000);
  CHECK(run.leapt_events > std::uint64_t{4 * kRanks - 4} * kBatches);  // passes and messages
  // Whoever runs it without leaping has to have all rounds.
  CHECK_THROWS_AS(static_cast<void>(run_of(graph, 1, false, nullptr)), UnleaptRounds);
}

TEST_CASE("a plan whose stages take a long time to fall into step needs more rounds") {
  PipelinePlan plan = plan_of_rounds(*pipeline({"1f1b", {}}), {.ranks = 2, .micro_batches = 10'000}, 4);
  PipelineCosts costs =
      test::equal_costs(plan, Time::nanoseconds(1'000), Time::nanoseconds(1'000), Time::nanoseconds(1'000));
  costs.forward[1] += Time::nanoseconds(1);  // the first stage is ahead by a nanosecond more in each round
  costs.latency = {{Time::nanoseconds(900)}};
  CHECK_THROWS_AS(static_cast<void>(evaluate(plan, costs)), UnleaptRounds);
}
