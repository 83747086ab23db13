#include "models/parallel/flops.hpp"

#include "models/parallel/operators.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "tests/near.hpp"

#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

const TransformerModel& transformer_of(const char* name) {
  const TransformerModel* model = find_transformer(name);
  REQUIRE_MESSAGE(model != nullptr, std::string{name});
  return *model;
}

double teraflops(const char* name, double tokens_per_second, double length) {
  const TransformerModel& model = transformer_of(name);
  const double of_a_token = model_flops(model, SequenceSums::equal(1, length), FlopsConvention::causal) / length;
  return of_a_token * tokens_per_second * 1e-12;
}

}  // namespace

TEST_CASE("full attention with recomputation is the closed form of SC21, equation 3") {
  for (const char* name : {"gpt-sc21-1.7b", "gpt-sc21-39b", "gpt-sc21-1t"}) {
    INFO(std::string{name});
    const TransformerModel& model = transformer_of(name);
    const auto l = static_cast<double>(model.layers), h = static_cast<double>(model.hidden);
    const double batch = 512, s = 2048, v = 51'200;
    const SequenceSums sequences = SequenceSums::equal(batch, s);
    const double closed = 96 * batch * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
    CHECK(model_flops(model, sequences, FlopsConvention::recomputed) == near(closed));
    const double without = 72 * batch * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
    CHECK(model_flops(model, sequences, FlopsConvention::full) == near(without));
  }
}

TEST_CASE("full attention is Megatron-LM's formula of 2022 to 2024, with grouped queries, gates and experts") {
  // 12 B s L h^2 [ (1 + g / a + s / h) a d_h / h + (f / h) r k + V / (2 L h) ], r = 3 / 2 if gated, k experts a token.
  const struct {
    const char* name;
    double width, gate, experts;
  } rows[] = {{"llama-3-70b", 28'672, 1.5, 1},
              {"mixtral-8x7b", 14'336, 1.5, 2},
              {"gpt-h100-70b", 4 * 8192, 1, 1},
              {"qwen-3-30b-a3b", 768, 1.5, 8}};
  for (const auto& row : rows) {
    INFO(std::string{row.name});
    const TransformerModel& model = transformer_of(row.name);
    const auto l = static_cast<double>(model.layers), h = static_cast<double>(model.hidden);
    const auto a = static_cast<double>(model.heads), g = static_cast<double>(model.key_value_heads);
    const auto v = static_cast<double>(model.vocabulary);
    const double s = 4096, size = a * static_cast<double>(model.head_size) / h;
    const double closed = 12 * 3 * s * l * h * h *
                          ((1 + g / a + s / h) * size + row.width / h * row.gate * row.experts + v / (2 * l * h));
    CHECK(model_flops(model, SequenceSums::equal(3, s), FlopsConvention::full) == near(closed));
  }
}

TEST_CASE("published iterations: times from TFLOP/s of SC21 and of the H100 table") {
  // Seconds an iteration = flops / (GPUs x measured rate).
  const struct {
    const char* name;
    double batch, length, gpus, teraflops, seconds;
    FlopsConvention convention;
  } rows[] = {
      {"gpt-sc21-1.7b", 512, 2048, 32, 137, 3.528, FlopsConvention::recomputed},
      {"gpt-sc21-7.5b", 512, 2048, 128, 142, 3.696, FlopsConvention::recomputed},
      {"gpt-sc21-39b", 1536, 2048, 512, 138, 14.453, FlopsConvention::recomputed},
      {"gpt-sc21-145b", 2304, 2048, 1536, 148, 24.817, FlopsConvention::recomputed},
      {"gpt-sc21-530b", 2520, 2048, 2520, 163, 54.085, FlopsConvention::recomputed},
      {"gpt-h100-1.7b", 192, 4096, 48, 408.8, 0.452, FlopsConvention::full},
      {"gpt-h100-16b", 192, 4096, 192, 489.1, 0.850, FlopsConvention::full},
      {"gpt-h100-70b", 384, 4096, 768, 419.7, 2.177, FlopsConvention::full},
      {"gpt-h100-177b", 1152, 4096, 2304, 432.8, 5.259, FlopsConvention::full},
      {"gpt-h100-462b", 3072, 4096, 6144, 459.9, 12.716, FlopsConvention::full},
  };
  for (const auto& row : rows) {
    INFO(std::string{row.name});
    const double flops =
        model_flops(transformer_of(row.name), SequenceSums::equal(row.batch, row.length), row.convention);
    CHECK(flops / (row.gpus * row.teraflops * 1e12) == near(row.seconds, 0.0015));
  }
  // "Around 32 s" for GPT-3 with the vocabulary padded to 51200.
  TransformerModel gpt_3 = transformer_of("gpt-3-175b");
  gpt_3.vocabulary = 51'200;
  const double flops = model_flops(gpt_3, SequenceSums::equal(1536, 2048), FlopsConvention::recomputed);
  CHECK(flops / (1024 * 138e12) == near(31.92, 0.0002));
}

TEST_CASE("published tokens a second are published TFLOP/s, with the causal half") {
  const SequenceSums one = SequenceSums::equal(1, 8192);
  CHECK(model_flops(transformer_of("llama-3-8b"), one, FlopsConvention::causal) == 51'470'401'536.0 * 8192);
  CHECK(teraflops("llama-3-8b", 14'079, 8192) == near(725, 0.002));
  CHECK(teraflops("llama-3-405b", 302, 8192) == near(763, 0.002));
  CHECK(teraflops("qwen-3-30b-a3b", 10'494, 4096) == near(241, 0.002));
}

TEST_CASE("one run has a rate in each convention, and none by six flops a parameter") {
  const TransformerModel& model = transformer_of("llama-3-8b");
  const SequenceSums one = SequenceSums::equal(1, 8192);
  const auto rate = [&](FlopsConvention convention) {
    return model_flops(model, one, convention) / 8192 * 14'079 * 1e-12;
  };
  CHECK(rate(FlopsConvention::causal) == near(724.65, 1e-5));
  CHECK(rate(FlopsConvention::full) == near(815.4, 1e-4));
  CHECK(rate(FlopsConvention::recomputed) == near(1072.4, 1e-4));
  const double six = 6 * static_cast<double>(parameters(model)) * 8192;
  CHECK(model_flops(model, one, FlopsConvention::causal) / six == near(1.07, 0.005));
}

TEST_CASE("the causal convention is three times the forward products of the operators, without routers") {
  for (const TransformerModel& model : transformers()) {
    INFO(model.name);
    MicroBatch work;
    work.sequence = 512;
    work.sequences = 3;
    double forward = 0;
    for (const TransformerOperator& each : stage_operators(model, {0, model.all_layers(), true, true}, work)) {
      if (each.name != "router" && each.name != "pooler") forward += each.forward.flops;
    }
    CHECK(model_flops(model, SequenceSums::equal(3, 512), FlopsConvention::causal) == near(3 * forward));
  }
}

TEST_CASE("hardware flops add what is recomputed") {
  const TransformerModel& model = transformer_of("gpt-sc21-39b");
  const SequenceSums sequences = SequenceSums::equal(8, 2048);
  const double none = hardware_flops(model, sequences, FlopsConvention::full, Recomputation::none);
  const double selective = hardware_flops(model, sequences, FlopsConvention::full, Recomputation::core_attn);
  const double full = hardware_flops(model, sequences, FlopsConvention::full, Recomputation::full);
  CHECK(none == model_flops(model, sequences, FlopsConvention::full));
  CHECK(full == model_flops(model, sequences, FlopsConvention::recomputed));
  // Attention forward: 4 B s^2 L h.
  CHECK(selective - none == near(4.0 * 8 * 2048 * 2048 * 48 * 8192));
  const double causal = hardware_flops(model, sequences, FlopsConvention::causal, Recomputation::core_attn);
  CHECK(causal - model_flops(model, sequences, FlopsConvention::causal) == near((selective - none) / 2));
}

TEST_CASE("uneven sequences: tokens are what they are, attention follows the squares") {
  const TransformerModel& model = transformer_of("llama-3-8b");
  const SequenceSums uneven{1000.0 + 3000.0, 1000.0 * 1000 + 3000.0 * 3000};
  const double sum = model_flops(model, SequenceSums::equal(1, 1000), FlopsConvention::causal) +
                     model_flops(model, SequenceSums::equal(1, 3000), FlopsConvention::causal);
  CHECK(model_flops(model, uneven, FlopsConvention::causal) == near(sum));
  CHECK(sum > model_flops(model, SequenceSums::equal(2, 2000), FlopsConvention::causal));
}

TEST_CASE("conventions have names, each its own") {
  std::set<std::string> names;
  for (const FlopsConvention convention : flops_conventions()) names.insert(std::string{to_string(convention)});
  CHECK(names == std::set<std::string>{"recomputed", "full", "causal"});
}

TEST_CASE("gradients of weights are added to sums, which are read late and written") {
  const TransformerModel& model = *find_transformer("llama-3-8b");
  MicroBatch work;
  work.sequence = 64;
  const auto late = [&](int sum_bytes) {
    work.sum_bytes = sum_bytes;
    double bytes = 0;
    for (const TransformerOperator& each : transformer_operators(model, 0, work)) {
      bytes += each.weight_gradient.late_bytes;
      CHECK(each.forward.late_bytes + each.input_gradient.late_bytes == 0);
    }
    return bytes;
  };
  CHECK(late(0) == 0);
  const auto written = [&](int sum_bytes) {
    work.sum_bytes = sum_bytes;
    return transformer_operators(model, 0, work)[1].weight_gradient.bytes;
  };
  CHECK(transformer_operators(model, 0, work)[1].name == "qkv");
  CHECK(written(2) == written(0));
  CHECK(written(4) - written(0) == 2.0 * 4096 * 6144);
  // Queries, keys and values; output; gate and up; down.
  CHECK(late(4) == 4.0 * (4096 * 6144 + 4096 * 4096 + 4096 * 28672 + 14336 * 4096));
}
