#pragma once
// Reads and writes layer times as CSV (format `timed-layers`): one row a layer in forward order, columns found by name.
//   layer        unique name
//   parameters   number of parameters, >= 0; or
//   tensors      the parameters one by one, `weight=[64x3x7x7];bias=64`: each is a gradient of its own. With both
//                columns the sizes must agree; without `tensors` a layer has one gradient
//   backward_us  time of the backward pass of the whole batch; also backward_ns, backward_ms, backward_s. Decimals may
//                reach to the nanosecond
//   forward_us   the same for the forward pass; without it, a ratio to the backward time (LayerReadOptions)
// Optional columns are `origin` (the source of the times; default: file and line) and the columns with the same value
// in every row: `model`, `device`, `batch` (samples), `element_bytes` (of a gradient, 1 to 8; default 4).

#include "models/layers.hpp"
#include "traces/layers/layer_options.hpp"

#include <string>
#include <string_view>

namespace contend {

/// Parses a table. Messages call it `file`, which also names a model and device that the table does not name. Throws
/// InputError with every bad row.
[[nodiscard]] TimedModel parse_timed_csv(std::string_view text, const std::string& file,
                                         const LayerReadOptions& options = {});

/// Writes a model in the format that parse_timed_csv() reads; reading it back gives the same model.
[[nodiscard]] std::string timed_csv(const TimedModel& model);

}  // namespace contend
