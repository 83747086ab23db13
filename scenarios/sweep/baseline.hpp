#pragma once
// Which point each point is compared with.

#include "scenarios/sweep/sweep_spec.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// The value of parameter `index` at a point as text; nothing for null.
[[nodiscard]] std::optional<std::string> value_text(const StorePoint& point, std::size_t index);

/// Whether the point has this value, as it is in effect or as it was set.
[[nodiscard]] bool has_value(const StoreInfo& info, const StorePoint& point, const std::string& key,
                             const SweepValue& wanted);

/// For each point the number of the one that has the values of `baseline` and is equal in all other parameters (in
/// those that both have, where no point is equal in all). Throws InputError if a key is no parameter, or a point has no
/// such partner or several.
[[nodiscard]] std::vector<std::int64_t> baseline_points(const StoreInfo& info, std::span<const StorePoint> points,
                                                        std::span<const SweepSetting> baseline);

}  // namespace contend
