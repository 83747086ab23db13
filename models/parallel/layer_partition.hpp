#pragma once
// How layers are divided among the parts of a model, so that no part keeps the others waiting.
//
// A pipeline is as fast as its slowest part: m micro-batches take at least m times the longest part. Where devices,
// networks or the ends of the model differ, equally many layers are not equally long. Holmes gives clusters with faster
// networks more layers (Yang et al., arXiv 2312.03549); FusionLLM cuts a chain of operators over unequal devices and
// links, with the time in which a part receives counted as its own (Tang et al., arXiv 2410.12707).

#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace contend {

/// The time in which part `part` deals with one micro-batch if it has the layers [first, last), >= 0. It doesn't fall
/// when a part gets more layers.
using PartTime = std::function<Time(int part, std::int64_t first, std::int64_t last)>;

/// Layers of each of `parts` >= 1 consecutive parts such that the longest part is as short as possible; among these
/// divisions the one with the smallest sum of the squares of the parts' times, which is the most even one. The first
/// and the last part may have no layer, the others have one or more; `layers` >= parts - 2, and >= 1. Exact: dynamic
/// programming in O(parts layers^2) calls of `time`. Ties go to fewer layers in the later parts.
[[nodiscard]] std::vector<std::int64_t> balanced_layers(std::int64_t layers, int parts, const PartTime& time);

}  // namespace contend
