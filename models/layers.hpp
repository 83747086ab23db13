#pragma once
// A neural network is described as a table of layers. A LayerTable says what the layers compute, independently of any
// device; a TimedModel says how long they take, and is the input of studies of one iteration.
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

  /// Rows and columns of the tensor seen as a matrix (first dimension, product of the rest), as in low-rank
  /// compression. A vector, and a tensor of unknown shape, has 1 column.
  [[nodiscard]] std::int64_t rows() const { return shape.empty() ? elements : shape.front(); }
  [[nodiscard]] std::int64_t columns() const { return shape.empty() ? 1 : elements / shape.front(); }
};

/// The kind of a layer, for tables and cost models.
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

/// The operation that a layer executes; it is finer than LayerKind.
enum class LayerOperation {
  convolution,
  linear,
  attention_scores,   ///< queries x keys
  attention_context,  ///< weights x values
  fused_attention,    ///< both with the softmax between them, in one kernel
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

/// The operation of a layer and the shapes of its tensors, per sample. Members that an operation does not use keep
/// their defaults.
struct LayerGeometry {
  LayerOperation operation = LayerOperation::linear;
  std::int64_t channels = 1, height = 1, width = 1;  ///< of the input (of a look-up: the output); tokens are `height`
  std::int64_t out_channels = 1;                     ///< convolution, linear; hidden size of an LSTM
  std::int64_t window_height = 1, window_width = 1, stride = 1, pad_height = 0, pad_width = 0;
  std::int64_t heads = 1, queries = 1, keys = 1, head_size = 1;  ///< attention and its softmax; positions of both
  std::int64_t key_heads = 0;  ///< of fused attention: heads of keys and values; 0: as many as `heads`
  bool causal = false;         ///< of fused attention: a kernel leaves out what the mask hides; flops count all
  std::int64_t rows = 1;       ///< of the table of an embedding

  [[nodiscard]] std::int64_t positions() const { return height * width; }
};

/// One layer. Its work is per sample (one image, one sequence). Flops are the operations of matrix products
/// (convolution, linear, recurrent, attention); a multiply-add counts as 2. As usual in published figures, the few
/// operations per element of other layers are not counted: their cost is the reading and writing of their activations.
struct Layer {
  std::string name;  ///< unique within the table, dotted by block: `layer3.0.conv2`
  LayerKind kind = LayerKind::linear;
  std::vector<ParameterTensor> parameters;  ///< in order of declaration; may be empty (a ReLU)
  /// Parameters of an earlier layer that are used here too (a decoder tied to its embedding). They are not counted
  /// again, and their gradient is ready with the gradient of the earlier layer.
  std::int64_t shared_elements = 0;
  std::int64_t forward_flops = 0;
  std::int64_t input_gradient_flops = 0;   ///< backward, for the gradient of the input; 0 if no layer before needs it
  std::int64_t weight_gradient_flops = 0;  ///< backward, for the gradients of the layer's own parameters
  std::int64_t input_elements = 0;         ///< activations read in the forward pass
  std::int64_t output_elements = 0;        ///< activations written in the forward pass
  int input_reads = 1;  ///< times a pass reads the input, >= 1; 2 in batch normalization: first for the statistics
  int kernels = 1;      ///< dependent GPU kernels of the forward pass, >= 1; one per time step in an LSTM
  bool input_needs_gradient = true;       ///< false if no layer before this one has parameters
  std::optional<LayerGeometry> geometry;  ///< nothing if only sizes are known

  [[nodiscard]] std::int64_t backward_flops() const { return input_gradient_flops + weight_gradient_flops; }
  [[nodiscard]] std::int64_t parameter_elements() const;
};

/// A network as its layers in forward order. If the network branches, every layer follows those whose outputs it reads.
struct LayerTable {
  std::string name;
  std::string source;  ///< paper or implementation that defines the architecture, or the file it was read from
  std::string sample;  ///< description of a sample, such as `image 3x224x224` or `sequence of 1024 tokens`
  std::vector<Layer> layers;

  [[nodiscard]] std::int64_t parameter_elements() const;
  [[nodiscard]] std::int64_t parameter_tensors() const;
  [[nodiscard]] std::int64_t forward_flops() const;  ///< per sample
  [[nodiscard]] std::int64_t backward_flops() const;
};

/// Checks a table. Throws InputError with every fault: no layers; no parameters at all; an empty or repeated name; a
/// convolution, linear, embedding or recurrent layer without parameters (own or shared); a tensor without elements or
/// with another number of elements than its shape; negative work or sizes; kernels or reads < 1.
void validate(const LayerTable& table);

/// A layer whose times on one device and for one batch are known.
struct TimedLayer {
  std::string name;
  std::vector<ParameterTensor> tensors;  ///< gradients, in order of declaration; may be empty
  Time forward;                          ///< of the whole batch, >= 0
  Time backward;
  std::string origin;                ///< source of the times, such as `roofline A100-40GB fp16` or `times.csv row 12`
  std::optional<TimeBasis> basis{};  ///< of both passes together, if the times come from a calibration
};

/// One iteration of one worker, layer by layer in forward order. The backward pass runs from the last layer to the
/// first.
struct TimedModel {
  std::string name;
  std::string device;              ///< name of the device or of the trace
  int batch = 0;                   ///< samples per worker and iteration, >= 1
  int gradient_element_bytes = 4;  ///< 4 for fp32 gradients, 2 for fp16 and bf16
  std::vector<TimedLayer> layers;

  [[nodiscard]] Time forward() const;
  [[nodiscard]] Time backward() const;
  [[nodiscard]] std::int64_t gradient_elements() const;
  [[nodiscard]] Bytes gradient() const;
  [[nodiscard]] Bytes gradient(std::size_t layer) const;
};

/// Checks a model. Throws InputError with every fault: no layers; no gradients at all; an empty or repeated name; a
/// negative time; a forward or a backward pass that takes no time; a tensor without elements; batch < 1; element bytes
/// < 1.
void validate(const TimedModel& model);

}  // namespace contend
