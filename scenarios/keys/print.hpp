#pragma once
// Scenarios and their format as text.

#include "scenarios/scenario.hpp"

#include <string>

namespace contend {

/// The scenario with every default filled in. It reads back as the same scenario, which prints as the same text.
/// Paths, as of a job list, are written relative to `folder` (where the text is going to be saved), or as they are if
/// `folder` is empty: relative to the working directory.
[[nodiscard]] std::string to_yaml(const Scenario& scenario, const std::string& folder = {});

/// 16 hexadecimal digits that name the scenario: the start of the SHA-256 of to_yaml(). They don't cover the content of
/// a job list, only its path.
[[nodiscard]] std::string scenario_hash(const Scenario& scenario);

/// JSON Schema (draft-07) of scenario files, for editors. It accepts all that the reader accepts, and can't check what
/// spans several keys or files.
[[nodiscard]] std::string json_schema();

/// The reference page: all keys, the policies with their parameters, the training profiles.
[[nodiscard]] std::string keys_markdown();

}  // namespace contend
