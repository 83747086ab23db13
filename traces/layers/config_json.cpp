#include "traces/layers/config_json.hpp"

#include "sim/complaints.hpp"
#include "text/json_reader.hpp"
#include "text/words.hpp"
#include "traces/layers/config_fields.hpp"
#include "traces/layers/config_layers.hpp"
#include "traces/layers/config_towers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

using Kind = JsonValue::Kind;

/// Python's names of numbers that are not finite, outside of strings, become null or, where that is too long, 0.
std::string without_infinities(std::string text) {
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && in_string) {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      for (const auto& [word, by] : {std::pair<std::string_view, std::string_view>{"-Infinity", "null     "},
                                     {"Infinity", "null    "},
                                     {"NaN", "0  "}})
        if (text.compare(i, word.size(), word) == 0) text.replace(i, word.size(), by);
    }
  }
  return text;
}

/// The language model of a configuration of several models; the whole one if there is only one.
const JsonValue& language_part(const JsonValue& whole) {
  for (const char* name : {"text_config", "language_config", "llm_config"}) {
    const JsonValue* const part = whole.find(name);
    if (part != nullptr && part->is(Kind::object) && !part->items.empty()) return *part;
  }
  return whole;
}

std::string type_of(const JsonValue& object, FileComplaints& complaints) {
  const JsonValue* const type = object.find("model_type");
  if (type == nullptr || type->is(Kind::null)) return {};
  if (!type->is(Kind::string))
    complaints.fail(type->place, "model_type", fmt::format("expected a string, got {}", kind_name(type->kind)),
                    "the name of an architecture, such as llama");
  return type->text;
}

/// Complains about a model with another head than one that predicts tokens, such as one for classes.
void check_head(const JsonValue& object, FileComplaints& complaints) {
  static constexpr std::array<std::string_view, 8> kHeads = {
      "ForCausalLM", "LMHeadModel",    "ForConditionalGeneration", "Model",
      "ForMaskedLM", "ForPreTraining", "ForImageTextToText",       "ForMultimodalLM"};
  const JsonValue* classes = object.find("architectures");
  if (classes == nullptr) return;
  for (const JsonValue& each : classes->items) {
    const bool is_known = each.is(Kind::string) &&
                          std::ranges::any_of(kHeads, [&](std::string_view end) { return each.text.ends_with(end); });
    if (is_known || !each.is(Kind::string)) continue;
    complaints.add(each.place, "architectures", fmt::format("the head of {} is not modelled", each.text),
                   "without this field the model is read with a head that predicts the next token");
  }
}

NormKind norm_of(const ConfigFields& fields, const JsonValue& part) {
  const std::string_view norm = fields.text_trait("norm");
  if (norm == "layer") return NormKind::layer;
  if (norm == "layer_without_bias") return NormKind::layer_without_bias;
  if (norm == "layer_without_parameters") return NormKind::layer_without_parameters;
  if (norm == "rms") return NormKind::rms;
  const bool is_layer = part.find("layer_norm_eps") != nullptr || part.find("layer_norm_epsilon") != nullptr ||
                        part.find("layernorm_epsilon") != nullptr;
  return is_layer && part.find("rms_norm_eps") == nullptr ? NormKind::layer : NormKind::rms;
}

/// What a model has beside its layers.
void read_ends(ConfigFields& fields, TransformerModel& model) {
  model.vocabulary = fields.whole("vocabulary");
  model.default_sequence = fields.whole_or("sequence", 0);
  model.head = fields.truth_or("tied", false) ? OutputHead::tied : OutputHead::untied;
  model.head_bias = fields.truth_or("head_bias", false);
  model.dropout = fields.trait("dropout") != 0;
  model.embedding_norm = fields.trait("embedding_norm") != 0;
  if (fields.trait("learned_positions") != 0)
    model.positions = fields.whole("positions") + fields.trait("further_positions");
  if (fields.trait("encoder_only") != 0) {
    model.head = OutputHead::none;
    model.pooler = model.embedding_norm = true;
    model.final_norm = model.causal = false;
    model.token_types = fields.whole_or("token_types", 0);
  }
  if (fields.trait("two_stacks") != 0) {
    model.encoder_layers = model.layers;
    model.layers = fields.whole_or("decoder_layers", model.layers);
    model.relative_buckets = fields.whole_or("relative_buckets", 32);
  }
  model.streams = fields.whole_or("streams", 1);
  model.layer_inputs = fields.whole_or("layer_inputs", 0, 0);
  model.layer_vocabulary = model.layer_inputs > 0 ? fields.whole_or("layer_vocabulary", model.vocabulary) : 0;
  model.mtp_layers = fields.whole_or("prediction_modules", 0, 0);
  if (fields.whole_or("embedding_width", model.hidden) != model.hidden)
    fields.refuse("embedding_width", "an embedding of another width than the hidden size is not known",
                  fmt::format("{}", model.hidden));
}

TransformerModel read_model(ConfigFields& fields, const JsonValue& part) {
  TransformerModel model;
  model.layers = fields.whole("layers");
  model.hidden = fields.whole("hidden");
  model.norm = norm_of(fields, part);
  read_ends(fields, model);
  LayerFields reader{fields, model};
  const std::vector<TransformerLayer> layers = reader.layers();
  if (!fields.complete() || layers.empty()) return model;
  set_layers(model, layers);
  if (model.mtp_layers == 0) return model;
  for (const TransformerLayer& each : reader.prediction(layers)) {
    std::size_t kind = 0;
    while (kind <= model.kinds.size() && !(model.kind(kind) == each)) ++kind;
    if (kind > model.kinds.size()) model.kinds.push_back(each);
    model.mtp_pattern.push_back(static_cast<std::uint16_t>(kind));
  }
  return model;
}

/// The field that a member of a model was read from.
std::string_view word_of(std::string_view member) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kWords = {
      {{"mtp_layers", "prediction_modules"},
       {"default_sequence", "sequence"},
       {"groups", "expert_groups"},
       {"index.heads", "index_heads"},
       {"index.size", "index_size"},
       {"index.top_k", "index_top_k"},
       {"latent", "expert_vectors"},
       {"recurrence.heads", "state_heads"},
       {"recurrence.head_size", "state_head_size"},
       {"recurrence.key_heads", "linear_key_heads"},
       {"recurrence.key_size", "state_size"},
       {"recurrence.chunk", "state_chunk"}}};
  const auto* const found = std::ranges::find(kWords, member, &std::pair<std::string_view, std::string_view>::first);
  if (found != kWords.end()) return found->second;
  static constexpr std::array<std::string_view, 17> kSame = {
      "layers",     "hidden",     "heads",       "key_value_heads", "head_size",  "value_size",
      "vocabulary", "positions",  "window",      "chunk",           "experts",    "top_k",
      "query_rank", "plain_size", "groups_used", "key_value_rank",  "rotary_size"};
  if (std::ranges::find(kSame, member) != kSame.end()) return member;
  return member == "feed_forward" || member == "expert_feed_forward" || member == "shared_feed_forward" ? member : "";
}

void check_model(const TransformerModel& model, const ConfigFields& fields, const std::string& file) {
  try {
    validate(model);
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& complaint) {
      complaint.file = file;
      const std::string_view word = word_of(complaint.key);
      if (word.empty()) return;
      const TextPlace place = fields.place(word);
      complaint.key = fields.name_of(word);
      complaint.line = place.line;
      complaint.column = place.column;
    });
  }
}

/// The traits of the architecture, or nullptr if it is not known.
const ConfigTraits* architecture_of(const JsonValue& whole, const JsonValue& part, const std::string& as,
                                    std::string& architecture, FileComplaints& complaints) {
  if (!as.empty()) {
    architecture = as;
    if (const ConfigTraits* const traits = config_traits("family", as)) return traits;
    complaints.fail({}, "as", fmt::format("the architecture \"{}\" is not known", as),
                    fmt::format("one of {}", join(config_family_names())));
  }
  const std::string own = type_of(part, complaints), outer = type_of(whole, complaints);
  for (const std::string& type : {own, outer}) {
    architecture = type;
    if (const ConfigTraits* const traits = config_traits("family", type)) return traits;
  }
  architecture = own.empty() ? outer : own;
  if (architecture.empty())
    complaints.fail(part.place, "model_type", "the field is missing: it names the architecture",
                    "such as llama or qwen3_moe; --as, or config_as of a training entry, says it beside the file");
  return nullptr;
}

std::vector<std::string> unknown_fields(const ConfigFields& fields, const JsonValue& whole, const JsonValue& part,
                                        FileComplaints& complaints) {
  std::vector<std::string> unknown = fields.unknown();
  if (&whole == &part) return unknown;
  const ConfigTraits none;
  for (const std::string& name : ConfigFields{whole, nullptr, "sizes", none, complaints}.unknown())
    if (name != "language_config" && name != "llm_config") unknown.push_back(name);
  return unknown;
}

}  // namespace

TransformerConfig parse_config(ByteSource& source, const std::string& file, const std::string& name,
                               const std::string& as) {
  const std::string text = without_infinities(read_all(source));
  TextSource read{text};
  const JsonValue whole = read_json(read, file);
  FileComplaints complaints{file};
  if (!whole.is(Kind::object))
    complaints.fail(whole.place, "", fmt::format("expected an object, got {}", kind_name(whole.kind)));
  const JsonValue& part = language_part(whole);
  TransformerConfig config;
  const ConfigTraits none;
  const ConfigTraits* const traits = architecture_of(whole, part, as, config.architecture, complaints);
  check_head(whole, complaints);
  ConfigFields fields{part, &part == &whole ? nullptr : &whole, "sizes", traits == nullptr ? none : *traits,
                      complaints};
  config.unknown = unknown_fields(fields, whole, part, complaints);
  if (traits == nullptr) {
    config.note = fmt::format(
        "the architecture {} is not known: read by its fields, as a decoder with a gated "
        "feed-forward where they do not say otherwise",
        config.architecture);
    for (const std::string& field : config.unknown) {
      const JsonValue* const value = part.find(field);
      complaints.add(value == nullptr ? part.place : value->place, field,
                     fmt::format("a field of the architecture \"{}\" that is not known, and so may be a part of the "
                                 "model that is not",
                                 config.architecture),
                     "--as llama, or config_as: llama of a training entry, reads the file without it");
    }
  }
  config.model = read_model(fields, part);
  config.model.name = name;
  config.model.source = file;
  if (fields.complete()) read_towers(whole, type_of(whole, complaints), config.model, config.unknown, complaints);
  complaints.throw_if_any();
  check_model(config.model, fields, file);
  return config;
}

TransformerModel parse_transformer_config(ByteSource& source, const std::string& file, const std::string& name) {
  return parse_config(source, file, name).model;
}

TransformerConfig read_config(const std::string& path, const std::string& as) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  const std::filesystem::path file{path};
  const std::string folder = file.parent_path().filename().string();
  const bool names_nothing = file.filename() == "config.json" && !folder.empty() && folder != "." && folder != "..";
  return parse_config(*source, path, names_nothing ? folder : file.stem().string(), as);
}

TransformerModel read_transformer_config(const std::string& path) {
  return read_config(path).model;
}

}  // namespace contend
