#include "traces/layers/config_layers.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace contend {

TransformerLayer LayerFields::attention() {
  TransformerLayer layer;
  layer.gated = fields_.trait("gated", 1) != 0;
  const std::string activation = fields_.text_or("activation", "");
  if (activation.starts_with("gated")) layer.gated = true;  // T5
  if (activation == "relu2" && !fields_.has("mixtures_on")) layer.gated = false;
  layer.parallel = fields_.truth_or("parallel", false);
  layer.attention_norms = static_cast<int>(fields_.trait("attention_norms", 1));
  layer.feed_forward_norms = static_cast<int>(fields_.trait("feed_forward_norms", 1));
  if (layer.parallel && fields_.trait("parallel_shares_norm") != 0) layer.feed_forward_norms = 0;
  if (!layer.parallel || fields_.truth_or("new_decoder", false))
    layer.feed_forward_norms = std::max(layer.feed_forward_norms, 1);
  if (fields_.trait("recurrent_only") != 0) return layer;
  layer.heads = fields_.heads("heads");
  layer.key_value_heads = key_value_heads(layer.heads);
  layer.biases = biases();
  layer.sinks = fields_.truth_or("sinks", false);
  layer.rotates = fields_.trait("no_positions") == 0;
  if (fields_.has("key_value_rank") || fields_.trait("shared_keys") != 0) {
    latent(layer);
  } else {
    layer.head_size = head_size(layer.heads);
    layer.value_size = fields_.whole_or("value_size", 0);
    if (layer.value_size == layer.head_size) layer.value_size = 0;
    query_key_norms(layer);
    if (fields_.truth_or("output_gate", false)) layer.gate_width = layer.heads * layer.head_size;
  }
  if (fields_.has("index_heads")) index(layer);
  return layer;
}

std::int64_t LayerFields::key_value_heads(std::int64_t heads) {
  if (fields_.has("new_decoder") && fields_.truth_or("new_decoder", false))
    return fields_.whole_or("key_value_heads", heads);
  if (fields_.has("multi_query")) return fields_.truth_or("multi_query", true) ? 1 : heads;
  if (fields_.has("multi_query_attention") && !fields_.truth_or("multi_query_attention", true)) return heads;
  // Where a family has always had this field, a file without it is not complete; null stands for as many as heads.
  const bool needs = fields_.trait("groups_optional", 1) == 0 && fields_.trait("two_stacks") == 0;
  if (needs && !fields_.is_null("key_value_heads")) return fields_.whole("key_value_heads");
  return fields_.whole_or("key_value_heads", heads);
}

std::int64_t LayerFields::head_size(std::int64_t heads) {
  const std::int64_t given = fields_.whole_or("head_size", 0);
  if (given > 0 || !fields_.complete()) return std::max<std::int64_t>(1, given);
  if (model_.hidden % heads != 0)
    fields_.refuse("heads", fmt::format("{} heads don't divide the hidden size {}, and there is no {}", heads,
                                        model_.hidden, fields_.name_of("head_size")));
  return std::max<std::int64_t>(1, model_.hidden / heads);
}

ProductBiases LayerFields::biases() {
  ProductBiases all = ProductBiases::none;
  const bool everywhere = fields_.trait("all_biases") != 0;
  if (fields_.truth_or("biases", everywhere) && !fields_.truth_or("no_biases", false))
    return fields_.trait("biases_of_attention") != 0 ? ProductBiases::qkv | ProductBiases::output : ProductBiases::all;
  const bool only_qkv = fields_.text_trait("attention_bias_is") == "qkv";
  if (fields_.truth_or("attention_bias", false)) {
    all = all | ProductBiases::qkv;
    if (!only_qkv && fields_.truth_or("output_bias", true)) all = all | ProductBiases::output;
  } else if (fields_.truth_or("output_bias", false)) {
    all = all | ProductBiases::output;
  }
  if (fields_.truth_or("qkv_bias", false)) all = all | ProductBiases::qkv;
  if (fields_.truth_or("feed_forward_bias", false) || fields_.trait("biases_of_experts") != 0)
    all = all | ProductBiases::feed_forward;
  return all;
}

void LayerFields::query_key_norms(TransformerLayer& layer) {
  std::string_view style = fields_.text_trait("query_key_norms");
  if (fields_.has("query_key_norms")) {
    if (!fields_.truth_or("query_key_norms", false)) return;
    const std::string_view otherwise = fields_.text_trait("norm_style");
    if (style.empty()) style = otherwise.empty() ? "each" : otherwise;
    if (fields_.text_or("norm_of_heads", "") == "per_layer") style = "all";
  }
  layer.query_key_norms = style == "each" || style == "all";
  layer.wide_norms = style == "all";
}

void LayerFields::latent(TransformerLayer& layer) {
  LatentAttention sizes;
  sizes.query_rank = fields_.whole_or("query_rank", 0);
  sizes.rotary_size = fields_.whole("rotary_size");
  if (fields_.trait("shared_keys") != 0) {
    const std::int64_t size = fields_.whole("head_size", 2);
    if (size <= sizes.rotary_size && fields_.complete())
      fields_.refuse("rotary_size",
                     fmt::format("expected less than the head size {}, got {}", size, sizes.rotary_size));
    sizes.shared_by_heads = true;
    sizes.plain_size = sizes.key_value_rank = std::max<std::int64_t>(1, size - sizes.rotary_size);
    sizes.value_size = size;
    sizes.output_groups = fields_.whole("output_groups");
    sizes.output_rank = fields_.whole("output_rank");
  } else {
    sizes.key_value_rank = fields_.whole("key_value_rank");
    sizes.plain_size = fields_.whole("plain_size");
    sizes.value_size = fields_.whole("value_size");
    if (has(layer.biases, ProductBiases::qkv))
      fields_.refuse("attention_bias", "latent attention has no biases here", "false");
  }
  layer.key_value_heads = layer.heads;
  layer.latent = sizes;
}

void LayerFields::index(TransformerLayer& layer) {
  layer.index = SparseIndex{fields_.heads("index_heads"), fields_.whole("index_size"), fields_.whole("index_top_k")};
}

Recurrence LayerFields::linear_attention(const TransformerLayer& layer) {
  if (fields_.has("linear_attention")) return delta_by_channel();
  Recurrence made;
  if (fields_.trait("lightning") != 0 || !fields_.has("linear_value_heads")) {
    if (fields_.trait("lightning") == 0) fields_.refuse("linear_value_heads", "linear attention needs its sizes");
    made.heads = made.key_heads = layer.heads;
    made.head_size = made.key_size = layer.head_size;
    made.controls = 0;
    made.norm_size = made.value_width();
    made.chunk = 256;
    return made;
  }
  made.heads = fields_.heads("linear_value_heads");
  made.head_size = fields_.whole("linear_value_size");
  made.key_heads = fields_.heads("linear_key_heads");
  made.key_size = fields_.whole("linear_key_size");
  made.convolution = fields_.whole("linear_convolution");
  made.controls = made.scalars = 2;  // a strength and a decay; a rate and an offset of the decay
  made.delta_rule = true;
  made.norm_size = made.head_size;
  return made;
}

/// Kimi's delta attention.
Recurrence LayerFields::delta_by_channel() {
  Recurrence made;
  const JsonValue& object = *fields_.find("linear_attention");
  const auto take = [&](const char* name) {
    const JsonValue* const value = object.find(name);
    const auto number = value == nullptr ? std::optional<std::uint64_t>{} : value->whole();
    if (number && *number >= 1 && *number < (1U << 20)) return static_cast<std::int64_t>(*number);
    fields_.refuse("linear_attention", fmt::format("expected its member {} to be a whole number above 0", name));
    return std::int64_t{1};
  };
  made.heads = made.key_heads = take("num_heads");
  made.head_size = made.key_size = take("head_dim");
  made.convolution = take("short_conv_kernel_size");
  made.controls = made.scalars = 1;
  made.gate_rank = made.decay_rank = made.norm_size = made.head_size;
  made.delta_rule = true;
  return made;
}

Recurrence LayerFields::state_space() {
  if (fields_.trait("first_form") != 0) return first_state_space();
  Recurrence made;
  made.head_size = fields_.whole("state_head_size");
  const std::int64_t width =
      static_cast<std::int64_t>(fields_.number_or("state_expansion", 2) * static_cast<double>(model_.hidden));
  const char* const heads = fields_.trait("recurrent_only") != 0 ? "heads" : "state_heads";
  made.heads = fields_.whole_or(heads, std::max<std::int64_t>(1, width / made.head_size));
  made.key_heads = fields_.heads("state_groups");
  made.key_size = fields_.whole("state_size");
  made.convolution = fields_.whole("state_convolution");
  made.convolution_bias = fields_.truth_or("state_convolution_bias", true);
  made.product_biases = fields_.truth_or("state_biases", false);
  made.scalars = 3;  // a rate, an offset of the step, a share of the input
  made.norm_size = made.value_width();
  made.chunk = fields_.whole_or("state_chunk", 256);
  return made;
}

Recurrence LayerFields::first_state_space() {
  Recurrence made;
  made.heads = static_cast<std::int64_t>(fields_.number_or("state_expansion", 2) * static_cast<double>(model_.hidden));
  made.head_size = made.key_heads = 1;
  made.key_size = fields_.whole("state_size");
  made.convolution = fields_.whole("state_convolution");
  made.convolution_bias = fields_.truth_or("state_convolution_bias", true);
  made.controls = 0;
  const JsonValue* const rank = fields_.find("step_rank");
  const bool is_number = rank != nullptr && rank->is(JsonValue::Kind::number);
  made.step_rank = is_number ? fields_.whole("step_rank") : (model_.hidden + 15) / 16;
  made.step_norms = fields_.trait("step_norms") != 0;
  return made;
}

/// A layer with a window may have other heads than one without (MiMo-V2).
void LayerFields::window_sizes(TransformerLayer& layer) {
  layer.window = fields_.whole("window");
  layer.heads = fields_.whole_or("window_heads", layer.heads);
  layer.key_value_heads = fields_.whole_or("window_key_value_heads", layer.key_value_heads);
  layer.head_size = fields_.whole_or("window_head_size", layer.head_size);
  layer.value_size = fields_.whole_or("window_value_size", layer.value_size);
  if (layer.value_size == layer.head_size) layer.value_size = 0;
  layer.sinks = fields_.truth_or("window_sinks", layer.sinks);
}

/// A layer without a window may have other heads than the usual ones (Gemma 4).
void LayerFields::full_sizes(TransformerLayer& layer) {
  layer.head_size = fields_.whole_or("full_head_size", layer.head_size);
  layer.key_value_heads = fields_.whole_or("full_key_value_heads", layer.key_value_heads);
  layer.values_are_keys = fields_.truth_or("values_are_keys", false);
  layer.sinks = fields_.truth_or("whole_sinks", layer.sinks);
}

/// DeepSeek-V4: all layers have a window, most of them keys made of several tokens beside it; only if few tokens make
/// one is there an index, and such keys overlap.
void LayerFields::compression(std::size_t place, TransformerLayer& layer) {
  const auto ratios = fields_.numbers("compress_ratios");
  layer.window = fields_.whole("window");
  const std::int64_t ratio = ratios && place < ratios->size() ? (*ratios)[place] : 0;
  constexpr std::int64_t kFew = 4;
  layer.latent->compressed_tokens = ratio;
  layer.latent->overlapping = ratio == kFew;
  if (ratio != kFew) layer.index.reset();
}

}  // namespace contend
