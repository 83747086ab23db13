#pragma once
// Parameters and metrics of a sweep as columns of its store.

#include "scenarios/sweep/sweep_store.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// The column of a key whose values are these: whole numbers, numbers, quantities of one unit (and words beside them,
/// such as `auto`), else text. `values` are texts as people write them; nothing where a point has no value.
[[nodiscard]] StoreParameter parameter_column(const std::string& key,
                                              std::span<const std::optional<std::string>> values);
/// A value in that column, and its number.
[[nodiscard]] SqlValue column_value(const StoreParameter& parameter, const std::optional<std::string>& text);
[[nodiscard]] double column_number(const StoreParameter& parameter, const std::optional<std::string>& text);

/// The metrics of a run of jobs, and of the study of an iteration.
[[nodiscard]] std::vector<StoreMetric> job_metrics();
[[nodiscard]] std::vector<StoreMetric> study_point_metrics();

}  // namespace contend
