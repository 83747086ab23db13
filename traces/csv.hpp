#pragma once
// Comma-separated values as RFC 4180 has them: quotes where needed, a header always. Reads LF and CRLF.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct CsvRow {
  int line = 0;  ///< 1-based line of the file on which the row begins
  std::vector<std::string> fields;
};

struct CsvTable {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;  ///< each with as many fields as the header
};

/// Reads a table; blank lines are skipped. Throws InputError with every row that has the wrong number of fields or
/// stray quotes, and for a file without a header. `name` is the file name for messages.
[[nodiscard]] CsvTable parse_csv(std::string_view text, const std::string& name);

/// Appends one field, quoted if it has to be.
void append_csv_field(std::string& out, std::string_view field);

}  // namespace contend
