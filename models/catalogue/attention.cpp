#include "models/catalogue/attention.hpp"

#include <utility>

namespace contend {

namespace {

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
  layer.input_gradient_flops = 5 * flops;
  net.append(std::move(layer));
  return queries;
}

}  // namespace contend
