#pragma once
// The rows of the key table for `sweep.*`, and the command-line syntax of the same values.

#include "scenarios/keys/keys.hpp"
#include "scenarios/spec/sweep_spec.hpp"

#include <string>
#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> sweep_keys();

/// The scenario key that `path` names or is part of, such as `policies.placement` for `policies.placement.kappa`; null
/// if there is none, or if the key cannot differ between points of a sweep.
[[nodiscard]] const ScenarioKey* sweepable_key(const std::string& path);

/// Parses `key=1,2,4`, `key={from: 1, to: 8, points: 4}` or `key=1` from a command line; commas within brackets and
/// quotes do not separate values. Throws InputError for other text.
[[nodiscard]] SweepDimension parse_dimension(const std::string& assignment);

/// Parses `key=value, key=value`, for options such as `--baseline`. Throws InputError.
[[nodiscard]] std::vector<SweepSetting> parse_settings(const std::string& text);

}  // namespace contend
