#pragma once
// What readers of small CSV files share: columns by name, and times in seconds.

#include "sim/complaints.hpp"
#include "sim/units.hpp"
#include "text/csv.hpp"
#include "text/csv_header.hpp"
#include "text/decimal.hpp"
#include "text/decimal_places.hpp"
#include "text/file_complaints.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace contend {

/// The position of an optional column that a table lacks.
inline constexpr std::size_t kNoColumn = SIZE_MAX;

/// The positions of the columns, each at most once, of which the first `required` must be there. Of missing, unknown
/// and repeated ones it calls complain(reason, hint), which are of the first line.
template <std::size_t kCount, class Complain>
[[nodiscard]] std::array<std::size_t, kCount> named_columns(const CsvTable& table,
                                                            const std::array<std::string_view, kCount>& columns,
                                                            std::size_t required, const Complain& complain) {
  const std::vector<std::string> known{columns.begin(), columns.end()};
  const auto& header = table.header;
  check_header(header, known, {known.begin(), known.begin() + static_cast<std::ptrdiff_t>(required)}, complain);
  std::array<std::size_t, kCount> found{};
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto at = std::find(header.begin(), header.end(), known[i]);
    found[i] = at == header.end() ? kNoColumn : static_cast<std::size_t>(at - header.begin());
  }
  return found;
}

/// As above, with complaints of `file`.
template <std::size_t kCount>
[[nodiscard]] std::array<std::size_t, kCount> find_named_columns(const CsvTable& table,
                                                                 const std::array<std::string_view, kCount>& columns,
                                                                 const std::string& file, Complaints& complaints,
                                                                 std::size_t required = kCount) {
  return named_columns(table, columns, required, [&](std::string reason, std::string hint) {
    complaints.add({.file = file, .line = 1, .reason = std::move(reason), .hint = std::move(hint)});
  });
}
template <std::size_t kCount>
[[nodiscard]] std::array<std::size_t, kCount> find_named_columns(const CsvTable& table,
                                                                 const std::array<std::string_view, kCount>& columns,
                                                                 FileComplaints& complaints,
                                                                 std::size_t required = kCount) {
  return named_columns(table, columns, required, [&](std::string reason, std::string hint) {
    complaints.add({1, 0}, "", std::move(reason), std::move(hint));
  });
}

/// A number from 0 to `maximum` in units of 1e-9, such as seconds as nanoseconds; complains of anything else.
[[nodiscard]] inline std::int64_t read_billionths(const CsvRow& row, std::size_t column, std::string_view name,
                                                  std::int64_t maximum, const std::string& file,
                                                  Complaints& complaints) {
  constexpr int kDecimals = 9;
  constexpr std::int64_t kUnit = 1'000'000'000;
  const std::string& text = row.fields[column];
  const ScaledDecimal number = parse_scaled(text, kDecimals);
  const auto complain = [&](std::string reason) {
    complaints.add({.file = file, .line = row.line, .key = std::string{name}, .reason = std::move(reason)});
  };
  if (number.error == DecimalError::not_a_number)
    complain(fmt::format("expected a number >= 0, got \"{}\"", text));
  else if (number.error == DecimalError::none && number.value < 0)
    complain(fmt::format("expected a number >= 0, got {}", text));
  else if (number.error == DecimalError::overflow || number.value > maximum)
    complain(fmt::format("expected a number from 0 to {}, got {}", maximum / kUnit, text));
  return number.value;
}

/// A time in seconds, whole nanoseconds of at most 100 years, which leaves room for the run after it.
[[nodiscard]] inline Time read_seconds(const CsvRow& row, std::size_t column, std::string_view name,
                                       const std::string& file, Complaints& complaints) {
  constexpr Time kLatest = Time::seconds(100LL * 365 * 24 * 3600);
  constexpr int kDecimals = 9;
  if (const std::string& text = row.fields[column]; has_more_decimals(text, kDecimals)) {
    complaints.add({.file = file,
                    .line = row.line,
                    .key = std::string{name},
                    .reason = fmt::format("expected at most {} decimals, because times are whole nanoseconds, got {}",
                                          kDecimals, text)});
    return Time{};
  }
  return Time::nanoseconds(read_billionths(row, column, name, kLatest.ns(), file, complaints));
}

}  // namespace contend
