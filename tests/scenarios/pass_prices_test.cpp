// What hiding costs inside passes: messages slow down what they hide behind, and pieces are kernels of their own.

#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/unit_times.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

Scenario priced_scenario(const std::string& members, const std::vector<std::string>& sets) {
  return parsed(
      fmt::format("cluster: {{servers: 8, gpus_per_server: 8, gpu_memory: 400GiB}}\n"
                  "network: {{nic: 3200Gbps, alpha: 10us, inside: {{bandwidth: 3600Gbps, alpha: 3us}}}}\n"
                  "training: {{m: {{device: H100-SXM, dtype: bf16, optimizer: adam, {}}}}}\n"
                  "workload: {{generate: {{models: [m], sizes: {{64: 1}}, iterations: [2, 2], arrivals: 1ms}}}}\n",
                  members),
      sets);
}

}  // namespace

TEST_CASE("messages inside passes slow down what they hide behind, as messages between passes do") {
  const auto layer = [](const std::string& parallel, const std::string& slows) {
    const Scenario scenario = priced_scenario("model: llama-3-8b, sequence: 8192, parallel: {" + parallel + "}",
                                              {"network.interference=" + slows});
    return plan_parallel(scenario, *find_entry(scenario.training, "m"), 64).iteration.units.front()[1];
  };
  // With sequence parallelism two gatherings and two reductions hide in the backward pass, wholly: they add a quarter
  // of their time. So much do the collectives of the forward pass take, beside which nothing computes.
  const std::string split = "tensor: 4, sequence_parallel: true";
  const ModelUnit free = layer(split, "none"), slowed = layer(split, "0.25");
  const Time sent = free.forward_traffic.added_by({true, false, false});
  CHECK(slowed.forward == free.forward);
  CHECK(std::abs((slowed.backward_input - free.backward_input).ns() - sent.ns() / 4) <= 4);
  // Cut into pieces, forward passes hide theirs at the same price.
  const ModelUnit ideal = layer(split + ", tensor_overlap: true", "none");
  const ModelUnit priced = layer(split + ", tensor_overlap: true", "0.25");
  CHECK(priced.forward - ideal.forward > Time::nanoseconds(sent.ns() / 5));
  CHECK(priced.forward - ideal.forward <= Time::nanoseconds(sent.ns() / 4 + 4));
  // Rings.
  CHECK(layer("context: 4", "0.25").forward > layer("context: 4", "none").forward);
}

TEST_CASE("tensor-parallel ranks gather what products in fp8 read as fp8, and add up in two bytes") {
  const auto sent = [](const std::string& type, bool forward, const std::string& members = "") {
    const Scenario scenario =
        priced_scenario("model: llama-3-8b, sequence: 8192, parallel: {tensor: 4, sequence_parallel: true}" + members,
                        {"training.m.dtype=" + type});
    const ModelUnit layer = plan_parallel(scenario, *find_entry(scenario.training, "m"), 64).iteration.units.front()[1];
    std::int64_t gathered = 0, reduced = 0;
    for (const PassCollective& each : (forward ? layer.forward_traffic : layer.backward_traffic).collectives)
      (each.kind == CollectiveKind::all_gather ? gathered : reduced) += each.bytes.count() * each.times;
    return std::pair{gathered, reduced};
  };
  constexpr std::int64_t kNumbers = 8192 * 4096;  // of the tensor between two layers
  using Sums = std::pair<std::int64_t, std::int64_t>;
  CHECK(sent("bf16", true) == Sums{2 * 2 * kNumbers, 2 * 2 * kNumbers});
  CHECK(sent("fp8", true) == Sums{2 * kNumbers, 2 * 2 * kNumbers});
  CHECK(sent("fp8", false) == Sums{4 * kNumbers, 2 * 2 * kNumbers});  // gradients of outputs, and inputs once more
  // An adapter beside queries, keys and values reads two bytes.
  const std::string adapter = ", adapter: {kind: lora, rank: 16, targets: [qkv]}";
  CHECK(sent("fp8", true, adapter) == Sums{3 * kNumbers, 2 * 2 * kNumbers});
}

TEST_CASE("Megatron's hosts pad the tables of tokens to 128 rows a tensor-parallel rank") {
  const auto rows = [](const std::string& members) {
    const Scenario scenario = priced_scenario("model: gpt-3-175b, " + members, {});
    return transformer_of(*find_entry(scenario.training, "m")).vocabulary;
  };
  CHECK(rows("host: none, parallel: {tensor: 4}") == 50'257);
  CHECK(rows("host: torch, parallel: {tensor: 4}") == 50'257);
  CHECK(rows("host: megatron, parallel: {tensor: 1}") == 50'304);
  CHECK(rows("host: transformer-engine, parallel: {tensor: 4}") == 50'688);
  CHECK(rows("host: {like: transformer-engine, graphs: true}, parallel: {tensor: 8}") == 51'200);
}

TEST_CASE("attention in blocks: a kernel for each block and a sum behind each but the first") {
  const Scenario scenario = priced_scenario("model: llama-3-8b, sequence: 32768, parallel: {context: 4}",
                                            {"network.inside.bandwidth=1000Tbps", "network.inside.alpha=0us"});
  const TrainingEntry& entry = *find_entry(scenario.training, "m");
  const ModelUnit ring = plan_parallel(scenario, entry, 64).iteration.units.front()[1];
  const TransformerModel model = transformer_of(entry);
  MicroBatch work;
  work.sequence = 32768;
  work.split.context = 4;
  const std::vector<TransformerOperator> layer = transformer_operators(model, 0, work);
  OperatorTimes expected = operator_times(layer, entry);
  for (const TransformerOperator& each : layer) {
    if (each.kind != OperatorKind::fused_attention) continue;
    const OperatorTimes whole = operator_times(std::vector{each}, entry);
    const OperatorTimes block = operator_times(std::vector{piece_of(each, 4)}, entry);
    // 32 heads of 128 numbers, and 8 of keys and of values.
    const OperatorTimes sum = operator_times(std::vector{merge_of_attention(work, 4096, 2048)}, entry);
    CHECK(sum.forward > Time::microseconds(30));  // 8192 x 4096 x 10 bytes
    expected.forward += block.forward * 4 + sum.forward * 3 - whole.forward;
    expected.input_gradient += block.input_gradient * 4 + sum.input_gradient * 3 - whole.input_gradient;
  }
  CHECK(ring.forward == expected.forward);
  CHECK(ring.backward_input == expected.input_gradient);
}

TEST_CASE("PyTorch's ring: blocks are copied out and added up in fp32, gradients of keys go around in fp32") {
  const auto layer = [](const std::string& exchange, const std::vector<std::string>& sets) {
    const Scenario scenario = priced_scenario(
        fmt::format("model: llama-3-8b, sequence: 32768, parallel: {{context: 4, context_exchange: {}}}", exchange),
        sets);
    return plan_parallel(scenario, *find_entry(scenario.training, "m"), 64).iteration.units.front()[1];
  };
  const std::vector<std::string> instant{"network.inside.bandwidth=1000Tbps", "network.inside.alpha=0us"};
  const ModelUnit ring = layer("ring", instant), gathered = layer("gathered-ring", instant);
  // On each of 4 ranks 8,192 tokens, with 4,096 numbers of keys and as many of values for the 32 query heads; rings of
  // other programs have 2,048 of both. Three times keys and values of 2 bytes are copied; backward also gradients of 4,
  // and sums of 4 bytes are read and written where others have 2. Memory moves 0.8 of 3,350 GB/s, and a kernel starts
  // in 5 us.
  const auto check_longer = [](Time by, double bytes, int kernels) {
    const double expected = 3 * (8192 * bytes / (0.8 * 3350) + 5000.0 * kernels);
    CHECK(static_cast<double>(by.ns()) == near(expected, 0.005));
  };
  check_longer(gathered.forward - ring.forward, 8192 * 2 * 2, 1);
  check_longer(gathered.backward_input - ring.backward_input,
               (8192 + 4096) * 10 - (2048 + 4096) * 6 + 8192 * (2 * 2 + 2 * 4), 2);
  // Nothing hides the last hop: 8,192 x 8,192 x 4 bytes at 100 kB/us.
  const std::vector<std::string> slow{"network.inside.bandwidth=100GB/s", "network.inside.alpha=0us",
                                      "network.interference=none"};
  const ModelUnit real = layer("gathered-ring", slow);
  CHECK(static_cast<double>((real.backward_input - gathered.backward_input).ns()) ==
        near(8192.0 * 8192 * 4 / 100, 0.005));
  CHECK(real.backward_traffic.collectives.size() == 3);
  CHECK(real.backward_traffic.collectives[1].bytes == Bytes{8192LL * 8192 * 4 * 4});
}

TEST_CASE("kernels that a framework launches beside the kernels of the cost model begin on the GPU, too") {
  const auto layer = [](const std::string& host) {
    const Scenario scenario = priced_scenario(
        "model: llama-3-8b, sequence: 4096, efficiency: sheet, loss: fused, parallel: {}, host: " + host, {});
    return plan_parallel(scenario, *find_entry(scenario.training, "m"), 64).iteration.units.front()[1];
  };
  // A kernel starts in 2.6 us on an H100. A layer is two norms, four products, attention, rotary positions, an
  // activation and two sums; each product has two gradients.
  const ModelUnit none = layer("none"),
                  counted = layer("{forward: {product: 2, elementwise: 1.5}, backward: {norm: 3}}");
  CHECK(counted.forward - none.forward == Time::nanoseconds(2600 * 4 + 1300 * 4));
  CHECK(counted.backward_input - none.backward_input == Time::nanoseconds(2600 * 2 * 2));
  CHECK(counted.backward_weight == none.backward_weight);
  CHECK(layer("{forward: {}, backward: {product: 0.5}}").backward_weight == none.backward_weight);
}

TEST_CASE("pieces of a product read the weights again, and do the same work together") {
  TransformerOperator product;
  product.kind = OperatorKind::product;
  product.m = 64, product.n = 32, product.k = 16;
  product.forward = product.input_gradient = product.weight_gradient = {2.0 * 64 * 32 * 16, 2.0 * (64 * 48 + 512), 1};
  const TransformerOperator piece = piece_of(product, 4);
  CHECK(piece.m == 16);
  CHECK(piece.forward.flops == near(2.0 * 16 * 32 * 16));
  CHECK(piece.forward.bytes == near(2.0 * (16 * 48 + 512)));
}
