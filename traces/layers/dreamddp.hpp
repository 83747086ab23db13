#pragma once
// Layer times of DreamDDP (repository trl730109/DreamDDP, plots/DearmDDP, as JSON):
//   {"A6000": {"resnet50": {"bp": {"conv1": 0.0013, ...}, "comm": {"conv1": 0.0021, ...}}, ...}, ...}
// Seconds, layers in forward order: the backward pass of a layer, and the all-reduce of its gradient on the network
// where it was measured. There are no parameter counts in the file: they come from a layer table with the same names.

#include "text/byte_source.hpp"
#include "traces/layers/layer_measurement.hpp"
#include "traces/layers/layer_options.hpp"

#include <string>
#include <vector>

namespace contend {

/// The measurements in forward order. `select` is `GPU/model`; empty if the file holds one. Throws InputError.
[[nodiscard]] std::vector<LayerMeasurement> parse_dreamddp_measurements(ByteSource& source, const std::string& file,
                                                                        const std::string& select);

/// Takes select, forward_ratio, batch and sizes; without sizes there are no gradients, which is an error.
[[nodiscard]] TimedModel parse_dreamddp(ByteSource& source, const std::string& file, const LayerReadOptions& options);

}  // namespace contend
