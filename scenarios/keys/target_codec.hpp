#pragma once
// Reads and prints `overlap.iterations_to_target`: a map `{top-k: 1.1, gtop-k: 1.2, source: "..."}`, or a list of
// policies with a factor each.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <vector>

namespace contend {

[[nodiscard]] Codec<std::vector<IterationsToTarget>> targets_codec();

}  // namespace contend
