#pragma once
// Reads and writes a network without times as CSV (format `layer-table`), which a cost model can time for any device.
// One row a layer in forward order; columns are found by name, in any order. Work is per sample; a multiply-add counts
// as 2 flops.
//   layer                 unique name
//   kind                  convolution, linear, embedding, attention, recurrent, normalization, pooling, activation or
//                         elementwise
//   parameters, tensors   as in traces/layers/timed_csv.hpp
//   forward_flops         of the forward pass
//   input_gradient_flops  backward, for the layer before; 0 in the first layer
//   weight_gradient_flops backward, for the layer's own parameters
//   input_elements, output_elements  activations that the forward pass reads and writes
// Optional columns are `shared_elements` (parameters of an earlier layer used here too; default 0), `kernels` (default
// 1), and the columns with the same value in every row: `model`, `source`, `sample`.

#include "models/layers.hpp"

#include <string>
#include <string_view>

namespace contend {

/// Throws InputError with every bad row and with the faults that validate() finds.
[[nodiscard]] LayerTable parse_table_csv(std::string_view text, const std::string& file);
/// The same for a file, plain or compressed.
[[nodiscard]] LayerTable read_layer_table(const std::string& path);

/// Writes a table in the format that parse_table_csv() reads; reading it back gives the same table.
[[nodiscard]] std::string table_csv(const LayerTable& table);

}  // namespace contend
