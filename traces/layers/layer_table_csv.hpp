#pragma once
// Reads a network as a table of what its layers compute, which `contend capture` writes: one row a layer in forward
// order, columns found by name. Its figures are per sample (models/layers.hpp), and a device makes times of them.
//   layer, kind        unique name; convolution, linear, embedding, attention, recurrent, normalization, pooling,
//                      activation or elementwise
//   tensors, parameters   as in tables of times (timed_csv.hpp)
//   forward_flops, input_gradient_flops, weight_gradient_flops
//   input_elements, output_elements   numbers that the forward pass reads, beside parameters, and writes
// Optional: `shared_parameters` (read, but of an earlier layer or not trained; 0), `input_reads` (1), `kernels` (1),
// `input_needs_gradient` (1), `geometry`, and `model` and `sample`, which are alike in all rows. `geometry` gives the
// sizes of the product of a sample, such as `linear channels=512 height=1024 out_channels=2048`: an operation
// (convolution, linear, attention_scores or fused_attention) and members of LayerGeometry, 1 where they are left out
// (paddings, `causal` and `key_heads`: 0). Its flops must be forward_flops.

#include "models/layers.hpp"

#include <string>
#include <string_view>

namespace contend {

/// Parses a table; messages call it `file`, which names a model that the table doesn't name. Throws InputError with
/// every bad row, and as validate(LayerTable).
[[nodiscard]] LayerTable parse_layer_table(std::string_view text, const std::string& file);
/// Reads a file, plain or compressed.
[[nodiscard]] LayerTable read_layer_table(const std::string& path);

/// True if the model of an entry is such a file, not a name of the catalogue.
[[nodiscard]] bool names_layer_table(std::string_view model);

}  // namespace contend
