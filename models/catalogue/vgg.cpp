// Builds VGG of Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition" (arXiv
// 1409.1556), table 1, columns D (16) and E (19). Layers are numbered as in torchvision.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/builder.hpp"
#include "sim/check.hpp"

#include <fmt/core.h>

namespace contend {

LayerTable vgg(int depth) {
  CONTEND_CHECK(depth == 16 || depth == 19, "a VGG of this depth is not in the catalogue");
  NetworkBuilder net{fmt::format("vgg{}", depth), "arXiv 1409.1556, table 1", "image 3x224x224"};
  const int deep_stage = depth == 16 ? 3 : 4;  // convolutions in each of the last three stages
  const int convolutions[] = {2, 2, deep_stage, deep_stage, deep_stage};
  const std::int64_t channels[] = {64, 128, 256, 512, 512};
  Feature x{3, 224, 224};
  int index = 0;
  const auto next = [&index] { return fmt::format("features.{}", index++); };
  for (int stage = 0; stage < 5; ++stage) {
    for (int i = 0; i < convolutions[stage]; ++i) {
      x = net.convolution(next(), x, channels[stage], Window::same(3, 3), Bias::yes);
      x = net.activation(next(), x);
    }
    x = net.pooling(next(), x, Window::square(2, 2));
  }
  x = NetworkBuilder::flatten(x);
  x = net.activation("classifier.1", net.linear("classifier.0", x, 4096, Bias::yes));
  x = net.activation("classifier.2", x);
  x = net.activation("classifier.4", net.linear("classifier.3", x, 4096, Bias::yes));
  x = net.activation("classifier.5", x);
  net.linear("classifier.6", x, 1000, Bias::yes);
  return net.take();
}

}  // namespace contend
