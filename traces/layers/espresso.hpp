#pragma once
// Tensor traces of Espresso (Wang et al., EuroSys 2023; repository zhuangwang93/Espresso, model_tensor.py, as JSON):
//   {"resnet50": {"tensors": [["fc.bias", 1000], ...], "ready_time_gap_us": [0, ...]}, ...}
// Tensors stand in backward order; the gap is the time that the backward pass takes before that gradient is ready.
// Members whose name begins with `_` (compression costs) are no models.
//
// Every tensor becomes a layer with one gradient, so that it is ready when the trace says. The repository's simulator
// reduces gaps modulo 1000 before it adds them up; they are whole here.

#include "text/byte_source.hpp"
#include "traces/layers/layer_options.hpp"

#include <string>

namespace contend {

/// Takes select, forward_ratio and batch. Throws InputError with everything that is wrong with the chosen model.
[[nodiscard]] TimedModel parse_espresso(ByteSource& source, const std::string& file,
                                        const LayerReadOptions& options = {});

}  // namespace contend
