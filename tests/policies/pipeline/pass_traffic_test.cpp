// What passes send through the network: the same times as inside the passes where the network takes what was assumed,
// and longer ones where it takes longer.

#include "models/parallel/pass_traffic.hpp"
#include "models/parallel/training_iteration.hpp"
#include "models/passes/spread_passes.hpp"
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

Time after_ns(std::int64_t value) {
  return Time::nanoseconds(value);
}

/// Two tensor-parallel ranks. A unit computes 20 forward and sends 10; it computes 40 for the gradients of inputs, 15
/// of them beside 10 bytes, and 20 for the gradients of weights. In passes a byte takes a nanosecond, in the network
/// `bytes` / 10.
TrainingIteration sending_job(const std::string& schedule, int ranks, int micro_batches, std::size_t units,
                              std::int64_t bytes) {
  ModelUnit unit;
  unit.forward = after_ns(30);
  unit.backward_input = after_ns(40);
  unit.backward_weight = after_ns(20);
  PassCollective sum;
  sum.groups = {1, 2};
  sum.bytes = Bytes{bytes};
  unit.forward_traffic.add(PassGroup::tensor, after_ns(10), {sum});
  sum.beside = after_ns(15);
  unit.backward_traffic.add(PassGroup::tensor, {}, {sum});
  TrainingIteration job;
  job.plan = valid_plan({schedule, {}}, {.ranks = ranks, .micro_batches = micro_batches, .chunks = 0});
  job.units.assign(static_cast<std::size_t>(job.plan.stages), std::vector<ModelUnit>(units, unit));
  job.tensor = 2;
  job.messages.assign(static_cast<std::size_t>(job.plan.stages - 1), Bytes{});
  job.update.assign(job.plan.ranks(), after_ns(7));
  return job;
}

std::int64_t end_of_sending(TrainingIteration job, bool in_network) {
  job.in_network[static_cast<std::size_t>(PassGroup::tensor)] = in_network;
  TestJob test;
  test.made = std::make_shared<const IterationGraph>(training_graph(job));
  test.gpus.clear();
  const int ranks = test.made->ranks();
  for (int rank = 0; rank < ranks; ++rank) test.gpus.push_back(static_cast<std::uint32_t>(rank));
  return simulate({.servers = ranks}, {test}).finish(0);
}

}  // namespace

TEST_CASE("passes that send through a network as fast as they assume take the same time") {
  // F 30, B 60, update 7.
  CHECK(end_of_sending(sending_job("1f1b", 1, 1, 1, 10), false) == 97);
  CHECK(end_of_sending(sending_job("1f1b", 1, 1, 1, 10), true) == 97);
  for (const char* schedule : {"gpipe", "1f1b", "zb-h1", "dualpipe"}) {
    const TrainingIteration job = sending_job(schedule, 4, 8, 2, 10);
    CHECK(end_of_sending(job, true) == end_of_sending(job, false));
  }
}

TEST_CASE("a slower network adds what nothing hides") {
  // F 20 + 25; B 60 - 15 and the longer of 15 and 25; update 7.
  CHECK(end_of_sending(sending_job("1f1b", 1, 1, 1, 25), true) == 122);
  // Passes that don't send through it don't know.
  CHECK(end_of_sending(sending_job("1f1b", 1, 1, 1, 25), false) == 97);
  // Two micro-batches of three units.
  CHECK(end_of_sending(sending_job("1f1b", 1, 2, 3, 25), true) == 2 * 3 * (45 + 70) + 7);
}

TEST_CASE("equal collectives of the units of a pass are one operation that runs several times") {
  TrainingIteration job = sending_job("1f1b", 1, 2, 3, 10);
  job.in_network.fill(true);
  const IterationGraph graph = training_graph(job);
  int collectives = 0;
  for (const Op& op : graph.ops()) {
    if (op.kind != OpKind::collective) continue;
    ++collectives;
    CHECK(op.times == 3);
    CHECK(op.bytes == Bytes{10});
    CHECK(op.all_bytes() == Bytes{30});
    CHECK(op.groups == RankGroups{1, 2});
  }
  CHECK(collectives == 4);
  // All computing is there, but what was assumed for the network: 2 micro-batches x 3 units x 10, on two ranks.
  CHECK(graph.compute_total().on_each_of(2) == after_ns(2 * 3 * (90 - 10) + 7));
}

TEST_CASE("pieces of experts between servers and inside them are sent at once, other collectives in turn") {
  // F computes 30: 20 alone, and 5 beside each of the collectives of 10 and of 25 bytes.
  TrainingIteration job = sending_job("1f1b", 1, 1, 1, 10);
  ModelUnit& unit = job.units[0][0];
  PassCollective each;
  each.groups = {1, 2};
  each.beside = after_ns(5);
  for (const PassGroup of : {PassGroup::tensor, PassGroup::expert}) {
    unit.forward_traffic = unit.backward_traffic = {};
    job.in_network[static_cast<std::size_t>(of)] = true;
    each.of = of;
    each.bytes = Bytes{10};
    unit.forward_traffic.add(of, {}, {each});
    each.bytes = Bytes{25};
    unit.forward_traffic.add(of, {}, {each});
    CHECK(end_of_sending(job, true) == 20 + (of == PassGroup::expert ? 25 : 10 + 25) + 60 + 7);
  }
}

TEST_CASE("groups of one rank and empty collectives send nothing") {
  PassTraffic traffic;
  PassCollective sum;
  sum.bytes = Bytes{10};
  sum.groups = {1, 1};
  traffic.add(PassGroup::tensor, {}, {sum});
  sum.groups = {1, 4};
  sum.times = 0;
  traffic.add(PassGroup::tensor, {}, {sum});
  sum.times = 1;
  sum.of = PassGroup::expert;
  traffic.add(PassGroup::expert, after_ns(3), {sum});
  CHECK(sum_of({&traffic}, {true, true, false}).empty());
  CHECK(sum_of({&traffic}, {true, true, true}).size() == 1);
  CHECK(traffic.added_by({true, true, false}) == Time{});
  CHECK(traffic.added_by({false, false, true}) == after_ns(3));
}
