#pragma once
// The standard errors of predictions: the table that ships, models/errors.yaml.

#include "models/prediction_errors.hpp"

#include <string_view>

namespace contend {

/// The text of models/errors.yaml.
[[nodiscard]] std::string_view error_table_text();
/// Reads a table: a map with an entry of `error`, `source` and perhaps `of` for each class, and `unmodelled` with
/// `centre`, `spread`, `low`, `high` and `source`. Throws InputError with the place of a class or member that is
/// unknown or missing, and of what is no number >= 0; a centre and `low` may be negative.
[[nodiscard]] ErrorTable parse_error_table(std::string_view text);
/// The table that ships.
[[nodiscard]] const ErrorTable& error_table();

}  // namespace contend
