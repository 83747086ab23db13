// Builds Inception-v4 of Szegedy et al., "Inception-v4, Inception-ResNet and the impact of residual connections on
// learning" (arXiv 1602.07261), figures 3 to 9, without an auxiliary head. Layers are numbered as in the PyTorch port
// of pretrained-models.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/inception_blocks.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

const Window kThreeValid = Window::square(3);

// Figure 3, from 299 x 299 to 384 channels at 35 x 35.
Feature stem(NetworkBuilder& net) {
  Feature x = conv_chain(net, "features.", {3, 299, 299},
                         {{"0", 32, kThreeHalving}, {"1", 32, kThreeValid}, {"2", 64, kThree}});
  const Feature convolved = conv_unit(net, "features.3.conv", x, 96, kThreeHalving);
  x = net.concatenation("features.3.cat", {net.pooling("features.3.maxpool", x, kThreeHalving), convolved});
  const Feature b0 = conv_chain(net, "features.4.", x, {{"branch0.0", 64, kOne}, {"branch0.1", 96, kThreeValid}});
  const Feature b1 = conv_chain(
      net, "features.4.", x,
      {{"branch1.0", 64, kOne}, {"branch1.1", 64, kRow}, {"branch1.2", 64, kColumn}, {"branch1.3", 96, kThreeValid}});
  x = net.concatenation("features.4.cat", {b0, b1});
  const Feature halved = conv_unit(net, "features.5.conv", x, 192, kThreeHalving);
  return net.concatenation("features.5.cat", {halved, net.pooling("features.5.maxpool", x, kThreeHalving)});
}

Feature fourth_branch(NetworkBuilder& net, const std::string& at, const Feature& x, std::int64_t channels) {
  return conv_unit(net, at + "branch3.1", net.pooling(at + "branch3.0", x, Window::same(3, 3)), channels, kOne);
}

// Figure 4.
Feature inception_a(NetworkBuilder& net, const std::string& at, const Feature& x) {
  const Feature b0 = conv_unit(net, at + "branch0", x, 96, kOne);
  const Feature b1 = conv_chain(net, at, x, {{"branch1.0", 64, kOne}, {"branch1.1", 96, kThree}});
  const Feature b2 =
      conv_chain(net, at, x, {{"branch2.0", 64, kOne}, {"branch2.1", 96, kThree}, {"branch2.2", 96, kThree}});
  return net.concatenation(at + "cat", {b0, b1, b2, fourth_branch(net, at, x, 96)});
}

// Figure 7 with k = 192, l = 224, m = 256, n = 384.
Feature reduction_a(NetworkBuilder& net, const std::string& at, const Feature& x) {
  const Feature b0 = conv_unit(net, at + "branch0", x, 384, kThreeHalving);
  const Feature b1 =
      conv_chain(net, at, x, {{"branch1.0", 192, kOne}, {"branch1.1", 224, kThree}, {"branch1.2", 256, kThreeHalving}});
  return net.concatenation(at + "cat", {b0, b1, net.pooling(at + "branch2", x, kThreeHalving)});
}

// Figure 5.
Feature inception_b(NetworkBuilder& net, const std::string& at, const Feature& x) {
  const Feature b0 = conv_unit(net, at + "branch0", x, 384, kOne);
  const Feature b1 =
      conv_chain(net, at, x, {{"branch1.0", 192, kOne}, {"branch1.1", 224, kRow}, {"branch1.2", 256, kColumn}});
  const Feature b2 = conv_chain(net, at, x,
                                {{"branch2.0", 192, kOne},
                                 {"branch2.1", 192, kColumn},
                                 {"branch2.2", 224, kRow},
                                 {"branch2.3", 224, kColumn},
                                 {"branch2.4", 256, kRow}});
  return net.concatenation(at + "cat", {b0, b1, b2, fourth_branch(net, at, x, 128)});
}

// Figure 8.
Feature reduction_b(NetworkBuilder& net, const std::string& at, const Feature& x) {
  const Feature b0 = conv_chain(net, at, x, {{"branch0.0", 192, kOne}, {"branch0.1", 192, kThreeHalving}});
  const Feature b1 = conv_chain(net, at, x,
                                {{"branch1.0", 256, kOne},
                                 {"branch1.1", 256, kRow},
                                 {"branch1.2", 320, kColumn},
                                 {"branch1.3", 320, kThreeHalving}});
  return net.concatenation(at + "cat", {b0, b1, net.pooling(at + "branch2", x, kThreeHalving)});
}

// Figure 6.
Feature inception_c(NetworkBuilder& net, const std::string& at, const Feature& x) {
  const Window row = Window::same(1, 3), column = Window::same(3, 1);
  const Feature b0 = conv_unit(net, at + "branch0", x, 256, kOne);
  const Feature b1 = conv_unit(net, at + "branch1_0", x, 384, kOne);
  const Feature b1_row = conv_unit(net, at + "branch1_1a", b1, 256, row);
  const Feature b1_column = conv_unit(net, at + "branch1_1b", b1, 256, column);
  const Feature b2 =
      conv_chain(net, at, x, {{"branch2_0", 384, kOne}, {"branch2_1", 448, column}, {"branch2_2", 512, row}});
  const Feature b2_row = conv_unit(net, at + "branch2_3a", b2, 256, row);
  const Feature b2_column = conv_unit(net, at + "branch2_3b", b2, 256, column);
  const Feature pooled = fourth_branch(net, at, x, 256);
  return net.concatenation(at + "cat", {b0, b1_row, b1_column, b2_row, b2_column, pooled});
}

}  // namespace

LayerTable inception_v4() {
  NetworkBuilder net{"inception-v4", "arXiv 1602.07261", "image 3x299x299"};
  const auto at = [](int index) { return fmt::format("features.{}.", index); };
  Feature x = stem(net);
  for (int i = 6; i < 10; ++i) x = inception_a(net, at(i), x);
  x = reduction_a(net, at(10), x);
  for (int i = 11; i < 18; ++i) x = inception_b(net, at(i), x);
  x = reduction_b(net, at(18), x);
  for (int i = 19; i < 22; ++i) x = inception_c(net, at(i), x);
  net.linear("last_linear", net.adaptive_pooling("avg_pool", x, 1), 1000, Bias::yes);
  return net.take();
}

}  // namespace contend
