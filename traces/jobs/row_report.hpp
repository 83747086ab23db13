#pragma once
// Records what became of the rows of a trace, so that a reader drops no row without a reason. A row is
//   bad       if it contradicts its format (a negative duration, a name used twice). That is an error with its line,
//             unless the user skips bad rows: then the row is left out and counted.
//   left out  if it is valid but is not a job here: a job without GPUs, one that never ran.
//   noted     if it is read, and the user should know something about it.

#include "sim/error.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// Rows reported for the same reason.
struct RowReason {
  std::string reason;
  std::int64_t rows = 0;
  std::vector<int> first_lines;  ///< line numbers; at most kFirstLines
};

class RowReport {
 public:
  static constexpr std::size_t kFirstLines = 3;

  RowReport(std::string file, bool skip_bad_rows) : file_{std::move(file)}, skip_bad_rows_{skip_bad_rows} {}

  /// Counts a row that was read (not the header, a comment or a blank line).
  void count_row() { ++rows_; }
  /// Reports the current row as bad. `reason` is the same for all rows with this fault; `message` words it for this row
  /// (if empty, `reason` does). It may be called several times for one row. `hint` is as in Complaint.
  void bad(int line, std::string_view column, std::string_view reason, std::string message = {}, std::string hint = {});
  void leave_out(int line, std::string_view reason) { add(left_out_, line, reason); }
  void note(int line, std::string_view what) { add(notes_, line, what); }
  /// The columns of the file that have no counterpart in a job list.
  void set_unused_columns(std::vector<std::string> names) { unused_columns_ = std::move(names); }
  /// These are used after all: others are computed from them.
  void forget_unused(const std::vector<std::string>& names) {
    std::erase_if(unused_columns_,
                  [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); });
  }
  /// The user gave a column of the file this name, which the format must know. Columns without a meaning are then left
  /// out, instead of refused by formats that are ours.
  void add_renamed(std::string name) { renamed_.push_back(std::move(name)); }
  [[nodiscard]] const std::vector<std::string>& renamed() const { return renamed_; }
  /// Throws InputError with the first bad rows and their number; does nothing if bad rows are skipped. `way_out` is a
  /// hint what the user may do.
  void throw_if_bad(std::string_view way_out = {}) const;

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t bad_rows() const { return bad_rows_; }
  [[nodiscard]] std::int64_t left_out_rows() const;
  [[nodiscard]] bool skips_bad_rows() const { return skip_bad_rows_; }
  /// The reasons, each in order of its first row. A row with two faults counts under both.
  [[nodiscard]] const std::vector<RowReason>& bad_reasons() const { return bad_; }
  [[nodiscard]] const std::vector<RowReason>& left_out() const { return left_out_; }
  [[nodiscard]] const std::vector<RowReason>& notes() const { return notes_; }
  [[nodiscard]] const std::vector<std::string>& unused_columns() const { return unused_columns_; }

 private:
  static void add(std::vector<RowReason>& reasons, int line, std::string_view reason);

  std::string file_;
  bool skip_bad_rows_;
  std::int64_t rows_ = 0;
  std::int64_t bad_rows_ = 0;
  int last_bad_line_ = 0;
  std::int64_t more_complaints_ = 0;
  std::vector<Complaint> complaints_;
  std::vector<RowReason> bad_, left_out_, notes_;
  std::vector<std::string> unused_columns_, renamed_;
};

/// `"text"` with `\x1b` for a control character, shortened if it is too long for a message.
[[nodiscard]] std::string quote_for_message(std::string_view text);

}  // namespace contend
