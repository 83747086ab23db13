#pragma once
// Finds the baseline of each point: the point with which it is compared.

#include "scenarios/spec/sweep_spec.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// The value of parameter `index` at a point as text; nothing for null.
[[nodiscard]] std::optional<std::string> value_text(const StorePoint& point, std::size_t index);

/// True if the point has this value, in effect or as it was set.
[[nodiscard]] bool has_value(const StoreInfo& info, const StorePoint& point, const std::string& key,
                             const SweepValue& wanted);

/// For each point, the number of the point that has the values of `baseline` and agrees in all other parameters (if no
/// point does, in all parameters that both have). Throws InputError if a key is no parameter, or if a point has no such
/// partner or several.
[[nodiscard]] std::vector<std::int64_t> baseline_points(const StoreInfo& info, std::span<const StorePoint> points,
                                                        std::span<const SweepSetting> baseline);

}  // namespace contend
