#include "models/catalogue/builder.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

ParameterTensor tensor(std::string name, std::vector<std::int64_t> shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements *= size;
  return {std::move(name), elements, std::move(shape)};
}

// Number of windows along one dimension. If it is rounded up, the last window must start within the input or its left
// padding.
std::int64_t windows(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding, bool ceil) {
  const std::int64_t span = size + 2 * padding - kernel;
  CONTEND_CHECK(span >= 0, "a window is larger than the padded input");
  std::int64_t count = (span + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (count - 1) * stride >= size + padding) --count;
  return count;
}

Feature slide(const Feature& input, const Window& window) {
  Feature output = input;
  output.height = windows(input.height, window.height, window.stride, window.pad_height, window.ceil);
  output.width = windows(input.width, window.width, window.stride, window.pad_width, window.ceil);
  return output;
}

LayerGeometry geometry_of(LayerOperation operation, const Feature& input) {
  LayerGeometry geometry;
  geometry.operation = operation;
  geometry.channels = geometry.out_channels = input.channels;
  geometry.height = input.height;
  geometry.width = input.width;
  return geometry;
}

void set_window(LayerGeometry& geometry, const Window& window) {
  geometry.window_height = window.height;
  geometry.window_width = window.width;
  geometry.stride = window.stride;
  geometry.pad_height = window.pad_height;
  geometry.pad_width = window.pad_width;
}

}  // namespace

NetworkBuilder::NetworkBuilder(std::string name, std::string source, std::string sample)
    : table_{std::move(name), std::move(source), std::move(sample), {}} {}

Feature NetworkBuilder::add_matrix(Layer layer, const Feature& input, Feature output, std::int64_t flops) {
  layer.forward_flops = flops;
  layer.input_needs_gradient = input.needs_gradient;
  layer.input_gradient_flops = input.needs_gradient ? flops : 0;
  layer.weight_gradient_flops = flops;
  layer.input_elements = input.elements();
  layer.output_elements = output.elements();
  output.needs_gradient = true;
  table_.layers.push_back(std::move(layer));
  return output;
}

Feature NetworkBuilder::add_plain(const std::string& name, LayerKind kind, LayerOperation operation,
                                  const Feature& input, Feature output) {
  Layer layer;
  layer.name = name;
  layer.kind = kind;
  layer.geometry = geometry_of(operation, input);
  layer.input_needs_gradient = input.needs_gradient;
  layer.input_elements = input.elements();
  layer.output_elements = output.elements();
  table_.layers.push_back(std::move(layer));
  return output;
}

Feature NetworkBuilder::convolution(const std::string& name, Feature input, std::int64_t channels, Window window,
                                    Bias bias) {
  Layer layer;
  layer.name = name;
  layer.kind = LayerKind::convolution;
  layer.parameters.push_back(tensor("weight", {channels, input.channels, window.height, window.width}));
  const std::int64_t taps = input.channels * window.height * window.width;
  if (bias == Bias::yes) layer.parameters.push_back(tensor("bias", {channels}));
  layer.geometry = geometry_of(LayerOperation::convolution, input);
  layer.geometry->out_channels = channels;
  set_window(*layer.geometry, window);
  Feature output = slide(input, window);
  output.channels = channels;
  return add_matrix(std::move(layer), input, output, 2 * taps * output.elements());
}

Feature NetworkBuilder::linear(const std::string& name, Feature input, std::int64_t channels, Bias bias) {
  Layer layer;
  layer.name = name;
  layer.kind = LayerKind::linear;
  layer.parameters.push_back(tensor("weight", {channels, input.channels}));
  if (bias == Bias::yes) layer.parameters.push_back(tensor("bias", {channels}));
  layer.geometry = geometry_of(LayerOperation::linear, input);
  layer.geometry->out_channels = channels;
  Feature output = input;
  output.channels = channels;
  return add_matrix(std::move(layer), input, output, 2 * input.channels * output.elements());
}

Feature NetworkBuilder::tied_linear(const std::string& name, Feature input, std::int64_t channels, Bias bias) {
  const Feature output = linear(name, input, channels, bias);
  Layer& layer = table_.layers.back();
  layer.shared_elements = layer.parameters.front().elements;
  layer.parameters.erase(layer.parameters.begin());
  return output;
}

Feature NetworkBuilder::normalization(const std::string& name, Feature input, Bias shift) {
  Feature output = add_plain(name, LayerKind::normalization, LayerOperation::row_norm, input, input);
  Layer& layer = table_.layers.back();
  layer.parameters.push_back(tensor("weight", {input.channels}));
  if (shift == Bias::yes) layer.parameters.push_back(tensor("bias", {input.channels}));
  output.needs_gradient = true;
  return output;
}

Feature NetworkBuilder::batch_normalization(const std::string& name, Feature input) {
  const Feature output = normalization(name, input);
  table_.layers.back().input_reads = 2;
  table_.layers.back().geometry->operation = LayerOperation::batch_norm;
  return output;
}

Feature NetworkBuilder::pooling(const std::string& name, Feature input, Window window) {
  const Feature output = add_plain(name, LayerKind::pooling, LayerOperation::pooling, input, slide(input, window));
  set_window(*table_.layers.back().geometry, window);
  return output;
}

Feature NetworkBuilder::adaptive_pooling(const std::string& name, Feature input, std::int64_t size) {
  Feature output = input;
  output.height = size;
  output.width = size;
  add_plain(name, LayerKind::pooling, LayerOperation::pooling, input, output);
  const auto per_window = [&](std::int64_t positions) { return std::max<std::int64_t>(1, positions / size); };
  Window window;
  window.height = window.stride = per_window(input.height);
  window.width = per_window(input.width);
  set_window(*table_.layers.back().geometry, window);
  return output;
}

Feature NetworkBuilder::activation(const std::string& name, Feature input) {
  return add_plain(name, LayerKind::activation, LayerOperation::activation, input, input);
}

Feature NetworkBuilder::softmax(const std::string& name, Feature input) {
  const Feature output = add_plain(name, LayerKind::activation, LayerOperation::softmax, input, input);
  LayerGeometry& geometry = *table_.layers.back().geometry;
  geometry.heads = input.channels;
  geometry.queries = input.height;
  geometry.keys = input.width;
  return output;
}

Feature NetworkBuilder::sum(const std::string& name, Feature a, Feature b) {
  CONTEND_CHECK(a.channels == b.channels && a.positions() == b.positions(), "a sum needs features of equal shape");
  Feature output = a;
  output.needs_gradient = a.needs_gradient || b.needs_gradient;
  Feature both = output;
  both.channels = a.channels + b.channels;
  return add_plain(name, LayerKind::elementwise, LayerOperation::sum, both, output);
}

Feature NetworkBuilder::concatenation(const std::string& name, const std::vector<Feature>& inputs) {
  Feature output = inputs.front();
  output.channels = 0;
  for (const Feature& input : inputs) {
    CONTEND_CHECK(input.positions() == output.positions(), "joined features need equal positions");
    output.channels += input.channels;
    output.needs_gradient = output.needs_gradient || input.needs_gradient;
  }
  return add_plain(name, LayerKind::elementwise, LayerOperation::concatenation, output, output);
}

Feature NetworkBuilder::trained_tensor(const std::string& name, Feature input, const std::string& tensor_name,
                                       std::vector<std::int64_t> shape) {
  Feature output = add_plain(name, LayerKind::elementwise, LayerOperation::added_tensor, input, input);
  table_.layers.back().parameters.push_back(tensor(tensor_name, std::move(shape)));
  output.needs_gradient = true;
  return output;
}

Feature NetworkBuilder::embedding(const std::string& name, std::int64_t rows, std::int64_t channels,
                                  std::int64_t tokens) {
  const Feature output{channels, tokens, 1, true};
  // It reads as many elements of its table as it writes.
  add_plain(name, LayerKind::embedding, LayerOperation::embedding, output, output);
  Layer& layer = table_.layers.back();
  layer.parameters.push_back(tensor("weight", {rows, channels}));
  layer.geometry->rows = rows;
  layer.input_needs_gradient = false;
  return output;
}

Feature NetworkBuilder::tied_embedding(const std::string& name, std::int64_t rows, std::int64_t channels,
                                       std::int64_t tokens) {
  const Feature output = embedding(name, rows, channels, tokens);
  Layer& layer = table_.layers.back();
  layer.shared_elements = layer.parameters.front().elements;
  layer.parameters.clear();
  return output;
}

Feature NetworkBuilder::lstm(const std::string& name, Feature input, std::int64_t hidden, int biases) {
  Layer layer;
  layer.name = name;
  layer.kind = LayerKind::recurrent;
  layer.parameters.push_back(tensor("weight_ih", {4 * hidden, input.channels}));
  layer.parameters.push_back(tensor("weight_hh", {4 * hidden, hidden}));
  if (biases >= 1) layer.parameters.push_back(tensor("bias_ih", {4 * hidden}));
  if (biases >= 2) layer.parameters.push_back(tensor("bias_hh", {4 * hidden}));
  layer.kernels = static_cast<int>(input.positions());
  layer.geometry = geometry_of(LayerOperation::lstm, input);
  layer.geometry->out_channels = hidden;
  Feature output = input;
  output.channels = hidden;
  const std::int64_t step = 2 * 4 * hidden * (input.channels + hidden);
  return add_matrix(std::move(layer), input, output, step * input.positions());
}

void NetworkBuilder::append(Layer layer) {
  table_.layers.push_back(std::move(layer));
}

LayerTable NetworkBuilder::take() {
  validate(table_);
  return std::exchange(table_, {});
}

}  // namespace contend
