#include "traces/jobs/trace_table.hpp"

#include "sim/complaints.hpp"
#include "sim/fields.hpp"
#include "text/decimal.hpp"
#include "text/words.hpp"
#include "traces/jobs/timestamp.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::array<std::string_view, 10> kMissing = {"N/A",  "NA",   "n/a", "None", "none",
                                                       "NULL", "null", "nan", "NaN",  "Unknown"};

bool is_missing(std::string_view text) {
  return text.size() <= 7 && std::find(kMissing.begin(), kMissing.end(), text) != kMissing.end();
}

[[noreturn]] void fail(const std::string& file, int line, std::string reason) {
  throw InputError{{.file = file, .line = line, .reason = std::move(reason)}};
}

}  // namespace

TraceTable::TraceTable(RowReader& rows, std::span<const TraceColumn> columns, RowReport& report, bool positional)
    : rows_{rows}, report_{report}, positional_{positional} {
  index_.fill(kNone);
  if (positional) {
    width_ = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto field = static_cast<std::size_t>(columns[i].field);
      index_[field] = i;
      names_[field] = columns[i].name;
    }
    return;
  }
  if (!rows_.next()) fail(rows_.file(), 0, "the file is empty; expected a header line");
  read_header(columns);
}

void TraceTable::read_header(std::span<const TraceColumn> columns) {
  std::vector<std::string_view> header;
  for (const std::string_view name : rows_.fields()) header.push_back(trimmed(name));
  width_ = header.size();
  std::vector<bool> used(header.size(), false);
  use_renamed(columns, header, used);
  for (const TraceColumn& column : columns) {
    const auto found = std::find(header.begin(), header.end(), column.name);
    if (found == header.end()) continue;
    if (std::find(found + 1, header.end(), column.name) != header.end())
      fail(rows_.file(), rows_.line(), fmt::format("column \"{}\" appears twice", column.name));
    const auto field = static_cast<std::size_t>(column.field);
    if (index_[field] != kNone) continue;
    index_[field] = static_cast<std::size_t>(found - header.begin());
    names_[field] = column.name;
    used[index_[field]] = true;
  }
  check_required(columns, header);
  std::vector<std::string> unused;
  for (std::size_t i = 0; i < header.size(); ++i)
    if (!used[i] && !header[i].empty()) unused.emplace_back(header[i]);
  report_.set_unused_columns(std::move(unused));
}

/// A column that the user gave a name may have the name of a column of the format, or, where the format has its
/// meaning, the name in a job list, which then goes before the column that the format takes.
void TraceTable::use_renamed(std::span<const TraceColumn> columns, std::span<const std::string_view> header,
                             std::vector<bool>& used) {
  static constexpr std::array kOurs = {TraceColumn{TraceField::job, "job_id"},
                                       TraceColumn{TraceField::user, "user"},
                                       TraceColumn{TraceField::vc, "vc"},
                                       TraceColumn{TraceField::gpus, "gpus"},
                                       TraceColumn{TraceField::gpu_type, "gpu_type"},
                                       TraceColumn{TraceField::model, "model"},
                                       TraceColumn{TraceField::iterations, "iterations"},
                                       TraceColumn{TraceField::priority, "priority"}};
  for (const std::string& name : report_.renamed()) {
    if (std::ranges::find(columns, name, &TraceColumn::name) != columns.end()) continue;
    const auto ours = std::ranges::find(kOurs, name, &TraceColumn::name);
    std::vector<std::string> known;
    for (const TraceColumn& column : columns) known.emplace_back(column.name);
    if (ours == kOurs.end() || std::ranges::find(columns, ours->field, &TraceColumn::field) == columns.end())
      throw InputError{{.file = rows_.file(),
                        .reason = fmt::format("--column {}=...: the format has no column {}", name, name),
                        .hint = fmt::format("it has {}", join(known))}};
    const auto field = static_cast<std::size_t>(ours->field);
    index_[field] = static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
    names_[field] = name;
    used[index_[field]] = true;
  }
}

void TraceTable::check_required(std::span<const TraceColumn> columns, std::span<const std::string_view> header) const {
  Complaints missing;
  const std::vector<std::string> names{header.begin(), header.end()};
  for (const TraceColumn& column : columns) {
    if (!column.required || has(column.field)) continue;
    const std::string nearest = nearest_name(std::string{column.name}, names);
    missing.add({.file = rows_.file(),
                 .line = rows_.line(),
                 .reason = fmt::format("no column \"{}\"", column.name),
                 .hint = nearest.empty() ? "" : fmt::format("there is a column {}", quote_for_message(nearest))});
  }
  missing.throw_if_any();
}

bool TraceTable::next() {
  while (rows_.next()) {
    good_ = true;
    report_.count_row();
    const std::size_t fields = rows_.fields().size();
    if (fields == width_) return true;
    const std::string expected = fmt::format("expected {} fields{}", width_, positional_ ? "" : " as in the header");
    report_.bad(rows_.line(), "", expected, fmt::format("{}, got {}", expected, fields));
  }
  return false;
}

std::string_view TraceTable::text(TraceField field) const {
  const std::size_t index = index_of(field);
  if (index == kNone) return {};
  const std::string_view text = trimmed(rows_.fields()[index]);
  return is_missing(text) ? std::string_view{} : text;
}

std::optional<std::int64_t> TraceTable::count(TraceField field, std::int64_t minimum, std::int64_t maximum) {
  const std::string_view text = this->text(field);
  if (text.empty()) return std::nullopt;
  // Tables that went through a spreadsheet or a data frame write 8 as 8.0.
  const ScaledDecimal number = parse_scaled(text, 3);
  if (number.error == DecimalError::not_a_number ||
      (number.error == DecimalError::none && (number.value % 1000 != 0 || number.vanishes)))
    bad_number(field, "expected a whole number", text);
  else if (number.error == DecimalError::overflow || number.value / 1000 < minimum || number.value / 1000 > maximum)
    bad_number(field, fmt::format("expected a whole number from {} to {}", minimum, maximum), text);
  else
    return number.value / 1000;
  return std::nullopt;
}

std::optional<std::int64_t> TraceTable::amount(TraceField field, int decimals) {
  const std::string_view text = this->text(field);
  if (text.empty()) return std::nullopt;
  const ScaledDecimal number = parse_scaled(text, decimals);
  if (number.error == DecimalError::not_a_number)
    bad_number(field, "expected a number >= 0", text);
  else if (number.value < 0)
    bad_number(field, "expected a number >= 0", text);
  else if (number.error == DecimalError::overflow)
    bad_number(field, "the number is too large", text);
  else
    return number.value;
  return std::nullopt;
}

std::optional<Time> TraceTable::time(TraceField field, int decimals) {
  const std::optional<std::int64_t> ns = amount(field, decimals);
  if (!ns) return std::nullopt;
  const bool lasts = field == TraceField::duration || field == TraceField::limit;
  if (lasts && parse_scaled(text(field), decimals).vanishes) {
    bad_number(field, "expected 0, or a time of at least a nanosecond", text(field));
    return std::nullopt;
  }
  return Time::nanoseconds(*ns);
}

std::optional<Time> TraceTable::timestamp(TraceField field) {
  const std::string_view text = this->text(field);
  if (text.empty()) return std::nullopt;
  const std::optional<Time> time = parse_timestamp(text);
  if (!time) bad_number(field, "expected a date and time such as 2017-10-07 01:11:39", text);
  return time;
}

std::optional<Time> TraceTable::interval(TraceField start, TraceField end, std::optional<Time> from,
                                         std::optional<Time> to) {
  if (!from || !to) return std::nullopt;
  if (*to >= *from) return *to - *from;
  bad(end, "it ends before it starts", fmt::format("{} before {}", text(end), text(start)));
  return std::nullopt;
}

void TraceTable::bad(TraceField field, std::string_view reason, std::string_view found, std::string hint) {
  good_ = false;
  std::string message = found.empty() ? std::string{} : fmt::format("{}, {}", reason, found);
  report_.bad(line(), name_of(field), reason, std::move(message), std::move(hint));
}

void TraceTable::bad_number(TraceField field, std::string_view expected, std::string_view text) {
  bad(field, expected, fmt::format("got {}", quote_for_message(text)));
}

}  // namespace contend
