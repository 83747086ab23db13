#include "calibration/layer_operators.hpp"

#include "models/catalogue/builder.hpp"
#include "models/catalogue/catalogue.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

using namespace contend;

namespace {

std::string text(const PassOperators& pass) {
  std::string all;
  for (const OperatorCall& call : pass.calls) {
    all += fmt::format("{}{} {} [{}]", all.empty() ? "" : "; ", call.name, to_string(call.type),
                       fmt::join(call.shape, ","));
    if (call.count != 1) all += fmt::format(" x{}", call.count);
  }
  for (const LayerWork& work : pass.rest)
    all += fmt::format("{}rest {}/{}/{}", all.empty() ? "" : "; ", work.flops, work.bytes, work.kernels);
  return all;
}

bool is_product(std::string_view name) {
  return name.starts_with("gemm") || name.starts_with("convolution") || name.starts_with("attention");
}

double product_flops(const PassOperators& pass) {
  double sum = 0;
  for (const OperatorCall& call : pass.calls) {
    // Of n keys a causal kernel computes (n + 1) / 2; layers count all.
    if (call.name.starts_with("causal_")) {
      const auto n = static_cast<double>(call.shape[3]);
      sum += find_operator(call.name)->work(call.shape, call.type).flops * 2 * n / (n + 1);
    }
    if (is_product(call.name))
      sum += find_operator(call.name)->work(call.shape, call.type).flops * static_cast<double>(call.count);
  }
  return sum;
}

}  // namespace

TEST_CASE("every layer of the catalogue is split into operators with as many flops as the layer has") {
  for (const CatalogueEntry& entry : catalogue()) {
    const LayerTable table = build_model(entry);
    for (const Layer& layer : table.layers) {
      CAPTURE(std::string{entry.name});
      CAPTURE(layer.name);
      REQUIRE(layer.geometry.has_value());
      const LayerOperators split = layer_operators(layer, 3, DataType::tf32);
      CHECK_FALSE(split.forward.calls.empty());
      CHECK(product_flops(split.forward) == 3 * static_cast<double>(layer.forward_flops));
      CHECK(product_flops(split.backward) == 3 * static_cast<double>(layer.backward_flops()));
      CHECK((split.backward.empty() || layer.input_needs_gradient || !layer.parameters.empty() ||
             layer.kind == LayerKind::embedding));
    }
  }
}

TEST_CASE("a convolution with bias") {
  NetworkBuilder net{"tiny", "", ""};
  // 3 x 8 x 8 -> 4 x 4 x 4 by 3x3 windows of stride 2, padded by 1: 5 samples write 5 x 64 numbers.
  const Feature x = net.convolution("a", {3, 8, 8, false}, 4, Window::square(3, 2, 1), Bias::yes);
  net.convolution("b", x, 4, Window::same(1, 3), Bias::no);
  const LayerTable table = net.take();
  const LayerOperators a = layer_operators(table.layers[0], 5, DataType::fp16);
  CHECK(text(a.forward) == "convolution fp16 [5,3,8,8,4,3,3,2,1,1]; rest 0/1280/1");
  // Nothing before it needs a gradient of its input.
  CHECK(text(a.backward) == "convolution_weight_gradient fp16 [5,3,8,8,4,3,3,2,1,1]; column_sum fp16 [80,4]");
  const LayerOperators b = layer_operators(table.layers[1], 1, DataType::tf32);
  CHECK(text(b.forward) == "convolution tf32 [1,4,4,4,4,1,3,1,0,1]");
  CHECK(text(b.backward) ==
        "convolution_input_gradient tf32 [1,4,4,4,4,1,3,1,0,1]; "
        "convolution_weight_gradient tf32 [1,4,4,4,4,1,3,1,0,1]");
}

TEST_CASE("what follows products runs in the type in which activations lie in memory") {
  NetworkBuilder net{"tiny", "", ""};
  Feature x = net.linear("fc", {6, 2, 1, true}, 10, Bias::yes);
  x = net.normalization("ln", x);
  x = net.activation("relu", x);
  net.sum("add", x, x);
  const LayerTable table = net.take();
  const auto split = [&](std::size_t i, DataType type) { return layer_operators(table.layers[i], 4, type); };
  // 4 samples of 2 tokens: 8 rows.
  CHECK(text(split(0, DataType::fp8).forward) == "gemm fp8 [1,8,10,6]");
  CHECK(text(split(0, DataType::fp8).backward) == "gemm fp8 [1,8,6,10]; gemm fp8 [1,10,6,8]; column_sum bf16 [8,10]");
  CHECK(text(split(1, DataType::tf32).forward) == "layer_norm fp32 [8,10]");
  CHECK(text(split(1, DataType::fp8).backward) == "layer_norm_backward bf16 [8,10]");
  CHECK(text(split(2, DataType::bf16).forward) == "activation bf16 [80]");
  CHECK(text(split(2, DataType::bf16).backward) == "sum bf16 [80]");
  CHECK(text(split(3, DataType::fp32).backward) == "sum fp32 [80]");
}

TEST_CASE(
    "the backward pass of a first layer gives the gradients of its parameters, and none if it has no parameters") {
  NetworkBuilder net{"tiny", "", ""};
  const Feature x = net.normalization("ln", {6, 2, 1, true});
  net.activation("relu", x);
  LayerTable table = net.take();
  const auto backward = [&](std::size_t i) {
    return text(layer_operators(table.layers[i], 4, DataType::fp32).backward);
  };
  table.layers[0].input_needs_gradient = false;
  CHECK(backward(0) == "layer_norm_backward fp32 [8,6]");
  table.layers[0].parameters.clear();
  CHECK(backward(0) == "");
  CHECK(backward(1) == "sum fp32 [48]");
  table.layers[1].input_needs_gradient = false;
  table.layers[1].parameters = {ParameterTensor{}};  // activations have no operator for such gradients
  CHECK(backward(1) == "");
}

TEST_CASE("a softmax over keys has a row for each query of each head of each sample") {
  NetworkBuilder net{"tiny", "", ""};
  net.softmax("weights", {3, 5, 7, true});         // 3 heads, 5 queries, 7 keys
  net.linear("fc", {3, 5, 7, true}, 2, Bias::no);  // nothing without parameters is a model
  const LayerOperators split = layer_operators(net.take().layers[0], 2, DataType::fp16);
  CHECK(text(split.forward) == "softmax fp16 [30,7]");
  CHECK(text(split.backward) == "softmax_backward fp16 [30,7]");
}

TEST_CASE("an LSTM multiplies once for all inputs, and once a step") {
  NetworkBuilder net{"tiny", "", ""};
  net.lstm("rnn", {6, 7, 1, true}, 5, 1);
  const LayerOperators split = layer_operators(net.take().layers[0], 2, DataType::fp32);
  CHECK(text(split.forward) == "gemm fp32 [1,14,20,6]; gemm fp32 [1,2,20,5] x7; activation fp32 [40] x7");
  CHECK(text(split.backward) ==
        "sum fp32 [40] x7; gemm_nn fp32 [1,2,5,20] x7; gemm_nn fp32 [1,14,6,20]; gemm_tn fp32 [1,20,6,14]; "
        "gemm_tn fp32 [1,20,5,14]");
}

TEST_CASE("a layer of which only sizes are known is left to its work") {
  Layer layer;
  layer.name = "relu";
  layer.kind = LayerKind::activation;
  layer.input_elements = layer.output_elements = 100;
  // Forward: read and written. Backward: two gradients and the input.
  const LayerOperators split = layer_operators(layer, 2, DataType::fp16);
  CHECK(text(split.forward) == "rest 0/800/1");
  CHECK(text(split.backward) == "rest 0/1200/1");
}

TEST_CASE("equal calls of a network are one, with their number") {
  const LayerTable table = build_model(*find_model("resnet50"));
  std::int64_t convolutions = 0;
  std::set<OperatorShape> shapes;
  for (const OperatorCall& call : distinct_calls(table, 32, DataType::fp32)) {
    if (call.name != "convolution") continue;
    convolutions += call.count;
    CHECK(shapes.insert(call.shape).second);
  }
  CHECK(convolutions == 53);  // He et al., table 1: 1 + 3 (3 + 4 + 6 + 3), and 4 shortcuts
  CHECK(shapes.size() == 23);
}
