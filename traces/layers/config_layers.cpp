#include "traces/layers/config_layers.hpp"

#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

using Kind = JsonValue::Kind;
constexpr std::int64_t kMostTogether = std::int64_t{1} << 32;

}  // namespace

std::vector<TransformerLayer> LayerFields::layers() {
  constexpr std::int64_t kMostLayers = 100'000;
  if (model_.layers > kMostLayers)
    fields_.refuse("layers", fmt::format("expected a whole number from 1 to {}, got {}", kMostLayers, model_.layers));
  if (!fields_.complete()) return {};
  if (fields_.has("cross_attention_layers")) {
    fields_.refuse("cross_attention_layers", "layers that attend to images instead of tokens are not known",
                   "a file without them, for the language model alone");
    return {};
  }
  const TransformerLayer usual = attention();
  if (!fields_.complete()) return {};
  if (fields_.has("blocks")) return blocks(usual);
  const std::vector<Words> all = words();
  std::vector<TransformerLayer> layers;
  for (std::size_t place = 0; place < all.size() && fields_.complete(); ++place) {
    layers.push_back(layer_of(all[place], usual));
    if (usual.latent && usual.latent->shared_by_heads && all[place].mixing != Mixing::none)
      compression(place, layers.back());
    const bool is_hashed = static_cast<std::int64_t>(place) < fields_.whole_or("hash_layers", 0, 0);
    if (is_hashed && layers.back().mixture) layers.back().mixture->router_bias = false;
  }
  if (layers.size() == count()) plain_positions(all, layers);
  share_keys(layers);
  return layers;
}

/// The last layers have the keys and values of earlier ones, or every layer but each n-th has the keys and values of
/// the layer before.
void LayerFields::share_keys(std::vector<TransformerLayer>& layers) {
  const auto step = static_cast<std::size_t>(fields_.whole_or("sharing_step", 1));
  if (fields_.truth_or("shares_keys_in_turn", false))
    for (std::size_t place = 0; place < layers.size(); ++place) layers[place].shares_keys = place % step != 0;
  const auto shared = static_cast<std::size_t>(fields_.whole_or("shared_key_layers", 0, 0));
  for (std::size_t place = layers.size() - std::min(shared, layers.size()); place < layers.size(); ++place) {
    layers[place].shares_keys = true;
    if (fields_.truth_or("wide_sharing_layers", false)) layers[place].feed_forward *= 2;
  }
}

std::vector<LayerFields::Words> LayerFields::words() {
  std::vector<Words> all(count());
  if (fields_.trait("recurrent_only") != 0)
    for (Words& each : all) each = {Mixing::state_space, false, false};
  if (!by_lists(all)) {
    by_steps(all);
    windows(all);
  }
  mixtures(all);
  // Sizes of a kind of layer that no layer is: what says which layers are is not known.
  const auto none_is = [&](Mixing mixing) {
    return std::ranges::none_of(all, [mixing](const Words& each) { return each.mixing == mixing; });
  };
  for (const auto& [word, mixing] : {std::pair{"state_size", Mixing::state_space},
                                     {"state_heads", Mixing::state_space},
                                     {"linear_value_heads", Mixing::linear}}) {
    if (!fields_.has(word) || fields_.has("layer_types") || fields_.has("layer_letters") || !none_is(mixing)) continue;
    fields_.refuse(word, "sizes of a kind of layer, but no field that is known says which layers are of this kind",
                   "layer_types, with a kind for each layer");
    break;
  }
  return all;
}

/// Lists with an entry for each layer. False if the file has none.
bool LayerFields::by_lists(std::vector<Words>& all) {
  if (const auto types = fields_.texts("layer_types", count())) {
    by_types(*types, "layer_types", all);
  } else if (fields_.has("layer_letters")) {
    by_letters(fields_.text_or("layer_letters", ""), "layer_letters", all);
  } else if (const auto list = fields_.numbers("attention_list", count())) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i].mixing = (*list)[i] == 1 ? Mixing::full : Mixing::linear;
  } else if (const auto windowed = fields_.numbers("window_list", count())) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i].mixing = (*windowed)[i] == 1 ? Mixing::window : Mixing::full;
  } else if (const auto full = fields_.numbers("attention_layers")) {
    for (Words& each : all) each.mixing = Mixing::state_space;
    for (const std::int64_t i : *full)
      if (i < model_.layers) all[static_cast<std::size_t>(i)].mixing = Mixing::full;
  } else if (const JsonValue* const linear = fields_.find("linear_attention")) {
    const JsonValue* const with_attention = linear->find("full_attn_layers");
    for (Words& each : all) each.mixing = Mixing::linear;
    if (with_attention == nullptr) return true;
    for (const JsonValue& item : with_attention->items) {  // counted from 1
      const auto number = item.whole();
      if (number && *number >= 1 && *number <= all.size()) all[*number - 1].mixing = Mixing::full;
    }
  } else {
    return !fields_.complete();
  }
  return true;
}

void LayerFields::by_types(const std::vector<std::string>& types, std::string_view field, std::vector<Words>& all) {
  static constexpr std::array<std::pair<std::string_view, Words>, 12> kTypes = {
      {{"full_attention", {Mixing::full}},
       {"attention", {Mixing::full}},
       {"global", {Mixing::full}},
       {"compressed_sparse_attention", {Mixing::full}},
       {"heavily_compressed_attention", {Mixing::full}},
       {"sliding_attention", {Mixing::window}},
       {"local", {Mixing::window}},
       {"chunked_attention", {Mixing::chunk}},
       {"linear_attention", {Mixing::linear}},
       {"mamba", {Mixing::state_space}},
       {"moe", {Mixing::none, true, true}},
       {"mlp", {Mixing::none, true}}}};
  const auto is = [](std::string_view wanted) { return [wanted](const std::string& type) { return type == wanted; }; };
  const bool single = fields_.trait("single_halves") != 0 || std::ranges::any_of(types, is("mlp")) ||
                      std::ranges::any_of(types, is("moe"));
  for (std::size_t i = 0; i < types.size() && i < all.size(); ++i) {
    const auto* const found = std::ranges::find(kTypes, types[i], &std::pair<std::string_view, Words>::first);
    if (found == kTypes.end()) {
      std::vector<std::string> known;
      for (const auto& [name, words] : kTypes) known.emplace_back(name);
      return fields_.refuse(field, fmt::format("layer {} is \"{}\", a kind of layer that is not known", i, types[i]),
                            fmt::format("one of {}", join(known)));
    }
    all[i] = found->second;
    if (single && all[i].mixing != Mixing::none) all[i].has_feed_forward = false;
  }
}

void LayerFields::by_letters(std::string_view letters, std::string_view field, std::vector<Words>& all) {
  if (letters.size() != all.size())
    return fields_.refuse(field, fmt::format("expected {} letters, one for each of {}, got {}", all.size(),
                                             fields_.name_of("layers"), letters.size()));
  std::vector<std::string> types;
  for (const char letter : letters) {
    types.emplace_back(letter == 'M'   ? "mamba"
                       : letter == '*' ? "attention"
                       : letter == '-' ? "mlp"
                       : letter == 'E' ? "moe"
                                       : std::string_view{&letter, 1});
  }
  by_types(types, field, all);
}

void LayerFields::by_steps(std::vector<Words>& all) {
  const bool has_linear = fields_.has("linear_value_heads");
  if (const std::int64_t step = fields_.whole_or("full_step", 0, 0); step > 0 && has_linear) {
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].mixing = (i + 1) % static_cast<std::size_t>(step) == 0 ? Mixing::full : Mixing::linear;
  }
  if (const std::int64_t step = fields_.whole_or("attention_step", 0, 0); step > 0) {
    const std::int64_t offset = fields_.whole_or("attention_offset", 0, 0);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].mixing = static_cast<std::int64_t>(i) % step == offset ? Mixing::full : Mixing::state_space;
  }
}

/// Windows of all layers, of every layer but each n-th, by a word of letters, or of all layers from one on.
void LayerFields::windows(std::vector<Words>& all) {
  if (fields_.has("chunk")) {
    for (Words& each : all) each.mixing = Mixing::chunk;  // those without positions see all tokens
    return;
  }
  if (fields_.has("attention_types")) {
    for (std::size_t i = 1; i < all.size(); i += 2) all[i].mixing = Mixing::window;
    return;
  }
  const bool has_window = fields_.has("window") || fields_.trait("window") > 0;
  if (!has_window || fields_.trait("shared_keys") != 0) return;
  if (fields_.has("uses_window") && !fields_.truth_or("uses_window", true)) return;
  const JsonValue* const every = fields_.find("window_every");
  if (every != nullptr && every->is(Kind::string) && !every->text.empty()) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (every->text[i % every->text.size()] == 'L') all[i].mixing = Mixing::window;
    return;
  }
  if (const std::int64_t step = fields_.whole_or("window_every", 0, 0); step > 0) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if ((i + 1) % static_cast<std::size_t>(step) != 0) all[i].mixing = Mixing::window;
    return;
  }
  const bool is_known = !fields_.text_trait("norm").empty();  // else what the file says is all there is to know
  std::size_t first = 0;
  if (fields_.has("window_layers") && fields_.has("uses_window"))
    first = static_cast<std::size_t>(fields_.whole_or("window_layers", 0, 0));
  else if (fields_.trait("window_everywhere", is_known ? 0 : 1) == 0 && !fields_.truth_or("uses_window", false))
    return;
  for (std::size_t i = first; i < all.size(); ++i) all[i].mixing = Mixing::window;
}

/// Which layers have experts: by a list, or every n-th one behind the first ones.
void LayerFields::mixtures(std::vector<Words>& all) {
  if (!fields_.has("experts") || fields_.whole_or("experts", 0, 0) <= 1) return;  // one expert is a dense feed-forward
  if (fields_.has("mixtures_on") && !fields_.truth_or("mixtures_on", true)) return;
  if (std::ranges::any_of(all, [](const Words& each) { return each.is_mixture; })) return;
  if (const auto types = fields_.texts("feed_forward_types", count())) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i].is_mixture = (*types)[i] != "dense";
    return;
  }
  const JsonValue* const step_field = fields_.find("mixture_step");
  if (step_field != nullptr && step_field->is(Kind::array)) {
    const auto list = fields_.numbers("mixture_step", count());
    for (std::size_t i = 0; list && i < all.size(); ++i) all[i].is_mixture = (*list)[i] != 0;
    return;
  }
  const std::int64_t step = fields_.whole_or("mixture_step", 1), first = fields_.whole_or("dense_layers", 0, 0);
  const std::int64_t last = fields_.whole_or("last_mixture", model_.layers - 1, 0);
  const bool has_offset = fields_.has("mixture_offset") || fields_.trait("mixture_offset") > 0;
  const std::int64_t offset = has_offset ? fields_.whole_or("mixture_offset", 0, 0) : 0;
  // DeepSeek counts its steps from layer 0, the others from layer 1 or from an offset.
  const bool from_zero = fields_.trait("shared_keys") != 0 || fields_.has("key_value_rank") || has_offset;
  for (std::int64_t i = first; i < model_.layers && i <= last; ++i)
    all[static_cast<std::size_t>(i)].is_mixture = (from_zero ? i % step == offset % step : (i + 1) % step == 0);
  if (const auto dense = fields_.numbers("dense_list"))
    for (const std::int64_t i : *dense)
      if (i < model_.layers) all[static_cast<std::size_t>(i)].is_mixture = false;
}

/// Layers whose queries and keys have no positions; of pieces of a sequence, these layers see all tokens.
void LayerFields::plain_positions(const std::vector<Words>& words, std::vector<TransformerLayer>& layers) {
  const bool has_types = fields_.has("layer_types");
  const auto list = fields_.numbers("plain_position_layers");
  const std::int64_t step = fields_.whole_or("plain_position_step", 0, 0);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    bool rotates = step == 0 || (i + 1) % static_cast<std::size_t>(step) != 0;
    if (list && list->size() == layers.size()) rotates = (*list)[i] != 0;  // 1 stands for a layer with positions
    if (rotates) continue;
    layers[i].rotates = false;
    if (words[i].mixing == Mixing::chunk && !has_types) layers[i].chunk = 0;
  }
}

TransformerLayer LayerFields::layer_of(const Words& words, const TransformerLayer& usual) {
  TransformerLayer layer = usual;
  switch (words.mixing) {
    case Mixing::full:
      full_sizes(layer);
      break;
    case Mixing::window:
      window_sizes(layer);
      break;
    case Mixing::chunk:
      layer.chunk = fields_.whole("chunk");
      break;
    case Mixing::linear:
    case Mixing::state_space: {
      TransformerLayer without;  // none of attention's sizes counts
      without.recurrence = words.mixing == Mixing::linear ? linear_attention(usual) : state_space();
      without.gated = usual.gated;
      without.parallel = usual.parallel;
      without.biases =
          has(usual.biases, ProductBiases::feed_forward) ? ProductBiases::feed_forward : ProductBiases::none;
      without.attention_norms = usual.attention_norms;
      without.feed_forward_norms = usual.feed_forward_norms;
      layer = without;
      break;
    }
    case Mixing::none: {
      TransformerLayer without;
      without.attends = false;
      without.gated = usual.gated;
      without.biases =
          has(usual.biases, ProductBiases::feed_forward) ? ProductBiases::feed_forward : ProductBiases::none;
      without.attention_norms = 0;
      without.feed_forward_norms = usual.feed_forward_norms;
      layer = without;
      break;
    }
  }
  if (words.has_feed_forward)
    feed_forward(words, layer);
  else
    layer.feed_forward_norms = 0;
  return layer;
}

void LayerFields::feed_forward(const Words& words, TransformerLayer& layer) {
  if (!words.is_mixture) {
    layer.feed_forward = dense_width();
    return;
  }
  layer.mixture = mixture();
  if (fields_.trait("experts_beside_dense") == 0) return;
  // Gemma 4: both have a norm in front, and one behind, and one behind their sum.
  layer.mixture->shared_feed_forward = fields_.whole("feed_forward");
  layer.mixture->scales = model_.hidden + layer.mixture->experts;
  layer.feed_forward_norms += 3;
}

std::int64_t LayerFields::dense_width() {
  const auto ratio = fields_.number_or("feed_forward_ratio", 0);
  if (fields_.has("dense_feed_forward")) return fields_.whole("dense_feed_forward");
  // A model without experts may have the width of its shared ones only (Granite 4).
  if (!fields_.has("feed_forward") && fields_.has("shared_feed_forward")) return fields_.whole("shared_feed_forward");
  if (fields_.has("experts") && fields_.whole_or("experts", 0, 0) <= 1 && fields_.has("shared_feed_forward"))
    return fields_.whole("shared_feed_forward");
  if (!fields_.has("feed_forward") && ratio > 0)
    return static_cast<std::int64_t>(std::llround(ratio * static_cast<double>(model_.hidden)));
  const std::int64_t width = fields_.whole("feed_forward");
  // Short forms of llm-analysis count a gated feed-forward as two matrices.
  if (fields_.name_of("feed_forward") == "ffn_embed_dim" && fields_.trait("gated") != 0 && width == 4 * model_.hidden) {
    const std::int64_t real = (8 * model_.hidden / 3 + 255) / 256 * 256;
    fields_.refuse("feed_forward",
                   fmt::format("{} is four times the hidden size, which stands for two matrices, but the feed-forward "
                               "of this architecture has three",
                               width),
                   fmt::format("the width of one of the three, such as {}", real));
  }
  return width;
}

MixtureOfExperts LayerFields::mixture() {
  MixtureOfExperts made;
  made.experts = fields_.whole("experts");
  made.top_k = fields_.whole("top_k");
  const bool by_width = fields_.text_trait("expert_width") == "feed_forward";
  const bool either = fields_.trait("expert_width_or_feed_forward") != 0 && !fields_.has("expert_feed_forward");
  made.expert_feed_forward = fields_.whole(
      (by_width && !fields_.has("expert_feed_forward")) || either ? "feed_forward" : "expert_feed_forward");
  shared_experts(made);
  made.router_bias = fields_.truth_or("router_bias", false) || fields_.text_or("topk_method", "") == "noaux_tc";
  made.score_bias = fields_.trait("score_bias") != 0;
  made.latent = fields_.whole_or("expert_vectors", 0);
  const std::string method = fields_.text_or("topk_method", "");
  if (method != "" && method != "greedy" && method != "noaux_tc" && method != "group_limited_greedy")
    fields_.refuse("topk_method", fmt::format("\"{}\" is not known", method),
                   "greedy, group_limited_greedy or noaux_tc");
  if (method == "greedy") return made;
  // Some write 0 for no groups.
  made.groups = std::max<std::int64_t>(1, fields_.whole_or("expert_groups", 1, 0));
  made.groups_used = std::max<std::int64_t>(1, fields_.whole_or("groups_used", made.groups, 0));
  return made;
}

void LayerFields::shared_experts(MixtureOfExperts& made) {
  const std::int64_t shared = fields_.whole_or("shared_experts", 0, 0);
  const std::int64_t width = fields_.whole_or("shared_feed_forward", 0, 0);
  if (fields_.trait("shared_feed_forward_of_expert") != 0) {
    made.shared_feed_forward = made.expert_feed_forward;
  } else if (width > 0) {
    made.shared_feed_forward = width;
  } else if (shared > kMostTogether / made.expert_feed_forward) {
    fields_.refuse("shared_experts",
                   fmt::format("{} experts of width {} are too wide together", shared, made.expert_feed_forward));
  } else {
    made.shared_feed_forward = shared * made.expert_feed_forward;
  }
  made.shared_gate = fields_.trait("shared_gate") != 0 && made.shared_feed_forward > 0;
}

/// Layers that were found one by one: attention with so many heads for each of keys, or none; a feed-forward of so many
/// times 2/3 the hidden size, rounded up to 256, or none (Bercovich et al., arXiv 2411.19146).
std::vector<TransformerLayer> LayerFields::blocks(const TransformerLayer& usual) {
  const JsonValue& list = *fields_.find("blocks");
  std::vector<TransformerLayer> layers;
  if (!list.is(Kind::array) || list.items.size() != count()) {
    fields_.refuse("blocks", fmt::format("expected an array of {} blocks, one for each layer", count()));
    return {};
  }
  const auto truth = [](const JsonValue* half, const char* name) {
    const JsonValue* const value = half == nullptr ? nullptr : half->find(name);
    return value != nullptr && value->is(Kind::boolean) && value->boolean;
  };
  for (const JsonValue& block : list.items) {
    const JsonValue *const attention = block.find("attention"), *const feed_forward = block.find("ffn");
    if (truth(attention, "replace_with_linear") || truth(feed_forward, "replace_with_linear")) {
      fields_.refuse("blocks",
                     fmt::format("layer {} has a linear product instead of a half, which is not known", layers.size()));
      return {};
    }
    TransformerLayer layer = usual;
    if (truth(attention, "no_op")) {
      layer = TransformerLayer{};
      layer.attends = false;
      layer.gated = usual.gated;
      layer.attention_norms = 0;
      layer.feed_forward_norms = usual.feed_forward_norms;
    } else if (const JsonValue* const group = attention == nullptr ? nullptr : attention->find("n_heads_in_group")) {
      const auto heads = static_cast<std::int64_t>(group->whole().value_or(1));
      if (heads < 1 || layer.heads % heads != 0)
        fields_.refuse("blocks", fmt::format("layer {}: expected n_heads_in_group to divide the {} heads",
                                             layers.size(), layer.heads));
      else
        layer.key_value_heads = layer.heads / heads;
    }
    if (truth(feed_forward, "no_op")) {
      layer.feed_forward_norms = 0;
    } else {
      layer.feed_forward = block_width(feed_forward);
    }
    layers.push_back(layer);
  }
  return layers;
}

std::int64_t LayerFields::block_width(const JsonValue* half) {
  const JsonValue* const width = half == nullptr ? nullptr : half->find("intermediate_size");
  if (width != nullptr && width->whole().value_or(0) >= 1 && *width->whole() <= (std::uint64_t{1} << 32))
    return static_cast<std::int64_t>(*width->whole());
  const JsonValue* const ratio = half == nullptr ? nullptr : half->find("ffn_mult");
  const std::optional<double> times = ratio == nullptr ? std::nullopt : real_number_of(*ratio);
  if (times && *times > 0 && *times < 1e4) {
    const auto wanted = static_cast<std::int64_t>(2 * *times * static_cast<double>(model_.hidden) / 3);
    return (wanted + 255) / 256 * 256;
  }
  fields_.refuse("blocks", "expected the member ffn of each block to have ffn_mult or intermediate_size");
  return 1;
}

std::vector<TransformerLayer> LayerFields::prediction(const std::vector<TransformerLayer>& layers) {
  std::vector<TransformerLayer> module;
  std::vector<Words> all;
  if (const std::string letters = fields_.text_or("prediction_letters", ""); !letters.empty()) {
    all.resize(letters.size());
    by_letters(letters, "prediction_letters", all);
  } else if (const JsonValue* const types = fields_.find("prediction_types"); types != nullptr) {
    all.resize(types->items.size());
    if (const auto names = fields_.texts("prediction_types", all.size())) by_types(*names, "prediction_types", all);
  } else if (layers.front().latent && layers.front().latent->shared_by_heads) {
    module.push_back(layers.front());
    compression(layers.size(), module.back());  // the list goes on behind the last layer
  }
  const TransformerLayer usual = all.empty() ? TransformerLayer{} : attention();
  for (const Words& words : all)
    if (fields_.complete()) module.push_back(layer_of(words, usual));
  return module;
}

}  // namespace contend
