#pragma once
// Where a scenario gives a key, for complaints that show only when its jobs are made or run.

#include "scenarios/keys/reader.hpp"
#include "sim/error.hpp"

#include <string>
#include <vector>

namespace contend {

/// Moves complaints about keys that have no line to where the scenario of the file, with these overrides, gives the key
/// or the nearest whole around it; others stay. The file is one that can be read.
[[nodiscard]] std::vector<Complaint> at_their_keys(const std::string& path, const LoadOptions& options,
                                                   std::vector<Complaint> complaints);

}  // namespace contend
