// Builds the vision transformer of Dosovitskiy et al., "An image is worth 16x16 words" (arXiv 2010.11929), table 1,
// with the names of torchvision.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/attention.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

Feature vit_layer(NetworkBuilder& net, const std::string& at, const Feature& x, const TransformerSize& size) {
  const std::string self = at + "self_attention.";
  const Feature qkv = net.linear(self + "in_proj", net.normalization(at + "ln_1", x), 3 * size.width, Bias::yes);
  Feature third = qkv;
  third.channels = size.width;
  Feature y = attention(net, self, {third, third, third, size.heads});
  y = net.activation(at + "dropout", net.linear(self + "out_proj", y, size.width, Bias::yes));
  const Feature attended = net.sum(at + "add_1", y, x);
  y = net.linear(at + "mlp.0", net.normalization(at + "ln_2", attended), size.feed_forward, Bias::yes);
  y = net.linear(at + "mlp.3", net.activation(at + "mlp.1", y), size.width, Bias::yes);
  return net.sum(at + "add_2", y, attended);
}

}  // namespace

LayerTable vision_transformer(const TransformerSize& size) {
  NetworkBuilder net{size.name, "arXiv 2010.11929, table 1, as in torchvision", "image 3x224x224"};
  const Feature patches = net.convolution("conv_proj", {3, 224, 224}, size.width, Window::square(16, 16), Bias::yes);
  Feature x{size.width, patches.positions() + 1, 1, true};  // one more token, the class
  x = net.trained_tensor("class_token", x, "class_token", {1, 1, size.width});
  x = net.trained_tensor("encoder.pos_embedding", x, "pos_embedding", {1, x.positions(), size.width});
  x = net.activation("encoder.dropout", x);
  for (int i = 0; i < size.layers; ++i) {
    x = vit_layer(net, fmt::format("encoder.layers.encoder_layer_{}.", i), x, size);
  }
  x = net.normalization("encoder.ln", x);
  net.linear("heads.head", {size.width, 1, 1, true}, size.vocabulary, Bias::yes);
  return net.take();
}

}  // namespace contend
