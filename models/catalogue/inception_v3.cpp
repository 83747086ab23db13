// Builds Inception-v3 of Szegedy et al., "Rethinking the Inception architecture for computer vision" (arXiv
// 1512.00567), with the names of torchvision.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/inception_blocks.hpp"

namespace contend {

namespace {

Feature pooled_branch(NetworkBuilder& net, const std::string& at, const Feature& x, std::int64_t channels) {
  return conv_unit(net, at + "branch_pool", net.pooling(at + "avg_pool", x, Window::same(3, 3)), channels, kOne);
}

// 35 x 35: figure 5 of the paper.
Feature module_a(NetworkBuilder& net, const std::string& at, const Feature& x, std::int64_t pool_channels) {
  const Feature one = conv_unit(net, at + "branch1x1", x, 64, kOne);
  const Feature five = conv_chain(net, at, x, {{"branch5x5_1", 48, kOne}, {"branch5x5_2", 64, Window::same(5, 5)}});
  const Feature three = conv_chain(
      net, at, x, {{"branch3x3dbl_1", 64, kOne}, {"branch3x3dbl_2", 96, kThree}, {"branch3x3dbl_3", 96, kThree}});
  return net.concatenation(at + "cat", {one, five, three, pooled_branch(net, at, x, pool_channels)});
}

// 35 x 35 to 17 x 17.
Feature module_b(NetworkBuilder& net, const std::string& at, const Feature& x) {
  const Feature three = conv_unit(net, at + "branch3x3", x, 384, kThreeHalving);
  const Feature dbl =
      conv_chain(net, at, x,
                 {{"branch3x3dbl_1", 64, kOne}, {"branch3x3dbl_2", 96, kThree}, {"branch3x3dbl_3", 96, kThreeHalving}});
  return net.concatenation(at + "cat", {three, dbl, net.pooling(at + "max_pool", x, kThreeHalving)});
}

// 17 x 17: figure 6, with n = 7; c is the width of the inner 7-tap convolutions.
Feature module_c(NetworkBuilder& net, const std::string& at, const Feature& x, std::int64_t c) {
  const Feature one = conv_unit(net, at + "branch1x1", x, 192, kOne);
  const Feature seven =
      conv_chain(net, at, x, {{"branch7x7_1", c, kOne}, {"branch7x7_2", c, kRow}, {"branch7x7_3", 192, kColumn}});
  const Feature dbl = conv_chain(net, at, x,
                                 {{"branch7x7dbl_1", c, kOne},
                                  {"branch7x7dbl_2", c, kColumn},
                                  {"branch7x7dbl_3", c, kRow},
                                  {"branch7x7dbl_4", c, kColumn},
                                  {"branch7x7dbl_5", 192, kRow}});
  return net.concatenation(at + "cat", {one, seven, dbl, pooled_branch(net, at, x, 192)});
}

// 17 x 17 to 8 x 8.
Feature module_d(NetworkBuilder& net, const std::string& at, const Feature& x) {
  const Feature three = conv_chain(net, at, x, {{"branch3x3_1", 192, kOne}, {"branch3x3_2", 320, kThreeHalving}});
  const Feature seven = conv_chain(net, at, x,
                                   {{"branch7x7x3_1", 192, kOne},
                                    {"branch7x7x3_2", 192, kRow},
                                    {"branch7x7x3_3", 192, kColumn},
                                    {"branch7x7x3_4", 192, kThreeHalving}});
  return net.concatenation(at + "cat", {three, seven, net.pooling(at + "max_pool", x, kThreeHalving)});
}

// 8 x 8: figure 7.
Feature module_e(NetworkBuilder& net, const std::string& at, const Feature& x) {
  const Feature one = conv_unit(net, at + "branch1x1", x, 320, kOne);
  const Feature three = conv_unit(net, at + "branch3x3_1", x, 384, kOne);
  const Feature three_row = conv_unit(net, at + "branch3x3_2a", three, 384, Window::same(1, 3));
  const Feature three_column = conv_unit(net, at + "branch3x3_2b", three, 384, Window::same(3, 1));
  const Feature dbl = conv_chain(net, at, x, {{"branch3x3dbl_1", 448, kOne}, {"branch3x3dbl_2", 384, kThree}});
  const Feature dbl_row = conv_unit(net, at + "branch3x3dbl_3a", dbl, 384, Window::same(1, 3));
  const Feature dbl_column = conv_unit(net, at + "branch3x3dbl_3b", dbl, 384, Window::same(3, 1));
  const Feature pooled = pooled_branch(net, at, x, 192);
  return net.concatenation(at + "cat", {one, three_row, three_column, dbl_row, dbl_column, pooled});
}

void auxiliary_head(NetworkBuilder& net, Feature x) {
  x = net.pooling("AuxLogits.avg_pool", x, Window::square(5, 3));
  x = conv_unit(net, "AuxLogits.conv0", x, 128, kOne);
  x = conv_unit(net, "AuxLogits.conv1", x, 768, Window::square(5));
  net.linear("AuxLogits.fc", net.adaptive_pooling("AuxLogits.pool", x, 1), 1000, Bias::yes);
}

}  // namespace

LayerTable inception_v3(AuxiliaryHeads heads) {
  NetworkBuilder net{"inception-v3", "arXiv 1512.00567 as in torchvision", "image 3x299x299"};
  Feature x = conv_chain(
      net, "", {3, 299, 299},
      {{"Conv2d_1a_3x3", 32, kThreeHalving}, {"Conv2d_2a_3x3", 32, Window::square(3)}, {"Conv2d_2b_3x3", 64, kThree}});
  x = net.pooling("maxpool1", x, kThreeHalving);
  x = conv_chain(net, "", x, {{"Conv2d_3b_1x1", 80, kOne}, {"Conv2d_4a_3x3", 192, Window::square(3)}});
  x = net.pooling("maxpool2", x, kThreeHalving);
  x = module_a(net, "Mixed_5b.", x, 32);
  x = module_a(net, "Mixed_5c.", x, 64);
  x = module_a(net, "Mixed_5d.", x, 64);
  x = module_b(net, "Mixed_6a.", x);
  x = module_c(net, "Mixed_6b.", x, 128);
  x = module_c(net, "Mixed_6c.", x, 160);
  x = module_c(net, "Mixed_6d.", x, 160);
  x = module_c(net, "Mixed_6e.", x, 192);
  if (heads == AuxiliaryHeads::yes) auxiliary_head(net, x);
  x = module_d(net, "Mixed_7a.", x);
  x = module_e(net, "Mixed_7b.", x);
  x = module_e(net, "Mixed_7c.", x);
  x = net.activation("dropout", net.adaptive_pooling("avgpool", x, 1));
  net.linear("fc", x, 1000, Bias::yes);
  return net.take();
}

}  // namespace contend
