#pragma once
// Maps the parameters and metrics of a sweep to columns of its store.

#include "results/result_columns.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// The column for a key with these values: whole numbers, numbers, or quantities of one unit (perhaps with words such
/// as `auto` among them); text otherwise. `values` has nothing for a point without a value.
[[nodiscard]] StoreParameter parameter_column(const std::string& key,
                                              std::span<const std::optional<PlainValue>> values);
/// A value in that column, and its number.
[[nodiscard]] SqlValue column_value(const StoreParameter& parameter, const std::optional<PlainValue>& value);
[[nodiscard]] double column_number(const StoreParameter& parameter, const std::optional<PlainValue>& value);

/// Metrics as a store has them.
[[nodiscard]] std::vector<StoreMetric> store_metrics(std::span<const Metric> of);

}  // namespace contend
