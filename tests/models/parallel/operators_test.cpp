#include "models/parallel/operators.hpp"

#include "models/catalogue/catalogue.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "sim/error.hpp"
#include "tests/devices.hpp"
#include "tests/models/parallel/total_work.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

using Operators = std::vector<TransformerOperator>;

MicroBatch micro_batch(std::int64_t sequence, std::int64_t sequences = 1) {
  MicroBatch work;
  work.sequence = sequence;
  work.sequences = sequences;
  return work;
}

MicroBatch split_batch(std::int64_t sequence, std::int64_t tensor, std::int64_t context, bool sequence_parallel) {
  MicroBatch work = micro_batch(sequence);
  work.split = {.tensor = tensor, .context = context, .sequence_parallel = sequence_parallel};
  return work;
}

const TransformerOperator& named(const Operators& operators, std::string_view name) {
  const auto found =
      std::find_if(operators.begin(), operators.end(), [&](const auto& each) { return each.name == name; });
  REQUIRE_MESSAGE(found != operators.end(), std::string{name});
  return *found;
}

bool has(const Operators& operators, std::string_view name) {
  return std::any_of(operators.begin(), operators.end(), [&](const auto& each) { return each.name == name; });
}

Operators parts(const Operators& operators, LayerPart part) {
  Operators found;
  for (const TransformerOperator& each : operators) {
    if (each.part == part) found.push_back(each);
  }
  return found;
}

LayerRange whole(const TransformerModel& model) {
  return {0, model.all_layers(), true, true};
}

// 100 TFLOPS and 1000 GB/s, without launches: 1e-5 ns a flop, 1e-3 ns a byte.
Device round_device_b() {
  Device device;
  device.name = "round";
  device.tflops[static_cast<std::size_t>(DataType::bf16)] = 100;
  device.tflops[static_cast<std::size_t>(DataType::fp32)] = 10;
  device.matrix_unit[static_cast<std::size_t>(DataType::bf16)] = true;
  device.memory_bandwidth = ByteRate{1e12};
  device.memory = Bytes::mebibytes(1024);
  return device;
}

RooflineOptions ideal_roofline() {
  RooflineOptions options;
  options.matrix_unit_efficiency = options.vector_efficiency = options.memory_efficiency = 1;
  options.attention_efficiency = 1;
  options.ramp = options.launch_overhead = Time{};
  return options;
}

std::string refusal(const TransformerModel& model, const MicroBatch& work) {
  try {
    validate(model, work);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a layer of Llama 3 8B on two ranks, by hand") {
  // T = 1024 tokens on a rank; h 4096, 16 of 32 heads, 4 of 8 key and value heads, f 7168 of 14336.
  const Operators layer = transformer_operators(*find_transformer("llama-3-8b"), 0, split_batch(1024, 2, 1, false));
  const TransformerOperator& qkv = named(layer, "qkv");
  CHECK(qkv.m == 1024);
  CHECK(qkv.k == 4096);
  CHECK(qkv.n == (16 + 2 * 4) * 128);
  CHECK(qkv.forward.flops == 2.0 * 1024 * 4096 * 3072);
  CHECK(qkv.forward.bytes == 2.0 * (1024 * 4096 + 1024 * 3072 + 4096 * 3072));
  CHECK(qkv.input_gradient.flops == qkv.forward.flops);
  CHECK(qkv.weight_gradient.flops == qkv.forward.flops);
  CHECK(named(layer, "rotary").forward.bytes == 2.0 * 2 * 1024 * (16 + 4) * 128);

  const TransformerOperator& attention = named(layer, "attention");
  CHECK(attention.kind == OperatorKind::fused_attention);
  CHECK(attention.count == 16);
  CHECK(attention.m == 1024);
  CHECK(attention.n == 1024);
  CHECK(attention.k == 128);
  CHECK(attention.forward.flops == 4.0 * 1024 * 1024 * 128 * 16 / 2);  // the causal half
  CHECK(attention.input_gradient.flops == 2.5 * attention.forward.flops);
  CHECK(attention.weight_gradient.kernels == 0);
  // Reads Q, K, V; writes O of 2 bytes and 4 bytes of the log-sum a query and head.
  CHECK(attention.forward.bytes == 2.0 * 1024 * 128 * (16 + 4 + 4 + 16) + 4.0 * 1024 * 16);

  CHECK(named(layer, "output").k == 2048);
  CHECK(named(layer, "up").n == 2 * 7168);
  CHECK(named(layer, "activation").forward.bytes == 3.0 * 2 * 1024 * 7168);
  CHECK(named(layer, "down").k == 7168);
  CHECK(named(layer, "attention_norm").forward.bytes == 2.0 * 2 * 1024 * 4096);
  CHECK(named(layer, "attention_sum").forward.bytes == 3.0 * 2 * 1024 * 4096);
  CHECK_FALSE(has(layer, "attention_dropout"));
  CHECK(layer.front().name == "attention_norm");
  CHECK(layer.back().name == "feed_forward_sum");

  // With sequence parallelism each rank has half of the tokens between the products, and all of them in products.
  const Operators divided = transformer_operators(*find_transformer("llama-3-8b"), 0, split_batch(1024, 2, 1, true));
  CHECK(named(divided, "qkv").forward.flops == qkv.forward.flops);
  CHECK(named(divided, "attention_norm").m == 512);
  CHECK(named(divided, "feed_forward_sum").forward.bytes == 3.0 * 2 * 512 * 4096);
}

TEST_CASE("totals add up every pass, and each operator says how many kernels it launches") {
  const Operators layer = transformer_operators(*find_transformer("llama-3-8b"), 0, micro_batch(1024));
  test::OperatorTotals sum;
  for (const TransformerOperator& each : layer) {
    sum.forward_flops += each.forward.flops;
    sum.forward_bytes += each.forward.bytes;
    sum.input_gradient_flops += each.input_gradient.flops;
    sum.input_gradient_bytes += each.input_gradient.bytes;
    sum.weight_gradient_flops += each.weight_gradient.flops;
    sum.weight_gradient_bytes += each.weight_gradient.bytes;
    CHECK(each.forward.kernels == 1);
    CHECK(each.input_gradient.kernels == 1);
    CHECK(each.weight_gradient.kernels == (each.kind == OperatorKind::product ? 1 : 0));
  }
  const test::OperatorTotals total = test::total_work(layer);
  CHECK(total.forward_flops == near(sum.forward_flops));
  CHECK(total.forward_bytes == near(sum.forward_bytes));
  CHECK(total.input_gradient_flops == near(sum.input_gradient_flops));
  CHECK(total.input_gradient_bytes == near(sum.input_gradient_bytes));
  CHECK(total.weight_gradient_flops == near(sum.weight_gradient_flops));
  CHECK(total.weight_gradient_bytes == near(sum.weight_gradient_bytes));
  CHECK(sum.weight_gradient_bytes > 0);
}

TEST_CASE("attention in memory: each step is a kernel, and no score is skipped") {
  MicroBatch work = micro_batch(1024, 2);
  work.flash_attention = false;
  const Operators layer = transformer_operators(*find_transformer("gpt2"), 0, work);
  const double scores = 2.0 * 12 * 1024 * 1024;
  CHECK(named(layer, "scores").count == 24);
  CHECK(named(layer, "scores").forward.flops == 2 * scores * 64);
  CHECK(named(layer, "scores").input_gradient.flops == 4 * scores * 64);
  CHECK(named(layer, "softmax").forward.bytes == 2 * 2 * scores);
  CHECK(named(layer, "attention_dropout").forward.bytes == 5 * scores);  // read, written, a mask of one byte
  CHECK(named(layer, "scores").forward.bytes == 2 * scores + 2.0 * 2 * 2048 * 768);
  CHECK(named(layer, "scores").input_gradient.kernels == 2);
  CHECK(named(layer, "context").k == 64);
  for (const char* one : {"softmax", "attention_dropout", "activation", "attention_norm"}) {
    CHECK(named(layer, one).forward.kernels == 1);
    CHECK(named(layer, one).input_gradient.kernels == 1);
  }
  CHECK(named(layer, "context").input_gradient.kernels == 2);
  CHECK(named(layer, "scores").input_gradient.bytes == 2 * named(layer, "scores").forward.bytes);
  CHECK(named(layer, "context").input_gradient.flops == 2 * named(layer, "context").forward.flops);
  CHECK(named(layer, "softmax").input_gradient.bytes == 3 * 2 * scores);
  CHECK(named(layer, "context").input_gradient.bytes == 2 * named(layer, "context").forward.bytes);
  CHECK(named(layer, "softmax").m == 24 * 1024);
  CHECK(named(layer, "attention_dropout").m == 24 * 1024);
  CHECK(named(layer, "context").forward.bytes == 2 * scores + 2.0 * 2 * 2048 * 768);
  // GPT-2 has learned positions and dropout of residuals, whose mask has a byte a number.
  CHECK_FALSE(has(layer, "rotary"));
  CHECK(named(layer, "feed_forward_sum").forward.bytes == 7.0 * 2048 * 768);
  CHECK(named(layer, "activation").forward.bytes == 2.0 * 2 * 2048 * 3072);
}

TEST_CASE("ranks share the work: flops on one rank times the ranks are the flops of the whole") {
  for (const char* name : {"llama-3-8b", "gpt2-xl", "qwen-3-8b", "t5-large", "deepseek-v2-lite", "bert-large"}) {
    INFO(std::string{name});
    const TransformerModel& model = *find_transformer(name);
    const std::int64_t sequence = 512;
    const test::OperatorTotals one =
        test::total_work(transformer_operators(model, model.all_layers() - 1, micro_batch(sequence)));
    for (const std::int64_t tensor : {1, 2, 4}) {
      if (model.heads % tensor != 0) continue;
      for (const std::int64_t context : {1, 2, 8}) {
        const MicroBatch work = split_batch(sequence, tensor, context, true);
        REQUIRE_NOTHROW(validate(model, work));
        const test::OperatorTotals rank = test::total_work(transformer_operators(model, model.all_layers() - 1, work));
        const auto ranks = static_cast<double>(tensor * context);
        // With e = et = 1 every rank has all experts, for its own tokens.
        CHECK(rank.forward_flops * ranks == near(one.forward_flops));
        CHECK(rank.input_gradient_flops * ranks == near(one.input_gradient_flops));
        CHECK(rank.weight_gradient_flops * ranks == near(one.weight_gradient_flops));
      }
    }
  }
}

TEST_CASE("flops of whole models are the flops of the layer tables") {
  for (const char* name : {"gpt2", "gpt2-xl", "llama-2-7b", "llama-3-70b"}) {
    INFO(name);
    const TransformerModel& model = *find_transformer(name);
    const LayerTable layers = build_model(*find_model(name), 1024);
    MicroBatch work = micro_batch(1024);
    work.skip_masked = false;
    work.flash_attention = model.gated;  // as in the tables: fused for Llama, in memory for GPT-2
    const test::OperatorTotals total = test::total_work(stage_operators(model, whole(model), work));
    CHECK(total.forward_flops == static_cast<double>(layers.forward_flops()));
    CHECK(total.input_gradient_flops + total.weight_gradient_flops ==
          near(static_cast<double>(layers.backward_flops())));
  }
}

TEST_CASE("times of a whole model are near the times of its layer table on the same roofline") {
  // The table has a kernel for each of queries, keys and values, for gate and for up; here they are one product each.
  const TransformerModel& model = *find_transformer("llama-3-8b");
  const Device& device = h100();
  RooflineOptions options;
  options.type = DataType::bf16;
  options.attention_efficiency = options.matrix_unit_efficiency;  // as in the table
  const TimedModel table = roofline_times(build_model(*find_model("llama-3-8b"), 8192), device, 1, options);
  MicroBatch work = micro_batch(8192);
  work.skip_masked = false;
  const OperatorTimes times = operator_times(stage_operators(model, whole(model), work), device, options);
  CHECK(times.forward.to_seconds() == near(table.forward().to_seconds(), 0.03));
  CHECK(times.backward().to_seconds() == near(table.backward().to_seconds(), 0.03));
}

TEST_CASE("a roofline of operators by hand") {
  // A product of 1000 x 1000 x 1000: 2e9 flops in 20 us, 6 MB in 6 us; a norm of 1e6 numbers: 4 MB forward, 6 backward.
  TransformerOperator product;
  product.m = product.n = product.k = 1000;
  product.forward = product.input_gradient = product.weight_gradient = {2e9, 6e6, 1};
  TransformerOperator norm;
  norm.forward = {0, 4e6, 1};
  norm.input_gradient = {0, 6e6, 1};
  const Operators both{product, norm};
  const OperatorTimes times = operator_times(both, round_device_b(), ideal_roofline());
  CHECK(times.forward == Time::nanoseconds(24'000));
  CHECK(times.input_gradient == Time::nanoseconds(26'000));
  CHECK(times.weight_gradient == Time::nanoseconds(20'000));
  CHECK(times.backward() == Time::nanoseconds(46'000));
  // Each kernel pays its launch; none is launched where there is no work.
  RooflineOptions launched = ideal_roofline();
  launched.launch_overhead = Time::microseconds(3);
  CHECK(operator_times(both, round_device_b(), launched).forward == Time::nanoseconds(30'000));
  CHECK(operator_times(both, round_device_b(), launched).weight_gradient == Time::nanoseconds(23'000));
  // The type is the operator's.
  product.type = DataType::fp32;
  CHECK(operator_times({{product}}, round_device_b(), ideal_roofline()).forward == Time::nanoseconds(200'000));
  // On ordinary cores as on tensor cores, attention reaches what is given for it, and else what products reach.
  TransformerOperator attention = product;
  attention.kind = OperatorKind::fused_attention;
  RooflineOptions half = ideal_roofline();
  half.vector_efficiency = 0.5;
  CHECK(operator_times({{product}}, round_device_b(), half).forward == Time::nanoseconds(400'000));
  CHECK(operator_times({{attention}}, round_device_b(), half).forward == Time::nanoseconds(200'000));
  half.attention_efficiency.reset();
  CHECK(operator_times({{attention}}, round_device_b(), half).forward == Time::nanoseconds(400'000));
  Device measured = round_device_b();
  measured.fused_attention = 0.25;  // on tensor cores
  CHECK(operator_times({{attention}}, measured, half).forward == Time::nanoseconds(400'000));
  attention.type = DataType::bf16;
  CHECK(operator_times({{attention}}, measured, half).forward == Time::nanoseconds(80'000));
  product.type = DataType::fp16;
  CHECK_THROWS_WITH_AS((void)operator_times({{product}}, round_device_b(), ideal_roofline()),
                       doctest::Contains("round has no fp16; it has fp32, bf16"), InputError);
  product.type = DataType::bf16;
  product.forward.flops = 1e19;
  CHECK_THROWS_WITH_AS((void)operator_times({{product}}, round_device_b(), ideal_roofline()),
                       doctest::Contains("more than a day"), InputError);
}

TEST_CASE("a mixture: routed experts for the tokens that arrive, by hand") {
  // Mixtral 8x7B, 4096 tokens, k 2, 8 experts on 4 ranks: 8192 tokens arrive at 2 experts of width 14336.
  const TransformerModel& model = *find_transformer("mixtral-8x7b");
  MicroBatch work = micro_batch(4096);
  work.split.expert = 4;
  CHECK(arrived_tokens(model, work) == 8192);
  const Operators layer = transformer_operators(model, 3, work);
  const TransformerOperator& up = named(layer, "expert_up");
  CHECK(up.part == LayerPart::experts);
  CHECK(up.count == 2);
  CHECK(up.m == 4096);
  CHECK(up.n == 2 * 14336);
  CHECK(up.forward.flops == 2.0 * 8192 * 4096 * 28672);
  CHECK(up.forward.bytes == 2.0 * (8192.0 * (4096 + 28672) + 2.0 * 4096 * 28672));
  CHECK(named(layer, "router").n == 8);
  CHECK(named(layer, "router").m == 4096);
  CHECK(arrived_tokens(*find_transformer("llama-3-8b"), micro_batch(4096)) == 0);
  CHECK(named(layer, "permutation").forward.bytes == 2.0 * 3 * 4096 * 4096);
  CHECK(named(layer, "combination").forward.bytes == 2.0 * 3 * 4096 * 4096);
  CHECK(named(layer, "combination").input_gradient.bytes == 2.0 * 3 * 4096 * 4096);
  CHECK(named(layer, "permutation").input_gradient.bytes == 2.0 * 3 * 4096 * 4096);
  CHECK(named(layer, "choice").forward.bytes == 2.0 * 4 * 4096 * 8);
  CHECK(named(layer, "choice").input_gradient.bytes == 3.0 * 4 * 4096 * 8);
  CHECK(named(layer, "arrival_sort").forward.bytes == 2.0 * 2 * 8192 * 4096);
  CHECK(named(layer, "arrival_sort").input_gradient.bytes == 2.0 * 2 * 8192 * 4096);
  CHECK(named(layer, "departure_sort").input_gradient.bytes == 2.0 * 2 * 8192 * 4096);
  CHECK(named(layer, "expert_activation").input_gradient.bytes == 5.0 * 2 * 8192 * 14336);
  CHECK(has(layer, "arrival_sort"));
  CHECK_FALSE(has(layer, "up"));

  // The fullest rank gets half more; only its experts have more to do.
  work.expert_imbalance = 1.5;
  CHECK(arrived_tokens(model, work) == 12288);
  const Operators fullest = transformer_operators(model, 3, work);
  CHECK(named(fullest, "expert_down").forward.flops == 1.5 * named(layer, "expert_down").forward.flops);
  CHECK(named(fullest, "router").forward.flops == named(layer, "router").forward.flops);

  // One expert on each rank has nothing to sort, nor has a rank with all of them.
  for (const std::int64_t expert : {1, 8}) {
    work = micro_batch(4096);
    work.split.expert = expert;
    CHECK_FALSE(has(transformer_operators(model, 3, work), "arrival_sort"));
    CHECK_FALSE(has(transformer_operators(model, 3, work), "departure_sort"));
  }

  // Experts cut in two take the tokens of both ranks, and half of the width.
  work = micro_batch(4096);
  work.split.expert = 4;
  work.split.expert_tensor = 2;
  const Operators cut = transformer_operators(model, 3, work);
  CHECK(arrived_tokens(model, work) == 16384);
  CHECK(named(cut, "expert_up").n == 14336);
  CHECK(named(cut, "expert_up").forward.flops == up.forward.flops);
  // The router may compute in another type.
  work.router_type = DataType::fp32;
  const Operators precise = transformer_operators(model, 3, work);
  CHECK(named(precise, "router").type == DataType::fp32);
  CHECK(named(precise, "router").forward.bytes == 2 * named(cut, "router").forward.bytes);
}

TEST_CASE("on one rank a mixture does what a dense feed-forward of the width k f_e does") {
  const TransformerModel& dense = *find_transformer("llama-3-8b");
  TransformerModel mixture = dense;
  mixture.feed_forward = 0;
  mixture.mixture = MixtureOfExperts{.experts = 8, .top_k = 4, .expert_feed_forward = dense.feed_forward / 4};
  const MicroBatch work = micro_batch(2048);
  const Operators with_experts = transformer_operators(mixture, 0, work);
  const Operators without = transformer_operators(dense, 0, work);
  const double experts = test::total_work(parts(with_experts, LayerPart::experts)).forward_flops;
  CHECK(experts == named(without, "up").forward.flops + named(without, "down").forward.flops);
  CHECK(test::total_work(with_experts).forward_flops - named(with_experts, "router").forward.flops ==
        near(test::total_work(without).forward_flops));
  // All experts in one: the same products.
  mixture.mixture = MixtureOfExperts{.experts = 1, .top_k = 1, .expert_feed_forward = dense.feed_forward};
  const Operators one = transformer_operators(mixture, 0, work);
  CHECK(named(one, "expert_up").forward.bytes == named(without, "up").forward.bytes);
  CHECK(named(one, "expert_down").m == named(without, "down").m);
  CHECK_FALSE(has(one, "arrival_sort"));
}

TEST_CASE("latent attention and shared experts, by hand") {
  const TransformerModel& model = *find_transformer("deepseek-v3");
  MicroBatch work = split_batch(4096, 4, 1, true);
  work.split.expert = 64;
  const Operators layer = transformer_operators(model, 10, work);
  // Short vectors of the 1024 own tokens, 32 of 128 heads from all 4096.
  CHECK(named(layer, "query_down").m == 1024);
  CHECK(named(layer, "query_down").n == 1536);
  CHECK(named(layer, "query_up").m == 4096);
  CHECK(named(layer, "query_up").n == 32 * 192);
  CHECK(named(layer, "key_value_down").n == 512 + 64);
  CHECK(named(layer, "rotary").forward.bytes == 2.0 * 2 * 4096 * 33 * 64);  // 32 heads and the keys they share
  CHECK(named(layer, "key_value_up").n == 32 * 256);
  // 32 heads of keys and values are read, and written with the rotary part.
  CHECK(named(layer, "key_value_heads").forward.bytes == 2.0 * 4096 * 32 * (256 + 256 + 64));
  CHECK(named(layer, "attention").forward.flops == 0.5 * 2 * 32 * 4096.0 * 4096 * (192 + 128));
  CHECK(named(layer, "output").k == 32 * 128);
  CHECK(named(layer, "shared_up").n == 2 * 2048 / 4);
  CHECK(named(layer, "shared_up").m == 4096);
  CHECK(named(layer, "expert_up").count == 4);
  CHECK(arrived_tokens(model, work) == 1024 * 8);
  CHECK(named(layer, "feed_forward_sum").forward.bytes == 4.0 * 2 * 1024 * 7168);
  // The first layers are dense.
  CHECK(named(transformer_operators(model, 2, work), "up").n == 2 * 18432 / 4);
  // A module of multi-token prediction: a layer, a product of twice the hidden size, logits.
  const Operators module = mtp_operators(model, work);
  CHECK(named(module, "prediction_input").forward.flops == 2.0 * 4096 * 2 * 7168 * 7168 / 4);
  CHECK(named(module, "logits").n == 129'280 / 4);
  CHECK(has(module, "expert_down"));
}

TEST_CASE("embedding, head and loss on one rank") {
  const TransformerModel& model = *find_transformer("gpt2");
  const Operators front = embedding_operators(model, split_batch(1024, 4, 1, false));
  const std::int64_t rows = (50'257 + 3) / 4;
  CHECK(named(front, "look_up").k == rows);
  CHECK(named(front, "look_up").forward.flops == 0);
  CHECK(named(front, "look_up").weight_gradient.bytes == 2.0 * (2 * 1024 * 768 + rows * 768));
  CHECK(has(front, "positions"));
  CHECK(named(front, "embedding_dropout").m == 1024);
  CHECK(named(front, "embedding_dropout").forward.bytes == 5.0 * 1024 * 768);
  CHECK_FALSE(has(front, "token_types"));
  const Operators bert_front = embedding_operators(*find_transformer("bert-base"), micro_batch(128, 4));
  CHECK(named(bert_front, "token_types").forward.bytes == 3.0 * 2 * 512 * 768);
  CHECK(named(bert_front, "embedding_norm").m == 512);
  CHECK_FALSE(has(embedding_operators(*find_transformer("llama-3-8b"), micro_batch(128)), "positions"));
  const Operators back = head_operators(model, split_batch(1024, 4, 1, false));
  CHECK(named(back, "logits").forward.flops == 2.0 * 1024 * 768 * static_cast<double>(rows));
  CHECK(named(back, "loss").forward.bytes == 6.0 * 1024 * static_cast<double>(rows));
  CHECK(named(back, "loss").forward.kernels == 1);
  CHECK(named(back, "final_norm").input_gradient.bytes == 3.0 * 2 * 1024 * 768);
  // As separate kernels: bf16 to fp32, logarithms; backward zeros, gradients from two tensors, fp32 to bf16.
  MicroBatch separate = split_batch(1024, 4, 1, false);
  separate.loss = LossKernels::framework;
  const Operators apart = head_operators(model, separate);
  CHECK(named(apart, "loss").forward.bytes == (2 + 4 + 8) * 1024.0 * static_cast<double>(rows));
  CHECK(named(apart, "loss").input_gradient.bytes == (4 + 12 + 4 + 2) * 1024.0 * static_cast<double>(rows));
  CHECK(named(apart, "loss").forward.kernels == 2);
  CHECK(named(apart, "loss").input_gradient.kernels == 3);
  // BERT has no head but a pooler.
  const Operators bert = head_operators(*find_transformer("bert-base"), micro_batch(128, 4));
  CHECK(named(bert, "pooler").m == 4);
  CHECK_FALSE(has(bert, "logits"));
}

TEST_CASE("the decoder of T5 also attends to its encoder, which is not causal") {
  const TransformerModel& model = *find_transformer("t5-small");
  MicroBatch work = micro_batch(512);
  const Operators encoder = transformer_operators(model, 0, work);
  const Operators decoder = transformer_operators(model, 6, work);
  CHECK_FALSE(has(encoder, "cross_query"));
  CHECK(named(decoder, "cross_key_value").n == 2 * 512);
  CHECK(named(encoder, "attention").forward.flops == 2 * named(decoder, "attention").forward.flops);
  const Operators core = parts(decoder, LayerPart::core_attention);
  REQUIRE(core.size() == 2);
  CHECK(core[1].forward.flops == 2 * core[0].forward.flops);
}

TEST_CASE("fp8 or fp4 is the type of products with weights of layers; all else is in bf16") {
  const TransformerModel& model = *find_transformer("mixtral-8x7b");
  MicroBatch work = micro_batch(4096);
  for (const auto& [type, flash] : {std::pair{DataType::fp8, true}, {DataType::fp8, false}, {DataType::fp4, true}}) {
    work.type = type;
    work.flash_attention = flash;
    for (const TransformerOperator& each : stage_operators(model, {0, 1, true, true}, work)) {
      INFO(std::string{each.name});
      const bool weights =
          each.kind == OperatorKind::product && each.part != LayerPart::head && each.part != LayerPart::router;
      CHECK(each.type == (weights ? type : DataType::bf16));
    }
  }
  // So attention takes as long as in bf16, and the products are faster.
  const Device& device = h100();
  const auto forward = [&](DataType type, std::string_view name) {
    work.type = type;
    work.flash_attention = true;
    const TransformerOperator each = named(transformer_operators(model, 0, work), name);
    return operator_times({&each, 1}, device).forward;
  };
  CHECK(forward(DataType::fp8, "attention") == forward(DataType::bf16, "attention"));
  CHECK(forward(DataType::fp8, "expert_up") < forward(DataType::bf16, "expert_up"));
  // Casts read two bytes of a number, and write it twice: in fp4 as half a byte and a sixteenth of a scale of one.
  const auto cast_bytes = [&](DataType type) {
    work.type = type;
    return named(transformer_operators(model, 0, work), "cast").forward.bytes;
  };
  CHECK(cast_bytes(DataType::fp4) == near(cast_bytes(DataType::fp8) * 3.125 / 4));
}

TEST_CASE("what is recomputed") {
  MicroBatch work = micro_batch(1024);
  const TransformerModel& model = *find_transformer("gpt2");
  const Operators fused = transformer_operators(model, 0, work);
  CHECK(recomputed_operators(fused, Recomputation::none).empty());
  CHECK(recomputed_operators(fused, Recomputation::core_attn).empty());
  CHECK(test::total_work(recomputed_operators(fused, Recomputation::full)).forward_flops ==
        test::total_work(fused).forward_flops);
  work.flash_attention = false;
  const Operators plain = transformer_operators(model, 0, work);
  const Operators again = recomputed_operators(plain, Recomputation::core_attn);
  REQUIRE(again.size() == 4);
  CHECK(again.front().name == "scores");
  CHECK(again.back().name == "context");
  CHECK(test::total_work(again).forward_flops == 4.0 * 1024 * 1024 * 768);
}

TEST_CASE("a micro-batch that can't be divided so is refused with the reason") {
  const TransformerModel& llama = *find_transformer("llama-3-8b");
  const TransformerModel& mixtral = *find_transformer("mixtral-8x7b");
  CHECK(refusal(llama, split_batch(8192, 8, 2, true)).empty());
  CHECK(refusal(llama, split_batch(8192, 16, 1, true)).find("divisor of the 8 key and value heads") !=
        std::string::npos);
  CHECK(refusal(llama, split_batch(8192, 0, 1, true)).find("tensor: expected 1 to") != std::string::npos);
  CHECK(refusal(llama, split_batch(8190, 1, 4, true)).find("multiple of 8, two pieces") != std::string::npos);
  CHECK(refusal(llama, split_batch(1002, 4, 1, true)).find("to be a multiple of tensor, 4") != std::string::npos);
  CHECK(refusal(llama, split_batch(1002, 4, 1, false)).empty());
  CHECK(refusal(llama, split_batch(1001, 1, 1, false)).empty());
  MicroBatch work = micro_batch(8192);
  work.split.expert = 2;
  CHECK(refusal(llama, work).find("because llama-3-8b has no experts") != std::string::npos);
  CHECK(refusal(mixtral, work).empty());
  work.split.expert = 3;
  CHECK(refusal(mixtral, work).find("divisor of the 8 experts") != std::string::npos);
  work.split.expert = 4;
  work.expert_imbalance = 4.5;  // padded
  CHECK(refusal(mixtral, work).empty());
  work.expert_imbalance = 0.5;
  CHECK(refusal(mixtral, work).find("expert_imbalance: expected a number of at least 1") != std::string::npos);
  work.expert_imbalance = std::nan("");
  CHECK_FALSE(refusal(mixtral, work).empty());
  CHECK(refusal(mixtral, split_batch(8192, 2, 1, false)).find("dispatch the same tokens") != std::string::npos);
  CHECK(refusal(*find_transformer("gpt2"), micro_batch(2048)).find("the positions of gpt2") != std::string::npos);
  CHECK(refusal(llama, micro_batch(std::int64_t{1} << 31, 1024)).find("at most 2^40 tokens") != std::string::npos);
  work = micro_batch(1024, 0);
  work.type = DataType::int8;
  CHECK(refusal(llama, work).find("sequences: expected 1") != std::string::npos);
  CHECK(refusal(llama, work).find("inference only") != std::string::npos);
}

TEST_CASE("the last stage of a tied model stores its rows of the table, padded") {
  const TransformerModel& model = *find_transformer("gpt2");
  const LayerSplit split{.tensor = 4};
  const std::int64_t rows = (50'257 + 3) / 4;
  const RankParameters last = rank_parameters(model, {12, 12, false, true}, split);
  CHECK(last.dense == rows * 768 + 2 * 768);
  CHECK(last.whole == 2 * 768);
  const RankParameters first = rank_parameters(model, {0, 0, true, false}, split);
  CHECK(first.dense == rows * 768 + 1024 * 768);
  // Both ends on one stage share it.
  CHECK(rank_parameters(model, {0, 0, true, true}, split).dense == rows * 768 + 1024 * 768 + 2 * 768);
  // The head of DeepSeek-V3 is its own, and its module of multi-token prediction needs the embedding, too.
  const TransformerModel& deepseek = *find_transformer("deepseek-v3");
  const RankParameters head = rank_parameters(deepseek, {61, 61, false, true}, {});
  CHECK(head.total() == 2 * 129'280LL * 7168 + 7168 + 11'610'068'224);
}

TEST_CASE("what all ranks store together is the model and the copies") {
  for (const TransformerModel& model : transformers()) {
    INFO(model.name);
    const LayerRange all = whole(model);
    const ParameterSplit stored = stage_parameters(model, all);
    for (const std::int64_t tensor : {1, 2, 4}) {
      for (const std::int64_t expert : {1, 4}) {
        LayerSplit split{.tensor = tensor, .sequence_parallel = true};
        if (model.mixture) split = {tensor, 1, expert, 2, true};
        try {
          validate(model, split);
        } catch (const InputError&) {
          continue;  // GPT-2 XL has 25 heads
        }
        const RankParameters rank = rank_parameters(model, all, split);
        const std::int64_t padding = vocabulary_rows(model, split) * tensor - model.vocabulary;
        const std::int64_t tables = model.head == OutputHead::untied ? 2 : 1;
        CHECK(rank.whole == stored.whole);
        CHECK(rank.dense * tensor == stored.divided + tensor * stored.whole + padding * tables * model.hidden);
        CHECK(rank.experts * split.expert * split.expert_tensor == stored.experts);
      }
    }
  }
}

TEST_CASE("kernels of single operations move what each of them reads and writes") {
  const TransformerModel& model = *find_transformer("llama-3-8b");  // 32 query heads of 128, 8 key heads, 14,336 wide
  MicroBatch work = micro_batch(64, 2);
  work.type = DataType::bf16;
  const Operators fused = transformer_operators(model, 0, work);
  work.pointwise = PointwiseKernels::eager;
  const Operators eager = transformer_operators(model, 0, work);
  constexpr double kRows = 128, kWidth = 4096;
  const auto moved = [&](const char* name, double forward, double backward, double numbers) {
    const TransformerOperator& each = named(eager, name);
    CHECK_MESSAGE(each.forward.bytes == near(forward * numbers, 1e-12), name);
    CHECK_MESSAGE(each.input_gradient.bytes == near(backward * numbers, 1e-12), name);
    CHECK(each.forward.flops + each.input_gradient.flops == 0);
  };
  // x.float(): 2 + 4. Squares: 4 + 4. Mean: 4. Times its root: 4 + 4. Back: 4 + 2. Times the weights: 2 + 2.
  moved("attention_norm", 36, 64, kRows * kWidth);
  moved("feed_forward_norm", 36, 64, kRows * kWidth);
  moved("rotary", 6 + 8 + 6, 20, kRows * (kWidth + 1024));
  moved("activation", 4 + 6, 6 + 6 + 6, kRows * 14'336);
  // 8 heads of keys and of values are read, 32 of each are written.
  moved("repeated_keys_values", 2 * 2 * (1024 + 4096), 2 * 2 * (1024 + 4096), kRows);
  CHECK_FALSE(has(fused, "repeated_keys_values"));
  CHECK(named(fused, "attention_norm").forward.bytes == 4 * kRows * kWidth);
  for (const TransformerOperator& each : fused)
    if (each.kind == OperatorKind::product) CHECK(named(eager, each.name).forward.bytes == each.forward.bytes);
  // A compiler joins the others, but neither complex numbers nor what a kernel of attention reads.
  work.pointwise = PointwiseKernels::compiled;
  const Operators compiled = transformer_operators(model, 0, work);
  for (const char* const name : {"rotary", "repeated_keys_values"})
    CHECK_MESSAGE(named(compiled, name).forward.bytes == named(eager, name).forward.bytes, name);
  for (const char* const name : {"attention_norm", "activation"})
    CHECK_MESSAGE(named(compiled, name).input_gradient.bytes == named(fused, name).input_gradient.bytes, name);
}
