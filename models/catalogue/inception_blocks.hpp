#pragma once
// What the Inception networks are made of: a convolution with batch normalization, and chains of these.

#include "models/catalogue/builder.hpp"

#include <string>
#include <vector>

namespace contend {

/// Convolution without bias, batch normalization, ReLU: layers `<name>.conv`, `<name>.bn`, `<name>.relu`.
inline Feature conv_unit(NetworkBuilder& net, const std::string& name, const Feature& x, std::int64_t channels,
                         const Window& window) {
  const Feature y = net.convolution(name + ".conv", x, channels, window, Bias::no);
  return net.activation(name + ".relu", net.batch_normalization(name + ".bn", y));
}

struct ConvUnit {
  std::string name;
  std::int64_t channels = 0;
  Window window;
};

/// Units one after the other, each named `<at><its name>`.
inline Feature conv_chain(NetworkBuilder& net, const std::string& at, Feature x, const std::vector<ConvUnit>& units) {
  for (const ConvUnit& unit : units) x = conv_unit(net, at + unit.name, x, unit.channels, unit.window);
  return x;
}

}  // namespace contend
