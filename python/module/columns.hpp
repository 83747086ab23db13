#pragma once
// Rows of results as columns that Python can use without converting each value: numbers as one buffer, texts by number
// of distinct text.

#include "results/replica.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace contend {

/// Numbers of one type; NaN is a missing value, so a column of whole numbers that lacks one has doubles.
using NumberColumn = std::variant<std::vector<std::int64_t>, std::vector<double>>;

/// A missing text is empty. If nearly every row has a text of its own, `codes` is empty and `texts` has one for each
/// row.
struct TextColumn {
  std::vector<std::uint32_t> codes;  ///< by row, an index into `texts`
  std::vector<std::string> texts;
};

using ResultColumn = std::variant<NumberColumn, TextColumn>;

/// The names of the columns of a table, `jobs`, `gpus`, `links` or `types`, as its file has them; empty for another
/// name.
[[nodiscard]] std::vector<std::string_view> column_names(std::string_view table, std::span<const Replica> replicas);
[[nodiscard]] std::size_t row_count(std::string_view table, std::span<const Replica> replicas);
/// These columns of a table, over all replicas. Each name must be one of the table's.
[[nodiscard]] std::vector<ResultColumn> columns_of(std::string_view table, const std::vector<std::string>& names,
                                                   std::span<const Replica> replicas);

}  // namespace contend
