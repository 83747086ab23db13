#pragma once
// Reads and writes tables as text: comma-separated values by RFC 4180 (quotes where needed, a header, LF or CRLF) and
// formats with other separators. RowReader returns them row by row, in memory that doesn't grow with the file.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

class ByteSource;
class FileComplaints;

/// The syntax of the rows of a text.
struct RowSyntax {
  char separator = ',';            ///< between fields; ' ' means any number of blanks and tabs
  bool quotes = true;              ///< a field may be quoted, and may then contain separators and line ends
  char comment = '\0';             ///< lines that begin with it are skipped; '\0': there are no comments
  bool comments_anywhere = false;  ///< comments may also follow the first row
  bool guarded = false;            ///< fields are as append_csv_field() writes them: a guard is taken off
};

/// Reads the rows of a table one by one. It skips blank lines and a byte order mark.
class RowReader {
 public:
  /// `source` must outlive the reader; `file` is the name for messages.
  RowReader(ByteSource& source, std::string file, RowSyntax syntax = {});

  /// Goes to the next row; returns false at the end. Throws InputError with the line number for a malformed quote (the
  /// text after it would be ambiguous), for a row of more than 16 MiB, and if the source can't be read to its end.
  [[nodiscard]] bool next();
  /// The fields of the current row; they are valid until next().
  [[nodiscard]] std::span<const std::string_view> fields() const { return fields_; }
  /// 1-based line of the file on which the current row begins.
  [[nodiscard]] int line() const { return row_line_; }
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  [[nodiscard]] bool refill();
  [[nodiscard]] bool available(std::size_t offset);
  [[nodiscard]] char at(std::size_t offset) const { return buffer_[row_ + offset]; }
  [[nodiscard]] std::size_t line_end();
  [[nodiscard]] bool split_line(std::size_t length);
  void split_blanks(std::string_view line);
  void split_quoted();
  [[nodiscard]] std::size_t unquote(std::size_t& read, std::size_t write);
  [[noreturn]] void fail(int line, std::string reason) const;

  ByteSource& source_;
  std::string file_;
  RowSyntax syntax_;
  std::string buffer_;
  std::size_t row_ = 0;     ///< where the current row begins in the buffer
  std::size_t next_ = 0;    ///< where the next row begins in the buffer
  std::size_t filled_ = 0;  ///< how much of the buffer holds text
  bool ended_ = false;      ///< the source has no more
  bool first_ = true;       ///< no row has been returned yet
  int line_ = 1;            ///< line of the text at next_
  int row_line_ = 0;
  std::vector<std::string_view> fields_;
  std::vector<std::pair<std::size_t, std::size_t>> bounds_;  ///< of quoted rows: offsets from row_
};

/// Reads the rows of a table below its header one by one, as append_csv_field() writes them. It skips blank lines.
class CsvRows {
 public:
  /// `source` and `complaints` must outlive it. Throws InputError if there is no header.
  CsvRows(ByteSource& source, FileComplaints& complaints);

  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
  /// Goes to the next row with as many fields as the header, and complains about others; returns false at the end.
  /// Throws InputError as RowReader::next() does.
  [[nodiscard]] bool next();
  /// The fields of the current row; they are valid until next().
  [[nodiscard]] std::span<const std::string_view> fields() const { return rows_.fields(); }
  [[nodiscard]] int line() const { return rows_.line(); }

 private:
  RowReader rows_;
  FileComplaints& complaints_;
  std::vector<std::string> header_;
};

/// A row of a CsvTable.
struct CsvRow {
  int line = 0;  ///< 1-based line of the file on which the row begins
  std::vector<std::string> fields;
};

/// A table with a header, in memory.
struct CsvTable {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;  ///< each with as many fields as the header
};

/// Reads a table as append_csv_field() writes them; blank lines are skipped. Throws InputError with every row that has
/// the wrong number of fields or stray quotes, and for a file without a header. `name` is the file name for messages.
[[nodiscard]] CsvTable parse_csv(std::string_view text, const std::string& name);

/// Appends one field, quoted if necessary. A spreadsheet would run a text that begins with =, +, -, @, a tab or a line
/// end as a formula, so an apostrophe goes in front of such a text as a guard, unless the text is a number such as -5.
/// Where apostrophes lead to one of these characters already, one more goes in front, so that any text reads back as it
/// was.
void append_csv_field(std::string& out, std::string_view field);

}  // namespace contend
