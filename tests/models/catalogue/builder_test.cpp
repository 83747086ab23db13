#include "models/catalogue/builder.hpp"
#include "models/catalogue/attention.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

using Shape = std::vector<std::int64_t>;

NetworkBuilder network() {
  return {"net", "test", "image"};
}

}  // namespace

TEST_CASE("a convolution: shape, parameters and work, by hand") {
  NetworkBuilder net = network();
  // 3x5 window, stride 2, padding 1 and 2, on 4 x 9 x 9: (9 + 2 - 3) / 2 + 1 = 5 rows, (9 + 4 - 5) / 2 + 1 = 5 columns.
  const Feature y = net.convolution("c", {4, 9, 9}, 6, {3, 5, 2, 1, 2, false}, Bias::yes);
  CHECK(y.channels == 6);
  CHECK(y.height == 5);
  CHECK(y.width == 5);
  CHECK(y.needs_gradient);
  net.convolution("d", y, 2, Window::square(1), Bias::no);
  const LayerTable table = net.take();
  const Layer& first = table.layers[0];
  REQUIRE(first.parameters.size() == 2);
  CHECK(first.parameters[0].shape == Shape{6, 4, 3, 5});
  CHECK(first.parameters[0].elements == 360);
  CHECK(first.parameters[0].rows() == 6);
  CHECK(first.parameters[0].columns() == 60);
  CHECK(first.parameters[1].elements == 6);
  CHECK(first.parameters[1].columns() == 1);
  CHECK(first.forward_flops == 2 * 60 * 150);  // 60 multiply-adds for each of 6 x 5 x 5 outputs
  CHECK(first.input_elements == 324);
  CHECK(first.output_elements == 150);
  // Nothing before the first layer needs a gradient.
  CHECK_FALSE(first.input_needs_gradient);
  CHECK(first.backward_flops() == first.forward_flops);
  CHECK(table.layers[1].input_needs_gradient);
  CHECK(table.layers[1].backward_flops() == 2 * table.layers[1].forward_flops);
  CHECK(table.layers[1].parameters.size() == 1);
}

TEST_CASE("pooling rounds down by default; a window that would start in the right padding is dropped") {
  NetworkBuilder net = network();
  const Feature x = net.convolution("c", {3, 112, 112}, 8, Window::square(1), Bias::no);
  CHECK(net.pooling("down", x, Window::square(3, 2)).height == 55);  // (112 - 3) / 2 + 1 = 55.5
  CHECK(net.pooling("up", x, Window::square(3, 2).rounded_up()).height == 56);
  CHECK(net.pooling("padded", x, Window::square(3, 2, 1)).height == 56);
  // 2 x 2 windows, stride 2, padding 1 on 3: ceil(3 / 2) + 1 = 3, but the third would start at 4 = 3 + 1.
  const Feature small = net.adaptive_pooling("small", x, 3);
  CHECK(net.pooling("dropped", small, Window::square(2, 2, 1).rounded_up()).height == 2);
}

TEST_CASE("a pooling before any parameter needs no gradient, nor does what follows it") {
  NetworkBuilder net = network();
  const Feature pooled = net.pooling("pool", {3, 8, 8}, Window::square(2, 2));
  CHECK_FALSE(pooled.needs_gradient);
  net.convolution("conv", pooled, 4, Window::square(1), Bias::no);
  const LayerTable table = net.take();
  CHECK_FALSE(table.layers[0].input_needs_gradient);
  CHECK(table.layers[1].input_gradient_flops == 0);
}

TEST_CASE("a tied linear layer works like any other and owns only its bias") {
  NetworkBuilder net = network();
  const Feature x = net.embedding("embedding", 100, 8, 5);
  CHECK(x.elements() == 40);
  net.tied_linear("decoder", x, 100, Bias::yes);
  const LayerTable table = net.take();
  CHECK(table.parameter_elements() == 800 + 100);
  CHECK(table.layers[0].forward_flops == 0);
  CHECK(table.layers[1].shared_elements == 800);
  CHECK(table.layers[1].forward_flops == 2 * 8 * 100 * 5);
  CHECK(table.layers[1].weight_gradient_flops == 2 * 8 * 100 * 5);
}

TEST_CASE("sums read both operands, concatenations add channels") {
  NetworkBuilder net = network();
  const Feature a = net.convolution("a", {3, 4, 4}, 5, Window::square(1), Bias::no);
  const Feature b = net.convolution("b", {3, 4, 4}, 5, Window::square(1), Bias::no);
  CHECK(net.sum("sum", a, b).elements() == 80);
  CHECK(net.concatenation("cat", {a, b, a}).channels == 15);
  const LayerTable table = net.take();
  CHECK(table.layers[2].input_elements == 160);
  CHECK(table.layers[2].output_elements == 80);
  CHECK(table.layers[3].input_elements == 240);
}

TEST_CASE("an LSTM layer is one kernel per time step") {
  NetworkBuilder net = network();
  const Feature y = net.lstm("rnn", net.embedding("embedding", 10, 3, 7), 2, 1);
  CHECK(y.channels == 2);
  CHECK(y.positions() == 7);
  const LayerTable table = net.take();
  const Layer& lstm = table.layers[1];
  CHECK(lstm.kernels == 7);
  CHECK(lstm.parameter_elements() == 4 * 2 * (3 + 2) + 4 * 2);
  CHECK(lstm.forward_flops == 7 * 2 * 4 * 2 * (3 + 2));
}

TEST_CASE("attention: score matrix in memory, or not") {
  // 6 queries and 4 keys of width 8 in 2 heads: a product has 2 x 6 x 4 x 8 = 384 flops, the scores 2 x 6 x 4 elements.
  const Feature queries{8, 6, 1, true}, keys{8, 4, 1, true};
  NetworkBuilder net = network();
  net.embedding("embedding", 10, 8, 6);
  CHECK(attention(net, "a.", {queries, keys, keys, 2}).elements() == 48);
  CHECK(fused_attention(net, "fused", {queries, keys, keys, 2}).elements() == 48);
  const LayerTable table = net.take();
  REQUIRE(table.layers.size() == 6);
  CHECK(table.layers[1].name == "a.scores");
  CHECK(table.layers[1].forward_flops == 384);
  CHECK(table.layers[1].backward_flops() == 768);
  CHECK(table.layers[1].output_elements == 48);
  CHECK(table.layers[2].name == "a.softmax");
  CHECK(table.layers[4].input_elements == 48 + 32);
  CHECK(table.layers[5].forward_flops == 768);
  CHECK(table.layers[5].backward_flops() == 5 * 384);
  CHECK(table.layers[5].input_elements == 48 + 32 + 32);
}
