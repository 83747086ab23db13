#include "cli/model_report.hpp"

#include "cli/text_table.hpp"
#include "models/parallel/flops.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kCacheBytes = 2;  // of a number of the cache: bf16
constexpr double kGigaflop = 1e9, kPasses = 3;

std::string letter_of(std::size_t kind) {
  return kind < 26 ? std::string(1, static_cast<char>('A' + kind)) : fmt::format("K{}", kind);
}

/// Kinds one after the other, equal neighbours counted: `3 A, B`.
std::string run_text(const std::vector<std::uint16_t>& kinds) {
  std::vector<std::string> runs;
  for (std::size_t from = 0; from < kinds.size();) {
    std::size_t to = from;
    while (to < kinds.size() && kinds[to] == kinds[from]) ++to;
    const std::string letter = letter_of(kinds[from]);
    runs.push_back(to - from == 1 ? letter : fmt::format("{} {}", to - from, letter));
    from = to;
  }
  return join(runs);
}

/// `3 B, then 29 times (3 A, B)`.
std::string pattern_text(const TransformerModel& model) {
  std::vector<std::string> parts;
  if (model.encoder_layers > 0) parts.push_back(fmt::format("{} A of the encoder", model.encoder_layers));
  if (!model.front.empty()) parts.push_back(run_text(model.front));
  const auto behind = model.layers - static_cast<std::int64_t>(model.front.size());
  if (behind > 0 && model.pattern.empty()) parts.push_back(fmt::format("{} A", behind));
  if (behind > 0 && !model.pattern.empty()) {
    const auto times = behind / static_cast<std::int64_t>(model.pattern.size());
    parts.push_back(times == 1 ? run_text(model.pattern)
                               : fmt::format("{} times ({})", times, run_text(model.pattern)));
  }
  return join(parts, ", then ");
}

std::string mixing_text(const TransformerLayer& kind) {
  if (!kind.attends) return "none";
  std::vector<std::string> parts;
  if (kind.recurrence) {
    const Recurrence& sizes = *kind.recurrence;
    const std::string_view form = sizes.step_rank > 0 ? "state space, first form"
                                  : sizes.delta_rule  ? "gated delta rule"
                                  : sizes.scalars > 0 ? "state space"
                                                      : "linear attention";
    parts.emplace_back(form);
    parts.push_back(
        fmt::format("{} heads of {}, {} of {}", sizes.heads, sizes.head_size, sizes.key_heads, sizes.key_size));
    if (sizes.convolution > 0) parts.push_back(fmt::format("convolution of {}", sizes.convolution));
    return join(parts);
  }
  std::string reach = "all tokens";
  if (kind.window > 0) reach = fmt::format("window of {}", kind.window);
  if (kind.chunk > 0) reach = fmt::format("pieces of {}", kind.chunk);
  parts.push_back(reach);
  if (kind.latent) {
    const LatentAttention& sizes = *kind.latent;
    parts.push_back(fmt::format("{} heads of {}, latent {}", kind.heads, sizes.query_size(),
                                sizes.key_value_rank + sizes.rotary_size));
    if (sizes.compressed_tokens > 0) parts.push_back(fmt::format("a key for {} tokens", sizes.compressed_tokens));
  } else {
    parts.push_back(fmt::format("{} heads of {}, {} of keys", kind.heads, kind.head_size, kind.key_value_heads));
    if (kind.value_size > 0) parts.push_back(fmt::format("values of {}", kind.value_size));
  }
  if (kind.index) parts.push_back(fmt::format("index of {}", kind.index->top_k));
  if (kind.sinks) parts.emplace_back("sinks");
  if (kind.gate_width > 0) parts.emplace_back("output gate");
  if (kind.query_key_norms) parts.emplace_back("norms of queries and keys");
  if (kind.values_are_keys) parts.emplace_back("values are keys");
  if (kind.shares_keys) parts.emplace_back("keys of another layer");
  if (!kind.rotates) parts.emplace_back("no positions");
  if (has(kind.biases, ProductBiases::qkv)) parts.emplace_back("biases");
  return join(parts);
}

std::string feed_forward_text(const TransformerLayer& kind) {
  if (!kind.has_feed_forward()) return "none";
  const std::string gated = kind.gated ? "gated" : "not gated";
  const std::string beside = kind.parallel ? ", beside attention" : "";
  if (!kind.mixture) return fmt::format("{}, {}{}", kind.feed_forward, gated, beside);
  const MixtureOfExperts& mixture = *kind.mixture;
  std::string text =
      fmt::format("{} of {} experts of {}, {}", mixture.top_k, mixture.experts, mixture.expert_feed_forward, gated);
  if (mixture.shared_feed_forward > 0) text += fmt::format(", shared {}", mixture.shared_feed_forward);
  if (mixture.latent > 0) text += fmt::format(", on {} numbers", mixture.latent);
  return text + beside;
}

/// Bytes that a token adds to the cache of a layer as long as no window is full.
double token_bytes(const TransformerLayer& kind) {
  return kCacheBytes * (kind.kept_numbers(2) - kind.kept_numbers(1));
}

/// Parameters of a layer of this kind that take no part in the pass of one token.
std::int64_t idle_in(const TransformerModel& model, const TransformerLayer& kind) {
  TransformerModel alone = model;  // whose only layer it is
  static_cast<TransformerLayer&>(alone) = kind;
  alone.kinds.clear();
  alone.front.clear();
  alone.pattern.clear();
  alone.layers = 1;
  alone.encoder_layers = 0;
  return parameters(alone) - active_parameters(alone);
}

struct ModelFigures {
  std::vector<std::int64_t> layers;  ///< of each kind
  std::int64_t total = 0, of_a_token = 0, embedding = 0, head = 0, modules = 0, towers = 0;
  double forward_flops = 0, token_bytes = 0, sequence_bytes = 0;
};

ModelFigures figures_of(const TransformerModel& model, std::int64_t sequence) {
  ModelFigures figures;
  figures.layers.resize(model.kinds.size() + 1);
  for (std::int64_t i = 0; i < model.all_layers(); ++i) {
    ++figures.layers[model.kind_index(i)];
    if (model.is_encoder(i)) continue;
    figures.token_bytes += token_bytes(model.kind_of(i));
    figures.sequence_bytes += kCacheBytes * model.kind_of(i).kept_numbers(static_cast<double>(sequence));
  }
  figures.total = parameters(model);
  figures.of_a_token = active_parameters(model);
  figures.embedding = embedding_parameters(model).total();
  figures.head = head_parameters(model).total();
  figures.modules = model.mtp_layers * mtp_parameters(model).total();
  for (const Tower& tower : model.towers) figures.towers += parameters(tower);
  const auto tokens = static_cast<double>(sequence);
  const SequenceSums one = SequenceSums::equal(1, tokens);
  figures.forward_flops = model_flops(model, one, FlopsConvention::causal) / kPasses / tokens;
  return figures;
}

/// Forward flops of a tower for each of `positions` of an image.
double tower_flops(const Tower& tower, double positions) {
  const SequenceSums one = SequenceSums::equal(1, positions);
  return model_flops(tower.stack, one, FlopsConvention::full) / kPasses / positions +
         2 * static_cast<double>(tower.products);
}
constexpr double kPositions = 1024;

std::string text_of(const TransformerConfig& config, std::int64_t sequence) {
  const TransformerModel& model = config.model;
  const ModelFigures figures = figures_of(model, sequence);
  std::string text = fmt::format("{}: {}, hidden size {}, vocabulary {} ({})\n", model.name,
                                 counted(model.all_layers(), "layer"), model.hidden, model.vocabulary,
                                 model.head == OutputHead::tied     ? "head tied"
                                 : model.head == OutputHead::untied ? "head of its own"
                                                                    : "no head");
  if (!config.architecture.empty()) text += fmt::format("  architecture {}\n", config.architecture);
  text += fmt::format("  layers: {}\n\n", pattern_text(model));
  Table table{{"kind", "layers", "tokens see", "feed-forward", "parameters", "of a token", "cache [B/token]"}};
  table.align_left(2);
  table.align_left(3);
  for (std::size_t kind = 0; kind <= model.kinds.size(); ++kind) {
    const TransformerLayer& each = model.kind(kind);
    const std::int64_t all = kind_parameters(model, each).total();
    table.add({letter_of(kind), std::to_string(figures.layers[kind]), mixing_text(each), feed_forward_text(each),
               std::to_string(all), std::to_string(all - idle_in(model, each)),
               fmt::format("{:g}", token_bytes(each))});
  }
  text += table.text();
  text += fmt::format("\n  parameters {}, of a token {}\n", figures.total, figures.of_a_token);
  text += fmt::format("    in front of the layers {}, behind them {}\n", figures.embedding, figures.head);
  if (figures.modules > 0)
    text += fmt::format("    beside: {} of multi-token prediction, {}\n", counted(model.mtp_layers, "module"),
                        figures.modules);
  for (const Tower& tower : model.towers)
    text += fmt::format("    beside: {} tower of {} layers, {}; forward {:.4g} GFLOP for each of {:g} positions\n",
                        tower.name, tower.stack.layers, parameters(tower), tower_flops(tower, kPositions) / kGigaflop,
                        kPositions);
  text += fmt::format("  forward {:.6g} GFLOP a token, forward and backward {:.6g}, at {} tokens\n",
                      figures.forward_flops / kGigaflop, kPasses * figures.forward_flops / kGigaflop, sequence);
  text += fmt::format("  cache of keys, values and states {:g} B a token, {:.6g} MiB for {} tokens (2 B a number)\n",
                      figures.token_bytes, figures.sequence_bytes / (1 << 20), sequence);
  if (!config.note.empty()) text += fmt::format("  note: {}\n", config.note);
  text += config.unknown.empty() ? "  every field was understood\n"
                                 : fmt::format("  not understood: {}\n", join(config.unknown));
  return text;
}

std::string json_of(const TransformerConfig& config, std::int64_t sequence) {
  const TransformerModel& model = config.model;
  const ModelFigures figures = figures_of(model, sequence);
  JsonWriter json;
  json.begin_object().member("model", model.name).member("architecture", config.architecture);
  json.member("layers", model.all_layers()).member("hidden", model.hidden).member("vocabulary", model.vocabulary);
  json.member("pattern", pattern_text(model));
  json.key("kinds").begin_array();
  for (std::size_t kind = 0; kind <= model.kinds.size(); ++kind) {
    const TransformerLayer& each = model.kind(kind);
    json.begin_object().member("kind", letter_of(kind)).member("layers", figures.layers[kind]);
    json.member("tokens_see", mixing_text(each)).member("feed_forward", feed_forward_text(each));
    const std::int64_t all = kind_parameters(model, each).total();
    json.member("parameters", all).member("active_parameters", all - idle_in(model, each));
    json.member("cache_bytes_per_token", token_bytes(each)).end_object();
  }
  json.end_array();
  json.member("parameters", figures.total).member("active_parameters", figures.of_a_token);
  json.member("embedding_parameters", figures.embedding).member("head_parameters", figures.head);
  json.member("prediction_parameters", figures.modules).member("tower_parameters", figures.towers);
  json.member("sequence", sequence).member("forward_flops_per_token", figures.forward_flops);
  json.member("cache_bytes_per_token", figures.token_bytes).member("cache_bytes", figures.sequence_bytes);
  json.member("note", config.note);
  json.key("not_understood").begin_array();
  for (const std::string& field : config.unknown) json.value(field);
  json.end_array().end_object();
  return json.take();
}

}  // namespace

TransformerConfig named_model(const std::string& name_or_file, const std::string& as) {
  if (const TransformerModel* const model = find_transformer(name_or_file)) return {*model, "", {}, ""};
  if (!std::filesystem::exists(name_or_file))
    throw InputError{{{.file = name_or_file,
                       .reason = "is neither a file nor a name of `contend list transformers`",
                       .hint = did_you_mean(name_or_file, transformer_names())}}};
  return read_config(name_or_file, as);
}

std::string model_report(const TransformerConfig& config, std::int64_t sequence, bool as_json) {
  return as_json ? json_of(config, sequence) : text_of(config, sequence);
}

}  // namespace contend
