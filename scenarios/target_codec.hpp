#pragma once
// `overlap.iterations_to_target`: a map `{top-k: 1.1, gtop-k: 1.2, source: "..."}`, or a list of policies with theirs.

#include "scenarios/codecs.hpp"
#include "scenarios/scenario.hpp"

#include <vector>

namespace contend {

[[nodiscard]] Codec<std::vector<IterationsToTarget>> targets_codec();

}  // namespace contend
