#pragma once
// Reads tensor traces of Espresso (Wang et al., EuroSys 2023; repository zhuangwang93/Espresso, model_tensor.py, as
// JSON):
//   {"resnet50": {"tensors": [["fc.bias", 1000], ...], "ready_time_gap_us": [0, ...]}, ...}
// Tensors are in backward order; the gap is the time that the backward pass takes before that gradient is ready.
// Members whose name begins with `_` (compression costs) are not models.
//
// Every tensor becomes a layer with one gradient, so that it is ready when the trace says. The repository's simulator
// reduces gaps modulo 1000 before it adds them up; this reader does not.

#include "text/byte_source.hpp"
#include "traces/layers/layer_options.hpp"

#include <string>

namespace contend {

/// Uses select, forward_ratio and batch. Throws InputError with every fault of the chosen model.
[[nodiscard]] TimedModel parse_espresso(ByteSource& source, const std::string& file,
                                        const LayerReadOptions& options = {});

}  // namespace contend
