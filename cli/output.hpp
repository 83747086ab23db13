#pragma once
// Files that a verb writes.

#include <span>
#include <string>

namespace contend {

/// Throws UsageError if `output` is one of the files that are read: they would be lost.
void refuse_to_overwrite(const std::string& output, std::span<const std::string> inputs);

}  // namespace contend
