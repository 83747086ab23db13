#pragma once
// What folding made of the jobs of a run, in words and as JSON.

#include "sim/folding_counts.hpp"
#include "sim/result.hpp"
#include "text/json_writer.hpp"

#include <string>

namespace contend {

/// Sums over the jobs with iteration graphs that have started; a reason holds if it holds for one of them.
[[nodiscard]] FoldingCounts folding_of(const RunResult& run);

/// `128 GPUs as 4, 16 servers as 5; servers: other jobs send through 2 of them`.
[[nodiscard]] std::string folding_text(const FoldingCounts& folding);

/// Writes the member `folding`: the counts, and under `unfolded` the names of the reasons.
void write_folding(JsonWriter& json, const FoldingCounts& folding);

}  // namespace contend
