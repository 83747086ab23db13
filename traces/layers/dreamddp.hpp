#pragma once
// Reads layer times of DreamDDP (repository trl730109/DreamDDP, plots/DearmDDP, as JSON):
//   {"A6000": {"resnet50": {"bp": {"conv1": 0.0013, ...}, "comm": {"conv1": 0.0021, ...}}, ...}, ...}
// Times are in seconds and layers in forward order: the backward pass of a layer, and the all-reduce of its gradient on
// the measured network. The file has no parameter counts: they come from a layer table with the same names.

#include "text/byte_source.hpp"
#include "traces/layers/layer_options.hpp"

#include <string>

namespace contend {

/// `select` is `GPU/model`; it may be empty if the file holds one model. Uses select, forward_ratio, batch and sizes;
/// `sizes` is required, because without it there are no gradients.
[[nodiscard]] TimedModel parse_dreamddp(ByteSource& source, const std::string& file, const LayerReadOptions& options);

}  // namespace contend
