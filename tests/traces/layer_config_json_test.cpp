#include "traces/layers/config_json.hpp"

#include "models/parallel/transformer_catalogue.hpp"
#include "sim/error.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/traces/layer_test_kit.hpp"
#include "text/atomic_file.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

TransformerModel config_of(std::string_view text) {
  TextSource source{text};
  return parse_transformer_config(source, "config.json", "mine");
}

std::string config_faults(std::string_view text) {
  try {
    static_cast<void>(config_of(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

// The fields that matter of the published files.
const std::string kLlama = R"({
  "architectures": ["LlamaForCausalLM"], "attention_bias": false, "bos_token_id": 128000,
  "hidden_act": "silu",
  "hidden_size": 8192,
  "intermediate_size": 28672,
  "max_position_embeddings": 8192,
  "model_type": "llama",
  "num_attention_heads": 64,
  "num_hidden_layers": 80,
  "num_key_value_heads": 8,
  "rms_norm_eps": 1e-05, "rope_scaling": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
  "vocab_size": 128256
})";
constexpr std::string_view kMixtral = R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "num_experts_per_tok": 2,
  "num_local_experts": 8, "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 32000,
  "max_position_embeddings": 32768})";
constexpr std::string_view kQwen2 = R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944,
  "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4, "sliding_window": 131072,
  "use_sliding_window": false, "tie_word_embeddings": false, "vocab_size": 152064})";
constexpr std::string_view kQwen3 = R"({"model_type": "qwen3", "attention_bias": false, "head_dim": 128,
  "hidden_size": 5120, "intermediate_size": 25600, "num_attention_heads": 64, "num_hidden_layers": 64,
  "num_key_value_heads": 8, "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 151936})";
const std::string kQwen3Moe = R"({"model_type": "qwen3_moe", "decoder_sparse_step": 1, "head_dim": 128,
  "hidden_size": 2048, "intermediate_size": 6144, "mlp_only_layers": [], "moe_intermediate_size": 768,
  "num_attention_heads": 32, "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48,
  "num_key_value_heads": 4, "tie_word_embeddings": false, "vocab_size": 151936})";
constexpr std::string_view kGpt2 = R"({"model_type": "gpt2", "n_ctx": 1024, "n_embd": 1600, "n_head": 25,
  "n_layer": 48, "n_positions": 1024, "vocab_size": 50257})";
const std::string kDeepseekV2 = R"({"model_type": "deepseek_v2", "first_k_dense_replace": 1, "hidden_size": 5120,
  "intermediate_size": 12288, "kv_lora_rank": 512, "moe_intermediate_size": 1536, "moe_layer_freq": 1, "n_group": 8,
  "n_routed_experts": 160, "n_shared_experts": 2, "num_attention_heads": 128, "num_experts_per_tok": 6,
  "num_hidden_layers": 60, "num_key_value_heads": 128, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
  "qk_rope_head_dim": 64, "tie_word_embeddings": false, "topk_group": 3, "topk_method": "group_limited_greedy",
  "v_head_dim": 128, "vocab_size": 102400})";
constexpr std::string_view kDeepseekV2Lite = R"({"model_type": "deepseek_v2", "first_k_dense_replace": 1,
  "hidden_size": 2048, "intermediate_size": 10944, "kv_lora_rank": 512, "moe_intermediate_size": 1408,
  "moe_layer_freq": 1, "n_group": 1, "n_routed_experts": 64, "n_shared_experts": 2, "num_attention_heads": 16,
  "num_experts_per_tok": 6, "num_hidden_layers": 27, "num_key_value_heads": 16, "q_lora_rank": null,
  "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "topk_group": 1, "topk_method": "greedy", "v_head_dim": 128,
  "vocab_size": 102400})";
constexpr std::string_view kDeepseekV3 = R"({"model_type": "deepseek_v3", "first_k_dense_replace": 3,
  "hidden_size": 7168, "intermediate_size": 18432, "kv_lora_rank": 512, "moe_intermediate_size": 2048,
  "moe_layer_freq": 1, "n_group": 8, "n_routed_experts": 256, "n_shared_experts": 1, "num_attention_heads": 128,
  "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128, "num_nextn_predict_layers": 1,
  "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "tie_word_embeddings": false,
  "topk_group": 4, "topk_method": "noaux_tc", "v_head_dim": 128, "vocab_size": 129280})";

}  // namespace

TEST_CASE("configurations of Hugging Face describe the transformers that ship") {
  const struct {
    std::string_view text;
    const char* name;
  } rows[] = {{kLlama, "llama-3-70b"},       {kMixtral, "mixtral-8x7b"},
              {kQwen2, "qwen-2.5-7b"},       {kQwen3, "qwen-3-32b"},
              {kQwen3Moe, "qwen-3-30b-a3b"}, {kGpt2, "gpt2-xl"},
              {kDeepseekV2, "deepseek-v2"},  {kDeepseekV2Lite, "deepseek-v2-lite"},
              {kDeepseekV3, "deepseek-v3"}};
  for (const auto& row : rows) {
    INFO(std::string{row.name});
    const TransformerModel read = config_of(row.text);
    const TransformerModel& ships = *find_transformer(row.name);
    CHECK(read.name == "mine");
    CHECK(read.source == "config.json");
    CHECK(parameters(read) == parameters(ships));
    CHECK(active_parameters(read) == active_parameters(ships));
    CHECK(read.mtp_layers == ships.mtp_layers);
    CHECK(read.dropout == ships.dropout);
    CHECK(read.gated == ships.gated);
    CHECK(read.head == ships.head);
    if (ships.mixture) {
      CHECK(read.mixture->groups == ships.mixture->groups);
      CHECK(read.mixture->groups_used == ships.mixture->groups_used);
    }
  }
  CHECK(config_of(kLlama).default_sequence == 8192);
}

TEST_CASE("fields that may be missing or null") {
  // The first Llama had as many heads of keys and values as of queries, and no field for them.
  const std::string first = replaced(kLlama, "\"num_key_value_heads\": 8,", "");
  CHECK(config_of(first).key_value_heads == 64);
  CHECK(config_of(replaced(kLlama, "\"num_key_value_heads\": 8", "\"num_key_value_heads\": null")).key_value_heads ==
        64);
  CHECK(config_of(replaced(kLlama, "\"hidden_act\": \"silu\"", "\"head_dim\": 256")).head_size == 256);
  CHECK(config_of(replaced(kLlama, "embeddings\": false", "embeddings\": true")).head == OutputHead::tied);
  const std::string biased = replaced(replaced(kLlama, "attention_bias\": false", "attention_bias\": true"),
                                      "\"hidden_act\": \"silu\"", "\"mlp_bias\": true");
  CHECK(config_of(biased).biases == ProductBiases::all);
  // Qwen3 may have dense layers first.
  const TransformerModel mixed = config_of(replaced(kQwen3Moe, "[]", "[0, 1]"));
  CHECK_FALSE(mixed.is_mixture(1));
  CHECK(mixed.is_mixture(2));
  const std::string mistral = replaced(kLlama, "\"llama\"", "\"mistral\"");
  CHECK(parameters(config_of(mistral)) == parameters(*find_transformer("llama-3-70b")));
}

TEST_CASE("what is wrong with a configuration is said with its line and key, all at once") {
  const std::string two = config_faults(replaced(replaced(kLlama, "\"hidden_size\": 8192,", "\"hiden_size\": 8192,"),
                                                 "\"vocab_size\": 128256", "\"vocab_size\": \"many\""));
  check_says(two, "config.json:1:1: hidden_size: the field is missing");
  check_says(two, "did you mean \"hiden_size\"");
  check_says(two, "config.json:12:17: vocab_size: expected a whole number from 1 to 4294967296, got a string");
  check_says(config_faults(replaced(kLlama, "\"num_hidden_layers\": 80", "\"num_hidden_layers\": 80.5")),
             "num_hidden_layers: expected a whole number from 1 to 4294967296, got 80.5");
  check_says(config_faults(replaced(kLlama, "\"num_hidden_layers\": 80", "\"num_hidden_layers\": 0")), "got 0");
  check_says(config_faults(replaced(kLlama, "\"num_key_value_heads\": 8", "\"num_key_value_heads\": 7")),
             "config.json:10:26: num_key_value_heads: expected a divisor of the 64 heads, got 7");
  check_says(config_faults(replaced(kLlama, "\"num_attention_heads\": 64", "\"num_attention_heads\": 60")),
             "60 heads don't divide the hidden size 8192");
  check_says(config_faults(replaced(kLlama, "embeddings\": false", "embeddings\": 0")),
             "tie_word_embeddings: expected true or false, got a number");
  check_says(config_faults(replaced(kQwen3Moe, "\"num_experts_per_tok\": 8", "\"num_experts_per_tok\": 129")),
             "num_experts_per_tok: expected 1 to 128");
  check_says(config_faults(replaced(kDeepseekV2, "\"n_shared_experts\": 2", "\"n_shared_experts\": 4000000000")),
             "n_shared_experts: 4000000000 experts of width 1536 are too wide together");
  check_says(config_faults(replaced(kDeepseekV2, "\"n_group\": 8", "\"n_group\": 7")),
             "n_group: expected a divisor of the 160 experts");
}

TEST_CASE("a file whose architecture is not known is read by its fields if all of them are known") {
  const std::string other = replaced(kLlama, "\"llama\"", "\"newllama\"");
  TextSource source{other};
  const TransformerConfig config = parse_config(source, "config.json", "mine");
  CHECK(parameters(config.model) == parameters(*find_transformer("llama-3-70b")));
  check_says(config.note, "the architecture newllama is not known: read by its fields");
  CHECK(config.unknown.empty());
  const std::string parts = replaced(other, "\"rope_scaling\": null", "\"laurel_rank\": 64, \"altup_inputs\": 4");
  const std::string unknown = config_faults(parts);
  check_says(unknown, "config.json:11:41: laurel_rank: a field of the architecture \"newllama\" that is not known");
  check_says(unknown, "altup_inputs: a field of the architecture");
  check_says(unknown, "--as llama");
  // What is off is no part, and `as` says that the rest is none either.
  CHECK_NOTHROW(config_of(replaced(other, "\"rope_scaling\": null", "\"laurel_rank\": 0, \"altup\": null")));
  TextSource again{parts};
  const TransformerConfig as_llama = parse_config(again, "config.json", "mine", "llama");
  CHECK(parameters(as_llama.model) == parameters(config.model));
  CHECK(as_llama.unknown == std::vector<std::string>{"laurel_rank", "altup_inputs"});
  TextSource third{parts};
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_config(third, "config.json", "mine", "lama")),
                       doctest::Contains("as: the architecture \"lama\" is not known"), InputError);
}

TEST_CASE("numbers that are not finite, fractions of 0 and lists of equal numbers are read") {
  const std::string python = replaced(kLlama, "\"rope_scaling\": null", "\"time_step_limit\": [0.0, Infinity, NaN]");
  CHECK(parameters(config_of(python)) == parameters(*find_transformer("llama-3-70b")));
  CHECK(config_of(replaced(kLlama, "\"num_hidden_layers\": 80", "\"num_hidden_layers\": 80.0")).layers == 80);
  const std::string listed = replaced(kQwen3Moe, "\"num_experts_per_tok\": 8", "\"num_experts_per_tok\": [8, 8]");
  CHECK(config_of(listed).mixture->top_k == 8);
  check_says(config_faults(replaced(listed, "[8, 8]", "[8, 9]")), "num_experts_per_tok: layers that differ in this");
}

TEST_CASE("fields that contradict each other or say what is not known are refused with what would be right") {
  check_says(config_faults("{}"), "model_type: the field is missing");
  check_says(config_faults(R"({"model_type": 3})"), "model_type: expected a string, got a number");
  check_says(config_faults("[1]"), "expected an object, got an array");
  CHECK_FALSE(config_faults("{").empty());
  CHECK_FALSE(config_faults(kLlama.substr(0, kLlama.size() / 2)).empty());
  check_says(config_faults(replaced(kLlama, "LlamaForCausalLM", "LlamaForSequenceClassification")),
             "config.json:2:21: architectures: the head of LlamaForSequenceClassification is not modelled");
  check_says(config_faults(replaced(kDeepseekV2, "group_limited_greedy", "lottery")), "topk_method: \"lottery\"");
  const std::string typed = replaced(kLlama, "\"hidden_act\": \"silu\"",
                                     R"("sliding_window": 8, "layer_types": ["full_attention", "sliding_attention"])");
  check_says(config_faults(typed), "layer_types: expected 80 entries, one for each layer, got 2");
  const std::string two = replaced(typed, "\"num_hidden_layers\": 80", "\"num_hidden_layers\": 2");
  CHECK(config_of(two).kind_of(1).window == 8);
  check_says(config_faults(replaced(two, "full_attention", "telepathy")),
             "layer_types: layer 0 is \"telepathy\", a kind of layer that is not known; one of full_attention");
  check_says(config_faults(replaced(two, "\"sliding_window\": 8,", "")), "sliding_window: the field is missing");
  check_says(config_faults(replaced(two, "[\"full_attention\", \"sliding_attention\"]", "[1, 2]")),
             "layer_types: expected an array of strings, got a number");
  check_says(config_faults(replaced(kLlama, "\"hidden_act\": \"silu\"", "\"mamba_d_state\": 128")),
             "mamba_d_state: sizes of a kind of layer, but no field that is known says which layers");
  check_says(config_faults(replaced(kLlama, "\"hidden_act\": \"silu\"", "\"cross_attention_layers\": [3]")),
             "cross_attention_layers: layers that attend to images");
  check_says(config_faults(R"({"model_type": "llama", "num_layers": 32, "n_head": 32, "hidden_dim": 4096,
                               "vocab_size": 32000, "ffn_embed_dim": 16384})"),
             "ffn_embed_dim: 16384 is four times the hidden size, which stands for two matrices");
}

TEST_CASE("windows are of all layers, of those from one on, or of none") {
  const std::string mistral =
      replaced(replaced(kLlama, "\"llama\"", "\"mistral\""), "\"rope_scaling\": null", "\"sliding_window\": 4096");
  CHECK(config_of(mistral).window == 4096);
  const std::string qwen = replaced(std::string{kQwen2}, "\"use_sliding_window\": false",
                                    "\"use_sliding_window\": true, \"max_window_layers\": 20");
  CHECK(config_of(qwen).kind_of(19).window == 0);
  CHECK(config_of(qwen).kind_of(20).window == 131'072);
  CHECK(config_of(kQwen2).window == 0);
  // Qwen3's experts may be in every second layer, and Llama's biases in one half of a layer.
  const TransformerModel second = config_of(replaced(kQwen3Moe, "step\": 1", "step\": 2"));
  CHECK_FALSE(second.is_mixture(0));
  CHECK(second.is_mixture(1));
  CHECK(config_of(replaced(kQwen3Moe, "[]", "[1]")).is_mixture(0));
  CHECK_FALSE(config_of(replaced(kQwen3Moe, "[]", "[1]")).is_mixture(1));
  CHECK(config_of(replaced(kLlama, "attention_bias\": false", "attention_bias\": true")).biases ==
        (ProductBiases::qkv | ProductBiases::output));
}

TEST_CASE("a file of a configuration gives its model the name of its folder") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("my-llama"));
  write_file(folder.path("my-llama/config.json"), kLlama);
  write_file(folder.path("other.json"), kLlama);
  CHECK(read_transformer_config(folder.path("my-llama/config.json")).name == "my-llama");
  CHECK(read_transformer_config(folder.path("other.json")).name == "other");
  CHECK(parameters(read_transformer_config(folder.path("other.json"))) == 70'553'706'496);
  CHECK_THROWS_AS(static_cast<void>(read_transformer_config(folder.path("missing.json"))), InputError);
}
