// Builds AlexNet as in torchvision: the one-tower version, without local response normalization, of Krizhevsky, "One
// weird trick for parallelizing convolutional neural networks" (arXiv 1404.5997). The two-tower network of 2012 has
// other sizes.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/builder.hpp"

namespace contend {

LayerTable alexnet() {
  NetworkBuilder net{"alexnet", "arXiv 1404.5997 as in torchvision", "image 3x224x224"};
  const auto conv = [&](const char* index, const Feature& x, std::int64_t channels, const Window& window) {
    return net.convolution(std::string{"features."} + index, x, channels, window, Bias::yes);
  };
  Feature x{3, 224, 224};
  x = net.activation("features.1", conv("0", x, 64, Window::square(11, 4, 2)));
  x = net.pooling("features.2", x, Window::square(3, 2));
  x = net.activation("features.4", conv("3", x, 192, Window::square(5, 1, 2)));
  x = net.pooling("features.5", x, Window::square(3, 2));
  x = net.activation("features.7", conv("6", x, 384, Window::same(3, 3)));
  x = net.activation("features.9", conv("8", x, 256, Window::same(3, 3)));
  x = net.activation("features.11", conv("10", x, 256, Window::same(3, 3)));
  x = net.pooling("features.12", x, Window::square(3, 2));
  x = net.activation("classifier.0", NetworkBuilder::flatten(net.adaptive_pooling("avgpool", x, 6)));
  x = net.activation("classifier.2", net.linear("classifier.1", x, 4096, Bias::yes));
  x = net.activation("classifier.3", x);
  x = net.activation("classifier.5", net.linear("classifier.4", x, 4096, Bias::yes));
  net.linear("classifier.6", x, 1000, Bias::yes);
  return net.take();
}

}  // namespace contend
