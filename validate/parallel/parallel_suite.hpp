#pragma once
// Published iterations of transformers that are spread over many GPUs, beside ours.

#include <cstdio>
#include <string_view>

namespace contend {

/// Prints the tables to `out`. Returns 0 if every figure is within its tolerance or deviates as stated, else 1.
int validate_parallel(std::FILE* out);

/// The text of validate/parallel/published_iterations.csv.
[[nodiscard]] std::string_view published_iterations();

}  // namespace contend
