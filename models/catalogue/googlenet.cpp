// Builds two versions of GoogLeNet of Szegedy et al., "Going deeper with convolutions" (arXiv 1409.4842), table 1. The
// version of torchvision adds batch normalization, drops biases, and has 3x3 windows where the paper has 5x5. The BVLC
// version of Caffe follows the paper, local response normalization included.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/inception_blocks.hpp"

namespace contend {

namespace {

// Channels of one inception module: 1x1; reduction and 3x3; reduction and 5x5; projection after pooling.
struct Module {
  const char* name;
  std::int64_t one, three_reduce, three, five_reduce, five, pool;
};

constexpr Module kModules[] = {
    {"3a", 64, 96, 128, 16, 32, 32},     {"3b", 128, 128, 192, 32, 96, 64},   {"4a", 192, 96, 208, 16, 48, 64},
    {"4b", 160, 112, 224, 24, 64, 64},   {"4c", 128, 128, 256, 24, 64, 64},   {"4d", 112, 144, 288, 32, 64, 64},
    {"4e", 256, 160, 320, 32, 128, 128}, {"5a", 256, 160, 320, 32, 128, 128}, {"5b", 384, 192, 384, 48, 128, 128},
};

Feature torchvision_module(NetworkBuilder& net, const Module& m, const Feature& x) {
  const std::string at = std::string{"inception"} + m.name + ".";
  const Feature b1 = conv_unit(net, at + "branch1", x, m.one, Window::square(1));
  const Feature b2 = conv_chain(
      net, at, x, {{"branch2.0", m.three_reduce, Window::square(1)}, {"branch2.1", m.three, Window::same(3, 3)}});
  const Feature b3 = conv_chain(
      net, at, x, {{"branch3.0", m.five_reduce, Window::square(1)}, {"branch3.1", m.five, Window::same(3, 3)}});
  const Feature pooled = net.pooling(at + "branch4.0", x, Window::same(3, 3).rounded_up());
  const Feature b4 = conv_unit(net, at + "branch4.1", pooled, m.pool, Window::square(1));
  return net.concatenation(at + "cat", {b1, b2, b3, b4});
}

void torchvision_head(NetworkBuilder& net, const std::string& name, Feature x) {
  x = net.adaptive_pooling(name + ".avgpool", x, 4);
  x = NetworkBuilder::flatten(conv_unit(net, name + ".conv", x, 128, Window::square(1)));
  x = net.activation(name + ".relu", net.linear(name + ".fc1", x, 1024, Bias::yes));
  net.linear(name + ".fc2", net.activation(name + ".dropout", x), 1000, Bias::yes);
}

// A convolution with bias and ReLU, the unit of the BVLC version.
Feature biased_unit(NetworkBuilder& net, const std::string& name, const Feature& x, std::int64_t channels,
                    const Window& window) {
  return net.activation(name + "/relu", net.convolution(name, x, channels, window, Bias::yes));
}

Feature bvlc_module(NetworkBuilder& net, const Module& m, const Feature& x) {
  const std::string at = std::string{"inception_"} + m.name + "/";
  const Feature b1 = biased_unit(net, at + "1x1", x, m.one, Window::square(1));
  Feature b2 = biased_unit(net, at + "3x3_reduce", x, m.three_reduce, Window::square(1));
  b2 = biased_unit(net, at + "3x3", b2, m.three, Window::same(3, 3));
  Feature b3 = biased_unit(net, at + "5x5_reduce", x, m.five_reduce, Window::square(1));
  b3 = biased_unit(net, at + "5x5", b3, m.five, Window::same(5, 5));
  const Feature pooled = net.pooling(at + "pool", x, Window::same(3, 3).rounded_up());
  const Feature b4 = biased_unit(net, at + "pool_proj", pooled, m.pool, Window::square(1));
  return net.concatenation(at + "output", {b1, b2, b3, b4});
}

void bvlc_head(NetworkBuilder& net, const std::string& name, Feature x) {
  x = net.pooling(name + "/ave_pool", x, Window::square(5, 3).rounded_up());
  x = NetworkBuilder::flatten(biased_unit(net, name + "/conv", x, 128, Window::square(1)));
  x = net.activation(name + "/relu_fc", net.linear(name + "/fc", x, 1024, Bias::yes));
  net.linear(name + "/classifier", net.activation(name + "/drop_fc", x), 1000, Bias::yes);
}

}  // namespace

LayerTable googlenet(AuxiliaryHeads heads) {
  NetworkBuilder net{"googlenet", "arXiv 1409.4842 as in torchvision (batch normalization)", "image 3x224x224"};
  const Window halve = Window::square(3, 2).rounded_up();
  Feature x = conv_unit(net, "conv1", {3, 224, 224}, 64, Window::square(7, 2, 3));
  x = conv_unit(net, "conv2", net.pooling("maxpool1", x, halve), 64, Window::square(1));
  x = net.pooling("maxpool2", conv_unit(net, "conv3", x, 192, Window::same(3, 3)), halve);
  for (const Module& module : kModules) {
    const std::string name = module.name;
    if (name == "4a") x = net.pooling("maxpool3", x, halve);
    if (name == "5a") x = net.pooling("maxpool4", x, Window::square(2, 2).rounded_up());
    x = torchvision_module(net, module, x);
    if (heads == AuxiliaryHeads::yes && name == "4a") torchvision_head(net, "aux1", x);
    if (heads == AuxiliaryHeads::yes && name == "4d") torchvision_head(net, "aux2", x);
  }
  x = net.activation("dropout", net.adaptive_pooling("avgpool", x, 1));
  net.linear("fc", x, 1000, Bias::yes);
  return net.take();
}

LayerTable googlenet_bvlc(AuxiliaryHeads heads) {
  NetworkBuilder net{"googlenet-bvlc", "arXiv 1409.4842 as in Caffe's bvlc_googlenet", "image 3x224x224"};
  const Window halve = Window::square(3, 2).rounded_up();
  // Local response normalization has no parameters, so this model treats it as an activation.
  Feature x = biased_unit(net, "conv1/7x7_s2", {3, 224, 224}, 64, Window::square(7, 2, 3));
  x = net.activation("pool1/norm1", net.pooling("pool1/3x3_s2", x, halve));
  x = biased_unit(net, "conv2/3x3_reduce", x, 64, Window::square(1));
  x = biased_unit(net, "conv2/3x3", x, 192, Window::same(3, 3));
  x = net.pooling("pool2/3x3_s2", net.activation("conv2/norm2", x), halve);
  for (const Module& module : kModules) {
    const std::string name = module.name;
    if (name == "4a") x = net.pooling("pool3/3x3_s2", x, halve);
    if (name == "5a") x = net.pooling("pool4/3x3_s2", x, halve);
    x = bvlc_module(net, module, x);
    if (heads == AuxiliaryHeads::yes && name == "4a") bvlc_head(net, "loss1", x);
    if (heads == AuxiliaryHeads::yes && name == "4d") bvlc_head(net, "loss2", x);
  }
  x = net.activation("pool5/drop", net.adaptive_pooling("pool5/7x7_s1", x, 1));
  net.linear("loss3/classifier", x, 1000, Bias::yes);
  return net.take();
}

}  // namespace contend
