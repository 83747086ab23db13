// Optimizers, adapters and frozen parts of entries of `training`: memory, update and exchange by hand, and what is
// refused.

#include "scenarios/run/lone_job.hpp"
#include "scenarios/training/optimizer_update.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

Scenario tuned_entry(const std::string& members) {
  return parsed(
      fmt::format("cluster: {{servers: 4, gpus_per_server: 8, gpu_memory: 2000GiB}}\n"
                  "network: {{nic: 3200Gbps, alpha: 10us, inside: {{bandwidth: 3600Gbps, alpha: 3us}}}}\n"
                  "training: {{m: {{{}}}}}\n"
                  "workload: {{generate: {{models: [m], sizes: {{8: 1}}, iterations: [4, 4], arrivals: "
                  "1ms}}}}\n",
                  members));
}

const std::string kSmallLlama = "device: H100-SXM, dtype: bf16, model: llama-2-7b, ";

ParallelJob planned_tuning(const std::string& members, int gpus = 1) {
  const Scenario scenario = tuned_entry(kSmallLlama + members);
  return plan_parallel(scenario, *find_entry(scenario.training, "m"), gpus);
}

std::string refusal_of(const std::string& members, int gpus = 8) {
  return refusal_of_call([&] {
    const Scenario scenario = tuned_entry(members);
    static_cast<void>(TrainingGraphs{scenario}("m", gpus));
  });
}

void check_refusal(const std::string& members, const std::string& expected) {
  const std::string said = refusal_of(members);
  INFO(members);
  INFO(said);
  CHECK(said.find(expected) != std::string::npos);
}

constexpr std::int64_t kOfLlama = 6'738'415'616;                                   // parameters of Llama 2 7B
constexpr std::int64_t kInLayers = 32 * (4LL * 4096 * 4096 + 3LL * 4096 * 11008);  // in matrices of layers

std::int64_t states_of(const std::string& members, int gpus = 1) {
  return planned_tuning(members, gpus).memory.front().optimizer.count();
}

}  // namespace

TEST_CASE("states of the optimizer on a GPU, by format and shape") {
  // Beside weights of 2 bytes there is a copy in 4.
  CHECK(states_of("optimizer: adam, parallel: {zero: 0}") == kOfLlama * 12);
  CHECK(states_of("optimizer: lion, parallel: {zero: 0}") == kOfLlama * 8);
  CHECK(states_of("optimizer: adam, master_weights: false, parallel: {zero: 0}") == kOfLlama * 8);
  CHECK(states_of("optimizer: adam, master_weights: false, optimizer_states: bf16, parallel: {zero: 0}") ==
        kOfLlama * 4);
  // Two states of a byte with a scale of 4 bytes for 2,048, so 2 / 256 bytes a parameter on top of 2... and the copy.
  CHECK(states_of("optimizer: adam, optimizer_states: int8, parallel: {zero: 0}") ==
        kOfLlama * 6 + (kOfLlama * 2 * 4 + 2047) / 2048);
  // Muon: a momentum of hidden matrices, two states of all others.
  CHECK(states_of("optimizer: muon, master_weights: false, parallel: {zero: 0}") ==
        kInLayers * 4 + (kOfLlama - kInLayers) * 8);
  // Adafactor: sums of rows and columns, of two tables, too; 65 norms have a state of their own shape.
  const std::int64_t sums = 32 * (4 * 8192 + 3 * (4096 + 11008)) + 2 * (32000 + 4096);
  CHECK(states_of("optimizer: adafactor, master_weights: false, parallel: {zero: 0}") == 4 * (sums + 65 * 4096));
  // ZeRO-1 over 8: an eighth of each.
  CHECK(states_of("optimizer: muon, master_weights: false, parallel: {zero: 1}", 8) ==
        (kInLayers * 4 + (kOfLlama - kInLayers) * 8) / 8);
  // Tensor parallelism cuts matrices, and their sums of columns, but of matrices cut by columns.
  const std::int64_t cut =
      32 * (3 * (2048 + 4096) + (4096 + 2048) + 2 * (5504 + 4096) + (4096 + 5504)) + 2 * (16000 + 4096);
  CHECK(states_of("optimizer: adafactor, master_weights: false, parallel: {tensor: 2}", 2) == 4 * (cut + 65 * 4096));
}

TEST_CASE("the update of Muon multiplies matrices, and gathers those that ranks have cut") {
  const auto update = [](const std::string& optimizer, const std::string& parallel, int gpus) {
    const ParallelJob job = planned_tuning("optimizer: " + optimizer + ", parallel: " + parallel, gpus);
    return job.iteration;
  };
  const TrainingIteration muon = update("muon", "{zero: 0}", 1), adam = update("adamw", "{zero: 0}", 1);
  // 32 layers of 4 products of 4,096 x 4,096 and 3 of 4,096 x 11,008: 5 (4 m^2 n + 2 m^3) flops each.
  const double m = 4096, n = 11008;
  const double flops = 32 * (4 * 5 * 6 * m * m * m + 3 * 5 * (4 * m * m * n + 2 * m * m * m));
  const double seconds = muon.update.front().to_seconds() - adam.update.front().to_seconds();
  CHECK(seconds > flops / 989e12);  // at the peak of an H100
  CHECK(seconds < flops / 989e12 * 2);
  CHECK(muon.update_gathers.front().empty());
  CHECK(muon.update_kernels.front() == 32 * 7 * 15);
  // Over 8 ranks the slices of 809,500,672 numbers: 16 matrices of 4,096^2 and 12 of 4,096 x 11,008 are four layers,
  // so every rank has whole matrices.
  const TrainingIteration shared = update("muon", "{zero: 1}", 8);
  REQUIRE(shared.update_gathers.front().size() == 1);
  CHECK(shared.update_gathers.front().front().bytes == Bytes{kInLayers / 8 * 2});
  CHECK(shared.update_gathers.front().front().groups == RankGroups{1, 8});
  CHECK(shared.update_kernels.front() == 4 * 7 * 15);
  CHECK(shared.update.front().to_seconds() == near(muon.update.front().to_seconds() / 8, 0.01));
  // Cut over 2 tensor-parallel ranks all matrices are gathered whole, and each rank multiplies all of them.
  const TrainingIteration cut = update("muon", "{tensor: 2}", 2);
  REQUIRE(cut.update_gathers.front().size() == 1);
  CHECK(cut.update_gathers.front().front().bytes == Bytes{kInLayers * 2});
  CHECK(cut.update_gathers.front().front().groups == RankGroups{1, 2});
  // The iteration has the gathering and the longer update.
  const auto iteration = [](const std::string& optimizer) {
    return lone_iteration(tuned_entry(kSmallLlama + "optimizer: " + optimizer + ", batch: 1, parallel: {zero: 1}"), "m",
                          8);
  };
  const Time longer = iteration("muon") - iteration("adamw");
  CHECK(longer > shared.update.front() - update("adamw", "{zero: 1}", 8).update.front());
  // Shampoo needs no whole matrices.
  CHECK(update("shampoo", "{zero: 1}", 8).update_gathers.front().empty());
  CHECK(update("shampoo", "{zero: 1}", 8).update.front() > shared.update.front());
}

TEST_CASE("an update in the backward pass keeps the gradients of a unit") {
  const ParallelJob behind = planned_tuning("optimizer: adam, global_batch: 1, parallel: {zero: 0}");
  const ParallelJob inside =
      planned_tuning("optimizer: adam, global_batch: 1, update: in-backward, parallel: {zero: 0}");
  CHECK(behind.memory.front().gradients == Bytes{kOfLlama * 4});
  // A layer: four matrices of 4,096^2, three of 4,096 x 11,008, two norms.
  CHECK(inside.memory.front().gradients == Bytes{(kInLayers / 32 + 2 * 4096) * 4});
  const auto iteration = [](const char* update, const char* parallel, int gpus) {
    return lone_iteration(tuned_entry(fmt::format("{}optimizer: adam, batch: 1, update: {}, parallel: {}", kSmallLlama,
                                                  update, parallel)),
                          "m", gpus);
  };
  // One GPU computes as much, whenever it updates. Where gradients are summed, it updates while others come.
  CHECK(iteration("in-backward", "{zero: 0}", 1) == iteration("behind", "{zero: 0}", 1));
  CHECK(iteration("in-backward", "{zero: 0}", 8) < iteration("behind", "{zero: 0}", 8));
  CHECK(refusal_of(kSmallLlama + "optimizer: adam, accumulate: 2, update: in-backward, parallel: {zero: 0}")
            .find("training.m.update: in-backward: the gradients of 2 micro-batches are added up") !=
        std::string::npos);
}

TEST_CASE("plain entries: states and products of networks of layers") {
  const auto update = [](const std::string& members) {
    const Scenario scenario = tuned_entry("device: V100-SXM2, model: resnet50, batch: 32, " + members);
    return entry_memory(*find_entry(scenario.training, "m")).optimizer;
  };
  CHECK(update("optimizer: momentum") == Bytes{25'557'032LL * 4});
  CHECK(update("optimizer: lion") == Bytes{25'557'032LL * 4});
  CHECK(update("optimizer: adam, optimizer_states: int8") ==
        Bytes{25'557'032LL * 2 + (25'557'032LL * 8 + 2047) / 2048});
  CHECK(update("optimizer: adafactor") < Bytes{1'000'000});
  const Scenario scenario = tuned_entry("device: A100-80GB, model: resnet50, batch: 32, optimizer: muon");
  const TimedModel muon = entry_model(*find_entry(scenario.training, "m"), 1);
  const Scenario other = tuned_entry("device: A100-80GB, model: resnet50, batch: 32, optimizer: adam");
  CHECK(muon.forward() > entry_model(*find_entry(other.training, "m"), 1).forward());
  CHECK(muon.backward() == entry_model(*find_entry(other.training, "m"), 1).backward());
}

TEST_CASE("adapters: memory, exchange, checkpoint and time") {
  const std::string adapter = "adapter: {kind: lora, rank: 16, targets: [q, v]}, optimizer: adam, ";
  // A and B of 4,096 x 16 each beside two matrices of 32 layers.
  constexpr std::int64_t kTrained = 32LL * 2 * 2 * 4096 * 16;
  const ParallelJob job = planned_tuning(adapter + "parallel: {zero: 0}", 8);
  CHECK(job.memory.front().weights == Bytes{(kOfLlama + kTrained) * 2});
  CHECK(job.memory.front().gradients == Bytes{kTrained * 4});
  CHECK(job.memory.front().optimizer == Bytes{kTrained * 12});
  std::int64_t sent = 0, tensors = 0;
  for (const ModelUnit& unit : job.iteration.units.front()) {
    sent += unit.dense_elements;
    tensors += unit.dense_tensors;
  }
  CHECK(sent == kTrained);
  CHECK(tensors == 32 * 4);
  const Scenario scenario = tuned_entry(kSmallLlama + adapter + "parallel: {zero: 0}");
  CHECK(whole_state(*find_entry(scenario.training, "m"), transformer_of(*find_entry(scenario.training, "m"))) ==
        Bytes{kTrained * (2 + 12)});
  // Shared out, frozen weights are gathered as well: the sum of both, in each pass.
  const ParallelJob shared = planned_tuning(adapter + "parallel: {zero: 3}", 8);
  CHECK(shared.memory.front().weights == Bytes{(kOfLlama * 2) / 8 + kTrained / 8 * 2});
  const ModelUnit& layer = shared.iteration.units.front()[1];
  CHECK(layer.frozen_dense == Bytes{(kInLayers / 32 + 2 * 4096) * 2});
  CHECK(layer.dense_elements == kTrained / 32);
  // The products for gradients of weights are a third of a full training's.
  const auto seconds = [](const std::string& members) {
    return lone_iteration(tuned_entry(kSmallLlama + "batch: 1, optimizer: adam, parallel: {zero: 0}, " + members), "m",
                          1)
        .to_seconds();
  };
  const double full = seconds("sequence: 4096"), part = seconds(
                                                     "sequence: 4096, adapter: {kind: lora, rank: 16, targets: "
                                                     "[q, v]}");
  CHECK(part < 0.75 * full);
  CHECK(part > 0.4 * full);
  // Weights of 4 bits are turned into others before each product, which takes its time, and much less room.
  const std::string quantised = "adapter: {kind: qlora, rank: 16, targets: [q, v]}, optimizer: adam, ";
  CHECK(planned_tuning(quantised + "parallel: {zero: 0}").memory.front().weights < Bytes{kOfLlama * 2 / 3});
  CHECK(seconds("sequence: 4096, adapter: {kind: qlora, rank: 16, targets: [q, v]}") > part);
}

TEST_CASE("frozen layers have no states, and the ones in front no backward pass") {
  const ParallelJob job =
      planned_tuning("optimizer: adam, frozen: {layers: 16, embedding: true}, parallel: {zero: 1}", 8);
  const std::int64_t trained = kOfLlama - 16 * (kInLayers / 32 + 2 * 4096) - 32000LL * 4096;
  CHECK(job.memory.front().gradients == Bytes{trained * 4});
  CHECK(job.memory.front().weights == Bytes{kOfLlama * 2});
  const std::vector<ModelUnit>& units = job.iteration.units.front();
  CHECK(units[0].of(PassKind::backward) == Time{});   // the embedding
  CHECK(units[16].of(PassKind::backward) == Time{});  // the last frozen layer
  CHECK(units[17].of(PassKind::backward) > Time{});
  CHECK(units[17].of(PassKind::backward) < units[18].of(PassKind::backward));
  CHECK(units[16].of(PassKind::forward) == units[18].of(PassKind::forward));
}

TEST_CASE("frozen stages of a pipeline get no gradients") {
  // Stage 0 has the embedding and layers 0 to 15.
  const auto messages = [](const std::string& frozen, int tensor = 1) {
    const Scenario scenario =
        tuned_entry(fmt::format("{}optimizer: adam, batch: 1, global_batch: 4, frozen: {}, parallel: {{pipeline: 2, "
                                "tensor: {}}}",
                                kSmallLlama, frozen, tensor));
    TrainingGraphs graphs{scenario};
    const IterationGraph graph = graphs("m", 2 * tensor).graph;
    return std::pair{
        std::ranges::count_if(graph.ops(), [](const Op& op) { return op.name.starts_with("activations "); }),
        std::ranges::count_if(graph.ops(), [](const Op& op) { return op.name.starts_with("gradients "); })};
  };
  CHECK(messages("{layers: 8, embedding: true}") == std::pair{std::ptrdiff_t{4}, std::ptrdiff_t{4}});
  CHECK(messages("{layers: 16, embedding: true}") == std::pair{std::ptrdiff_t{4}, std::ptrdiff_t{0}});
  CHECK(messages("{layers: 16, embedding: true}", 2) == std::pair{std::ptrdiff_t{4}, std::ptrdiff_t{0}});
  CHECK(messages("{layers: 16}") == std::pair{std::ptrdiff_t{4}, std::ptrdiff_t{4}});  // the embedding is trained
}

TEST_CASE("a pipeline rank that trains nothing has neither an exchange nor an update") {
  const std::string frozen = "batch: 1, global_batch: 4, frozen: {layers: 16, embedding: true}, ";
  for (const char* exchange : {"fusion: wfbp", "compression: {policy: top-k, density: 0.01}"}) {
    INFO(exchange);
    const std::string members = frozen + "optimizer: adam, parallel: {pipeline: 2}, " + exchange;
    const ParallelJob job = planned_tuning(members, 4);
    REQUIRE(job.iteration.planned.size() == 2);
    CHECK(job.iteration.planned[0].graph.ops().empty());
    CHECK(!job.iteration.planned[1].messages.empty());
    CHECK(lone_iteration(tuned_entry(kSmallLlama + members), "m", 4) > Time{});
  }
  for (const char* optimizer : {"adafactor", "adam, optimizer_states: int8"}) {
    INFO(optimizer);
    const std::string members = frozen + "parallel: {pipeline: 2, offload: {optimizer: host, link: 25GB/s, memory: " +
                                "20GB/s}}, optimizer: " + optimizer;
    const ParallelJob job = planned_tuning(members, 4);
    CHECK(job.iteration.update[0] == Time{});
    CHECK(job.iteration.update[1] > Time{});
    CHECK(lone_iteration(tuned_entry(kSmallLlama + members), "m", 4) > Time{});
  }
}

TEST_CASE("frozen weights that stay gathered, or come from the host unit by unit, are in memory") {
  const std::string adapter = "adapter: {kind: lora, rank: 16, targets: [q, v]}, optimizer: adam, ";
  constexpr std::int64_t kTrained = 32LL * 2 * 2 * 4096 * 16, kLayer = kInLayers / 32 + 2 * 4096;
  const auto gathered = [&](const std::string& parallel, int gpus) {
    return planned_tuning(adapter + "parallel: {" + parallel + "}", gpus).memory.front().gathered;
  };
  CHECK(gathered("zero: 3, reshard: false", 8) == Bytes{(kOfLlama + kTrained) * 2});
  const std::string offload = "zero: 3, offload: {optimizer: host, weights: host, link: 25GB/s, memory: 20GB/s}";
  CHECK(gathered(offload, 1) == Bytes{2 * (kLayer + kTrained / 32) * 2});
}

TEST_CASE("tensor-parallel ranks don't add up gradients that nobody computes") {
  // Collectives of the backward pass of a layer, numbered from 1, or of the head, 33.
  const auto collectives = [](const std::string& members, std::size_t unit, const char* sequence_parallel = "false") {
    const ParallelJob job = planned_tuning(
        fmt::format("optimizer: adam, {}, parallel: {{tensor: 2, sequence_parallel: {}}}", members, sequence_parallel),
        2);
    std::int64_t sum = 0;
    for (const PassCollective& each : job.iteration.units.front().at(unit).backward_traffic.collectives)
      sum += each.times;
    return sum;
  };
  const std::string upper = "frozen: {layers: 16, embedding: true}";
  CHECK(collectives(upper, 16) == 0);
  CHECK(collectives(upper, 17) == 1);  // of the input of the feed-forward
  CHECK(collectives(upper, 18) == 2);
  CHECK(collectives(upper, 33) == 1);
  CHECK(collectives("frozen: {layers: 32, embedding: true}", 33) == 0);
  // Three of a block: gradients of outputs and inputs are gathered, gradients of inputs are added up and cut.
  CHECK(collectives(upper, 17, "true") == 5);
  CHECK(collectives(upper, 18, "true") == 6);
  const std::string down = "adapter: {kind: lora, rank: 16, targets: [down]}";
  CHECK(collectives(down, 1) == 0);
  CHECK(collectives(down, 1, "true") == 2);
  CHECK(collectives(down, 2) == 2);
}

TEST_CASE("what optimizers and adapters can't be is refused, with what would be right") {
  const std::string parallel = "parallel: {zero: 0}, ";
  check_refusal(kSmallLlama + parallel + "optimizer: shampoo, optimizer_states: bf16",
                "training.m.optimizer_states: bf16: shampoo takes inverse roots of its factors");
  check_refusal(kSmallLlama + parallel + "optimizer: adafactor, optimizer_states: int8",
                "training.m.optimizer_states: int8: adafactor keeps a number for each row and column");
  check_refusal(kSmallLlama + parallel + "optimizer: sgd, optimizer_states: bf16", "sgd keeps no states");
  check_refusal(kSmallLlama + parallel + "optimizer_states: bf16", "has no effect without an optimizer");
  check_refusal("device: H100-SXM, dtype: fp32, model: llama-2-7b, optimizer: adam, master_weights: false, " + parallel,
                "training.m.master_weights: has no effect: the weights themselves have 4 bytes");
  check_refusal("device: V100-SXM2, model: resnet50, batch: 8, optimizer: muon",
                "training.m.optimizer: muon: its products are in bf16, which V100-SXM2 lacks; adam, or another device");
  check_refusal(kSmallLlama + "optimizer: muon, parallel: {offload: {optimizer: host, link: 25GB/s, memory: 20GB/s}}",
                "training.m.parallel.offload.optimizer: the optimizer multiplies matrices");
  const std::string optimizer = parallel + "optimizer: adam, ";
  check_refusal(kSmallLlama + optimizer + "adapter: {kind: lora, rank: 0, targets: [q]}", "training.m.adapter.rank");
  check_refusal(kSmallLlama + optimizer + "adapter: {kind: lora, rank: 5000, targets: [q]}",
                "training.m.adapter.rank: 5000 is no less than the 4096 x 4096 numbers of q have; less than 4096");
  check_refusal(
      "device: H100-SXM, dtype: bf16, model: gpt2, " + optimizer + "adapter: {kind: lora, rank: 8, targets: [gate]}",
      "training.m.adapter.targets: gate: no layer of gpt2 has this matrix; q, k, v, qkv, o, up, down");
  check_refusal(
      "device: H100-SXM, dtype: fp8, model: llama-2-7b, " + optimizer + "adapter: {kind: qlora, rank: 8, targets: [q]}",
      "training.m.adapter: qlora: its matrices of 4 bits");
  check_refusal(
      "device: H100-SXM, dtype: fp32, model: resnet50, batch: 8, adapter: {kind: lora, rank: 8, targets: [q]}",
      "training.m.adapter: stands beside the matrices of a transformer's layers");
  check_refusal(kSmallLlama + optimizer + "frozen: {layers: 40}",
                "training.m.frozen.layers: 40 of 32 layers can't be frozen");
  check_refusal(kSmallLlama + optimizer + "frozen: {layers: 4}, adapter: {kind: lora, rank: 8, targets: [q]}",
                "training.m.frozen: has no effect: beside an adapter nothing of the model is trained");
}
