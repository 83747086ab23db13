#pragma once
// A network as a table of layers: what it is made of (LayerTable, independent of any device) and how long its layers
// take (TimedModel, what the passes over one iteration consume, wherever the times come from).
//
// A LayerTable comes from the catalogue (models/catalogue/catalogue.hpp) or from the user; a TimedModel from a cost
// model (models/cost_model.hpp), from a table of measured times, or from a trace reader (traces/).

#include "models/time_basis.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// One parameter tensor, which is also one gradient tensor.
struct ParameterTensor {
  std::string name;                 ///< unique within its layer, such as `weight`
  std::int64_t elements = 0;        ///< >= 1
  std::vector<std::int64_t> shape;  ///< product = elements; empty if unknown (a trace that gives sizes only)

  /// Rows and columns when the tensor is seen as a matrix (first dimension, product of the rest), as low-rank
  /// compression does. 1 column for a vector and where the shape is unknown.
  [[nodiscard]] std::int64_t rows() const { return shape.empty() ? elements : shape.front(); }
  [[nodiscard]] std::int64_t columns() const { return shape.empty() ? 1 : elements / shape.front(); }
};

enum class LayerKind {
  convolution,
  linear,
  embedding,      ///< table look-up
  attention,      ///< batched matrix products of queries with keys, of weights with values; no parameters
  recurrent,      ///< an LSTM layer over the whole sequence
  normalization,  ///< batch, layer or RMS normalization
  pooling,
  activation,   ///< ReLU, GELU, softmax, dropout and the like
  elementwise,  ///< residual sums, concatenations
};

[[nodiscard]] std::string_view to_string(LayerKind kind);

/// What a layer executes, more finely than its kind.
enum class LayerOperation {
  convolution,
  linear,
  attention_scores,   ///< queries x keys
  attention_context,  ///< weights x values
  fused_attention,    ///< both and the softmax between, in one kernel
  lstm,
  batch_norm,
  row_norm,  ///< of each position: layer or RMS normalization
  pooling,
  activation,
  softmax,  ///< of rows of `keys`
  sum,      ///< of two tensors
  concatenation,
  added_tensor,  ///< a trained tensor is added
  embedding,
};

/// The shapes behind the sizes of a layer, per sample: which kernels run, and over what. Members that an operation has
/// no use for keep their defaults.
struct LayerGeometry {
  LayerOperation operation = LayerOperation::linear;
  std::int64_t channels = 1, height = 1, width = 1;  ///< of the input (of a look-up: the output); tokens are `height`
  std::int64_t out_channels = 1;                     ///< convolution, linear; hidden size of an LSTM
  std::int64_t window_height = 1, window_width = 1, stride = 1, pad_height = 0, pad_width = 0;
  std::int64_t heads = 1, queries = 1, keys = 1, head_size = 1;  ///< attention and its softmax; positions of both
  std::int64_t rows = 1;                                         ///< of a table

  [[nodiscard]] std::int64_t positions() const { return height * width; }
};

/// One layer. Work is per sample (one image, one sequence). Flops are those of matrix products (convolution, linear,
/// recurrent, attention) and count a multiply-add as 2; the few operations an element of all other layers are not
/// counted, as usual in published figures: what those cost is the reading and writing of their activations.
struct Layer {
  std::string name;  ///< unique within the table, dotted by block: `layer3.0.conv2`
  LayerKind kind = LayerKind::linear;
  std::vector<ParameterTensor> parameters;  ///< in order of declaration; may be empty (a ReLU)
  /// Parameters that belong to an earlier layer and are used here too (a decoder tied to its embedding). They are not
  /// counted again, and their gradient is ready with that of their owner.
  std::int64_t shared_elements = 0;
  std::int64_t forward_flops = 0;
  std::int64_t input_gradient_flops = 0;   ///< backward, for the layer before; 0 where nothing before needs it
  std::int64_t weight_gradient_flops = 0;  ///< backward, for the layer's own parameters
  std::int64_t input_elements = 0;         ///< activations read in the forward pass
  std::int64_t output_elements = 0;        ///< activations written in the forward pass
  int input_reads = 1;  ///< times a pass reads the input, >= 1; 2 in batch normalization: statistics come first
  int kernels = 1;      ///< dependent GPU kernels of the forward pass, >= 1; one a step in an LSTM
  bool input_needs_gradient = true;       ///< false where nothing before this layer has parameters
  std::optional<LayerGeometry> geometry;  ///< nothing if only sizes are known

  [[nodiscard]] std::int64_t backward_flops() const { return input_gradient_flops + weight_gradient_flops; }
  [[nodiscard]] std::int64_t parameter_elements() const;
};

/// Layers in forward order; where the network branches, in an order in which every layer follows what it reads.
struct LayerTable {
  std::string name;
  std::string source;  ///< paper or implementation that defines the architecture, or the file it was read from
  std::string sample;  ///< what one sample is, such as `image 3x224x224` or `sequence of 1024 tokens`
  std::vector<Layer> layers;

  [[nodiscard]] std::int64_t parameter_elements() const;
  [[nodiscard]] std::int64_t parameter_tensors() const;
  [[nodiscard]] std::int64_t forward_flops() const;  ///< per sample
  [[nodiscard]] std::int64_t backward_flops() const;
};

/// Throws InputError with every fault found: no layers; no parameters at all; an empty or repeated name; a convolution,
/// linear, embedding or recurrent layer without parameters (own or shared); a tensor without elements or whose shape
/// disagrees with them; negative work or sizes; kernels or reads < 1.
void validate(const LayerTable& table);

/// A layer whose times on one device and for one batch are known.
struct TimedLayer {
  std::string name;
  std::vector<ParameterTensor> tensors;  ///< gradients, in order of declaration; may be empty
  Time forward;                          ///< of the whole batch, >= 0
  Time backward;
  std::string origin;  ///< where the times come from, such as `roofline A100-40GB fp16` or `times.csv row 12`
  std::optional<TimeBasis> basis{};  ///< of both passes together, where the times come from a calibration
};

/// A gradient and the moment it can be sent, in the order in which a backward pass produces them.
struct ReadyGradient {
  std::size_t layer = 0;   ///< index into TimedModel::layers
  std::size_t tensor = 0;  ///< index into TimedLayer::tensors
  Bytes size;
  Time ready;  ///< since the start of the backward pass
};

/// One iteration of one worker, layer by layer, in forward order. The backward pass runs from the last to the first.
struct TimedModel {
  std::string name;
  std::string device;              ///< name of the device or of the trace
  int batch = 0;                   ///< samples a worker and iteration, >= 1
  int gradient_element_bytes = 4;  ///< 4 for fp32 gradients, 2 for fp16 and bf16
  std::vector<TimedLayer> layers;

  [[nodiscard]] Time forward() const;
  [[nodiscard]] Time backward() const;
  [[nodiscard]] std::int64_t gradient_elements() const;
  [[nodiscard]] Bytes gradient() const;
  [[nodiscard]] Bytes gradient(std::size_t layer) const;
  /// All gradients, last layer first, last tensor of a layer first; those of a layer are ready when its backward ends.
  [[nodiscard]] std::vector<ReadyGradient> ready_gradients() const;
};

/// Throws InputError with every fault found: no layers; no gradients at all; an empty or repeated name; a negative
/// time; a forward or a backward pass that takes no time; a tensor without elements; batch < 1; element bytes < 1.
void validate(const TimedModel& model);

}  // namespace contend
