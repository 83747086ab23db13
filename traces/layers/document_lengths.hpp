#pragma once
// Reads how long documents are.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// DocumentLengths::table, from a CSV text with the columns `tokens` (>= 1, rising) and `documents` (>= 0, of that
/// length). Throws InputError with every faulty row, and if there is no document. `file` is the name for messages.
[[nodiscard]] std::vector<std::pair<std::int64_t, double>> parse_document_lengths(std::string_view text,
                                                                                  const std::string& file);

}  // namespace contend
