#pragma once
// Prints scenarios and the description of their format.

#include "scenarios/keys/keys.hpp"
#include "scenarios/scenario.hpp"

#include <string>

namespace contend {

/// The scenario as YAML with every default filled in. Reading it gives the same scenario, which prints as the same
/// text. Paths, such as the path of a job list, are relative to `folder` (where the text will be saved), or left as
/// they are, relative to the working directory, if `folder` is empty. Text for a folder has the sheets of devices
/// themselves, so that what reads it needs no file of the folder in which the scenario was.
[[nodiscard]] std::string to_yaml(const Scenario& scenario, const std::string& folder = {});

/// The value of one key as to_yaml() prints it; empty if the key has no value or no meaning in the scenario.
[[nodiscard]] std::string printed_value(const ScenarioKey& key, const Scenario& scenario);

/// Shows the path of each file that the scenario names, in the order of the keys.
void visit_paths(Scenario& scenario, const PathVisitor& visit);

/// A name for the scenario: the first 16 hexadecimal digits of the SHA-256 of to_yaml(). It covers the path of a job
/// list, but not its content.
[[nodiscard]] std::string scenario_hash(const Scenario& scenario);

/// The JSON Schema (draft-07) of scenario files, for editors. It accepts everything that the reader accepts; it cannot
/// check constraints between keys or files.
[[nodiscard]] std::string json_schema();

/// The reference page of all keys, of the policies with their parameters, and of the training profiles.
[[nodiscard]] std::string keys_markdown();

}  // namespace contend
