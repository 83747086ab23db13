// Builds DenseNet-BC of Huang et al., "Densely connected convolutional networks" (arXiv 1608.06993), table 1, with the
// names of torchvision. Each dense layer first copies all features before it into one tensor, in the layer `cat`.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/builder.hpp"
#include "sim/check.hpp"

#include <array>

#include <fmt/core.h>

namespace contend {

namespace {

struct Dimensions {
  std::int64_t growth = 0;
  std::int64_t stem = 0;  ///< channels of the first convolution
  std::array<int, 4> blocks{};
};

Dimensions dimensions_of(int depth) {
  switch (depth) {
    case 121:
      return {32, 64, {6, 12, 24, 16}};
    case 161:
      return {48, 96, {6, 12, 36, 24}};
    case 201:
      return {32, 64, {6, 12, 48, 32}};
    default:
      break;
  }
  CONTEND_CHECK(false, "a DenseNet of this depth is not in the catalogue");
  return {};
}

Feature dense_layer(NetworkBuilder& net, const std::string& at, const std::vector<Feature>& before,
                    std::int64_t growth) {
  Feature x = net.concatenation(at + "cat", before);
  x = net.activation(at + "relu1", net.batch_normalization(at + "norm1", x));
  x = net.convolution(at + "conv1", x, 4 * growth, Window::square(1), Bias::no);
  x = net.activation(at + "relu2", net.batch_normalization(at + "norm2", x));
  return net.convolution(at + "conv2", x, growth, Window::same(3, 3), Bias::no);
}

Feature transition(NetworkBuilder& net, const std::string& at, Feature x) {
  x = net.activation(at + "relu", net.batch_normalization(at + "norm", x));
  x = net.convolution(at + "conv", x, x.channels / 2, Window::square(1), Bias::no);
  return net.pooling(at + "pool", x, Window::square(2, 2));
}

}  // namespace

LayerTable densenet(int depth) {
  const Dimensions dimensions = dimensions_of(depth);
  NetworkBuilder net{fmt::format("densenet{}", depth), "arXiv 1608.06993, table 1, as in torchvision",
                     "image 3x224x224"};
  Feature x = net.convolution("features.conv0", {3, 224, 224}, dimensions.stem, Window::square(7, 2, 3), Bias::no);
  x = net.activation("features.relu0", net.batch_normalization("features.norm0", x));
  x = net.pooling("features.pool0", x, Window::square(3, 2, 1));
  for (std::size_t block = 0; block < dimensions.blocks.size(); ++block) {
    const std::string name = fmt::format("features.denseblock{}.", block + 1);
    std::vector<Feature> features{x};
    for (int i = 1; i <= dimensions.blocks[block]; ++i) {
      features.push_back(dense_layer(net, fmt::format("{}denselayer{}.", name, i), features, dimensions.growth));
    }
    x = net.concatenation(name + "cat", features);
    if (block < 3) x = transition(net, fmt::format("features.transition{}.", block + 1), x);
  }
  x = net.activation("features.relu5", net.batch_normalization("features.norm5", x));
  net.linear("classifier", net.adaptive_pooling("avgpool", x, 1), 1000, Bias::yes);
  return net.take();
}

}  // namespace contend
