#pragma once
// Reads a job trace that is a table: finds columns by name, in any order, and converts fields of the current row to
// quantities. A field that cannot be converted is reported with its line, and the row counts as bad.

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
#include <vector>

namespace contend {

/// The meanings that a column may have.
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

/// A column of a format. Several columns with the same field are alternative names; the first that the file has counts.
struct TraceColumn {
  TraceField field;
  std::string_view name;
  bool required = false;
};

class TraceTable {
 public:
  static constexpr std::int64_t kMaxGpus = 1'000'000;  ///< of one job; a larger number is taken for an error

  /// Reads the header. Throws InputError for a duplicate column and for a missing one, with the nearest name there is.
  /// `positional` means that there is no header and the columns are in the order of `columns`.
  TraceTable(RowReader& rows, std::span<const TraceColumn> columns, RowReport& report, bool positional = false);

  /// Goes to the next row that has as many fields as the header and reports the others. Returns false at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] int line() const { return rows_.line(); }
  /// True if nothing bad was found in the current row so far.
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool has(TraceField field) const { return index_of(field) != kNone; }
  /// The field without surrounding blanks; empty if there is no such column or the field says that it has no value
  /// (N/A, None, null, nan, Unknown).
  [[nodiscard]] std::string_view text(TraceField field) const;

  /// A whole number within the bounds, `8` or `8.0`; empty if the field has no value (which is no fault) or is bad.
  [[nodiscard]] std::optional<std::int64_t> count(TraceField field, std::int64_t minimum, std::int64_t maximum);
  /// A decimal times 10^decimals, rounded; from 0 to the largest number of the clock.
  [[nodiscard]] std::optional<std::int64_t> amount(TraceField field, int decimals);
  /// A time >= 0 as a decimal, in seconds for 9 decimals and in milliseconds for 6. A duration or limit above 0 that
  /// would be rounded to 0 is bad.
  [[nodiscard]] std::optional<Time> time(TraceField field, int decimals);
  [[nodiscard]] std::optional<Time> timestamp(TraceField field);
  /// `to` - `from`, the instants of the columns `end` and `start`; empty if one is missing; a negative interval is bad.
  [[nodiscard]] std::optional<Time> interval(TraceField start, TraceField end, std::optional<Time> from,
                                             std::optional<Time> to);

  /// Reports the current row as bad; `found` is the offending text.
  void bad(TraceField field, std::string_view reason, std::string_view found = {}, std::string hint = {});
  void leave_out(std::string_view reason) { report_.leave_out(line(), reason); }
  void note(std::string_view what) { report_.note(line(), what); }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  [[nodiscard]] std::size_t index_of(TraceField field) const { return index_[static_cast<std::size_t>(field)]; }
  [[nodiscard]] std::string_view name_of(TraceField field) const { return names_[static_cast<std::size_t>(field)]; }
  void read_header(std::span<const TraceColumn> columns);
  void use_renamed(std::span<const TraceColumn> columns, std::span<const std::string_view> header,
                   std::vector<bool>& used);
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
