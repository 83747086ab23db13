// Parts of an iteration of a model that is spread over GPUs: products that overlap with what tensor parallelism sends,
// a table that is exchanged once, and what is refused before anything runs.

#include "models/parallel/memory.hpp"
#include "models/parallel/operators.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "models/passes/spread_passes.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// A cluster of H100 servers, with no start-up time, and an entry with these members.
Scenario of_members(const std::string& members, const std::vector<std::string>& sets = {}) {
  return parsed(fmt::format("cluster: {{servers: 16, gpus_per_server: 8, gpu_memory: 640GiB}}\n"
                            "network: {{nic: 3200Gbps, alpha: 0s, inside: {{bandwidth: 100GB/s, alpha: 0s}}}}\n"
                            "training: {{m: {{device: H100-SXM, dtype: bf16, optimizer: adam, {}}}}}\n"
                            "workload: {{generate: {{models: [m], sizes: {{8: 1}}, iterations: [4, 4]}}}}\n",
                            members),
                sets);
}

ParallelJob planned_for(const std::string& members, int gpus, const std::vector<std::string>& sets = {}) {
  const Scenario scenario = of_members(members, sets);
  return plan_parallel(scenario, *find_entry(scenario.training, "m"), gpus);
}

/// The first complaint about the entry on so many GPUs.
std::string complaint_of(const std::string& members, int gpus) {
  try {
    (void)planned_for(members, gpus);
  } catch (const InputError& error) {
    const Complaint& first = error.complaints().front();
    return first.key + ": " + first.reason + "; " + first.hint;
  }
  return "";
}

constexpr std::string_view kDense = "model: gpt-3-6.7b, sequence: 2048, ";

/// Time of the products with these names in the forward pass, on the tensor-parallel ranks of kDense.
Time products_of(const std::vector<std::string>& names, bool backward, int pieces = 1) {
  MicroBatch work;
  work.sequence = 2048;
  work.split.tensor = 4;
  work.split.sequence_parallel = true;
  work.type = DataType::bf16;
  std::vector<TransformerOperator> chosen;
  for (const TransformerOperator& each : transformer_operators(*find_transformer("gpt-3-6.7b"), 0, work))
    if (std::ranges::find(names, each.name) != names.end()) chosen.push_back(piece_of(each, pieces));
  REQUIRE(chosen.size() == names.size());
  const OperatorTimes times = operator_times(chosen, *find_device("H100-SXM"));
  return (backward ? times.input_gradient : times.forward) * pieces;
}

}  // namespace

TEST_CASE(
    "tensor overlap: a product of which all pieces but one go beside a collective hides that much of it, for the "
    "price of the pieces") {
  const std::string members = std::string{kDense} + "parallel: {tensor: 4, sequence_parallel: true, tensor_overlap: ";
  const ParallelJob apart = planned_for(members + "false}", 4), beside = planned_for(members + "true}", 4);
  // An all-gather and a reduce-scatter of 2,048 x 4,096 numbers of two bytes over a link of 100 GB/s.
  constexpr std::int64_t kCollective_ns = std::int64_t{2048} * 4096 * 2 * 3 / 4 / 100;
  const auto exposed = [&](Time product) {
    const Time hides = product - Time::nanoseconds(product.ns() / 4);
    return std::max<std::int64_t>(0, kCollective_ns - hides.ns());
  };
  const std::int64_t layers = find_transformer("gpt-3-6.7b")->layers;
  std::int64_t saved = 0;
  for (const bool backward : {false, true}) {
    for (const char* product : {"qkv", "up", "output", "down"}) {
      const bool is_first = std::string{product} == "qkv" || std::string{product} == "up";
      if (backward && is_first) continue;  // what goes beside these in the backward pass did so before
      const Time pieces = products_of({product}, backward, 4);
      saved += kCollective_ns - exposed(pieces) - (pieces - products_of({product}, backward)).ns();
    }
  }
  CHECK(saved > 0);
  const std::int64_t less = (apart.shares[0].tensor - beside.shares[0].tensor).ns();
  CHECK(std::abs(less - saved * layers) <= 12 * layers);  // roundings
  CHECK(apart.shares[0].compute == beside.shares[0].compute);
}

TEST_CASE(
    "FSDP2 copies weights out of their buffer, gradients into theirs, and tensors that are cut along the tokens") {
  const auto compute = [](const std::string& runtime, const std::string& parallel) {
    const ParallelJob job =
        planned_for(std::string{kDense} + "runtime: " + runtime + ", parallel: {" + parallel + "}", 4);
    return std::pair{job.shares[0].compute.to_seconds(), job.shares[0].tensor.to_seconds()};
  };
  const TransformerModel& model = *find_transformer("gpt-3-6.7b");
  const double weights = static_cast<double>(rank_parameters(model, {0, model.layers, true, true}, {}).dense);
  // Bytes of HBM, of which kernels reach 80%; a launch each for embedding, layers and head takes 5 us.
  const double rate = find_device("H100-SXM")->memory_bandwidth.bytes_per_second() * 0.8;
  const double launches = 5e-6 * static_cast<double>(model.layers + 2);
  const auto more = [&](const std::string& parallel) {
    return compute("fsdp2", parallel).first - compute("plain", parallel).first;
  };
  CHECK(more("zero: 3") == near(weights * (4 + 4 + 2 + 4) / rate + 3 * launches, 1e-6));
  CHECK(more("zero: 3, reshard: false") == near(weights * (4 + 2 + 4) / rate + 2 * launches, 1e-6));
  CHECK(more("zero: 2") == 0);
  // Two blocks of a layer: 2 copies forward and 3 backward of 2,048 x 4,096 numbers of two bytes.
  const std::string tensor = "tensor: 4, sequence_parallel: true, zero: 1";
  CHECK(compute("fsdp2", tensor).second - compute("plain", tensor).second ==
        near(static_cast<double>(model.layers) * 10 * (2.0 * 2048 * 4096 * 2 / rate + 5e-6), 1e-4));  // roundings
}

TEST_CASE("tensor overlap: needs ranks that cut the sequence") {
  CHECK(complaint_of(std::string{kDense} + "parallel: {tensor: 4, tensor_overlap: true}", 8) ==
        "training.m.parallel.tensor_overlap: has no effect without sequence parallelism; sequence_parallel: true");
}

TEST_CASE("tied heads: the table is exchanged and updated once where a stage has both its ends") {
  const auto elements = [](const std::string& members, int gpus) {
    std::int64_t sum = 0;
    for (const auto& stage : planned_for(members, gpus).iteration.units)
      for (const ModelUnit& unit : stage) sum += unit.dense_elements;
    return sum;
  };
  const TransformerModel& model = *find_transformer("gpt2-xl");
  CHECK(elements("model: gpt2-xl, parallel: {zero: 1}", 8) == parameters(model));
  // The last of two stages has a copy.
  CHECK(elements("model: gpt2-xl, global_batch: 16, parallel: {pipeline: 2, zero: 1}", 8) ==
        parameters(model) + model.vocabulary * model.hidden);
  const TransformerModel& untied = *find_transformer("llama-3-8b");
  CHECK(elements("model: llama-3-8b, parallel: {zero: 1}", 8) == parameters(untied));
}

TEST_CASE("balanced parts: stages whose neighbours lie on one rank send nothing there") {
  for (const char* member : {"partition: balanced", "activation_compression: {ratio: 8, adaptive: true}"}) {
    const ParallelJob job = planned_for(
        fmt::format("model: llama-3-8b, global_batch: 16, parallel: {{pipeline: 4, zero: 1, schedule: dualpipe, {}}}",
                    member),
        8, {"network.fidelity=flow"});
    CHECK(job.stages.size() == 4);
  }
}

TEST_CASE("parts: layers that don't divide, and pipelines that can't fill, are refused") {
  CHECK(
      complaint_of("model: llama-3-8b, global_batch: 64, parallel: {pipeline: 5}", 10) ==
      "parallel.pipeline: the 32 layers of llama-3-8b don't divide into 5 equal parts, nor do they with "
      "embedding and head as a layer each; parallel.partition: uneven, which is layers: [6, 7, 7, 6, 6], or balanced");
  CHECK(
      complaint_of("model: llama-3-8b, global_batch: 64, parallel: {pipeline: 4, virtual: 3, schedule: interleaved}", 8)
          .starts_with("parallel.virtual: the 32 layers of llama-3-8b don't divide into 12 equal parts"));
  CHECK(complaint_of("model: llama-3-8b, global_batch: 64, parallel: {pipeline: 5, partition: uneven}", 10).empty());
  for (const char* schedule : {"1f1b", "gpipe", "zb-h1", "zb-h2", "zb-v"})
    CHECK(complaint_of(
              fmt::format("model: llama-3-8b, global_batch: 4, parallel: {{pipeline: 4, schedule: {}}}", schedule), 8)
              .empty());
  CHECK(complaint_of("model: llama-3-8b, global_batch: 4, parallel: {pipeline: 4, virtual: 2, schedule: interleaved}",
                     8) ==
        "global_batch: the schedule interleaved needs as many micro-batches as ranks, 4, and there are 2; smaller "
        "micro-batches, a larger batch, or fewer ranks");
}

TEST_CASE("parts: the graph of a planned job takes what the job takes") {
  const Scenario scenario =
      of_members("model: llama-3-8b, sequence: 2048, global_batch: 32, parallel: {tensor: 2, pipeline: 4, zero: 1}");
  const ParallelJob job = plan_parallel(scenario, *find_entry(scenario.training, "m"), 32);
  CHECK(lone_iteration(scenario, "m", 32, training_graph(job.iteration)) == lone_iteration(scenario, "m", 32));
}

TEST_CASE("parts: what the fullest GPU holds is a figure of the run") {
  const Scenario scenario = of_members("model: llama-3-8b, sequence: 2048, parallel: {zero: 1}");
  const ParallelJob job = plan_parallel(scenario, *find_entry(scenario.training, "m"), 8);
  CHECK(job.work.memory_gib == job.memory[0].total().to_gibibytes());
  CHECK(job.work.memory_gib > 20);
}

TEST_CASE("own models: sizes give the transformer of the catalogue that has them") {
  const std::string parallel = ", sequence: 2048, global_batch: 16, parallel: {pipeline: 2, zero: 1";
  const auto both = [&](const std::string& name, const std::string& sizes, const std::string& more) {
    const ParallelJob named = planned_for("model: " + name + parallel + more, 16);
    const ParallelJob own = planned_for("transformer: {" + sizes + "}" + parallel + more, 16);
    CHECK(named.work.model_flops == own.work.model_flops);
    CHECK(named.work.memory_gib == own.work.memory_gib);
    CHECK(evaluate(named.iteration.plan, named.iteration.costs()).makespan ==
          evaluate(own.iteration.plan, own.iteration.costs()).makespan);
  };
  both("llama-3-8b", "layers: 32, hidden: 4096, heads: 32, key_value_heads: 8, feed_forward: 14336, vocabulary: 128256",
       "}");
  both("mixtral-8x7b",
       "layers: 32, hidden: 4096, heads: 32, key_value_heads: 8, feed_forward: 14336, vocabulary: 32000, experts: 8, "
       "top_k: 2",
       ", expert: 8}");
}

TEST_CASE("own models: what is missing or doesn't divide is named") {
  const std::string parallel = ", sequence: 2048, parallel: {zero: 1}";
  CHECK(complaint_of("transformer: {layers: 2, hidden: 1000, heads: 3, feed_forward: 10, vocabulary: 10}" + parallel,
                     8) == "transformer.heads: 3 does not divide hidden, 1000; or give head_size");
  CHECK(complaint_of("transformer: {hidden: 1024, heads: 8, feed_forward: 10, vocabulary: 10}" + parallel, 8) ==
        "transformer.layers: expected a whole number from 1 to 100000, got 0; ");
  CHECK(complaint_of(
            "transformer: {layers: 2, hidden: 64, heads: 8, feed_forward: 10, vocabulary: 10, top_k: 2}" + parallel,
            8) == "transformer.experts: is missing beside sizes of experts; the number of experts in a layer");
  CHECK(complaint_of("model: llama-3-8b, transformer: {layers: 2}" + parallel, 8)
            .starts_with("training.m: says its network more than once: model, transformer"));
}

TEST_CASE("own models: a later layer replaces single sizes, and interference goes by the device") {
  const Scenario scenario = of_members(
      "transformer: {layers: 8, hidden: 1024, heads: 8, feed_forward: 2816, vocabulary: 1000}, sequence: 512, "
      "parallel: {zero: 1}",
      {"training.m.transformer.layers=6", "network.interference=auto"});
  CHECK(find_entry(scenario.training, "m")->transformer.layers == 6);
  CHECK(find_entry(scenario.training, "m")->transformer.hidden == 1024);
  CHECK(to_yaml(parse_scenario(to_yaml(scenario), "again")) == to_yaml(scenario));
  CHECK(lone_iteration(scenario, "m", 8) > Time{});
}
