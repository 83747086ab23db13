#pragma once
// Declares the building blocks of the Inception networks: a convolution with batch normalization, and chains of these.

#include "models/catalogue/builder.hpp"

#include <string>
#include <vector>

namespace contend {

/// The windows of both networks; all keep the size except those that halve it.
inline const Window kOne = Window::square(1);
inline const Window kThree = Window::same(3, 3);
inline const Window kThreeHalving = Window::square(3, 2);
inline const Window kRow = Window::same(1, 7);
inline const Window kColumn = Window::same(7, 1);

/// Appends a convolution without bias, batch normalization and ReLU: `<name>.conv`, `<name>.bn` and `<name>.relu`.
inline Feature conv_unit(NetworkBuilder& net, const std::string& name, const Feature& x, std::int64_t channels,
                         const Window& window) {
  const Feature y = net.convolution(name + ".conv", x, channels, window, Bias::no);
  return net.activation(name + ".relu", net.batch_normalization(name + ".bn", y));
}

/// A unit of a chain.
struct ConvUnit {
  std::string name;
  std::int64_t channels = 0;
  Window window;
};

/// Appends units one after the other, each named `<at><its name>`.
inline Feature conv_chain(NetworkBuilder& net, const std::string& at, Feature x, const std::vector<ConvUnit>& units) {
  for (const ConvUnit& unit : units) x = conv_unit(net, at + unit.name, x, unit.channels, unit.window);
  return x;
}

}  // namespace contend
