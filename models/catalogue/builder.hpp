#pragma once
// NetworkBuilder builds the LayerTable of an architecture. Each call appends one layer, computes its parameters, flops
// and activations from the shape of its input, and returns the shape of its output.

#include "models/layers.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The shape of the activations between layers, for one sample: channels at height x width positions. A sequence has
/// its width as channels and its tokens as `height` positions.
struct Feature {
  std::int64_t channels = 0;
  std::int64_t height = 1;
  std::int64_t width = 1;
  bool needs_gradient = false;  ///< true if a layer before it has parameters

  [[nodiscard]] std::int64_t positions() const { return height * width; }
  [[nodiscard]] std::int64_t elements() const { return channels * positions(); }
};

/// Kernel size, stride and padding of a convolution or a pooling.
struct Window {
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t stride = 1;
  std::int64_t pad_height = 0;
  std::int64_t pad_width = 0;
  bool ceil = false;  ///< round the output size up, not down

  static Window square(std::int64_t size, std::int64_t stride = 1, std::int64_t padding = 0) {
    return {size, size, stride, padding, padding, false};
  }
  /// A window of odd sizes and stride 1, padded so that the output is as large as the input.
  static Window same(std::int64_t height, std::int64_t width) {
    return {height, width, 1, height / 2, width / 2, false};
  }
  [[nodiscard]] Window rounded_up() const {
    Window window = *this;
    window.ceil = true;
    return window;
  }
};

enum class Bias { no, yes };

/// Builds one table. Every layer function takes the name of the layer and the shapes of its inputs.
class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, std::string source, std::string sample);

  Feature convolution(const std::string& name, Feature input, std::int64_t channels, Window window, Bias bias);
  /// A linear map of the channels at every position: weight [channels, input.channels].
  Feature linear(const std::string& name, Feature input, std::int64_t channels, Bias bias);
  /// A linear map with the weight of an earlier layer (tied weights); only the bias, if any, is new.
  Feature tied_linear(const std::string& name, Feature input, std::int64_t channels, Bias bias);
  /// Scales and shifts each channel by statistics of the batch, which need a separate pass over the input.
  Feature batch_normalization(const std::string& name, Feature input);
  /// Scales by statistics of each position: layer normalization, or RMS normalization, which has no shift.
  Feature normalization(const std::string& name, Feature input, Bias shift = Bias::yes);
  Feature pooling(const std::string& name, Feature input, Window window);
  /// Averages over the windows that give `size` x `size` positions.
  Feature adaptive_pooling(const std::string& name, Feature input, std::int64_t size);
  Feature activation(const std::string& name, Feature input);
  /// Softmax over the last dimension: rows of input.width.
  Feature softmax(const std::string& name, Feature input);
  /// Element-wise sum of features of equal shape.
  Feature sum(const std::string& name, Feature a, Feature b);
  /// The channels of all inputs one after the other.
  Feature concatenation(const std::string& name, const std::vector<Feature>& inputs);
  /// Appends a trained tensor that is summed or concatenated with the input (position embeddings, class token).
  Feature trained_tensor(const std::string& name, Feature input, const std::string& tensor,
                         std::vector<std::int64_t> shape);
  /// Look-up of `tokens` rows of a table [rows, channels].
  Feature embedding(const std::string& name, std::int64_t rows, std::int64_t channels, std::int64_t tokens);
  /// Look-up in the table of an earlier layer.
  Feature tied_embedding(const std::string& name, std::int64_t rows, std::int64_t channels, std::int64_t tokens);
  /// One LSTM layer of input.channels -> hidden over all positions, one step after the other. `biases` vectors of
  /// 4 x hidden: 1 in the equations, 2 in cuDNN.
  Feature lstm(const std::string& name, Feature input, std::int64_t hidden, int biases);
  /// Appends a layer that none of the above describes.
  void append(Layer layer);

  static Feature flatten(Feature input) { return {input.elements(), 1, 1, input.needs_gradient}; }
  /// Returns the finished table; the builder is empty afterwards. Throws InputError as validate(LayerTable).
  [[nodiscard]] LayerTable take();

 private:
  Feature add_matrix(Layer layer, const Feature& input, Feature output, std::int64_t flops);
  Feature add_plain(const std::string& name, LayerKind kind, LayerOperation operation, const Feature& input,
                    Feature output);

  LayerTable table_;
};

}  // namespace contend
