#include "models/parallel/trained_part.hpp"

#include "models/parallel/flops.hpp"
#include "models/parallel/memory.hpp"
#include "models/parallel/operators.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

using A = AdapterTarget;  // the names of its values are names of functions of other tests

const TransformerModel& model_named(const char* name) {
  return *find_transformer(name);
}

TrainedPart lora(std::vector<AdapterTarget> targets, std::int64_t rank = 16, AdapterKind kind = AdapterKind::lora) {
  return {.adapter = Adapter{kind, rank, std::move(targets)}};
}

std::string faults_of(const TrainedPart& part, const TransformerModel& model) {
  try {
    validate(part, model);
  } catch (const InputError& error) {
    std::string text;
    for (const Complaint& each : error.complaints()) text += each.key + ": " + each.reason + "; " + each.hint + "\n";
    return text;
  }
  return {};
}

MicroBatch batch_of(const TrainedPart& part, std::int64_t sequence, DataType type = DataType::bf16) {
  MicroBatch work;
  work.sequence = sequence;
  work.type = type;
  work.trained = part;
  return work;
}

const TransformerOperator* find_operator(const std::vector<TransformerOperator>& operators, std::string_view name) {
  for (const TransformerOperator& each : operators)
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace

TEST_CASE("LoRA of rank 16 on Llama 2 70B: parameters") {
  const TransformerModel& model = model_named("llama-2-70b");
  // Hidden 8,192, keys and values of 8 heads of 128: 1,024. r (in + out): query and output 16 x 16,384, key and value
  // 16 x 9,216 each, in 80 layers.
  CHECK(trained_parameters(model, lora({A::query, A::key, A::value, A::output})) == 80 * 16 * (2 * 16384 + 2 * 9216));
  CHECK(trained_parameters(model, lora({A::query, A::key, A::value, A::output})) == 65'536'000);
  // One adapter beside the product of queries, keys and values, as NeMo has it: 16 (8,192 + 10,240).
  CHECK(trained_parameters(model, lora({A::qkv, A::output})) == 80 * 16 * (8192 + 10240 + 16384));
  CHECK(trained_parameters(model, lora({A::qkv, A::output})) == 44'564'480);
  // Of LoRA-FA only the second matrix is trained: out x 16.
  CHECK(trained_parameters(model, lora({A::query, A::key, A::value, A::output}, 16, AdapterKind::lora_fa)) ==
        80 * 16 * (2 * 8192 + 2 * 1024));
  // Gate and up 16 (8,192 + 28,672) each, down the same.
  CHECK(trained_parameters(model, lora({A::gate, A::up, A::down})) == 80 * 16 * 3 * (8192 + 28672));
  CHECK(trained_parameters(model, lora({A::gate_up})) == 80 * 16 * (8192 + 2 * 28672));
}

TEST_CASE("groups of targets are the matrices that the model has") {
  const auto of = [](const char* name, AdapterTarget group) {
    return Adapter{AdapterKind::lora, 16, {group}}.of(model_named(name)).targets;
  };
  CHECK(of("llama-2-7b", A::all) == std::vector{A::query, A::key, A::value, A::output, A::gate, A::up, A::down});
  CHECK(of("llama-2-7b", A::attention) == std::vector{A::query, A::key, A::value, A::output});
  CHECK(of("gpt2", A::feed_forward) == std::vector{A::up, A::down});
  CHECK(of("deepseek-v2", A::attention) == std::vector{A::query, A::output});
}

TEST_CASE("a rank holds adapters as it holds the matrices beside which they stand") {
  const TransformerModel& model = model_named("llama-2-70b");
  const LayerSplit split{.tensor = 4};
  const TrainedPart part = lora({A::query, A::output});
  const HeldWeights held = held_weights(model, {0, 1}, split, part, DataType::bf16);
  // Query: A has 4 of 16 rows on a rank, B a quarter of its rows; output: A a quarter of its inputs, B of its outputs.
  CHECK(held.trained.dense == (16 * 8192 + 8192 * 16 + 16 * 8192 + 8192 * 16) / 4);
  CHECK(held.trained.dense_tensors == 4);
  const std::int64_t matrices = 2LL * 8192 * 8192 + 2LL * 8192 * 1024 + 3LL * 8192 * 28672;
  CHECK(held.frozen_dense == 2.0 * (static_cast<double>(matrices) / 4 + 2 * 8192));  // and two norms, whole
  // In fp8 frozen matrices have a byte, norms two.
  CHECK(held_weights(model, {0, 1}, split, part, DataType::fp8).frozen_dense ==
        static_cast<double>(matrices) / 4 + 2.0 * 2 * 8192);
  const TrainedPart quantised = lora({A::query, A::output}, 16, AdapterKind::qlora);
  CHECK(held_weights(model, {0, 1}, {}, quantised, DataType::bf16).frozen_dense ==
        near(static_cast<double>(matrices) * 4.127 / 8 + 2.0 * 2 * 8192, 1e-12));
}

TEST_CASE("frozen products have no gradients of weights, adapters stand beside them") {
  const TransformerModel& model = model_named("llama-2-7b");
  const std::vector<TransformerOperator> full = transformer_operators(model, 1, batch_of({}, 1024));
  const std::vector<TransformerOperator> part =
      transformer_operators(model, 1, batch_of(lora({A::query, A::value}), 1024));
  CHECK(find_operator(part, "qkv")->weight_gradient.kernels == 0);
  CHECK(find_operator(part, "qkv")->input_gradient.flops == find_operator(full, "qkv")->input_gradient.flops);
  CHECK(find_operator(part, "down")->weight_gradient.kernels == 0);
  // A: 1,024 tokens x 4,096 x 16; B: 1,024 x 16 x 4,096; both with their gradients. Two of each.
  double adapters = 0, sum = 0;
  for (const TransformerOperator& each : part) {
    if (each.name != "adapter_in" && each.name != "adapter_out") continue;
    adapters += each.forward.flops + each.input_gradient.flops + each.weight_gradient.flops;
    ++sum;
  }
  CHECK(sum == 4);
  CHECK(adapters == 4 * 3 * 2.0 * 1024 * 4096 * 16);
  // The sum with the products' outputs, of queries and values; backward of the gradients of the input.
  CHECK(find_operator(part, "adapter_sum")->forward.bytes == 3.0 * 1024 * (2 * 4096) * 2);
  CHECK(find_operator(part, "adapter_sum")->input_gradient.bytes == 3.0 * 1024 * 4096 * 2);
  // The last product of attention is its output still (what hides collectives asks for it).
  CHECK(part.back().name == full.back().name);
  // LoRA-FA trains B alone.
  const std::vector<TransformerOperator> fixed =
      transformer_operators(model, 1, batch_of(lora({A::query}, 16, AdapterKind::lora_fa), 1024));
  CHECK(find_operator(fixed, "adapter_in")->weight_gradient.kernels == 0);
  CHECK(find_operator(fixed, "adapter_out")->weight_gradient.kernels == 1);
}

TEST_CASE("nothing needs gradients in front of the first weights that are trained") {
  const TransformerModel& model = model_named("llama-2-7b");
  const MicroBatch work = batch_of(lora({A::query}), 1024);
  for (const TransformerOperator& each : embedding_operators(model, work)) {
    CHECK(each.weight_gradient.kernels == 0);
    CHECK(each.input_gradient.kernels == 0);
  }
  const std::vector<TransformerOperator> first = transformer_operators(model, 0, work);
  CHECK(find_operator(first, "attention_norm")->input_gradient.kernels == 0);
  CHECK(find_operator(first, "qkv")->input_gradient.kernels == 0);
  CHECK(find_operator(first, "adapter_in")->input_gradient.kernels == 0);
  CHECK(find_operator(first, "adapter_in")->weight_gradient.kernels == 1);
  CHECK(find_operator(first, "adapter_out")->input_gradient.kernels == 1);
  CHECK(find_operator(first, "output")->input_gradient.kernels == 1);
  CHECK(find_operator(transformer_operators(model, 1, work), "qkv")->input_gradient.kernels == 1);
  // 16 frozen layers and the embedding: no backward pass there; in the 17th no gradient of its input.
  const TrainedPart frozen{.frozen_layers = 16, .frozen_embedding = true};
  const MicroBatch upper = batch_of(frozen, 1024);
  for (const TransformerOperator& each : transformer_operators(model, 15, upper))
    CHECK(each.input_gradient.kernels + each.weight_gradient.kernels == 0);
  const std::vector<TransformerOperator> next = transformer_operators(model, 16, upper);
  CHECK(find_operator(next, "qkv")->input_gradient.kernels == 0);
  CHECK(find_operator(next, "qkv")->weight_gradient.kernels == 1);
  CHECK(find_operator(next, "output")->input_gradient.kernels == 1);
  // With a trained embedding gradients flow through frozen layers.
  const std::vector<TransformerOperator> through =
      transformer_operators(model, 15, batch_of({.frozen_layers = 16}, 1024));
  CHECK(find_operator(through, "qkv")->input_gradient.kernels == 1);
  CHECK(find_operator(through, "qkv")->weight_gradient.kernels == 0);
}

TEST_CASE("inputs that no gradient of a weight needs are not kept") {
  const TransformerModel& model = model_named("llama-2-7b");
  const auto kept = [&](const TrainedPart& part, std::int64_t layer = 1) {
    return layer_activations(model, layer, batch_of(part, 1024), Recomputation::none).until_weight.count();
  };
  const std::int64_t tensor = 2LL * 1024 * 4096, inner = 2LL * 1024 * 11008, of_rank = 2LL * 1024 * 16;
  CHECK(kept({}) == 3 * tensor + inner);  // inputs of qkv, output, gate and up, down
  // LoRA beside query and value: the input that both have, and the outputs of two A.
  CHECK(kept(lora({A::query, A::value})) == tensor + 2 * of_rank);
  CHECK(kept(lora({A::query, A::value}, 16, AdapterKind::lora_fa)) == 2 * of_rank);
  TrainedPart dropped = lora({A::query, A::value});
  dropped.adapter->dropout = true;  // two inputs behind dropout with masks
  CHECK(kept(dropped) == 2 * (tensor + tensor / 2) + 2 * of_rank);
  CHECK(kept(lora({A::qkv, A::output, A::gate_up, A::down})) == 3 * tensor + inner + 4 * of_rank);
  // Frozen layers in front of all that is trained keep nothing at all.
  const TrainedPart frozen{.frozen_layers = 4, .frozen_embedding = true};
  CHECK(layer_activations(model, 3, batch_of(frozen, 1024), Recomputation::none).kept() == Bytes{});
  CHECK(kept(frozen, 4) == 3 * tensor + inner);
}

TEST_CASE("adapters keep inputs that other products keep if all is trained") {
  // Hidden 2,048; queries straight from it; 6 of 64 experts a token, and shared ones.
  const auto kept = [](const char* name, AdapterTarget target, Recomputation recomputation = Recomputation::none) {
    return layer_activations(model_named(name), 1, batch_of(lora({target}), 1024), recomputation).until_weight.count();
  };
  constexpr std::int64_t kInput = 2LL * 1024 * 2048, kOutputs = 2LL * 1024 * 16;
  CHECK(kept("deepseek-v2-lite", A::query) == kInput + kOutputs);
  CHECK(kept("deepseek-v2-lite", A::up) == 7 * (kInput + kOutputs));
  CHECK(kept("deepseek-v2-lite", A::up) == kept("deepseek-v2-lite", A::gate));
  // Queries out of a short vector don't read the output of the norm in front of attention.
  CHECK(kept("deepseek-v2", A::query, Recomputation::layernorm) == kept("deepseek-v2", A::query));
}

TEST_CASE("ZeRO-3 has a unit and a layer in full, whichever are frozen") {
  const TransformerModel& model = model_named("llama-3-8b");
  const HeldStage whole[] = {{{0, 32, true, true}, 1}};
  const MemoryOptions options{.zero = 3, .dense_shards = 8};
  const auto gathered = [&](const TrainedPart& part) {
    return gpu_memory(model, batch_of(part, 1024), whole, options).gathered.count();
  };
  // Weights of the head and of a layer in 2 bytes, gradients of the head in 4.
  constexpr std::int64_t kHeadUnit = 128256LL * 4096 + 4096, kLayerUnit = 218'112'000;
  CHECK(gathered({}) == 2 * (kHeadUnit + kLayerUnit) + 4 * kHeadUnit);
  CHECK(gathered({.frozen_layers = 1}) == gathered({}));
}

TEST_CASE("QLoRA: 65B on a GPU of 48 GB, as arXiv 2305.14314 says") {
  // LLaMA 65B (arXiv 2302.13971, table 2): 80 layers of 8,192 with 64 heads, a feed-forward of 22,016.
  TransformerModel model = model_named("llama-2-70b");
  model.name = "llama-65b";
  model.key_value_heads = 64;
  model.feed_forward = 22016;
  CHECK(parameters(model) == near(65.3e9, 0.002));
  const std::vector<AdapterTarget> everything{A::query, A::key, A::value, A::output, A::gate, A::up, A::down};
  const TrainedPart part = lora(everything, 64, AdapterKind::qlora);
  const MicroBatch work = batch_of(part, 512);
  const HeldStage whole[] = {{{0, 80, true, true}, 1}};
  MemoryOptions options;
  options.recomputation = Recomputation::full;
  options.widths = {2, 2, 2};  // adapters in bf16, two states of 8 bit
  const GpuMemory memory = gpu_memory(model, work, whole, options);
  // 64.8e9 parameters in 4.127 bits are 33.4e9 bytes, two tables of 32,000 x 8,192 in bf16 1.05e9.
  const double matrices = 80.0 * (4.0 * 8192 * 8192 + 3.0 * 8192 * 22016);
  const double tables = 2.0 * 2 * 32000 * 8192, norms = 2.0 * 161 * 8192;
  const double adapters = 80.0 * 64 * (4 * 2 * 8192 + 3 * (8192 + 22016));
  CHECK(static_cast<double>(memory.weights.count()) ==
        near(matrices * 4.127 / 8 + tables + norms + 2 * adapters, 1e-9));
  CHECK(static_cast<double>(memory.gradients.count()) == 2 * adapters);
  CHECK(static_cast<double>(memory.optimizer.count()) == 2 * adapters);
  CHECK(memory.total() < Bytes{48'000'000'000});
  // In bf16 with Adam's states in fp32 the whole model has 780 GB and more (section 1).
  const GpuMemory trained = gpu_memory(model, batch_of({}, 512), whole, {.widths = StateWidths::mixed()});
  CHECK(trained.total() > Bytes{780'000'000'000});
}

TEST_CASE("a weight of 4 bits is written as numbers of 2 bytes before each product") {
  const TransformerModel& model = model_named("llama-2-7b");
  const auto operators = transformer_operators(model, 1, batch_of(lora({A::query}, 16, AdapterKind::qlora), 1024));
  double forward = 0, backward = 0;
  for (const TransformerOperator& each : operators) {
    if (each.name != "dequantise") continue;
    forward += each.forward.bytes;
    backward += each.input_gradient.bytes;
  }
  const double matrices = 4.0 * 4096 * 4096 + 3.0 * 4096 * 11008;
  CHECK(forward == near(matrices * (4.127 / 8 + 2), 1e-12));
  CHECK(backward == forward);
  CHECK(find_operator(head_operators(model, batch_of(lora({A::query}, 16, AdapterKind::qlora), 1024)), "dequantise") ==
        nullptr);
}

TEST_CASE("frozen weights in fp8 are cast no more, and transposed for the gradients of inputs") {
  const TransformerModel& model = model_named("llama-2-7b");
  const auto casts = [&](const TrainedPart& part) {
    return *find_operator(transformer_operators(model, 1, batch_of(part, 1024, DataType::fp8)), "cast");
  };
  const double rows = 1024, k = 4096, n = 3 * 4096;
  CHECK(casts({}).forward.bytes == 4 * (rows * k + n * k));
  // Down is the first product without an adapter in front of it: input in, and out once; gradient alike; the weight.
  const TransformerOperator frozen = casts(lora({A::down}));
  CHECK(frozen.forward.bytes == 3 * rows * k);
  CHECK(frozen.input_gradient.bytes == 3 * rows * n + 2 * n * k);
}

TEST_CASE("flops without gradients of frozen weights") {
  const TransformerModel& model = model_named("llama-2-70b");
  const SequenceSums sums = SequenceSums::equal(1, 8192);
  const double all = model_flops(model, sums, FlopsConvention::causal);
  const double matrices = 80 * (2.0 * 8192 * 8192 + 2.0 * 8192 * 1024 + 3.0 * 8192 * 28672) + 8192.0 * 32000;
  const auto missing = [&](const TrainedPart& part, FlopsConvention convention = FlopsConvention::causal) {
    return model_flops(model, sums, convention) - model_flops(model, sums, convention, part);
  };
  CHECK(missing(lora({A::query})) == near(2 * matrices * 8192, 1e-12));
  CHECK(all - missing(lora({A::query})) < 0.7 * all);
  CHECK(missing({}) == 0);
  // Layers in front of all that is trained have no backward pass: two thirds of their flops, attention's too.
  const double layer = (2.0 * 8192 * 8192 + 2.0 * 8192 * 1024 + 3.0 * 8192 * 28672) * 2 * 8192;
  const double attention = 2.0 * 8192 * 8192 * (8192 + 8192) / 2;
  CHECK(missing({.frozen_layers = 1, .frozen_embedding = true}) == near(2 * layer + 2 * attention, 1e-9));
  // The whole square of attention is twice the half that counts above.
  CHECK(missing({.frozen_layers = 1, .frozen_embedding = true}, FlopsConvention::full) ==
        near(2 * layer + 4 * attention, 1e-9));
  // Without a backward pass nothing is computed again: 79 of the 80 layers are.
  const TrainedPart upper{.frozen_layers = 1, .frozen_embedding = true};
  CHECK(hardware_flops(model, sums, FlopsConvention::causal, Recomputation::full, upper) -
            hardware_flops(model, sums, FlopsConvention::causal, Recomputation::none, upper) ==
        near(79 * (layer + attention), 1e-9));
  // If the head alone is trained, its matrix has a forward pass and a gradient of its own, and none of its input.
  const double logits = 2.0 * 8192 * 32000 * 8192;
  CHECK(model_flops(model, sums, FlopsConvention::causal, {.frozen_layers = 80, .frozen_embedding = true}) ==
        near(80 * (layer + attention) + 2 * logits, 1e-12));
}

TEST_CASE("modules of multi-token prediction are frozen with the layers, and their logits with the head") {
  const TransformerModel& model = model_named("deepseek-v3");
  const SequenceSums sums{4096, 0};  // without attention: products with weights only
  const double all = model_flops(model, sums, FlopsConvention::causal);
  CHECK(model_flops(model, sums, FlopsConvention::causal, lora({A::query})) == near(all * 2 / 3, 1e-12));
  // The head alone: a forward pass, and the gradient of the matrix for the logits of the model and of its module.
  const TrainedPart head{.frozen_layers = 61, .frozen_embedding = true};
  const double logits = 2 * 2.0 * 4096 * 7168 * 129280;
  CHECK(model_flops(model, sums, FlopsConvention::causal, head) == near(all / 3 + logits, 1e-12));
  double backward = 0;
  for (const TransformerOperator& each : mtp_operators(model, batch_of(head, 4096)))
    backward += each.input_gradient.flops + each.weight_gradient.flops;
  CHECK(backward == logits / 2);
  const auto kept = [&](std::int64_t modules) {
    TransformerModel with = model;
    with.mtp_layers = modules;
    return head_activations(with, batch_of(head, 4096), Recomputation::none).kept().count();
  };
  CHECK(kept(1) == 2 * kept(0));
}

TEST_CASE("parts that a model can't have are refused, with what would be right") {
  const TransformerModel& llama = model_named("llama-2-7b");
  CHECK(faults_of(lora({A::query, A::value}), llama).empty());
  CHECK(faults_of(lora({A::gate}), model_named("gpt2")) ==
        "targets: gate: no layer of gpt2 has this matrix; q, k, v, qkv, o, up, down\n");
  CHECK(faults_of(lora({A::key}), model_named("deepseek-v2")).starts_with("targets: k: no layer of deepseek-v2 has"));
  CHECK(faults_of(lora({A::query}, 4096), llama) ==
        "rank: 4096 is no less than the 4096 x 4096 numbers of q have; less than 4096, such as 16\n");
  // Llama 2 70B has keys of 1,024 numbers.
  CHECK(
      faults_of(lora({A::key}, 1024), model_named("llama-2-70b")).starts_with("rank: 1024 is no less than the 1024 x"));
  CHECK(faults_of(lora({A::query, A::qkv}), llama).starts_with("targets: qkv: another target has this matrix, too"));
  CHECK(faults_of({.frozen_layers = 33}, llama).starts_with("layers: 33 of 32 layers can't be frozen"));
  CHECK(faults_of({.frozen_layers = 32, .frozen_embedding = true, .frozen_head = true}, llama) ==
        "layers: nothing is left to train; fewer layers, or without head\n");
  CHECK(faults_of({.frozen_embedding = true}, model_named("gpt2")).starts_with("head: the head of gpt2 is its"));
}
