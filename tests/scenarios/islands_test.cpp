// Servers with networks of their own (network.islands), and pipelines whose stages lie on different ones: what
// transfers cost, how layers are divided, and what compressed activations send.

#include "scenarios/run/islands.hpp"
#include "policies/compression/kernels.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// Four servers: two with 100 Gb/s, two with 40 Gb/s, and 10 Gb/s between them.
Scenario two_islands() {
  return parsed(
      "cluster: {servers: 4, gpus_per_server: 2}\n"
      "network: {nic: 10Gbps, alpha: 100us, islands: [{servers: 2, nic: 100Gbps, alpha: 10us}, {servers: 2, nic: "
      "40Gbps}]}\n");
}

/// A pipeline on two clusters of two servers with eight GPUs each.
Scenario pipeline(const std::string& islands, const std::string& parallel, const std::vector<std::string>& sets = {}) {
  return parsed(
      fmt::format(
          "cluster: {{servers: 4, gpus_per_server: 8, gpu_memory: 80GiB}}\n"
          "network: {{nic: 25Gbps, alpha: 20us, inside: {{bandwidth: 2400Gbps, alpha: 5us}}{}}}\n"
          "training: {{m: {{model: llama-2-7b, device: A100-80GB, dtype: bf16, optimizer: adam, sequence: 2048, "
          "batch: 1, global_batch: 64, recompute: full, parallel: {{zero: 1, {}}}}}}}\n"
          "workload: {{generate: {{models: [m], sizes: {{32: 1}}, iterations: [4, 4], arrivals: 1ms}}}}\n",
          islands, parallel),
      sets);
}

ParallelJob island_job(const Scenario& scenario, int gpus = 32) {
  return plan_parallel(scenario, *find_entry(scenario.training, "m"), gpus);
}

std::vector<std::int64_t> layers_of(const Scenario& scenario) {
  std::vector<std::int64_t> layers;
  for (const LayerRange& stage : island_job(scenario).stages) layers.push_back(stage.last - stage.first);
  return layers;
}

std::string island_refusal(const std::string& text) {
  try {
    (void)parsed(text);
  } catch (const InputError& error) {
    std::string said;
    for (const Complaint& each : error.complaints()) said += each.key + ": " + each.reason + "\n";
    return said;
  }
  return "";
}

}  // namespace

TEST_CASE("islands: a transfer takes the network that joins all its servers") {
  const Scenario scenario = two_islands();
  const AlphaBeta costs = transfer_costs(scenario.cluster, scenario.network, scenario.seed);
  const auto message = [&](std::vector<GpuId> from, std::vector<GpuId> to) {
    TransferRequest request;
    request.kind = OpKind::message;
    request.bytes = Bytes{1'000'000};
    request.gpus = from;
    request.peers = to;
    return costs.each(request);
  };
  // Both GPUs of a server send through its interface.
  const TransferCost fast = message({GpuId{0U}, GpuId{1U}}, {GpuId{2U}, GpuId{3U}});
  CHECK(fast.alpha == Time::microseconds(10));
  CHECK(fast.beta.ns_per_byte() == near(2 * 0.08));
  const TransferCost slower = message({GpuId{4U}, GpuId{5U}}, {GpuId{6U}, GpuId{7U}});
  CHECK(slower.alpha == Time::microseconds(100));
  CHECK(slower.beta.ns_per_byte() == near(2 * 0.2));
  const TransferCost across = message({GpuId{0U}, GpuId{1U}}, {GpuId{4U}, GpuId{5U}});
  CHECK(across.beta.ns_per_byte() == near(2 * 0.8));
  // Of messages on both islands, the slower ones count, and of those that stay and those that leave.
  CHECK(message({GpuId{0U}, GpuId{4U}}, {GpuId{2U}, GpuId{6U}}).beta.ns_per_byte() == near(0.2));
  CHECK(message({GpuId{0U}, GpuId{3U}}, {GpuId{2U}, GpuId{4U}}).beta.ns_per_byte() == near(0.8));
  CHECK(message({GpuId{0U}}, {GpuId{1U}}).lane == TransferLane::inside);

  // Collectives: a group on each island, one over both.
  std::vector<GpuId> all;
  for (unsigned gpu = 0; gpu < 8; ++gpu) all.emplace_back(gpu);
  TransferRequest request;
  request.bytes = Bytes{1'000'000};
  request.gpus = all;
  request.scope = CollectiveScope::groups;
  request.groups = {1, 4};
  JobShape shape{4, 2, 2};
  shape.island = 1;
  CHECK(costs.each(request).beta.ns_per_byte() ==
        near(CostTable{scenario.network}.of(shape).of(CollectiveKind::all_reduce).beta.ns_per_byte()));
  shape.island = 0;
  CHECK(CostTable{scenario.network}.of(shape).of(CollectiveKind::all_reduce).beta.ns_per_byte() ==
        near(costs.each(request).beta.ns_per_byte() * 40 / 100));
  request.groups = {1, 8};
  CHECK(costs.each(request).beta.ns_per_byte() ==
        near(CostTable{scenario.network}.of({8, 4, 2}).of(CollectiveKind::all_reduce).beta.ns_per_byte()));
}

TEST_CASE("islands: bad ones are refused") {
  const std::string servers = "cluster: {servers: 4, gpus_per_server: 2}\n";
  CHECK(island_refusal(servers + "network: {islands: [{servers: 5, nic: 100Gbps}]}\n") ==
        "network.islands: they have 5 servers, and the cluster has 4\n");
  CHECK(island_refusal(servers + "network: {beta: 1ns/B, formula: measured, islands: [{servers: 2, nic: 100Gbps}]}\n")
            .find("network.islands: say the rates of links") != std::string::npos);
  CHECK(island_refusal(servers + "network: {islands: [{servers: 2}]}\n").find("nic is missing") != std::string::npos);
  CHECK(island_refusal(servers + "network: {fidelity: flow, islands: [{servers: 2, nic: 100Gbps}]}\n") != "");
}

TEST_CASE("islands: where all networks are alike, they change nothing") {
  const std::string same = ", islands: [{servers: 2, nic: 25Gbps}, {servers: 2, nic: 25Gbps}]";
  for (const char* fidelity : {"analytic", "contention"}) {
    for (const char* parallel : {"pipeline: 2", "pipeline: 4, tensor: 2, partition: balanced", "tensor: 8"}) {
      INFO(std::string{fidelity}, " ", parallel);
      const std::vector<std::string> sets{fmt::format("network.fidelity={}", fidelity)};
      CHECK(lone_iteration(pipeline(same, parallel, sets), "m", 32) ==
            lone_iteration(pipeline("", parallel, sets), "m", 32));
    }
  }
}

TEST_CASE("balanced: stages in slower networks, and those with slow messages, get fewer layers") {
  const std::string islands = ", islands: [{servers: 2, nic: 1600Gbps}, {servers: 2, nic: 50Gbps}]";
  CHECK(layers_of(pipeline(islands, "pipeline: 2")) == std::vector<std::int64_t>{16, 16});
  const Scenario balanced = pipeline(islands, "pipeline: 2, partition: balanced");
  const std::vector<std::int64_t> layers = layers_of(balanced);
  CHECK(layers[0] + layers[1] == 32);
  CHECK(layers[1] < 16);
  CHECK(layers[0] > 16);
  // The other way round if the slow cluster comes first.
  const std::string turned = ", islands: [{servers: 2, nic: 50Gbps}, {servers: 2, nic: 1600Gbps}]";
  CHECK(layers_of(pipeline(turned, "pipeline: 2, partition: balanced"))[0] < 16);
  CHECK(lone_iteration(balanced, "m", 32) < lone_iteration(pipeline(islands, "pipeline: 2"), "m", 32));
  // On GPUs of different speed the slower ones get less of the layers, about by their peaks of 312 and 125 TFLOP/s.
  const std::vector<std::int64_t> by_device = layers_of(pipeline(
      "", "pipeline: 2, tensor: 8, sequence_parallel: true, partition: balanced, devices: [A100-80GB, V100-SXM2]",
      {"network.nic=3200Gbps", "training.m.dtype=fp16"}));
  CHECK(by_device[0] >= 21);
  CHECK(by_device[0] <= 25);
}

TEST_CASE("activation compression: bytes and kernels of messages between stages") {
  const Scenario plain = pipeline("", "pipeline: 2, tensor: 8"),
                 sent = pipeline("", "pipeline: 2, tensor: 8, activation_compression: {ratio: 20}");
  const ParallelJob all = island_job(plain), less = island_job(sent);
  // 2048 tokens x 4096 / 8 numbers of 2 bytes; a value and its index have 6.
  CHECK(all.iteration.messages == std::vector<Bytes>{Bytes{2'097'152}});
  const std::int64_t values = 1'048'576, kept = 17'476;
  CHECK(less.iteration.messages == std::vector<Bytes>{Bytes{kept * 6}});
  // Keys of 16 bits are two passes over all values and one that writes; then zeros, and a sector for each value.
  CHECK(kernels::radix_select(values, kept, 2).bytes == 3 * 2 * values + 6 * kept);
  CHECK(kernels::scatter(values, kept, 2).bytes == 2 * values + (2 + 4 + 32) * kept);
  const KernelCosts costs = kernel_costs(*find_entry(sent.training, "m"));
  const Time pack = costs.of(kernels::radix_select(values, kept, 2)),
             unpack = costs.of(kernels::scatter(values, kept, 2));
  const PipelineCosts before = all.iteration.costs(), after = less.iteration.costs();
  CHECK(after.forward[0] - before.forward[0] == pack);
  CHECK(after.forward[1] - before.forward[1] == unpack);
  CHECK(after.backward[1] - before.backward[1] == pack);
  CHECK(after.backward[0] - before.backward[0] == unpack);
  CHECK(less.shares[0].compression == pack + unpack);
  CHECK(less.shares[0].total() - all.shares[0].total() == pack + unpack);
  // Half of it is not worth the indices, and then nothing is compressed: 1 of 1.5 is the ratio of a value and an index.
  CHECK(island_job(pipeline("", "pipeline: 2, tensor: 8, activation_compression: {ratio: 1}")).iteration.messages ==
        all.iteration.messages);
  // Through a network of 25 Gb/s the iteration gains.
  CHECK(lone_iteration(sent, "m", 32) < lone_iteration(plain, "m", 32));
}

TEST_CASE("activation compression: the slowest message has the ratio, and others less by their time") {
  // Four stages of a server each: fast, slow, middling links.
  const std::string islands = ", islands: [{servers: 2, nic: 800Gbps}, {servers: 2, nic: 100Gbps}]";
  const std::string compressed = "pipeline: 4, tensor: 8, activation_compression: {ratio: 60, adaptive: true}";
  const ParallelJob job = island_job(pipeline(islands, compressed, {"network.alpha=0s"}));
  const std::vector<Bytes>& messages = job.iteration.messages;
  REQUIRE(messages.size() == 3);
  const double whole = 2'097'152;
  CHECK(whole / messages[1].to_double() == near(60, 1e-3));
  CHECK(whole / messages[2].to_double() == near(60.0 * 25 / 100, 1e-3));
  CHECK(whole / messages[0].to_double() == near(60.0 * 25 / 800, 1e-3));
  CHECK(job.ratios[1] == whole / messages[1].to_double());
  // At a ratio of 20 the fast link would have less than 1 and sends all.
  const ParallelJob some = island_job(pipeline(
      islands, "pipeline: 4, tensor: 8, activation_compression: {ratio: 20, adaptive: true}", {"network.alpha=0s"}));
  CHECK(some.iteration.messages[0] == Bytes{2'097'152});
  CHECK(some.shares[0].compression == Time{});
}

TEST_CASE("balanced and compression: what has no effect is refused") {
  const auto said = [](const std::string& parallel) {
    try {
      (void)pipeline("", parallel);
    } catch (const InputError& error) {
      return error.complaints().front().key + ": " + error.complaints().front().reason;
    }
    return std::string{};
  };
  CHECK(said("pipeline: 2, layers: [16, 16], partition: balanced") ==
        "training.m.parallel.partition: has no effect: layers says what each part has");
  CHECK(said("activation_compression: {ratio: 20}") ==
        "training.m.parallel.activation_compression: has no effect without messages between pipeline ranks");
  CHECK(said("pipeline: 2, activation_compression: {adaptive: true}") ==
        "training.m.parallel.activation_compression.ratio: is missing");
}

TEST_CASE("islands: groups with whole_stages puts stages on islands, and data-parallel groups stay there") {
  // Islands of three and two servers of eight GPUs, two stages of 16: without the rule the first stage and a half lie
  // on the first island.
  const auto iteration = [](const char* placement) {
    const Scenario scenario =
        pipeline(", islands: [{servers: 3, nic: 800Gbps}, {servers: 2, nic: 800Gbps}]", "pipeline: 2",
                 {"cluster.servers=5", fmt::format("policies.placement={}", placement)});
    const RunResult result = run_workload(scenario, scenario_workload(scenario, scenario.seed), scenario.seed);
    return (result.jobs.front().finish - result.jobs.front().start).to_seconds();
  };
  const double whole = iteration("{policy: groups, whole_stages: true}"), loose = iteration("groups");
  CHECK(whole < 0.8 * loose);
}
