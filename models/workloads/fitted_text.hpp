#pragma once
// Reads fitted workloads from the text that scripts/fit_workloads.py prints.

#include "models/workloads/fitted.hpp"

#include <string_view>
#include <vector>

namespace contend {

/// The workloads of this text, in its order. A line is a word and its values; a line that begins with # is a comment.
/// `workload NAME` begins a workload, and `class` a class of it. Any fault is a broken invariant: the program holds its
/// texts itself.
[[nodiscard]] std::vector<FittedWorkload> read_fitted_workloads(std::string_view text);

/// The text of all workloads that scenarios can name: models/workloads/*.txt.
[[nodiscard]] std::string_view fitted_tables();

}  // namespace contend
