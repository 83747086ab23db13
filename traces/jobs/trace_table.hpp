#pragma once
// A job trace that is a table: its columns by name, in any order, and the fields of the current row as quantities. What
// a field can't be is reported with the line, and the row counts as bad.

#include "sim/units.hpp"
#include "text/csv.hpp"
#include "traces/jobs/row_report.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace contend {

/// What a column of a trace may tell.
enum class TraceField : std::uint8_t {
  job,
  task,
  submit,
  start,
  end,
  duration,
  gpus,
  instances,
  nodes,
  gpu_share,
  gpu_type,
  cpus,
  memory,
  model,
  iterations,
  iteration_time,
  limit,
  limit_raw,
  state,
  vc,
  user,
  priority,
  alloc_tres,
  req_tres,
  alloc_gres,
  elapsed,
  limit_text,
  count
};

/// A column of a format. Several with one field are other names for it: the first that a file has counts.
struct TraceColumn {
  TraceField field;
  std::string_view name;
  bool required = false;
};

class TraceTable {
 public:
  static constexpr std::int64_t kMaxGpus = 1'000'000;  ///< of one job; more is taken for a mistake

  /// Reads the header. Throws InputError for a missing column, with the nearest there is, and for one that is there
  /// twice. `positional`: there is no header, and the columns stand in the order of `columns`.
  TraceTable(RowReader& rows, std::span<const TraceColumn> columns, RowReport& report, bool positional = false);

  /// Goes to the next row that has as many fields as the header; others are reported. False at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] int line() const { return rows_.line(); }
  /// Whether nothing bad was found in the current row so far.
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool has(TraceField field) const { return index_of(field) != kNone; }
  /// Without the blanks around it; empty if there is no such column, or it says that it has no value (N/A, None, null,
  /// nan, Unknown).
  [[nodiscard]] std::string_view text(TraceField field) const;

  /// A whole number, `8` or `8.0`, within the bounds; empty if there is none (which is no fault) or it is bad.
  [[nodiscard]] std::optional<std::int64_t> count(TraceField field, std::int64_t minimum, std::int64_t maximum);
  /// A decimal times 10^decimals, rounded, from 0 to what the clock holds.
  [[nodiscard]] std::optional<std::int64_t> amount(TraceField field, int decimals);
  /// A length of time >= 0 as a decimal; 9 decimals: in seconds, 6: in ms.
  [[nodiscard]] std::optional<Time> time(TraceField field, int decimals);
  [[nodiscard]] std::optional<Time> timestamp(TraceField field);
  /// `end` - `start` of two points in time; empty if one is missing; bad if it is negative.
  [[nodiscard]] std::optional<Time> interval(TraceField start, TraceField end, std::optional<Time> from,
                                             std::optional<Time> to);

  /// Reports the current row; `found` adds what it has.
  void bad(TraceField field, std::string_view reason, std::string_view found = {}, std::string hint = {});
  void leave_out(std::string_view reason) { report_.leave_out(line(), reason); }
  void note(std::string_view what) { report_.note(line(), what); }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  [[nodiscard]] std::size_t index_of(TraceField field) const { return index_[static_cast<std::size_t>(field)]; }
  [[nodiscard]] std::string_view name_of(TraceField field) const { return names_[static_cast<std::size_t>(field)]; }
  void read_header(std::span<const TraceColumn> columns);
  void check_required(std::span<const TraceColumn> columns, std::span<const std::string_view> header) const;
  void bad_number(TraceField field, std::string_view expected, std::string_view text);

  RowReader& rows_;
  RowReport& report_;
  std::array<std::size_t, static_cast<std::size_t>(TraceField::count)> index_{};
  std::array<std::string, static_cast<std::size_t>(TraceField::count)> names_;
  std::size_t width_ = 0;
  bool positional_ = false;
  bool good_ = true;
};

}  // namespace contend
