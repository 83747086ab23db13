// Builds ResNet of He et al., "Deep residual learning for image recognition" (arXiv 1512.03385), table 1, as in
// torchvision: the stride of a bottleneck is in its 3x3 convolution ("v1.5"), which changes flops, not parameters.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/builder.hpp"
#include "sim/check.hpp"

#include <array>

#include <fmt/core.h>

namespace contend {

namespace {

struct Block {
  std::int64_t width = 0;
  std::int64_t stride = 1;
  bool bottleneck = false;
  bool project = false;  ///< the shortcut needs a convolution because the shape changes
};

Feature conv_norm(NetworkBuilder& net, const std::string& at, int index, const Feature& x, std::int64_t channels,
                  const Window& window) {
  const Feature y = net.convolution(fmt::format("{}conv{}", at, index), x, channels, window, Bias::no);
  return net.batch_normalization(fmt::format("{}bn{}", at, index), y);
}

Feature residual_block(NetworkBuilder& net, const std::string& at, const Feature& x, const Block& block) {
  const auto relu = [&](int index, const Feature& y) { return net.activation(fmt::format("{}relu{}", at, index), y); };
  const Window three = Window::square(3, block.stride, 1);
  const std::int64_t out = block.bottleneck ? 4 * block.width : block.width;
  Feature y = x;
  if (block.bottleneck) {
    y = relu(1, conv_norm(net, at, 1, y, block.width, Window::square(1)));
    y = relu(2, conv_norm(net, at, 2, y, block.width, three));
    y = conv_norm(net, at, 3, y, out, Window::square(1));
  } else {
    y = relu(1, conv_norm(net, at, 1, y, block.width, three));
    y = conv_norm(net, at, 2, y, out, Window::same(3, 3));
  }
  Feature shortcut = x;
  if (block.project) {
    shortcut = net.convolution(at + "downsample.0", x, out, Window::square(1, block.stride), Bias::no);
    shortcut = net.batch_normalization(at + "downsample.1", shortcut);
  }
  return relu(block.bottleneck ? 3 : 2, net.sum(at + "add", y, shortcut));
}

std::array<int, 4> blocks_of(int depth) {
  switch (depth) {
    case 18:
      return {2, 2, 2, 2};
    case 34:
      return {3, 4, 6, 3};
    case 50:
      return {3, 4, 6, 3};
    case 101:
      return {3, 4, 23, 3};
    case 152:
      return {3, 8, 36, 3};
    default:
      break;
  }
  CONTEND_CHECK(false, "a ResNet of this depth is not in the catalogue");
  return {};
}

}  // namespace

LayerTable resnet(int depth) {
  NetworkBuilder net{fmt::format("resnet{}", depth), "arXiv 1512.03385, table 1, as in torchvision (v1.5)",
                     "image 3x224x224"};
  const std::array<int, 4> blocks = blocks_of(depth);
  const bool bottleneck = depth >= 50;
  Feature x = conv_norm(net, "", 1, {3, 224, 224}, 64, Window::square(7, 2, 3));
  x = net.pooling("maxpool", net.activation("relu", x), Window::square(3, 2, 1));
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    for (int i = 0; i < blocks[stage]; ++i) {
      const Block block{width, i == 0 && stage > 0 ? 2 : 1, bottleneck, i == 0 && (stage > 0 || bottleneck)};
      x = residual_block(net, fmt::format("layer{}.{}.", stage + 1, i), x, block);
    }
  }
  net.linear("fc", net.adaptive_pooling("avgpool", x, 1), 1000, Bias::yes);
  return net.take();
}

}  // namespace contend
