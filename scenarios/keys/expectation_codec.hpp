#pragma once
// Reads and prints `expect`, a map of metrics to bounds:
//
//   expect: {avg_jct: "< 2h", finished: 160, p95_jct: [10min, 3h], gpu_utilisation: ">= 60%"}

#include "results/expectations.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <vector>

namespace contend {

[[nodiscard]] Codec<std::vector<Expectation>> expectations_codec();

}  // namespace contend
