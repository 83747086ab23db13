#pragma once

#include <cstdio>
#include <string_view>

namespace contend {

/// The text of samples.txt.
[[nodiscard]] std::string_view recorded_samples_text();

/// Reads public recordings and compares with what an independent reader counted in them, to the nanosecond and byte.
int validate_recordings(std::FILE* out);

}  // namespace contend
