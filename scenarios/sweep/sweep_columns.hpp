#pragma once
// Parameters and metrics of a sweep as columns of its store.

#include "scenarios/sweep/sweep_store.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// The column of a key whose values are these: whole numbers, numbers, quantities of one unit (and words beside them,
/// such as `auto`), else text. Nothing where a point has no value.
[[nodiscard]] StoreParameter parameter_column(const std::string& key,
                                              std::span<const std::optional<PlainValue>> values);
/// A value in that column, and its number.
[[nodiscard]] SqlValue column_value(const StoreParameter& parameter, const std::optional<PlainValue>& value);
[[nodiscard]] double column_number(const StoreParameter& parameter, const std::optional<PlainValue>& value);

/// The metrics of a run of jobs, and of the study of an iteration.
[[nodiscard]] std::vector<StoreMetric> job_metrics();
[[nodiscard]] std::vector<StoreMetric> overlap_metrics();

}  // namespace contend
