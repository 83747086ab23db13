#include "models/catalogue/attention.hpp"

#include "sim/check.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr std::int64_t kFusedGradientProducts = 5;

// Queries x keys takes 2 flops for every query position, key position and channel; weights x values takes as many.
std::int64_t product_flops(const AttentionInputs& inputs) {
  return 2 * inputs.queries.elements() * inputs.keys.positions();
}

LayerGeometry geometry_of(LayerOperation operation, const AttentionInputs& inputs) {
  LayerGeometry geometry;
  geometry.operation = operation;
  geometry.heads = inputs.heads;
  geometry.queries = inputs.queries.positions();
  geometry.keys = inputs.keys.positions();
  geometry.head_size = inputs.queries.channels / inputs.heads;
  geometry.key_heads = inputs.keys.channels / geometry.head_size;
  geometry.causal = inputs.causal;
  return geometry;
}

Layer product(std::string name, std::int64_t flops, std::int64_t input_elements, std::int64_t output_elements,
              const LayerGeometry& geometry) {
  Layer layer;
  layer.name = std::move(name);
  layer.kind = LayerKind::attention;
  layer.forward_flops = flops;
  layer.input_gradient_flops = 2 * flops;  // both operands need a gradient
  layer.input_elements = input_elements;
  layer.output_elements = output_elements;
  layer.geometry = geometry;
  return layer;
}

}  // namespace

Feature attention(NetworkBuilder& net, const std::string& at, const AttentionInputs& inputs) {
  const Feature& queries = inputs.queries;
  const std::int64_t flops = product_flops(inputs);
  const Feature scores{inputs.heads, queries.positions(), inputs.keys.positions(), true};
  net.append(product(at + "scores", flops, queries.elements() + inputs.keys.elements(), scores.elements(),
                     geometry_of(LayerOperation::attention_scores, inputs)));
  net.activation(at + "attn_dropout", net.softmax(at + "softmax", scores));
  net.append(product(at + "context", flops, scores.elements() + inputs.values.elements(), queries.elements(),
                     geometry_of(LayerOperation::attention_context, inputs)));
  return queries;
}

Feature fused_attention(NetworkBuilder& net, const std::string& name, const AttentionInputs& inputs) {
  const Feature& queries = inputs.queries;
  const std::int64_t flops = product_flops(inputs);
  Layer layer = product(name, 2 * flops, queries.elements() + inputs.keys.elements() + inputs.values.elements(),
                        queries.elements(), geometry_of(LayerOperation::fused_attention, inputs));
  layer.input_gradient_flops = kFusedGradientProducts * flops;
  net.append(std::move(layer));
  return queries;
}

LayerTable with_fused_attention(LayerTable table) {
  // As attention() appends them.
  constexpr std::array kSteps{LayerOperation::attention_scores, LayerOperation::softmax, LayerOperation::activation,
                              LayerOperation::attention_context};
  const auto begins_at = [&](std::size_t i) {
    for (std::size_t step = 0; step < kSteps.size(); ++step) {
      if (i + step >= table.layers.size()) return false;
      const std::optional<LayerGeometry>& geometry = table.layers[i + step].geometry;
      if (!geometry || geometry->operation != kSteps[step]) return false;
    }
    return true;
  };
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < table.layers.size(); ++i) {
    if (!begins_at(i)) {
      layers.push_back(std::move(table.layers[i]));
      continue;
    }
    const Layer& context = table.layers[i + kSteps.size() - 1];
    Layer fused = table.layers[i];
    constexpr std::string_view kScores = "scores";
    CONTEND_CHECK(fused.name.ends_with(kScores), "attention() names its layers");
    fused.name.replace(fused.name.size() - kScores.size(), kScores.size(), "attention");
    fused.geometry->operation = LayerOperation::fused_attention;
    // The input of the context is scores and values.
    fused.input_elements += context.input_elements - fused.output_elements;
    fused.output_elements = context.output_elements;
    fused.input_gradient_flops = kFusedGradientProducts * fused.forward_flops;
    fused.forward_flops += context.forward_flops;
    layers.push_back(std::move(fused));
    i += kSteps.size() - 1;
  }
  table.layers = std::move(layers);
  return table;
}

}  // namespace contend
