#include "models/parallel/memory.hpp"

#include "models/parallel/transformer_catalogue.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

// A GPT of arXiv 2205.05198, table 3.
TransformerModel gpt_of_paper(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  TransformerModel model = *find_transformer("gpt-sc21-1.7b");
  model.layers = layers;
  model.hidden = hidden;
  model.heads = model.key_value_heads = heads;
  model.head_size = hidden / heads;
  model.feed_forward = 4 * hidden;
  return model;
}

MicroBatch batch_of_paper(std::int64_t sequences, bool sequence_parallel) {
  MicroBatch work;
  work.sequences = sequences;
  work.sequence = 2048;
  work.split = {.tensor = 8, .sequence_parallel = sequence_parallel};
  work.flash_attention = false;
  return work;
}

double layers_gib(const TransformerModel& model, const MicroBatch& work, std::int64_t layers, std::int64_t held,
                  Recomputation recomputation) {
  MemoryOptions options;
  options.recomputation = recomputation;
  const HeldStage stage{{0, layers, false, false}, held};
  return gpu_memory(model, work, {&stage, 1}, options).activations.to_double() / kGib;
}

MemoryOptions zero_of(int stage, StateWidths widths, std::int64_t shards = 1) {
  MemoryOptions options;
  options.zero = stage;
  options.widths = widths;
  options.dense_shards = shards;
  return options;
}

double bytes_a_parameter(int stage, StateWidths widths, std::int64_t shards) {
  const std::int64_t parameters = 1'000'000 * shards;
  return state_bytes(parameters, shards, zero_of(stage, widths)).total().to_double() / static_cast<double>(parameters);
}

std::int64_t kept_bytes(const TransformerModel& model, std::int64_t layer, const MicroBatch& work,
                        Recomputation recomputation = Recomputation::none) {
  return layer_activations(model, layer, work, recomputation).kept().count();
}

}  // namespace

TEST_CASE("activations of GPT 22B and 530B are the published GiB") {
  const TransformerModel small = gpt_of_paper(48, 6144, 64), large = gpt_of_paper(105, 20'480, 128);
  CHECK(layers_gib(small, batch_of_paper(4, false), 48, 1, Recomputation::none) == 59.25);
  CHECK(layers_gib(small, batch_of_paper(4, true), 48, 1, Recomputation::core_attn) == 9.5625);
  // 35 stages of 3 chunks with one layer each: the first rank holds L (1 + (p - 1) / (p v)) = 139 layers' worth.
  CHECK(layers_gib(large, batch_of_paper(1, false), 1, 139, Recomputation::none) == 114.0234375);
  CHECK(layers_gib(large, batch_of_paper(1, true), 1, 139, Recomputation::core_attn) == 23.076171875);
}

TEST_CASE("states of GPT 22B and 530B are the published GiB") {
  const auto gib = [](std::int64_t layers, std::int64_t hidden, std::int64_t ranks) {
    const std::int64_t parameters = 12 * layers * hidden * hidden / ranks;
    return state_bytes(parameters, 1, zero_of(0, StateWidths::bf16())).total().to_double() / kGib;
  };
  CHECK(gib(48, 6144, 8) == 45.5625);
  CHECK(gib(105, 20'480, 8 * 35) == 31.640625);
}

TEST_CASE("bytes a parameter by precision and stage of ZeRO") {
  for (const std::int64_t d : {1, 4, 64}) {
    const auto shards = static_cast<double>(d);
    CHECK(bytes_a_parameter(0, StateWidths::mixed(), d) == 16);
    CHECK(bytes_a_parameter(1, StateWidths::mixed(), d) == near(4 + 12 / shards));
    CHECK(bytes_a_parameter(2, StateWidths::mixed(), d) == near(2 + 14 / shards));
    CHECK(bytes_a_parameter(3, StateWidths::mixed(), d) == near(16 / shards));
    CHECK(bytes_a_parameter(0, StateWidths::bf16(), d) == 18);
    CHECK(bytes_a_parameter(1, StateWidths::bf16(), d) == near(6 + 12 / shards));
    CHECK(bytes_a_parameter(0, StateWidths::fp16(), d) == 20);
    CHECK(bytes_a_parameter(1, StateWidths::fp16(), d) == near(4 + 16 / shards));
    CHECK(bytes_a_parameter(0, StateWidths::fp32(), d) == 16);
    CHECK(bytes_a_parameter(1, StateWidths::fp32(), d) == near(8 + 8 / shards));
    CHECK(bytes_a_parameter(1, StateWidths{2, 4, 8}, d) == near(6 + 8 / shards));
  }
  // A share is rounded up to whole parameters.
  CHECK(state_bytes(10, 4, zero_of(3, StateWidths::mixed())).total() == Bytes{3 * 16});
}

TEST_CASE("a layer of GPT is table 2 of the paper, in all its rows") {
  const TransformerModel model = gpt_of_paper(48, 6144, 64);
  MicroBatch work = batch_of_paper(4, false);
  const std::int64_t sbh = 2048 * 4 * 6144, scores = 5 * 64 * 2048 * (sbh / 6144);
  for (const std::int64_t t : {1, 2, 8}) {
    work.split.tensor = t;
    work.split.sequence_parallel = false;
    CHECK(kept_bytes(model, 0, work) == sbh * 10 + (sbh * 24 + scores) / t);
    CHECK(kept_bytes(model, 0, work, Recomputation::core_attn) == sbh * 10 + sbh * 24 / t);
    CHECK(kept_bytes(model, 0, work, Recomputation::full) == 2 * sbh);
    work.split.sequence_parallel = true;
    CHECK(kept_bytes(model, 0, work) == (sbh * 34 + scores) / t);
    CHECK(kept_bytes(model, 0, work, Recomputation::core_attn) == sbh * 34 / t);
    CHECK(kept_bytes(model, 0, work, Recomputation::full) == 2 * sbh / t);
  }
  // In one kernel attention keeps four bytes a token and head instead of the scores.
  work.flash_attention = true;
  work.split.tensor = 1;
  CHECK(kept_bytes(model, 0, work) == sbh * 34 + 4 * 64 * (sbh / 6144));
}

TEST_CASE("a backward pass of the weights that is put off holds 32 s b h") {
  // Qi et al., arXiv 2401.10241, table 1: inputs of the four products, and the gradients of their outputs.
  const TransformerModel model = gpt_of_paper(48, 6144, 64);
  MicroBatch work = batch_of_paper(4, false);
  work.split.tensor = 1;
  const std::int64_t sbh = 2048 * 4 * 6144;
  const ActivationBytes layer = layer_activations(model, 0, work, Recomputation::core_attn);
  CHECK(layer.until_weight + layer.output_gradients == Bytes{32 * sbh});
  CHECK(layer.until_input + layer.until_weight == Bytes{34 * sbh});
}

TEST_CASE("grouped queries, gates and fused attention: the tensors that are kept") {
  const TransformerModel& model = *find_transformer("llama-3-70b");
  MicroBatch work;
  work.sequence = 8192;
  const std::int64_t sb = 8192, h = 8192, a = 64, g = 8, d = 128, f = 28'672;
  for (const std::int64_t t : {1, 8}) {
    work.split = {.tensor = t, .sequence_parallel = true};
    CHECK(kept_bytes(model, 0, work) == sb * (8 * h + 4 * a * d + 4 * g * d + 6 * f + 4 * a) / t);
  }
  // Context parallelism divides all of it.
  const std::int64_t one = kept_bytes(model, 0, work);
  work.split.context = 4;
  CHECK(kept_bytes(model, 0, work) == one / 4);
}

TEST_CASE("a mixture keeps what has arrived instead of the dense feed-forward") {
  const TransformerModel& dense = *find_transformer("llama-3-8b");
  TransformerModel mixture = dense;
  mixture.mixture = MixtureOfExperts{.experts = 8, .top_k = 2, .expert_feed_forward = 14'336};
  MicroBatch work;
  work.sequence = 4096;
  work.split.expert = 4;
  const std::int64_t arrived = 2 * 4096;
  const std::int64_t change = arrived * (4 * 4096 + 6 * 14'336) - 4096 * 6 * 14'336;
  CHECK(kept_bytes(mixture, 0, work) - kept_bytes(dense, 0, {.sequence = 4096}) == change);
  work.expert_imbalance = 2;
  CHECK(kept_bytes(mixture, 0, work) - kept_bytes(dense, 0, {.sequence = 4096}) ==
        change + arrived * (4 * 4096 + 6 * 14'336));
}

TEST_CASE("ends of the model: Megatron-LM's estimate for one stage") {
  // L s b h (18 + 4 f / h) + 8 s b + s b h + 4 s b h (1 + V / h), all on one rank.
  const TransformerModel model = gpt_of_paper(4, 6144, 64);
  MicroBatch work = batch_of_paper(4, false);
  work.split.tensor = 1;
  const std::int64_t sb = 2048 * 4, sbh = sb * 6144;
  const HeldStage stage{{0, 4, true, true}, 1};
  MemoryOptions options;
  options.recomputation = Recomputation::core_attn;
  const GpuMemory memory = gpu_memory(model, work, {&stage, 1}, options);
  CHECK(memory.activations.count() == 4 * sbh * 34 + 8 * sb + sbh + 4 * sb * (6144 + 51'200));
  CHECK(memory.weights.count() == 2 * parameters(model));
  CHECK(memory.gradients.count() == 4 * parameters(model));
  CHECK(memory.optimizer.count() == 12 * parameters(model));
  CHECK(memory.gathered == Bytes{});
  // Scores of the layer that is computed again; fused attention has none, so that the logits are more.
  CHECK(memory.working.count() == 5 * 64 * 2048 * sb);
  MicroBatch fused = work;
  fused.flash_attention = true;
  CHECK(gpu_memory(model, fused, {&stage, 1}, options).working.count() == 2 * sb * 51'200);
  CHECK(memory.total() == memory.weights + memory.gradients + memory.optimizer + memory.activations + memory.working);
  // PyTorch's kernels have two gradients in fp32 beside the logarithms.
  work.loss = fused.loss = LossKernels::framework;
  CHECK(gpu_memory(model, fused, {&stage, 1}, options).working.count() == 8 * sb * 51'200);
  CHECK(gpu_memory(model, work, {&stage, 1}, options).activations == memory.activations);
  // Without a head there are no logits.
  const HeldStage first{{0, 2, true, false}, 1};
  CHECK(gpu_memory(model, fused, {&first, 1}, options).working == Bytes{});
}

TEST_CASE("shards of dense weights and of experts; gathered layers; what one layer needs while it is recomputed") {
  const TransformerModel& model = *find_transformer("mixtral-8x7b");
  MicroBatch work;
  work.sequence = 4096;
  work.split.expert = 8;
  MemoryOptions options;
  options.zero = 3;
  options.dense_shards = 64;
  options.expert_shards = 8;
  options.recomputation = Recomputation::full;
  const HeldStage stage{{0, 32, true, true}, 2};
  const GpuMemory memory = gpu_memory(model, work, {&stage, 1}, options);
  const RankParameters rank = rank_parameters(model, stage.range, work.split);
  CHECK(rank.experts == 32 * 3 * 4096LL * 14'336);
  const auto up = [](std::int64_t parameters, std::int64_t shards) { return (parameters + shards - 1) / shards; };
  CHECK(memory.optimizer.count() == 12 * (up(rank.dense, 64) + up(rank.experts, 8)));
  // The head is larger than the dense part of a layer: it is in use while a layer is on its way.
  const RankParameters layer = rank_parameters(model, {0, 1}, work.split);
  const std::int64_t head = 32'000LL * 4096 + 4096;
  CHECK(memory.gathered.count() == 2 * (head + layer.dense + 2 * layer.experts) + 4 * (head + layer.experts));
  const HeldStage middle{{3, 5, false, false}, 2};
  CHECK(gpu_memory(model, work, {&middle, 1}, options).gathered.count() == layer.total() * (2 * 2 + 4));
  CHECK(memory.working.count() == kept_bytes(model, 0, work));
  const std::int64_t ends =
      (embedding_activations(model, work).kept() + head_activations(model, work, Recomputation::full).kept()).count();
  CHECK(memory.activations.count() == 2 * (32 * 2 * 4096LL * 4096 + ends));
  // Without anyone to share with, nothing is gathered.
  options.dense_shards = options.expert_shards = 1;
  CHECK(gpu_memory(model, work, {&stage, 1}, options).gathered == Bytes{});
}

TEST_CASE("chunks of one rank add up, and only ranks at the ends have the ends") {
  const TransformerModel& model = *find_transformer("llama-3-8b");
  MicroBatch work;
  work.sequence = 8192;
  const HeldStage chunks[] = {{{0, 8, true, false}, 3}, {{16, 24, false, false}, 2}};
  const GpuMemory memory = gpu_memory(model, work, chunks, {});
  const std::int64_t one = kept_bytes(model, 0, work);
  CHECK(memory.activations.count() == 3 * (8 * one + 8 * 8192) + 2 * 8 * one);
  CHECK(memory.weights.count() == 2 * (16 * layer_parameters(model, 0).total() + 128'256LL * 4096));
}

TEST_CASE("latent attention keeps its short vectors, too") {
  const TransformerModel& model = *find_transformer("deepseek-v2-lite");
  MicroBatch work;
  work.sequence = 4096;
  // Inputs of the norm and of the products, c before and after its norm, Q, K of 192, V, O of 128, 16 heads.
  const std::int64_t attention = 2 * (2 * 2048 + 2 * 512 + 16 * (192 + 192 + 128 + 128)) + 4 * 16;
  const std::int64_t feed_forward = 2 * (2 * 2048 + 3 * 10'944);
  CHECK(kept_bytes(model, 0, work) == 4096 * (attention + feed_forward));
}

TEST_CASE("norms of queries and keys, the output of an encoder, and short vectors of queries are kept") {
  MicroBatch work;
  work.sequence = 1024;
  TransformerModel plain = *find_transformer("qwen-3-8b");
  plain.query_key_norms = false;
  const std::int64_t norms = 2 * 1024 * (4096 + 1024);
  CHECK(kept_bytes(*find_transformer("qwen-3-8b"), 0, work) - kept_bytes(plain, 0, work) == norms);

  // Only the first layer of the decoder counts the output of the encoder: 512 numbers of 2 bytes a token.
  const TransformerModel& t5 = *find_transformer("t5-small");
  work.sequence = 512;
  CHECK(kept_bytes(t5, 6, work) - kept_bytes(t5, 7, work) == 2 * 512 * 512);
  const std::int64_t encoder = kept_bytes(t5, 0, work), decoder = kept_bytes(t5, 7, work);
  // Cross-attention: input of its norm and of its product, Q, K, V, O, log-sums of 8 heads, a mask of dropout.
  CHECK(decoder - encoder == 512 * (2 * (2 * 512 + 4 * 512) + 4 * 8 + 512));

  // Gradients of the outputs of DeepSeek-V3's products in a dense layer: both short vectors with the rotary keys, what
  // is made of them, the output; gate and up, the output.
  const ActivationBytes layer = layer_activations(*find_transformer("deepseek-v3"), 0, work, Recomputation::none);
  const std::int64_t attention = 1536 + 128 * 192 + 576 + 128 * 256 + 7168;
  CHECK(layer.output_gradients.count() == 512 * 2 * (attention + 2 * 18'432 + 7168));
  const ActivationBytes lite = layer_activations(*find_transformer("deepseek-v2-lite"), 0, work, Recomputation::none);
  CHECK(lite.output_gradients.count() == 512 * 2 * (16 * 192 + 576 + 16 * 256 + 2048 + 2 * 10'944 + 2048));
  const std::int64_t inputs = 7168 + 1536 + 512 + 128 * 128 + 7168 + 18'432;
  CHECK(layer.until_weight.count() == 512 * 2 * inputs);
  // On 4 ranks the heads are divided, and with sequence parallelism the tokens of all else.
  work.split = {.tensor = 4, .sequence_parallel = true};
  const ActivationBytes rank = layer_activations(*find_transformer("deepseek-v3"), 0, work, Recomputation::none);
  CHECK(rank.output_gradients.count() * 4 == layer.output_gradients.count());
  CHECK(rank.kept().count() * 4 == layer.kept().count());
}

TEST_CASE("the ends keep what their dropout, norms and loss need") {
  MicroBatch work;
  work.sequence = 128;
  work.sequences = 4;
  const std::int64_t tokens = 512;
  const ActivationBytes bert = embedding_activations(*find_transformer("bert-base"), work);
  CHECK(bert.kept().count() == tokens * (8 + 2 * 768 + 768));
  CHECK(head_activations(*find_transformer("bert-base"), work, Recomputation::none).kept() == Bytes{});
  const ActivationBytes llama = head_activations(*find_transformer("llama-3-8b"), work, Recomputation::none);
  CHECK(llama.until_input.count() == tokens * (2 * 4096 + 4 * 128'256));
  CHECK(llama.until_weight.count() == tokens * 2 * 4096);
  CHECK(llama.output_gradients.count() == tokens * 2 * 128'256);
  // A module of multi-token prediction: two norms, a product of twice the width, a layer, a second head.
  TransformerModel model = *find_transformer("deepseek-v3");
  const std::int64_t with = head_activations(model, work, Recomputation::none).kept().count();
  const std::int64_t layer = kept_bytes(model, 60, work);
  model.mtp_layers = 0;
  const std::int64_t head = head_activations(model, work, Recomputation::none).kept().count();
  CHECK(with == 2 * head + layer + tokens * 2 * (2 * 7168 + 2 * 7168));
}

TEST_CASE("more bytes than 64 bits hold are an error") {
  MicroBatch work;
  work.sequence = std::int64_t{1} << 32;
  work.flash_attention = false;
  const TransformerModel& model = *find_transformer("llama-3-405b");
  REQUIRE_NOTHROW(validate(model, work));
  CHECK_THROWS_AS(static_cast<void>(layer_activations(model, 0, work, Recomputation::none)), InputError);
}

TEST_CASE("options outside their ranges are refused, all at once") {
  MemoryOptions options;
  options.zero = 4;
  options.dense_shards = 0;
  options.expert_shards = -1;
  options.gathered_layers = 0;
  options.widths.optimizer = -1;
  try {
    validate(options);
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(error.complaints().size() == 5);
    CHECK(std::string{error.what()}.find("zero: expected a stage of ZeRO from 0 to 3, got 4") != std::string::npos);
  }
  CHECK_NOTHROW(validate(MemoryOptions{}));
}
