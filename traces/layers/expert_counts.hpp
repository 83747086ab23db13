#pragma once
// Reads how many tokens each expert of a mixture was given.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The tokens of each of `experts` experts, from a CSV text with the columns `expert` (0 to experts-1, each once) and
/// `tokens` (>= 0). Throws InputError with every faulty row, for an expert that is missing, and if all have 0 tokens.
/// `file` is the name for messages.
[[nodiscard]] std::vector<double> parse_expert_counts(std::string_view text, const std::string& file,
                                                      std::int64_t experts);

}  // namespace contend
