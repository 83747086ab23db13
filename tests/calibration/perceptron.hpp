#pragma once
// A network small enough to work its times out by hand.

#include "models/catalogue/builder.hpp"

#include <cstdint>

namespace contend {

/// A linear layer with bias, ReLU, a linear layer without, of vectors of `inputs` numbers.
inline LayerTable perceptron(std::int64_t inputs, std::int64_t hidden, std::int64_t outputs) {
  NetworkBuilder net{"mlp", "", "vector"};
  Feature x = net.linear("fc1", {inputs, 1, 1, false}, hidden, Bias::yes);
  x = net.activation("relu", x);
  net.linear("fc2", x, outputs, Bias::no);
  return net.take();
}

}  // namespace contend
