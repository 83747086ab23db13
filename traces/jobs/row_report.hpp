#pragma once
// What became of the rows of a trace: a reader drops none without saying why. A row is
//   bad       it can't be what the format means (a negative duration, a name used twice). An error with its line,
//   unless
//             the user skips bad rows: then it is left out and counted.
//   left out  it means something that is no job for us, as real traces have it: a job without GPUs, one that never ran.
//   noted     read, with something a user should know.

#include "sim/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// Rows that have something in common.
struct RowReason {
  std::string reason;
  std::int64_t rows = 0;
  std::vector<int> first_lines;  ///< of the file; at most kFirstLines
};

class RowReport {
 public:
  static constexpr std::size_t kFirstLines = 3;

  RowReport(std::string file, bool skip_bad_rows) : file_{std::move(file)}, skip_bad_rows_{skip_bad_rows} {}

  /// A row (not the header, a comment or a blank line) has been read.
  void count_row() { ++rows_; }
  /// `reason` is the same for all rows with this fault; `message` says it of this one (empty: `reason` does). May be
  /// called several times for one row. `hint` as in Complaint.
  void bad(int line, std::string_view column, std::string_view reason, std::string message = {}, std::string hint = {});
  void leave_out(int line, std::string_view reason) { add(left_out_, line, reason); }
  void note(int line, std::string_view what) { add(notes_, line, what); }
  /// Columns of the file that have no counterpart in a job list.
  void set_unused_columns(std::vector<std::string> names) { unused_columns_ = std::move(names); }
  /// Throws InputError with the first bad rows and how many there are; nothing if bad rows are skipped. `way_out` tells
  /// what the user might do.
  void throw_if_bad(std::string_view way_out = {}) const;

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t bad_rows() const { return bad_rows_; }
  [[nodiscard]] std::int64_t left_out_rows() const;
  [[nodiscard]] bool skips_bad_rows() const { return skip_bad_rows_; }
  /// Each in order of the first such row. A row with two faults is counted under both reasons.
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
  std::vector<std::string> unused_columns_;
};

/// `"text"`, cut where it gets too long for a message.
[[nodiscard]] std::string quote_for_message(std::string_view text);

}  // namespace contend
