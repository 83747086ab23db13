#include "traces/layers/config_json.hpp"

#include "sim/complaints.hpp"
#include "text/json_reader.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

using Kind = JsonValue::Kind;
constexpr std::int64_t kMostOfAField = std::int64_t{1} << 32;

/// Takes fields out of the object, and remembers where those of the model come from.
class ConfigFields {
 public:
  ConfigFields(const JsonValue& object, FileComplaints& complaints) : object_{object}, complaints_{complaints} {}

  [[nodiscard]] FileComplaints& complaints() { return complaints_; }
  [[nodiscard]] TextPlace place(const std::string& key) const {
    const JsonValue* value = object_.find(key);
    return value == nullptr ? object_.place : value->place;
  }
  /// The value, unless it is missing or null.
  [[nodiscard]] const JsonValue* find(const std::string& key) const {
    const JsonValue* value = object_.find(key);
    return value == nullptr || value->is(Kind::null) ? nullptr : value;
  }

  /// A whole number that the configuration must have. `of_model` is the member of TransformerModel that it sets.
  std::int64_t whole(const std::string& key, const char* of_model, std::int64_t least = 1) {
    if (object_.find(key) == nullptr) {
      complaints_.add(object_.place, key, "the field is missing", did_you_mean(key, object_.names));
      incomplete_ = true;
      return least;
    }
    return read(key, object_.find(key), of_model, least);
  }
  std::int64_t whole_or(const std::string& key, const char* of_model, std::int64_t otherwise, std::int64_t least = 1) {
    const JsonValue* value = find(key);
    return value == nullptr ? otherwise : read(key, value, of_model, least);
  }

  /// A whole number that may be null, which stands for `otherwise`.
  std::int64_t whole_or_null(const std::string& key, const char* of_model, std::int64_t otherwise,
                             std::int64_t least = 1) {
    const JsonValue* value = object_.find(key);
    return value != nullptr && value->is(Kind::null) ? otherwise : whole(key, of_model, least);
  }

  bool truth_or(const std::string& key, bool otherwise) {
    const JsonValue* value = find(key);
    if (value == nullptr) return otherwise;
    if (value->is(Kind::boolean)) return value->boolean;
    wrong_kind(key, *value, "true or false");
    return otherwise;
  }

  std::string text_or(const std::string& key, std::string otherwise) {
    const JsonValue* value = find(key);
    if (value == nullptr) return otherwise;
    if (value->is(Kind::string)) return value->text;
    wrong_kind(key, *value, "a string");
    return otherwise;
  }

  void refuse(const std::string& key, std::string reason, std::string hint = {}) {
    complaints_.add(place(key), key, std::move(reason), std::move(hint));
    incomplete_ = true;
  }
  void wrong_kind(const std::string& key, const JsonValue& value, std::string_view wanted) {
    refuse(key, fmt::format("expected {}, got {}", wanted, kind_name(value.kind)));
  }

  /// False if a field had a fault, so that the model is not what the file means.
  [[nodiscard]] bool complete() const { return !incomplete_; }
  /// The field that set a member of the model; empty if none did.
  [[nodiscard]] std::string field_of(const std::string& member) const {
    const auto found = field_of_.find(member);
    return found == field_of_.end() ? std::string{} : found->second;
  }

 private:
  std::int64_t read(const std::string& key, const JsonValue* value, const char* of_model, std::int64_t least) {
    field_of_[of_model] = key;
    const std::optional<std::uint64_t> number = value->whole();
    if (number && *number >= static_cast<std::uint64_t>(least) && *number <= kMostOfAField)
      return static_cast<std::int64_t>(*number);
    const std::string got = value->is(Kind::number) ? value->text : std::string{kind_name(value->kind)};
    refuse(key, fmt::format("expected a whole number from {} to {}, got {}", least, kMostOfAField, got));
    return least;
  }

  const JsonValue& object_;
  FileComplaints& complaints_;
  std::map<std::string, std::string> field_of_;
  bool incomplete_ = false;
};

/// What most architectures have. Llama had no grouped queries at first, nor a field for them.
TransformerModel common(ConfigFields& fields, bool may_lack_groups = false) {
  TransformerModel model;
  model.layers = fields.whole("num_hidden_layers", "layers");
  model.hidden = fields.whole("hidden_size", "hidden");
  model.heads = fields.whole("num_attention_heads", "heads");
  model.vocabulary = fields.whole("vocab_size", "vocabulary");
  const char* groups = "num_key_value_heads";
  model.key_value_heads = may_lack_groups ? fields.whole_or(groups, "key_value_heads", model.heads)
                                          : fields.whole_or_null(groups, "key_value_heads", model.heads);
  model.default_sequence = fields.whole_or("max_position_embeddings", "default_sequence", 0);
  model.gated = true;
  model.norm = NormKind::rms;
  return model;
}

void head_size(ConfigFields& fields, TransformerModel& model) {
  model.head_size = fields.whole_or("head_dim", "head_size", 0);
  if (model.head_size > 0 || !fields.complete()) return;
  model.head_size = std::max<std::int64_t>(1, model.hidden / model.heads);
  if (model.hidden % model.heads != 0)
    fields.refuse(
        "num_attention_heads",
        fmt::format("{} heads don't divide the hidden size {}, and there is no head_dim", model.heads, model.hidden));
}

void tie(ConfigFields& fields, TransformerModel& model, bool otherwise) {
  model.head = fields.truth_or("tie_word_embeddings", otherwise) ? OutputHead::tied : OutputHead::untied;
}

/// Attention to the last tokens only would be less work than what is counted.
void refuse_window(ConfigFields& fields, bool is_used) {
  if (is_used && fields.find("sliding_window") != nullptr)
    fields.refuse("sliding_window", "attention to a window of tokens is not modelled",
                  "null, if the sequences are no longer than the window");
}

/// The biases of attention and of the feed-forward, which are fields of their own.
void llama_biases(ConfigFields& fields, TransformerModel& model) {
  const bool attention = fields.truth_or("attention_bias", false), feed_forward = fields.truth_or("mlp_bias", false);
  if (attention && feed_forward) model.biases = ProductBiases::all;
  if (attention == feed_forward) return;
  fields.refuse(attention ? "attention_bias" : "mlp_bias", "biases of one half of a layer only are not modelled",
                "attention_bias and mlp_bias both true or both false");
}

void no_biases(ConfigFields& fields) {
  if (fields.truth_or("attention_bias", false))
    fields.refuse("attention_bias", "biases of attention only are not modelled", "false");
}

TransformerModel read_llama(ConfigFields& fields) {
  TransformerModel model = common(fields, true);
  head_size(fields, model);
  model.feed_forward = fields.whole("intermediate_size", "feed_forward");
  llama_biases(fields, model);
  tie(fields, model, false);
  return model;
}

TransformerModel read_mistral(ConfigFields& fields) {
  TransformerModel model = read_llama(fields);
  refuse_window(fields, true);
  return model;
}

TransformerModel read_mixtral(ConfigFields& fields) {
  TransformerModel model = common(fields);
  head_size(fields, model);
  model.mixture = MixtureOfExperts{};
  model.mixture->experts = fields.whole("num_local_experts", "experts");
  model.mixture->top_k = fields.whole("num_experts_per_tok", "top_k");
  model.mixture->expert_feed_forward = fields.whole("intermediate_size", "expert_feed_forward");
  refuse_window(fields, true);
  tie(fields, model, false);
  return model;
}

TransformerModel read_qwen2(ConfigFields& fields) {
  TransformerModel model = common(fields);
  head_size(fields, model);
  model.feed_forward = fields.whole("intermediate_size", "feed_forward");
  model.biases = ProductBiases::qkv;
  refuse_window(fields, fields.truth_or("use_sliding_window", false));
  tie(fields, model, false);
  return model;
}

TransformerModel read_qwen3(ConfigFields& fields) {
  TransformerModel model = common(fields);
  model.head_size = fields.whole_or("head_dim", "head_size", 128);
  model.feed_forward = fields.whole("intermediate_size", "feed_forward");
  model.query_key_norms = true;
  no_biases(fields);
  refuse_window(fields, fields.truth_or("use_sliding_window", false));
  tie(fields, model, false);
  return model;
}

/// Layers with a dense feed-forward must be the first ones.
std::int64_t qwen3_dense_layers(ConfigFields& fields) {
  if (fields.whole_or("decoder_sparse_step", "dense_layers", 1) != 1)
    fields.refuse("decoder_sparse_step", "experts in every n-th layer only are not modelled", "1");
  const JsonValue* dense = fields.find("mlp_only_layers");
  if (dense == nullptr) return 0;
  if (!dense->is(Kind::array)) {
    fields.wrong_kind("mlp_only_layers", *dense, "an array");
    return 0;
  }
  std::int64_t next = 0;
  for (const JsonValue& layer : dense->items) {
    if (layer.whole() != static_cast<std::uint64_t>(next++)) {
      fields.refuse("mlp_only_layers", "dense layers that are not the first ones, in order, are not modelled");
      break;
    }
  }
  return next;
}

TransformerModel read_qwen3_moe(ConfigFields& fields) {
  TransformerModel model = common(fields);
  model.head_size = fields.whole_or("head_dim", "head_size", std::max<std::int64_t>(1, model.hidden / model.heads));
  model.feed_forward = fields.whole("intermediate_size", "feed_forward");
  model.query_key_norms = true;
  model.mixture = MixtureOfExperts{};
  model.mixture->experts = fields.whole("num_experts", "experts");
  model.mixture->top_k = fields.whole("num_experts_per_tok", "top_k");
  model.mixture->expert_feed_forward = fields.whole("moe_intermediate_size", "expert_feed_forward");
  model.mixture->dense_layers = qwen3_dense_layers(fields);
  no_biases(fields);
  refuse_window(fields, fields.truth_or("use_sliding_window", false));
  tie(fields, model, false);
  return model;
}

TransformerModel read_gpt2(ConfigFields& fields) {
  TransformerModel model;
  model.layers = fields.whole("n_layer", "layers");
  model.hidden = fields.whole("n_embd", "hidden");
  model.heads = model.key_value_heads = fields.whole("n_head", "heads");
  model.vocabulary = fields.whole("vocab_size", "vocabulary");
  model.positions = model.default_sequence = fields.whole("n_positions", "positions");
  model.feed_forward = fields.whole_or("n_inner", "feed_forward", 4 * model.hidden);
  model.biases = ProductBiases::all;
  model.dropout = true;
  if (model.hidden % model.heads != 0)
    fields.refuse("n_head", fmt::format("{} heads don't divide the hidden size {}", model.heads, model.hidden));
  model.head_size = std::max<std::int64_t>(1, model.hidden / model.heads);
  tie(fields, model, true);
  return model;
}

TransformerModel read_deepseek(ConfigFields& fields) {
  TransformerModel model = common(fields);
  model.feed_forward = fields.whole("intermediate_size", "feed_forward");
  LatentAttention latent;
  latent.query_rank = fields.whole_or_null("q_lora_rank", "query_rank", 0);
  latent.key_value_rank = fields.whole("kv_lora_rank", "key_value_rank");
  latent.plain_size = fields.whole("qk_nope_head_dim", "plain_size");
  latent.rotary_size = fields.whole("qk_rope_head_dim", "rotary_size");
  latent.value_size = fields.whole("v_head_dim", "value_size");
  model.latent = latent;
  no_biases(fields);
  tie(fields, model, false);
  if (fields.whole_or("moe_layer_freq", "dense_layers", 1) != 1)
    fields.refuse("moe_layer_freq", "experts in every n-th layer only are not modelled", "1");
  MixtureOfExperts mixture;
  mixture.experts = fields.whole("n_routed_experts", "experts");
  mixture.top_k = fields.whole("num_experts_per_tok", "top_k");
  mixture.expert_feed_forward = fields.whole("moe_intermediate_size", "expert_feed_forward");
  const std::int64_t shared = fields.whole_or_null("n_shared_experts", "shared_feed_forward", 0, 0);
  if (shared > kMostOfAField / mixture.expert_feed_forward)
    fields.refuse("n_shared_experts",
                  fmt::format("{} experts of width {} are too wide together", shared, mixture.expert_feed_forward));
  else
    mixture.shared_feed_forward = mixture.expert_feed_forward * shared;
  mixture.dense_layers = fields.whole("first_k_dense_replace", "dense_layers", 0);
  model.mixture = mixture;
  return model;
}

void deepseek_groups(ConfigFields& fields, MixtureOfExperts& mixture) {
  mixture.groups = fields.whole("n_group", "groups");
  mixture.groups_used = fields.whole("topk_group", "groups_used");
}

TransformerModel read_deepseek_v2(ConfigFields& fields) {
  TransformerModel model = read_deepseek(fields);
  const std::string method = fields.text_or("topk_method", "greedy");
  if (method == "group_limited_greedy") {
    deepseek_groups(fields, *model.mixture);
  } else if (method != "greedy") {
    fields.refuse("topk_method", fmt::format("\"{}\" is not modelled", method), "greedy or group_limited_greedy");
  }
  return model;
}

TransformerModel read_deepseek_v3(ConfigFields& fields) {
  TransformerModel model = read_deepseek(fields);
  deepseek_groups(fields, *model.mixture);
  model.mixture->router_bias = true;
  model.mtp_layers = fields.whole_or("num_nextn_predict_layers", "mtp_layers", 0, 0);
  return model;
}

struct Architecture {
  std::string_view name;
  TransformerModel (*read)(ConfigFields& fields);
};

constexpr std::array<Architecture, 10> kArchitectures = {Architecture{"deepseek_v2", &read_deepseek_v2},
                                                         Architecture{"deepseek_v3", &read_deepseek_v3},
                                                         Architecture{"gpt2", &read_gpt2},
                                                         Architecture{"kimi_k2", &read_deepseek_v3},
                                                         Architecture{"llama", &read_llama},
                                                         Architecture{"mistral", &read_mistral},
                                                         Architecture{"mixtral", &read_mixtral},
                                                         Architecture{"qwen2", &read_qwen2},
                                                         Architecture{"qwen3", &read_qwen3},
                                                         Architecture{"qwen3_moe", &read_qwen3_moe}};

const Architecture& architecture_of(const JsonValue& object, FileComplaints& complaints) {
  std::vector<std::string> names;
  for (const Architecture& each : kArchitectures) names.emplace_back(each.name);
  const std::string supported = "supported are " + join(names);
  const JsonValue* type = object.find("model_type");
  if (type == nullptr)
    complaints.fail(object.place, "model_type", "the field is missing: it names the architecture", supported);
  if (!type->is(Kind::string))
    complaints.fail(type->place, "model_type", fmt::format("expected a string, got {}", kind_name(type->kind)),
                    supported);
  const auto found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                  [&](const Architecture& each) { return each.name == type->text; });
  if (found == kArchitectures.end())
    complaints.fail(type->place, "model_type", fmt::format("the architecture \"{}\" is not supported", type->text),
                    supported);
  return *found;
}

/// Complains about a model with another head than one that predicts the next token, such as one for classes.
void check_head(const JsonValue& object, FileComplaints& complaints) {
  const JsonValue* classes = object.find("architectures");
  if (classes == nullptr) return;
  for (const JsonValue& each : classes->items) {
    if (!each.is(Kind::string) || each.text.ends_with("ForCausalLM") || each.text.ends_with("LMHeadModel")) continue;
    complaints.add(each.place, "architectures", fmt::format("the head of {} is not modelled", each.text),
                   "without this field the model is read with a head that predicts the next token");
  }
}

}  // namespace

TransformerModel parse_transformer_config(ByteSource& source, const std::string& file, const std::string& name) {
  const JsonValue object = read_json(source, file);
  FileComplaints complaints{file};
  if (!object.is(Kind::object))
    complaints.fail(object.place, "", fmt::format("expected an object, got {}", kind_name(object.kind)));
  const Architecture& architecture = architecture_of(object, complaints);
  check_head(object, complaints);
  ConfigFields fields{object, complaints};
  TransformerModel model = architecture.read(fields);
  complaints.throw_if_any();
  model.name = name;
  model.source = file;
  try {
    validate(model);
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& complaint) {
      const std::string field = fields.field_of(complaint.key);
      complaint.file = file;
      if (field.empty()) return;
      const TextPlace place = fields.place(field);
      complaint.key = field;
      complaint.line = place.line;
      complaint.column = place.column;
    });
  }
  return model;
}

TransformerModel read_transformer_config(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  const std::filesystem::path file{path};
  const std::string folder = file.parent_path().filename().string();
  const bool names_nothing = file.filename() == "config.json" && !folder.empty() && folder != "." && folder != "..";
  return parse_transformer_config(*source, path, names_nothing ? folder : file.stem().string());
}

}  // namespace contend
