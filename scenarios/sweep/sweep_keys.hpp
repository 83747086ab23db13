#pragma once
// The rows of the key table for `sweep.*`, and the same values on a command line.

#include "scenarios/keys/keys.hpp"
#include "scenarios/sweep/sweep_spec.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> sweep_keys();

/// The scenario key that `path` is, or is a part of, such as `policies.placement` for `policies.placement.kappa`; null
/// if there is none, or if it can't differ between the points of a sweep.
[[nodiscard]] const ScenarioKey* sweepable_key(const std::string& path);

/// `key=1,2,4`, `key={from: 1, to: 8, points: 4}` or just `key=1`, as on a command line: commas within brackets and
/// quotes separate nothing. Throws InputError if it is none of that.
[[nodiscard]] SweepDimension parse_dimension(const std::string& assignment);

/// `key=value, key=value`, for `--baseline` and the like. Throws InputError.
[[nodiscard]] std::vector<SweepSetting> parse_settings(const std::string& text);

}  // namespace contend
