#pragma once
// Checks the files that a verb writes.

#include <span>
#include <string>

namespace contend {

/// Throws UsageError if `output` is one of the input files, which would be lost.
void refuse_to_overwrite(const std::string& output, std::span<const std::string> inputs);

}  // namespace contend
