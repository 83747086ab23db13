// The law of a step out of a model and a device: KV bytes by hand, rooflines, and what groups cost.

#include "models/serving/model_steps.hpp"

#include "models/parallel/transformer_catalogue.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// 1 PFLOPS and 1 TB/s without starts, so that times are work.
Device plain_accelerator() {
  Device device;
  device.name = "plain";
  for (double& tflops : device.tflops) tflops = 1000;
  device.memory_bandwidth = ByteRate{1e12};
  device.memory = Bytes{80'000'000'000};
  return device;
}

RooflineOptions ideal_roofline() {
  RooflineOptions options;
  options.matrix_unit_efficiency = options.vector_efficiency = options.memory_efficiency = 1;
  options.launch_overhead = options.ramp = Time{};
  return options;
}

ModelSteps ideal_steps(const std::string& model, const ServingLayout& layout = {},
                       const ServingMessages& messages = {}) {
  return model_steps(*find_transformer(model), plain_accelerator(), layout, ideal_roofline(), messages);
}

}  // namespace

TEST_CASE("model steps: KV bytes of a token by heads, groups, latent vectors and tensor groups") {
  const std::pair<const char*, double> expected[] = {
      {"llama-2-7b", 524'288}, {"llama-3-8b", 131'072},    {"llama-3-70b", 327'680},      {"llama-3-405b", 516'096},
      {"qwen-3-32b", 262'144}, {"qwen-3-30b-a3b", 98'304}, {"qwen-3-235b-a22b", 192'512}, {"deepseek-v3", 70'272}};
  for (const auto& model : expected) {
    CAPTURE(model.first);
    REQUIRE(find_transformer(model.first) != nullptr);
    CHECK(ideal_steps(model.first, {.tokens = 1, .answers = 1}).cache_bytes_token == model.second);
  }
  // Eight groups over four GPUs, and over sixteen, two of which hold each group.
  CHECK(ideal_steps("llama-3-8b", {.tensor = 4, .tokens = 1, .answers = 1}).cache_bytes_token == 131'072 / 4);
  CHECK(ideal_steps("deepseek-v3", {.tensor = 8, .tokens = 1, .answers = 1}).cache_bytes_token == 70'272);
  // Stages have half of the layers each.
  CHECK(ideal_steps("llama-3-8b", {.pipeline = 2, .tokens = 1, .answers = 1}).cache_bytes_token == 131'072 / 2);
}

TEST_CASE("model steps: weights are read once a step, then tokens are computed") {
  const ModelSteps steps = ideal_steps("llama-3-8b");
  // 6.98e9 parameters in the matrices of the layers, 2 bytes each, at 1 TB/s: 13.96 ms, and 2 flops a token each.
  constexpr double kParameters = 32.0 * 4096 * (4096 + 2 * 1024 + 4096 + 3 * 14336);
  CHECK(static_cast<double>(steps.law.by_tokens[1]) == near(2 * kParameters, 0.01));  // ps: bytes at 1 TB/s
  CHECK(static_cast<double>(steps.law.by_tokens[2048]) > 2048 * 2 * kParameters * 1e-3);
  CHECK(static_cast<double>(steps.law.by_tokens[2048]) <
        2048 * 2 * kParameters * 1e-3 * 1.5);  // norms and sums are read and written
  // The head reads 128,256 x 4,096 numbers.
  CHECK(static_cast<double>(steps.law.by_answers[1]) == near(2.0 * 128'256 * 4096, 0.01));
  CHECK(steps.law.cache == 131'072);  // ps: bytes at 1 TB/s
  // A prompt of 2,048 tokens is bound by memory: 2 x 4,096 + 2 x 1,024 numbers a token and layer, for 2,098,176 pairs.
  CHECK(static_cast<double>(steps.law.pair) == near(32 * 10240.0 * 2 * 2048 / 2'098'176, 0.01));
  CHECK(static_cast<double>(steps.weights.count()) == near(2 * 8.03e9, 0.001));
  // 0.9 x 80 GB less weights: 2,667 blocks of 16 tokens.
  CHECK(cache_blocks(steps, plain_accelerator().memory, 0.9, Bytes{0}, 16) ==
        static_cast<std::int64_t>((72e9 - steps.weights.to_double()) / (131'072 * 16)));
  CHECK(cache_blocks(steps, Bytes{16'000'000'000}, 0.9, Bytes{0}, 16) == 0);
}

TEST_CASE("model steps: few tokens read few experts") {
  const ModelSteps steps = ideal_steps("qwen-3-30b-a3b", {.tokens = 512, .answers = 1});
  // 128 experts of 3 x 2,048 x 768 numbers, 8 of which a token takes: 8 and 111.8 of them are read for 1 and 32 tokens.
  constexpr double kExpert = 48 * 3.0 * 2048 * 768 * 2;  // bytes in all layers; ps at 1 TB/s
  const auto difference = static_cast<double>(steps.law.by_tokens[32] - steps.law.by_tokens[1]);
  CHECK(difference == near((111.77 - 8) * kExpert, 0.02));
  // On four GPUs each reads a quarter, of every expert or of the experts.
  for (const std::int64_t expert : {1, 2, 4}) {
    const ModelSteps four = ideal_steps("qwen-3-30b-a3b", {.tensor = 4, .expert = expert, .tokens = 512, .answers = 1});
    CHECK(static_cast<double>(four.law.by_tokens[32] - four.law.by_tokens[1]) == near(difference / 4, 0.02));
    CHECK(four.weights.to_double() == near(steps.weights.to_double() / 4, 0.02));
  }
  CHECK_THROWS_AS(ideal_steps("qwen-3-30b-a3b", {.tensor = 4, .expert = 3}), InputError);
}

TEST_CASE("model steps: tensor groups divide the work and pay messages; stages pay a message each") {
  ServingMessages messages;
  messages.all_reduce = [](Bytes bytes) { return Time::nanoseconds(bytes.count()); };
  messages.send = [](Bytes) { return Time::microseconds(7); };
  const auto one = ideal_steps("llama-3-8b", {.tokens = 4, .answers = 1}).law.by_tokens[4];
  const auto stages = ideal_steps("llama-3-8b", {.pipeline = 4, .tokens = 4, .answers = 1}, messages).law.by_tokens[4];
  CHECK(stages - one == 3 * 7'000'000);
  const auto free = ideal_steps("llama-3-8b", {.tensor = 2, .tokens = 4, .answers = 1}).law.by_tokens[4];
  const auto paid = ideal_steps("llama-3-8b", {.tensor = 2, .tokens = 4, .answers = 1}, messages).law.by_tokens[4];
  CHECK(paid - free == 32LL * 2 * 4 * 4096 * 2 * 1000);
  CHECK(static_cast<double>(free) < 0.51 * static_cast<double>(one));
  CHECK_THROWS_AS(ideal_steps("llama-3-8b", {.tensor = 3}), InputError);
  CHECK_THROWS_AS(ideal_steps("llama-3-8b", {.pipeline = 33}), InputError);
}

TEST_CASE("model steps: weights in fp8 take one byte, and their products the rate of fp8; the ends keep two") {
  Device device = plain_accelerator();
  device.tflops[static_cast<std::size_t>(DataType::fp8)] = 2000;
  const TransformerModel& model = *find_transformer("llama-3-8b");
  const ModelSteps wide = ideal_steps("llama-3-8b");
  const ModelSteps narrow = model_steps(model, device, {.type = DataType::fp8, .cache_bytes = 1}, ideal_roofline(), {});
  CHECK(static_cast<double>(narrow.law.by_tokens[1]) == near(static_cast<double>(wide.law.by_tokens[1]) / 2, 0.01));
  CHECK(static_cast<double>(narrow.law.by_tokens[2048]) < 0.85 * static_cast<double>(wide.law.by_tokens[2048]));
  CHECK(narrow.law.by_answers == wide.law.by_answers);
  CHECK(narrow.law.cache * 2 == wide.law.cache);
  CHECK(narrow.cache_bytes_token * 2 == wide.cache_bytes_token);
  // Embedding and head have 2 x 128,256 x 4,096 numbers, and the last norm 4,096.
  const std::int64_t ends = 2 * 128'256 * 4096 + 4096;
  CHECK(2 * narrow.weights.count() == wide.weights.count() + 2 * ends);
}
