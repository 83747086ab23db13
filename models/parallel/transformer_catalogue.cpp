#include "models/parallel/transformer_catalogue.hpp"

#include <algorithm>

namespace contend {

namespace {

/// The sizes that differ within a family; head size = hidden / heads unless it is given.
struct FamilySize {
  const char* name;
  std::int64_t layers, hidden, heads, key_value_heads, feed_forward;
  std::int64_t head_size = 0;
};

TransformerModel sized(const FamilySize& size, const char* source) {
  TransformerModel model;
  model.name = size.name;
  model.source = source;
  model.layers = size.layers;
  model.hidden = size.hidden;
  model.heads = size.heads;
  model.key_value_heads = size.key_value_heads;
  model.head_size = size.head_size > 0 ? size.head_size : size.hidden / size.heads;
  model.feed_forward = size.feed_forward;
  return model;
}

/// GPT with learned positions, layer normalization, biases and the head tied to the embedding.
TransformerModel gpt(const char* name, const char* source, std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                     std::int64_t vocabulary, std::int64_t positions) {
  TransformerModel model = sized({name, layers, hidden, heads, heads, 4 * hidden}, source);
  model.biases = ProductBiases::all;
  model.vocabulary = vocabulary;
  model.head = OutputHead::tied;
  model.positions = positions;
  model.default_sequence = positions;
  model.dropout = true;
  return model;
}

TransformerModel gpt_2(const char* name, std::int64_t layers, std::int64_t hidden) {
  return gpt(name, "GPT-2 report (Radford et al., 2019), table 2", layers, hidden, hidden / 64, 50'257, 1024);
}

TransformerModel gpt_3(const char* name, std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  return gpt(name, "arXiv 2005.14165, table 2.1", layers, hidden, heads, 50'257, 2048);
}

TransformerModel gpt_sc21(const char* name, std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  return gpt(name, "arXiv 2104.04473, table 1", layers, hidden, heads, 51'200, 2048);
}

TransformerModel gpt_nemo(const char* name, std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  return gpt(name, "NeMo-Framework-Launcher, conf/training/gpt3", layers, hidden, heads, 51'200, 2048);
}

/// The vocabulary, and the head that is not tied, are those for which the printed sizes come out; so are the layers and
/// widths of the four models that the source prints as a size only (7.1, 31, 118 and 314).
TransformerModel gpt_h100(const char* name, std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  TransformerModel model =
      gpt(name, "Megatron-LM README of July 2024, table of H100 runs", layers, hidden, heads, 131'072, 4096);
  model.head = OutputHead::untied;
  model.positions = 0;
  model.dropout = false;
  return model;
}

TransformerModel bert_encoder(const char* name, std::int64_t layers, std::int64_t hidden) {
  TransformerModel model = gpt(name, "arXiv 1810.04805, section 3", layers, hidden, hidden / 64, 30'522, 512);
  model.head = OutputHead::none;
  model.token_types = 2;
  model.embedding_norm = true;
  model.final_norm = false;
  model.pooler = true;
  model.causal = false;
  return model;
}

TransformerModel t5(const FamilySize& size) {
  TransformerModel model = sized(size, "arXiv 1910.10683, section 3.2, and the released checkpoints");
  model.encoder_layers = size.layers;
  model.norm = NormKind::rms;
  model.vocabulary = 32'128;
  model.head = OutputHead::tied;
  model.relative_buckets = 32;
  model.dropout = true;
  model.default_sequence = 512;
  return model;
}

/// RMS normalization, rotary positions, a gated feed-forward, no biases, a head of its own.
TransformerModel llama_like(const FamilySize& size, const char* source, std::int64_t vocabulary,
                            std::int64_t sequence) {
  TransformerModel model = sized(size, source);
  model.gated = true;
  model.norm = NormKind::rms;
  model.vocabulary = vocabulary;
  model.default_sequence = sequence;
  return model;
}

TransformerModel llama_2(const FamilySize& size) {
  return llama_like(size, "arXiv 2307.09288, table 1", 32'000, 4096);
}

TransformerModel llama_3(const FamilySize& size) {
  return llama_like(size, "arXiv 2407.21783, table 3", 128'256, 8192);
}

TransformerModel qwen_2_5(const FamilySize& size) {
  TransformerModel model = llama_like(size, "arXiv 2412.15115, table 1", 152'064, 4096);
  model.biases = ProductBiases::qkv;
  return model;
}

TransformerModel qwen_3(const FamilySize& size) {
  TransformerModel model = llama_like(size, "arXiv 2505.09388, tables 1 and 2", 151'936, 4096);
  model.query_key_norms = true;
  return model;
}

TransformerModel with_experts(TransformerModel model, const MixtureOfExperts& mixture) {
  model.mixture = mixture;
  return model;
}

TransformerModel mixtral(const FamilySize& size, std::int64_t vocabulary, std::int64_t expert_feed_forward) {
  const MixtureOfExperts mixture{.experts = 8, .top_k = 2, .expert_feed_forward = expert_feed_forward};
  return with_experts(llama_like(size, "arXiv 2401.04088, table 1, and the released checkpoints", vocabulary, 4096),
                      mixture);
}

TransformerModel qwen_3_moe(const FamilySize& size, std::int64_t expert_feed_forward) {
  return with_experts(qwen_3(size), {.experts = 128, .top_k = 8, .expert_feed_forward = expert_feed_forward});
}

TransformerModel deepseek(const FamilySize& size, const char* source, std::int64_t vocabulary, std::int64_t query_rank,
                          const MixtureOfExperts& mixture) {
  TransformerModel model = with_experts(llama_like(size, source, vocabulary, 4096), mixture);
  model.latent = LatentAttention{query_rank, 512, 128, 64, 128};
  return model;
}

TransformerModel deepseek_v3() {
  TransformerModel model =
      deepseek({"deepseek-v3", 61, 7168, 128, 128, 18'432}, "arXiv 2412.19437, section 4.2", 129'280, 1536,
               {.experts = 256,
                .top_k = 8,
                .expert_feed_forward = 2048,
                .shared_feed_forward = 2048,
                .dense_layers = 3,
                .router_bias = true,
                .groups = 8,
                .groups_used = 4});
  model.mtp_layers = 1;
  return model;
}

std::vector<TransformerModel> make_transformers() {
  return {
      gpt_2("gpt2", 12, 768),
      gpt_2("gpt2-medium", 24, 1024),
      gpt_2("gpt2-large", 36, 1280),
      gpt_2("gpt2-xl", 48, 1600),
      gpt_3("gpt-3-125m", 12, 768, 12),
      gpt_3("gpt-3-350m", 24, 1024, 16),
      gpt_3("gpt-3-760m", 24, 1536, 16),
      gpt_3("gpt-3-2.7b", 32, 2560, 32),
      gpt_3("gpt-3-6.7b", 32, 4096, 32),
      gpt_3("gpt-3-175b", 96, 12'288, 96),
      gpt_sc21("gpt-sc21-1.7b", 24, 2304, 24),
      gpt_sc21("gpt-sc21-3.6b", 30, 3072, 32),
      gpt_sc21("gpt-sc21-7.5b", 36, 4096, 32),
      gpt_sc21("gpt-sc21-18b", 40, 6144, 48),
      gpt_sc21("gpt-sc21-39b", 48, 8192, 64),
      gpt_sc21("gpt-sc21-76b", 60, 10'240, 80),
      gpt_sc21("gpt-sc21-145b", 80, 12'288, 96),
      gpt_sc21("gpt-sc21-310b", 96, 16'384, 128),
      gpt_sc21("gpt-sc21-530b", 105, 20'480, 128),
      gpt_sc21("gpt-sc21-1t", 128, 25'600, 160),
      gpt_h100("gpt-h100-1.7b", 24, 2048, 16),
      gpt_h100("gpt-h100-7.1b", 30, 4096, 32),
      gpt_h100("gpt-h100-16b", 32, 6144, 48),
      gpt_h100("gpt-h100-31b", 48, 7168, 56),
      gpt_h100("gpt-h100-70b", 84, 8192, 64),
      gpt_h100("gpt-h100-118b", 92, 10'240, 80),
      gpt_h100("gpt-h100-177b", 96, 12'288, 96),
      gpt_h100("gpt-h100-314b", 96, 16'384, 128),
      gpt_h100("gpt-h100-462b", 112, 18'432, 144),
      gpt_nemo("gpt-nemo-5b", 24, 4096, 32),
      gpt_nemo("gpt-nemo-20b", 44, 6144, 48),
      bert_encoder("bert-base", 12, 768),
      bert_encoder("bert-large", 24, 1024),
      t5({"t5-small", 6, 512, 8, 8, 2048, 64}),
      t5({"t5-base", 12, 768, 12, 12, 3072, 64}),
      t5({"t5-large", 24, 1024, 16, 16, 4096, 64}),
      t5({"t5-3b", 24, 1024, 32, 32, 16'384, 128}),
      t5({"t5-11b", 24, 1024, 128, 128, 65'536, 128}),
      llama_2({"llama-2-7b", 32, 4096, 32, 32, 11'008}),
      llama_2({"llama-2-13b", 40, 5120, 40, 40, 13'824}),
      llama_2({"llama-2-70b", 80, 8192, 64, 8, 28'672}),
      llama_3({"llama-3-8b", 32, 4096, 32, 8, 14'336}),
      llama_3({"llama-3-70b", 80, 8192, 64, 8, 28'672}),
      llama_3({"llama-3-405b", 126, 16'384, 128, 8, 53'248}),
      qwen_2_5({"qwen-2.5-7b", 28, 3584, 28, 4, 18'944}),
      qwen_2_5({"qwen-2.5-32b", 64, 5120, 40, 8, 27'648}),
      qwen_2_5({"qwen-2.5-72b", 80, 8192, 64, 8, 29'568}),
      qwen_3({"qwen-3-8b", 36, 4096, 32, 8, 12'288, 128}),
      qwen_3({"qwen-3-32b", 64, 5120, 64, 8, 25'600, 128}),
      mixtral({"mixtral-8x7b", 32, 4096, 32, 8, 0}, 32'000, 14'336),
      mixtral({"mixtral-8x22b", 56, 6144, 48, 8, 0}, 32'768, 16'384),
      qwen_3_moe({"qwen-3-30b-a3b", 48, 2048, 32, 4, 0, 128}, 768),
      qwen_3_moe({"qwen-3-235b-a22b", 94, 4096, 64, 4, 0, 128}, 1536),
      deepseek(
          {"deepseek-v2-lite", 27, 2048, 16, 16, 10'944}, "arXiv 2405.04434, appendix B", 102'400, 0,
          {.experts = 64, .top_k = 6, .expert_feed_forward = 1408, .shared_feed_forward = 2816, .dense_layers = 1}),
      deepseek({"deepseek-v2", 60, 5120, 128, 128, 12'288}, "arXiv 2405.04434, section 3.1", 102'400, 1536,
               {.experts = 160,
                .top_k = 6,
                .expert_feed_forward = 1536,
                .shared_feed_forward = 3072,
                .dense_layers = 1,
                .groups = 8,
                .groups_used = 3}),
      deepseek_v3(),
  };
}

const std::vector<TransformerModel>& all_transformers() {
  static const std::vector<TransformerModel> models = make_transformers();
  return models;
}

}  // namespace

std::span<const TransformerModel> transformers() {
  return all_transformers();
}

const TransformerModel* find_transformer(std::string_view name) {
  const auto all = transformers();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& model) { return model.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> transformer_names() {
  std::vector<std::string> names;
  for (const TransformerModel& model : transformers()) names.push_back(model.name);
  return names;
}

}  // namespace contend
