// Modules that a backward pass computes again: which operators they are, what they no longer keep, and their flops.

#include "models/parallel/recomputation.hpp"

#include "models/parallel/flops.hpp"
#include "models/parallel/memory.hpp"
#include "models/parallel/operators.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "tests/models/parallel/total_work.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

// DeepSeek-V3: 128 heads of 128 + 64 numbers a query and a key and 128 a value, short vectors of 1536 and 512; 3 dense
// layers of 18432, 58 with 256 experts of 2048, 8 a token, and a shared one; one module of multi-token prediction.
constexpr std::int64_t kV3Tokens = 4096, kV3Hidden = 7168, kV3Inner = 18'432, kV3Expert = 2048, kV3Dense = 0,
                       kV3Mixture = 3;
constexpr std::int64_t kV3UpMatrices = 1536 * 128 * 192 + 512 * 128 * (128 + 128);
constexpr Recomputation kV3Both = Recomputation::mla_up_proj | Recomputation::mlp;

const TransformerModel& v3() {
  return *find_transformer("deepseek-v3");
}

MicroBatch v3_sequence(DataType type = DataType::bf16) {
  MicroBatch work;
  work.sequence = kV3Tokens;
  work.type = type;
  return work;
}

std::vector<TransformerOperator> v3_again(std::int64_t layer, Recomputation mode, const MicroBatch& work) {
  return recomputed_operators(transformer_operators(v3(), layer, work), mode);
}

std::string v3_names(std::int64_t layer, Recomputation mode, const MicroBatch& work = v3_sequence()) {
  std::string all;
  for (const TransformerOperator& each : v3_again(layer, mode, work)) all += std::string{each.name} + " ";
  return all;
}

std::int64_t v3_kept(std::int64_t layer, Recomputation mode) {
  return layer_activations(v3(), layer, v3_sequence(), mode).kept().count();
}

/// Numbers of 2 bytes that a layer keeps no longer.
std::int64_t v3_saved(std::int64_t layer, Recomputation mode) {
  return (v3_kept(layer, Recomputation::none) - v3_kept(layer, mode)) / 2;
}

}  // namespace

TEST_CASE("recomputed modules: their operators run again, in the order of the layer and each once") {
  const std::string up = "query_up key_value_up rotary key_value_heads ", mlp = "up activation down ";
  CHECK(v3_names(kV3Dense, Recomputation::mla_up_proj) == up);
  CHECK(v3_names(kV3Dense, kV3Both) == up + mlp);
  CHECK(v3_names(kV3Mixture, kV3Both) == up);
  CHECK(v3_names(kV3Mixture, Recomputation::layernorm) == "attention_norm feed_forward_norm ");
  CHECK(v3_names(kV3Mixture, Recomputation::moe_act) == "expert_activation ");
  CHECK(v3_names(kV3Mixture, Recomputation::shared_experts) == "shared_up shared_activation shared_down ");
  const std::string moe =
      "router choice permutation expert_up expert_activation expert_down shared_up shared_activation shared_down "
      "combination ";
  CHECK(v3_names(kV3Mixture, Recomputation::moe) == moe);
  CHECK(v3_names(kV3Mixture, Recomputation::moe | Recomputation::moe_act | Recomputation::shared_experts) == moe);
  CHECK(v3_names(kV3Dense, Recomputation::moe) == "");
  // Casts of the operands of a narrow product are part of its module.
  CHECK(v3_names(kV3Dense, Recomputation::mla_up_proj, v3_sequence(DataType::fp8)) ==
        "cast query_up cast key_value_up rotary key_value_heads ");
}

TEST_CASE("recomputed modules: core attention is there unless it is fused; all modules are not the whole layer") {
  MicroBatch plain = v3_sequence();
  plain.flash_attention = false;
  CHECK(v3_names(kV3Dense, Recomputation::core_attn) == "");
  CHECK(v3_names(kV3Dense, Recomputation::core_attn, plain) == "scores softmax context ");
  Recomputation all = Recomputation::none;
  for (const auto& [name, module] : kRecomputedModules) all = all | module;
  CHECK(v3_names(kV3Mixture, all, plain).find("output") == std::string::npos);
  CHECK(v3_names(kV3Mixture, Recomputation::full, plain).find("output") != std::string::npos);
}

TEST_CASE("recomputed modules: products by hand") {
  const test::OperatorTotals up = test::total_work(v3_again(kV3Mixture, Recomputation::mla_up_proj, v3_sequence()));
  CHECK(up.forward_flops == 2.0 * kV3Tokens * kV3UpMatrices);
  const test::OperatorTotals mlp = test::total_work(v3_again(kV3Dense, Recomputation::mlp, v3_sequence()));
  CHECK(mlp.forward_flops == 2.0 * kV3Tokens * 3 * kV3Hidden * kV3Inner);
  const SequenceSums sums = SequenceSums::equal(1, kV3Tokens);
  const auto more = [&](Recomputation mode) {
    return hardware_flops(v3(), sums, FlopsConvention::causal, mode) -
           hardware_flops(v3(), sums, FlopsConvention::causal, Recomputation::none);
  };
  constexpr std::int64_t kV3Mixtures = 58 + 1;
  CHECK(more(Recomputation::mla_up_proj) == near(2.0 * kV3Tokens * 62 * kV3UpMatrices));
  CHECK(more(kV3Both) == near(2.0 * kV3Tokens * (62 * kV3UpMatrices + 3 * 3 * kV3Hidden * kV3Inner)));
  CHECK(more(Recomputation::shared_experts) == near(2.0 * kV3Tokens * kV3Mixtures * 3 * kV3Hidden * kV3Expert));
  CHECK(more(Recomputation::moe) == near(2.0 * kV3Tokens * kV3Mixtures * 3 * kV3Hidden * kV3Expert * 9));
  CHECK(more(Recomputation::layernorm | Recomputation::moe_act) == 0);
}

TEST_CASE("lists of whole layers repeat nothing of modules of multi-token prediction") {
  TransformerModel model = *find_transformer("llama-3-8b");
  const SequenceSums sums = SequenceSums::equal(1, kV3Tokens);
  const auto more = [&](Recomputation mode) {
    return hardware_flops(model, sums, FlopsConvention::causal, mode) -
           hardware_flops(model, sums, FlopsConvention::causal, Recomputation::none);
  };
  for (const Recomputation mode : {Recomputation::full, Recomputation::operators}) {
    model.mtp_layers = 0;
    const double of_layers = more(mode);
    model.mtp_layers = 1;
    CHECK(more(mode) == near(of_layers));
    CHECK(head_activations(model, v3_sequence(), mode).kept() ==
          head_activations(model, v3_sequence(), Recomputation::none).kept());
  }
  CHECK(head_activations(model, v3_sequence(), Recomputation::mlp).kept() <
        head_activations(model, v3_sequence(), Recomputation::none).kept());
}

TEST_CASE("recomputed modules: what is kept no longer, and is there for a moment in the backward pass") {
  // Queries, keys and values; the rotary part of the keys is an input.
  constexpr std::int64_t kV3Heads = kV3Tokens * (128 * (192 + 192 + 128) - 64);
  CHECK(v3_saved(kV3Mixture, Recomputation::mla_up_proj) == kV3Heads);
  CHECK(v3_saved(kV3Dense, Recomputation::mlp) == kV3Tokens * 3 * kV3Inner);
  CHECK(v3_saved(kV3Dense, kV3Both) == kV3Heads + kV3Tokens * 3 * kV3Inner);
  CHECK(v3_saved(kV3Mixture, kV3Both) == kV3Heads);
  CHECK(v3_saved(kV3Mixture, Recomputation::layernorm) == kV3Tokens * 2 * kV3Hidden);
  // The products of gate and up of 8 experts; gate and up themselves stay.
  CHECK(v3_saved(kV3Mixture, Recomputation::moe_act) == kV3Tokens * 8 * kV3Expert);
  CHECK(v3_saved(kV3Mixture, Recomputation::shared_experts) == kV3Tokens * 3 * kV3Expert);
  // Of a layer with experts the output of the norm stays: tokens that arrive, and what experts make of them, come
  // again.
  CHECK(v3_saved(kV3Mixture, Recomputation::moe) == kV3Tokens * (8 * (2 * kV3Hidden + 3 * kV3Expert) + 3 * kV3Expert));
  for (const Recomputation mode : {Recomputation::mla_up_proj, Recomputation::moe, kV3Both}) {
    CHECK(activations_again(v3(), kV3Mixture, v3_sequence(), mode).count() == 2 * v3_saved(kV3Mixture, mode));
    const HeldStage stage{{0, 8, false, false}, 3};
    MemoryOptions options;
    options.recomputation = mode;
    const GpuMemory memory = gpu_memory(v3(), v3_sequence(), {&stage, 1}, options);
    CHECK(memory.activations.count() == 3 * (3 * v3_kept(kV3Dense, mode) + 5 * v3_kept(kV3Mixture, mode)));
    CHECK(memory.working.count() == 2 * std::max(v3_saved(kV3Dense, mode), v3_saved(kV3Mixture, mode)));
  }
}
