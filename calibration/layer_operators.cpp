#include "calibration/layer_operators.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace contend {

namespace {

/// The type that activations have in memory.
DataType stored_type(DataType type) {
  if (type == DataType::tf32) return DataType::fp32;
  return type == DataType::fp8 ? DataType::bf16 : type;
}

class LayerSplitter {
 public:
  LayerSplitter(const Layer& layer, int batch, DataType type)
      : layer_{layer}, shape_{*layer.geometry}, batch_{batch}, type_{type} {}

  LayerOperators split() {
    switch (shape_.operation) {
      case LayerOperation::convolution:
        convolution();
        break;
      case LayerOperation::linear:
        linear();
        break;
      case LayerOperation::attention_scores:
        scores();
        break;
      case LayerOperation::attention_context:
        context();
        break;
      case LayerOperation::fused_attention:
        fused_attention();
        break;
      case LayerOperation::lstm:
        lstm();
        break;
      case LayerOperation::batch_norm:
        both("batch_norm", "batch_norm_backward", {batch_, shape_.channels, shape_.positions()}, true);
        break;
      case LayerOperation::row_norm:
        both("layer_norm", "layer_norm_backward", {batch_ * shape_.positions(), shape_.channels}, true);
        break;
      case LayerOperation::pooling:
        both("pooling", "pooling_backward",
             {batch_, shape_.channels, shape_.height, shape_.width, shape_.window_height, shape_.stride});
        break;
      case LayerOperation::activation:
        both("activation", "sum", {outputs()});
        break;
      case LayerOperation::softmax:
        both("softmax", "softmax_backward", {batch_ * shape_.heads * shape_.queries, shape_.keys});
        break;
      case LayerOperation::sum:
        // Each operand takes the gradient as it is; if the operand has other uses, their gradients are added up.
        both("sum", "sum", {outputs()});
        break;
      case LayerOperation::concatenation:
        both("copy", "copy", {outputs() * activation_bytes(type_)});
        break;
      case LayerOperation::added_tensor:
        forward("sum", {outputs()});
        sum_of_outputs(layer_.output_elements);
        break;
      case LayerOperation::embedding:
        forward("embedding", {shape_.rows, shape_.channels, batch_ * shape_.positions()});
        backward("embedding_backward", {shape_.rows, shape_.channels, batch_ * shape_.positions()});
        break;
    }
    return std::move(result_);
  }

 private:
  void add(PassOperators& pass, std::string_view name, OperatorShape shape, std::int64_t count) {
    pass.calls.push_back(operator_call(name, type_, std::move(shape), count));
  }
  void forward(std::string_view name, OperatorShape shape, std::int64_t count = 1) {
    add(result_.forward, name, std::move(shape), count);
  }
  void backward(std::string_view name, OperatorShape shape, std::int64_t count = 1) {
    add(result_.backward, name, std::move(shape), count);
  }
  /// `parameters` says that the backward operator also gives the parameters' gradients.
  void both(std::string_view forth, std::string_view back, const OperatorShape& shape, bool parameters = false) {
    forward(forth, shape);
    if (layer_.input_needs_gradient || (parameters && !layer_.parameters.empty())) backward(back, shape);
  }

  [[nodiscard]] std::int64_t outputs() const { return layer_.output_elements * batch_; }

  [[nodiscard]] bool has_bias() const {
    return std::any_of(layer_.parameters.begin(), layer_.parameters.end(),
                       [](const ParameterTensor& tensor) { return tensor.shape.size() == 1; });
  }
  /// The sum over all but so many of the outputs' numbers, as in the gradient of a bias.
  /// A profile without such sums has them as one read.
  void sum_of_outputs(std::int64_t columns) {
    backward("column_sum", {outputs() / columns, columns});
    const double bytes = static_cast<double>(outputs()) * activation_bytes(type_);
    result_.backward.calls.back().otherwise = LayerWork{0, bytes, 1};
  }

  void convolution() {
    const OperatorShape shape{batch_,
                              shape_.channels,
                              shape_.height,
                              shape_.width,
                              shape_.out_channels,
                              shape_.window_height,
                              shape_.window_width,
                              shape_.stride,
                              shape_.pad_height,
                              shape_.pad_width};
    forward("convolution", shape);
    if (layer_.input_needs_gradient) backward("convolution_input_gradient", shape);
    backward("convolution_weight_gradient", shape);
    if (!has_bias()) return;
    // Added in place by a kernel of its own: one read, one write.
    const double bytes = static_cast<double>(outputs()) * activation_bytes(type_);
    result_.forward.rest.push_back({0, 2 * bytes, 1});
    sum_of_outputs(shape_.out_channels);
  }

  void linear() {
    const std::int64_t rows = batch_ * shape_.positions(), in = shape_.channels, out = shape_.out_channels;
    forward("gemm", {1, rows, out, in});
    if (layer_.input_needs_gradient) backward("gemm_nn", {1, rows, in, out});
    backward("gemm_tn", {1, out, in, rows});
    if (has_bias()) sum_of_outputs(out);  // the forward product adds it while writing
  }

  void scores() {
    const std::int64_t heads = batch_ * shape_.heads;
    forward("gemm", {heads, shape_.queries, shape_.keys, shape_.head_size});
    backward("gemm_nn", {heads, shape_.queries, shape_.head_size, shape_.keys});
    backward("gemm_tn", {heads, shape_.keys, shape_.head_size, shape_.queries});
  }

  void context() {
    const std::int64_t heads = batch_ * shape_.heads;
    forward("gemm_nn", {heads, shape_.queries, shape_.head_size, shape_.keys});
    backward("gemm", {heads, shape_.queries, shape_.keys, shape_.head_size});
    backward("gemm_tn", {heads, shape_.keys, shape_.head_size, shape_.queries});
  }

  void fused_attention() {
    CONTEND_CHECK(shape_.queries == shape_.keys, "in fused attention a sequence attends to itself");
    const std::int64_t key_heads = shape_.key_heads > 0 ? shape_.key_heads : shape_.heads;
    const OperatorShape shape{batch_, shape_.heads, key_heads, shape_.queries, shape_.head_size};
    if (shape_.causal)
      both("causal_attention", "causal_attention_backward", shape);
    else
      both("attention", "attention_backward", shape);
  }

  /// As cuDNN does: the inputs of all steps in one product; a product and the gates at every step (Appleyard et al.,
  /// "Optimizing performance of recurrent neural networks on GPUs", arXiv 1604.01946, sections 3.1 and 3.2).
  void lstm() {
    const std::int64_t steps = shape_.positions(), in = shape_.channels, hidden = shape_.out_channels;
    const std::int64_t gates = 4 * hidden;
    forward("gemm", {1, batch_ * steps, gates, in});
    forward("gemm", {1, batch_, gates, hidden}, steps);
    forward("activation", {batch_ * gates}, steps);
    backward("sum", {batch_ * gates}, steps);
    backward("gemm_nn", {1, batch_, hidden, gates}, steps);
    if (layer_.input_needs_gradient) backward("gemm_nn", {1, batch_ * steps, in, gates});
    backward("gemm_tn", {1, gates, in, batch_ * steps});
    backward("gemm_tn", {1, gates, hidden, batch_ * steps});
  }

  const Layer& layer_;
  const LayerGeometry& shape_;
  std::int64_t batch_;
  DataType type_;
  LayerOperators result_;
};

}  // namespace

OperatorCall operator_call(std::string_view name, DataType type, OperatorShape shape, std::int64_t count) {
  const OperatorInfo* info = find_operator(name);
  CONTEND_CHECK(info != nullptr && info->dimensions.size() == shape.size(), "a call fits its operator");
  const auto measured = [&info](DataType wanted) {
    return std::find(info->types.begin(), info->types.end(), wanted) != info->types.end();
  };
  // Operands of fp8 are transposed by casts, for products of them have one layout.
  if (info->same_work && !measured(type)) info = find_operator(info->like);
  // A copy moves bytes of any meaning; its table is the fp32 one.
  if (!measured(type)) type = stored_type(type);
  if (!measured(type)) type = info->types.front();
  return {info->name, type, std::move(shape), count};
}

LayerOperators layer_operators(const Layer& layer, int batch, DataType type) {
  CONTEND_CHECK(batch >= 1, "a batch has samples");
  if (layer.geometry) return LayerSplitter{layer, batch, type}.split();
  const double width = activation_bytes(type);
  LayerOperators result;
  result.forward.rest.push_back(forward_work(layer, batch, width));
  for (const LayerWork& work : {input_gradient_work(layer, batch, width), weight_gradient_work(layer, batch, width)}) {
    if (work.kernels > 0) result.backward.rest.push_back(work);
  }
  return result;
}

std::vector<OperatorCall> distinct_calls(const LayerTable& table, int batch, DataType type) {
  std::map<std::tuple<const OperatorInfo*, DataType, OperatorShape>, std::int64_t> counts;
  for (const Layer& layer : table.layers) {
    const LayerOperators operators = layer_operators(layer, batch, type);
    for (const PassOperators* pass : {&operators.forward, &operators.backward}) {
      for (const OperatorCall& call : pass->calls)
        counts[{find_operator(call.name), call.type, call.shape}] += call.count;
    }
  }
  std::vector<OperatorCall> calls;
  for (const auto& [key, count] : counts) {
    const auto& [info, call_type, shape] = key;
    calls.push_back({info->name, call_type, shape, count});
  }
  return calls;
}

}  // namespace contend
