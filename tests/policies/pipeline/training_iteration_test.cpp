// The graph of a job spread over several GPUs, executed on a network on which a byte takes a nanosecond: when gradients
// and weights are exchanged, what hides, and that joint messages don't change the times.

#include "models/parallel/training_iteration.hpp"
#include "models/parallel/planned_exchange.hpp"
#include "models/passes/spread_passes.hpp"

#include "models/passes/graph_passes.hpp"
#include "policies/fusion/dear.hpp"
#include "policies/fusion/fusion_policy.hpp"
#include "sim/random_stream.hpp"
#include "tests/policies/fusion/random_problem.hpp"
#include "tests/policies/pipeline/pipeline_kit.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

Time ns(std::int64_t value) {
  return Time::nanoseconds(value);
}

PipelinePlan plan_of(const std::string& schedule, int ranks, int micro_batches, int chunks = 0) {
  return valid_plan({schedule, {}}, {.ranks = ranks, .micro_batches = micro_batches, .chunks = chunks});
}

/// Stages of two units each with forward 10, both parts of the backward pass 10, and 5 parameters of a byte.
TrainingIteration job_of(PipelinePlan plan, int data, Sharding sharding) {
  TrainingIteration job;
  job.plan = std::move(plan);
  job.units.assign(static_cast<std::size_t>(job.plan.stages), {2, {ns(10), ns(10), ns(10), 5, 0}});
  job.data = data;
  job.sharding = sharding;
  job.weight_bytes = job.gradient_bytes = 1;
  job.bucket = 1;
  job.messages.assign(static_cast<std::size_t>(job.plan.stages - 1), Bytes{1});
  job.update.assign(job.plan.ranks(), ns(7));
  return job;
}

/// The ends of iterations 1 and 2 of a job on servers of one GPU.
std::int64_t end_of(const TrainingIteration& job, std::int64_t iterations) {
  TestJob test;
  test.made = std::make_shared<const IterationGraph>(training_graph(job));
  test.gpus.clear();
  const int ranks = test.made->ranks();
  for (int rank = 0; rank < ranks; ++rank) test.gpus.push_back(static_cast<std::uint32_t>(rank));
  test.iterations = iterations;
  return simulate({.servers = ranks}, {test}).finish(0);
}

std::int64_t period(const TrainingIteration& job) {
  return end_of(job, 3) - end_of(job, 2);
}

/// The problem of a stage of the job for a fusion policy.
OverlapProblem problem_of(const TrainingIteration& job, std::size_t stage) {
  OverlapProblem problem;
  const std::vector<ModelUnit>& units = job.units[stage];
  for (const ModelUnit& unit : units) problem.layers.push_back({"unit", unit.forward, unit.of(PassKind::backward)});
  for (std::size_t u = units.size(); u-- > 0;)
    problem.gradients.push_back({.layer = u, .size = Bytes{units[u].dense_elements * job.gradient_bytes}});
  problem.workers = job.data;
  problem.gradient_element_bytes = job.gradient_bytes;
  return problem;
}

/// Lets DeAR plan each stage, a unit in each group.
TrainingIteration with_dear(TrainingIteration job) {
  for (std::size_t stage = 0; stage < job.units.size(); ++stage) {
    const OverlapProblem problem = problem_of(job, stage);
    job.planned.push_back(dear_graph(problem, dear_groups(problem, 0)));
    CHECK_FALSE(unfit_for_stage(job.planned.back(), job.units[stage].size()));
    if (job.sharding != Sharding::none) share_sums(job.planned.back().graph, job.weight_bytes, job.gradient_bytes);
  }
  return job;
}

/// Like job_of() with one micro-batch; stages of so many units with so many parameters, and updates of 8.
TrainingIteration dear_job(int ranks, std::size_t units, std::int64_t elements, Sharding sharding) {
  TrainingIteration job = job_of(plan_of("1f1b", ranks, 1), 2, sharding);
  for (auto& stage : job.units) stage.assign(units, {ns(10), ns(10), ns(10), elements, 0});
  job.update.assign(job.plan.ranks(), ns(8));
  for (Bytes& each : job.messages) each = Bytes{};
  return job;
}

}  // namespace

TEST_CASE("one rank of a pipeline: only the last micro-batch sends gradients, each bucket when it is ready") {
  // F 0-20, B 20-60, F 60-80; B of the second unit 80-100, all-reduce 100-105; of the first 100-120, 120-125; update.
  const TrainingIteration job = job_of(plan_of("1f1b", 1, 2), 2, Sharding::none);
  CHECK(end_of(job, 1) == 132);
  CHECK(period(job) == 132);
  // With one bucket the all-reduce of 10 begins at 120.
  TrainingIteration one = job;
  one.bucket = 1000;
  CHECK(end_of(one, 1) == 137);
  // A bucket of 5 parameters is full with one unit, one of 6 isn't.
  one.bucket = 5;
  CHECK(end_of(one, 1) == 132);
  one.bucket = 6;
  CHECK(end_of(one, 1) == 137);
  // A rank alone exchanges nothing.
  CHECK(end_of(job_of(plan_of("1f1b", 1, 2), 1, Sharding::none), 1) == 127);
}

TEST_CASE("gradients take turns with what passes send between servers") {
  // Forward passes 0-20, the second unit's backward pass 20-40, the first one's 40-60, of which 8 are sent. The second
  // unit's gradients have what is left of the latter: max(pass, sent + gradients), FSMoE's case with t_gar.
  TrainingIteration job = job_of(plan_of("1f1b", 1, 1), 2, Sharding::none);
  job.units[0][0].backward_between_servers = ns(8);
  const auto end_with = [&](std::int64_t second, std::int64_t first) {
    job.units[0][1].dense_elements = second;
    job.units[0][0].dense_elements = first;
    return end_of(job, 1) - 7;  // without the update
  };
  for (const std::int64_t gradients : {1, 12, 13, 20, 50}) {
    job.turns_per_server = 1;
    CHECK(end_with(gradients, 0) == 40 + std::max<std::int64_t>(20, 8 + gradients));
    job.turns_per_server = 0;  // the network takes both at once
    CHECK(end_with(gradients, 0) == 40 + std::max<std::int64_t>(20, gradients));
  }
  // 40-55, sending until 63, and the first unit's gradients behind that, not at 60.
  job.turns_per_server = 1;
  CHECK(end_with(15, 5) == 68);
  // What stays inside servers of two ranks takes no turns, and an update that waits for no gradients for none either.
  job.turns_per_server = 2;
  CHECK(end_with(15, 5) == 65);
  job.turns_per_server = 1;
  job.data = 1;
  CHECK(end_with(15, 5) == 60);
}

TEST_CASE("gradients wait as well for what passes of other stages send") {
  // Two stages on one rank: the second one's gradients of the last micro-batch meet the first one's pass.
  const auto end = [](int turns, std::int64_t sends) {
    TrainingIteration job = job_of(plan_of("interleaved", 1, 2, 2), 2, Sharding::none);
    for (ModelUnit& unit : job.units[0]) unit.backward_between_servers = ns(sends);
    for (ModelUnit& unit : job.units[1]) unit.dense_elements = 60;
    job.turns_per_server = turns;
    return end_of(job, 1);
  };
  const std::int64_t alone = end(0, 10);
  CHECK(end(1, 0) == alone);
  CHECK(end(1, 10) == alone + 2 * 10);
  // Merged passes send, too: their gradients come last.
  TrainingIteration merged = job_of(plan_of("dualpipe", 2, 4), 2, Sharding::gradients);
  for (auto& units : merged.units)
    for (ModelUnit& unit : units) unit.dense_elements = 40;
  const std::int64_t before = end_of(merged, 1);
  for (auto& units : merged.units)
    for (ModelUnit& unit : units) unit.forward_between_servers = unit.backward_between_servers = ns(9);
  CHECK(end_of(merged, 1) == before);
  merged.turns_per_server = 1;
  CHECK(end_of(merged, 1) > before);
}

TEST_CASE("messages between servers go one after another from a rank, and gradients when it sends nothing") {
  // GPipe: F on rank 0 at 0-20 and 20-40, messages of 30 at 20-50 and then 50-80; F on rank 1 50-70, 80-100; B 100-140
  // and 140-180, messages 140-170 and 180-210; B on rank 0 170-210, 210-250.
  TrainingIteration job = job_of(plan_of("gpipe", 2, 2), 1, Sharding::none);
  job.messages = {Bytes{30}};
  job.turns_per_server = 1;
  job.message_between_servers = {ns(30)};
  CHECK(end_of(job, 1) == 257);
  job.message_between_servers = {};  // 40-70 instead of 50-80
  CHECK(end_of(job, 1) == 247);

  // One micro-batch: F 0-20, message 20-40, F 40-60, B of the second unit 60-80, its gradients 80-180; of the first
  // unit 80-100, message 100-120; B on rank 0 120-160. Rank 1 sends for 120 from 80 on.
  job = job_of(plan_of("1f1b", 2, 1), 2, Sharding::none);
  for (ModelUnit& unit : job.units[0]) unit.dense_elements = 0;
  job.units[1][0].dense_elements = 0;
  job.units[1][1].dense_elements = 100;
  job.messages = {Bytes{20}};
  CHECK(end_of(job, 1) == 187);
  job.turns_per_server = 1;
  job.message_between_servers = {ns(20)};
  CHECK(end_of(job, 1) == 207);
  // Inside servers of four ranks neither takes a turn.
  job.turns_per_server = 4;
  job.message_between_servers = {Time{}};
  CHECK(end_of(job, 1) == 187);
}

TEST_CASE("hybrid sharding: a gathering inside a copy does not wait for the sum over copies") {
  // Two copies of two ranks, three units of 30 bytes; forward passes of 10, backward passes of 20. Weights come 0-30,
  // 30-60, 60-90, so F 30-40, 60-70, 90-100; again 90-120, 120-150, so B 120-140, 150-170. The first gradients are
  // reduced inside the copy at 150-180, the second ones 180-210, and the last weights come 210-240: B 240-260, reduced
  // until 290, added over copies until 305, update until 312. In one queue the sums over copies, 15 each, delay the
  // second reduction and the last gathering: 342.
  TrainingIteration job = job_of(plan_of("1f1b", 1, 1), 4, Sharding::weights);
  job.units[0].assign(3, {ns(10), ns(10), ns(10), 30, 0});
  job.shards = 2;
  CHECK(end_of(job, 1) == 312);
  job.turns_per_server = 2;  // copies are servers
  CHECK(end_of(job, 1) == 312);
  job.turns_per_server = 1;  // all of it goes between servers, one at a time
  CHECK(end_of(job, 1) == 342);
}

TEST_CASE("ZeRO-1 gathers the weights after the update, while the units before them compute") {
  // The weights of the first unit come 5 after the update, the weights of the second before its turn.
  const TrainingIteration job = job_of(plan_of("1f1b", 1, 2), 2, Sharding::optimizer);
  CHECK(end_of(job, 1) == 142);  // the last gathering ends the iteration
  CHECK(period(job) == 137);
}

TEST_CASE("ZeRO-2 reduces the gradients of every micro-batch") {
  // The first micro-batch's part 0 is reduced at 60-65, beside the second forward pass.
  const TrainingIteration job = job_of(plan_of("1f1b", 1, 2), 2, Sharding::gradients);
  CHECK(period(job) == 137);
  const IterationGraph graph = training_graph(job);
  CHECK(std::ranges::count(graph.ops(), CollectiveKind::reduce_scatter, &Op::collective) == 4);
}

TEST_CASE("ZeRO-3 gathers the weights before each use, one unit ahead") {
  // From the update on: gathered 0-5 and 5-10, F 5-15 and 15-25, gathered again from 15 and 25 on, B 25-45 and 45-65,
  // reduced 65-70, update 77.
  TrainingIteration job = job_of(plan_of("1f1b", 1, 1), 2, Sharding::weights);
  CHECK(period(job) == 77);
  // Weights of 12 come later than their units could begin: gathered 0-12, 12-24, F 12-22, 24-34, gathered for B 24-36,
  // 36-48, B 36-56, 56-76; reduced 56-68, 76-88, update 95.
  for (ModelUnit& unit : job.units[0]) unit.dense_elements = 12;
  CHECK(period(job) == 95);
  job.reshard = false;  // B begins at 34
  CHECK(period(job) == 93);
}

TEST_CASE("weights outside of the GPU are read one unit before they are gathered, one after the other") {
  // Shares of 6 at a byte a nanosecond. From the update on: read 0-6, 6-12, 12-18 and, from the end of the first F on,
  // 28-34; gathered 6-18, 18-30, 30-42 and from the end of the second F on 42-54; F 18-28, 30-40, B 42-62, 62-82;
  // reduced 62-74, 82-94, update 101.
  TrainingIteration job = job_of(plan_of("1f1b", 1, 1), 2, Sharding::weights);
  for (ModelUnit& unit : job.units[0]) unit.dense_elements = 12;
  job.reads_weights = ByteRate{1e9};
  CHECK(period(job) == 101);
  // At a quarter of that, read 0-24, 24-48, 48-72, 72-96; F 36-46, 60-70; gathered 72-84 and 96-108; B 84-104, 108-128;
  // reduced 108-120, 128-140, update 147.
  job.reads_weights = ByteRate{0.25e9};
  CHECK(period(job) == 147);
  // A rank alone has all 12 to read, and nothing to gather: 0-12, 12-24, 24-36, 36-48; F 12-22, 24-34, B 36-56, 56-76.
  job.data = 1;
  job.reads_weights = ByteRate{1e9};
  CHECK(period(job) == 83);
  job.reads_weights.reset();
  CHECK(period(job) == 67);
}

TEST_CASE("gradients go to the host behind the backward passes of their units, one after the other") {
  // F 0-20, B 20-40 and 40-60; at a byte a nanosecond gradients go 40-45 and 60-65, then the update.
  TrainingIteration job = job_of(plan_of("1f1b", 1, 1), 1, Sharding::none);
  job.sends_gradients = true;
  job.link = ByteRate{1e9};
  CHECK(end_of(job, 1) == 72);
  job.link = ByteRate{0.1e9};  // 40-90, 90-140
  CHECK(end_of(job, 1) == 147);
  // Of two ranks that share them out each sends three of five, once they are reduced: 40-45, 45-48; 60-65, 65-68.
  job.data = 2;
  job.sharding = Sharding::optimizer;
  job.link = ByteRate{1e9};
  CHECK(end_of(job, 1) == 75 + 10);  // and two gatherings of the weights behind the update
}

TEST_CASE("activations leave while later units compute, two of which have theirs, and come back one unit ahead") {
  TrainingIteration job = job_of(plan_of("1f1b", 1, 1), 1, Sharding::none);
  for (ModelUnit& unit : job.units[0]) unit.offloaded = Bytes{6};
  job.link = ByteRate{1e9};
  // F 0-10, 10-20; out 10-16, 20-26; in 26-32, 32-38; B 32-52, 52-72; update.
  CHECK(end_of(job, 1) == 79);
  job.link = ByteRate{0.2e9};
  // Out 10-40, 40-70; in 70-100, 100-130; B 100-120, 130-150.
  CHECK(end_of(job, 1) == 157);
  // A third unit can't begin before those of the first have left: F 40-50; out 70-100; in 100-130, 130-160, 160-190; B
  // 130-150, 160-180, 190-210.
  job.units[0].push_back(job.units[0].back());
  CHECK(end_of(job, 1) == 217);
}

TEST_CASE("activations and gradients share the way to the host") {
  // Two micro-batches, whose gradients of 5 go each: 25 ns, as activations take 30. F 0-10, 10-20; out 10-40, 40-70; in
  // 70-100, 100-130; B 100-120, 130-150; gradients 120-145, 150-175. F 150-160, 160-170; out 175-205, behind the
  // gradients, and 205-235; in 235-265, 265-295; B 265-285, 295-315; gradients 285-310, 315-340.
  TrainingIteration job = job_of(plan_of("1f1b", 1, 2), 1, Sharding::gradients);
  for (ModelUnit& unit : job.units[0]) unit.offloaded = Bytes{6};
  job.link = ByteRate{0.2e9};
  job.sends_gradients = true;
  CHECK(end_of(job, 1) == 347);
  // By themselves activations don't wait: out 160-190, 190-220; in 220-250, 250-280; B 250-270, 280-300.
  job.sends_gradients = false;
  CHECK(end_of(job, 1) == 307);
}

TEST_CASE("a pipeline of two ranks takes what its schedule says, the exchange and the update") {
  TrainingIteration job = job_of(plan_of("1f1b", 2, 4), 1, Sharding::none);
  for (auto& units : job.units) units = {{ns(10), ns(10), ns(10), 5, 0}};
  job.update.assign(2, {});
  CHECK(evaluate(job.plan, job.costs()).makespan == ns(150));
  CHECK(end_of(job, 1) == 154);  // with messages of 1
  job.messages = {Bytes{}};
  CHECK(end_of(job, 1) == 150);
  CHECK(period(job) == 150);
}

TEST_CASE("experts are exchanged among the ranks that have the same ones, dense weights among all") {
  TrainingIteration job = job_of(plan_of("1f1b", 1, 1), 4, Sharding::none);
  job.expert = 2;
  for (ModelUnit& unit : job.units[0]) unit.expert_elements = 3;
  const IterationGraph graph = training_graph(job);
  int dense = 0, experts = 0;
  for (const Op& op : graph.ops()) {
    if (op.kind != OpKind::collective) continue;
    const bool of_experts = op.bytes == Bytes{3};
    CHECK(op.groups == (of_experts ? RankGroups{2, 2} : RankGroups{1, 4}));
    ++(of_experts ? experts : dense);
  }
  CHECK(dense == 2);
  CHECK(experts == 2);
}

TEST_CASE("joint messages, single messages: the same end, with every schedule, sharding and random units") {
  RandomStream draws{11, "training iterations"};
  int compared = 0;
  for (const char* schedule : {"gpipe", "1f1b", "interleaved", "zb-h1", "dualpipe"}) {
    for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::weights}) {
      TrainingIteration job =
          job_of(plan_of(schedule, 2, 4, std::string{schedule} == "interleaved" ? 2 : 0), 2, sharding);
      for (auto& units : job.units) {
        for (ModelUnit& unit : units)
          unit = {ns(draws.uniform_integer(1, 50)), ns(draws.uniform_integer(1, 50)), ns(draws.uniform_integer(1, 50)),
                  draws.uniform_integer(1, 40), 0};
      }
      for (Bytes& each : job.messages) each = Bytes{draws.uniform_integer(0, 20)};
      const std::int64_t joint = end_of(job, 2);
      job.joint = false;
      CHECK(end_of(job, 2) == joint);
      ++compared;
    }
  }
  CHECK(compared == 15);
}

TEST_CASE("the embedding of a tied head is added up between the first and the last rank, once an iteration") {
  // 150 and messages of no bytes as above; each sends 9 bytes to the other, and updates take 7.
  TrainingIteration job = job_of(plan_of("1f1b", 2, 4), 1, Sharding::none);
  for (auto& units : job.units) units = {{ns(10), ns(10), ns(10), 5, 0}};
  job.messages = {Bytes{}};
  CHECK(end_of(job, 1) == 157);
  job.tied_elements = 9;
  CHECK(end_of(job, 1) == 166);
  job.joint = false;
  CHECK(end_of(job, 1) == 166);
  // Neither sends before both have reduced their gradients: each waits for two collectives and two passes.
  job.data = 2;
  const IterationGraph graph = training_graph(job);
  std::size_t copies = 0, waits = 0;
  for (const Dependency& each : graph.dependencies()) {
    if (graph.ops()[each.after.index()].name.find("copies") == std::string::npos) continue;
    waits += graph.ops()[each.before.index()].kind == OpKind::collective ? 1U : 0U;
  }
  for (const Op& op : graph.ops()) copies += op.name.find("copies") == std::string::npos ? 0U : 1U;
  CHECK(copies == 2);
  CHECK(waits == 4);
  // Where both are on one rank nothing is sent.
  TrainingIteration folded = job_of(plan_of("zb-v", 2, 4), 1, Sharding::none);
  const std::int64_t before = end_of(folded, 1);
  folded.tied_elements = 9;
  CHECK(end_of(folded, 1) == before);
}

TEST_CASE("ranks that have the same stages add up their gradients") {
  // DualPipe: rank 0 and rank 1 have both stages of two units of 5 parameters.
  const TrainingIteration job = job_of(plan_of("dualpipe", 2, 4), 1, Sharding::none);
  int copies = 0;
  const IterationGraph graph = training_graph(job);
  for (const Op& op : graph.ops()) {
    if (op.name.find("copies") == std::string::npos) continue;
    ++copies;
    CHECK(op.bytes == Bytes{20});
  }
  CHECK(copies == 2);
  // Data-parallel ranks with shares of the gradients send these alone.
  const IterationGraph shared = training_graph(job_of(plan_of("dualpipe", 2, 4), 2, Sharding::optimizer));
  for (const Op& op : shared.ops())
    if (op.name.find("copies") != std::string::npos) CHECK(op.bytes == Bytes{4 * 3});
}

TEST_CASE("DeAR: a whole copy of the weights is updated unit by unit, as its gradients are gathered") {
  // Nothing is there in iteration 0: gathered 0-15 and 15-30; updates 15-19, F 19-29, update 30-34, F 34-44; B 44-64
  // and 64-84, reduce-scattered 64-79 and 84-99. From 99 on: gathered 99-114, 114-129; update 114-118, F 118-128,
  // update 129-133, F 133-143; B 143-163, 163-183; reduce-scattered 163-178, 183-198.
  TrainingIteration job = dear_job(1, 2, 15, Sharding::none);
  CHECK(end_of(with_dear(job), 1) == 99);
  CHECK(end_of(with_dear(job), 2) == 198);
  CHECK(period(with_dear(job)) == 99);
  // The second unit has 5 of 20 parameters: 2 of 8 for its update. Gathered for 15 and 5; update 15-21, F 21-31, update
  // 31-33, F 33-43, B 43-63, 63-83, reduce-scattered 63-68, 83-98.
  job.units[0][1].dense_elements = 5;
  CHECK(period(with_dear(job)) == 98);
  // Three of four tensors belong to the second: 6 of 8.
  job.units[0][0].dense_tensors = 1;
  job.units[0][1].dense_tensors = 3;
  const auto last_update = [](const TrainingIteration& each) {
    const IterationGraph graph = training_graph(each);
    const auto found = std::ranges::find_if(
        graph.ops(), [](const Op& op) { return op.name.starts_with("update of") && op.name.ends_with("part 1"); });
    REQUIRE(found != graph.ops().end());
    return found->duration.ns();
  };
  CHECK(last_update(with_dear(job)) == 2);
  job.update_by_tensor = {true};
  CHECK(last_update(with_dear(job)) == 6);
  // Only the last of several micro-batches reduces: a forward and a backward pass more.
  TrainingIteration several = dear_job(1, 2, 15, Sharding::none);
  several.plan = plan_of("1f1b", 1, 3);
  CHECK(period(with_dear(several)) == 99 + 2 * 60);
}

TEST_CASE("DeAR: where updates are shared out, its halves are gradients before and weights behind the update") {
  // Of 3 bytes of gradient and 1 of weight: F of both 0-20, B 20-40, 40-60, reduce-scattered 40-55, 60-75, update 83;
  // gathered 83-88 and 88-93, F 88-98, 98-108; B 108-128, 128-148, reduce-scattered 148-163, update 171.
  TrainingIteration job = dear_job(1, 2, 5, Sharding::optimizer);
  job.gradient_bytes = 3;
  CHECK(period(with_dear(job)) == 171 - 83);
  const auto count = [](const TrainingIteration& each, CollectiveKind kind) {
    const IterationGraph graph = training_graph(each);
    return std::ranges::count_if(graph.ops(),
                                 [&](const Op& op) { return op.kind == OpKind::collective && op.collective == kind; });
  };
  CHECK(count(with_dear(job), CollectiveKind::all_gather) == 2);
  CHECK(count(with_dear(job), CollectiveKind::reduce_scatter) == 2);
  // Each of two micro-batches sums its gradients, and the weights are gathered once.
  job.sharding = Sharding::gradients;
  job.plan = plan_of("1f1b", 1, 2);
  CHECK(count(with_dear(job), CollectiveKind::all_gather) == 2);
  CHECK(count(with_dear(job), CollectiveKind::reduce_scatter) == 4);
  CHECK(period(with_dear(job)) == 171 - 83 + 60);
}

TEST_CASE("DeAR in a pipeline: the norm holds back updates, and copies are added up before they are gathered") {
  // From the end of rank 0's reduce-scatter at 0 on: gathered 0-15, update 15-19, F 19-29, rank 1: F 29-39, B 39-59,
  // rank 0: B 59-79, reduce-scattered 79-94. Rank 1 reduce-scattered until 74 and gathers until 89.
  TrainingIteration job = dear_job(2, 1, 15, Sharding::none);
  job.update.assign(2, ns(4));
  CHECK(period(with_dear(job)) == 94);
  // An update of 60 on rank 1 begins when rank 0 has its sums: 94-154, F 154-164, B -184, rank 0: B -204, sums at 219.
  job.update[1] = ns(60);
  CHECK(period(with_dear(job)) == 219 - 94);
  // Without a norm it begins at the end of its own gathering, 20 behind its backward pass and 15 behind its sums.
  job.barrier = false;
  CHECK(period(with_dear(job)) == 60 + 10 + 20 + 15 + 15);
  // A tied embedding of 9: each has 5 of the sums, and sends them before the gathering begins.
  job = dear_job(2, 1, 15, Sharding::none);
  job.update.assign(2, ns(4));
  job.tied_elements = 9;
  CHECK(period(with_dear(job)) == 94 + 5);
}

TEST_CASE("Horovod: cycles begin with the last backward pass of a stage") {
  // In microseconds: F 0-20, 20-60 the first backward pass, F 60-80; cycles of 15 from 80 on end at 95, 110 and 125.
  // The gradients of the second unit, there at 100, are sent 110-115, the gradients of the first, there at 120,
  // 125-130; update 137.
  TrainingIteration job = job_of(plan_of("1f1b", 1, 2), 2, Sharding::none);
  job.units[0].assign(2, {ns(10'000), ns(10'000), ns(10'000), 5'000, 0});
  job.update = {ns(7'000)};
  const auto policy = fusion("horovod", {{"cycle_ms", 0.015}});
  const auto plan = [&](TrainingIteration& each) {
    for (std::size_t stage = 0; stage < each.units.size(); ++stage) {
      each.planned.push_back(policy->plan(problem_of(each, stage)));
      CHECK_FALSE(unfit_for_stage(each.planned.back(), each.units[stage].size()));
    }
  };
  TrainingIteration alone = job;
  plan(alone);
  CHECK(end_of(alone, 1) == 137'000);
  CHECK(period(alone) == 137'000);
  // On the first rank of two the cycles begin when the gradient of its results has come. F 0-20, F 20-40 and B 40-80 on
  // rank 1, sums by cycles 70 and 85 until 75 and 90; B from 80 on, cycles end at 95, 110, 125; sums 130, update 137.
  TrainingIteration two = job;
  two.plan = plan_of("1f1b", 2, 1);
  two.units.assign(2, job.units[0]);
  two.messages = {Bytes{}};
  two.update.assign(2, ns(7'000));
  plan(two);
  CHECK(end_of(two, 1) == 137'000);
}

TEST_CASE("a planned exchange in turn with exchanges of experts waits for no copy to the host") {
  TrainingIteration job = job_of(plan_of("1f1b", 1, 1), 4, Sharding::optimizer);
  job.expert = 2;
  for (ModelUnit& unit : job.units[0]) unit.expert_elements = 3;
  job.turns_per_server = 1;
  job.sends_gradients = true;
  job.link = ByteRate{1e9};
  job.planned.push_back(fusion("wfbp", {})->plan(problem_of(job, 0)));
  share_sums(job.planned.back().graph, 1, 1);
  const auto sums = [](const IterationGraph& graph) {
    return std::ranges::count_if(graph.ops(), [](const Op& op) { return op.kind == OpKind::collective; });
  };
  const IterationGraph graph = training_graph(job);
  CHECK(sums(graph) == 2 * 2 + 2 * 2);  // of both kinds of weights of both units, and the gathers
  int copies = 0;
  for (const Dependency& each : graph.dependencies()) {
    if (!graph.ops()[each.before.index()].name.ends_with("to the host")) continue;
    CHECK(graph.ops()[each.after.index()].kind == OpKind::timer);  // the next copy, or the update
    ++copies;
  }
  CHECK(copies >= 4);
}
