#include "traces/csv.hpp"

#include "sim/error.hpp"

#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

/// Cuts the text into rows; stops at the first malformed quote, because all behind it would be guesswork.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& name) : text_{text}, name_{name} {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // the mark that spreadsheets put in front
  }

  std::optional<CsvRow> next() {
    while (at_ < text_.size()) {
      CsvRow row{.line = line_, .fields = {}};
      const std::size_t start = at_;
      do row.fields.push_back(field());
      while (take(','));
      const std::size_t end = at_;
      if (take('\r') && at_ < text_.size() && text_[at_] != '\n') fail("a carriage return inside a row");
      if (take('\n')) ++line_;
      if (end > start) return row;
    }
    return std::nullopt;
  }

 private:
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string field() {
    if (!take('"')) {
      const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      std::string plain{text_.substr(at_, end - at_)};
      if (plain.find('"') != std::string::npos) fail("a quote inside a field that does not begin with one");
      at_ = end;
      return plain;
    }
    std::string quoted;
    const int first_line = line_;
    for (;; ++at_) {
      if (at_ >= text_.size()) {
        line_ = first_line;
        fail("a quote is never closed");
      }
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '"' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '"')) break;
      if (text_[at_] == '"') ++at_;
      quoted += text_[at_];
    }
    ++at_;
    if (at_ < text_.size() && std::string_view{",\r\n"}.find(text_[at_]) == std::string_view::npos)
      fail("text behind a closing quote");
    return quoted;
  }

  [[noreturn]] void fail(std::string reason) const {
    Diagnostic diagnostic;
    diagnostic.file = name_;
    diagnostic.line = line_;
    diagnostic.reason = std::move(reason);
    throw InputError{std::vector{std::move(diagnostic)}};
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

CsvTable parse_csv(std::string_view text, const std::string& name) {
  Scanner scanner{text, name};
  CsvTable table;
  std::vector<Diagnostic> complaints;
  const auto complain = [&](int line, std::string reason) {
    Diagnostic diagnostic;
    diagnostic.file = name;
    diagnostic.line = line;
    diagnostic.reason = std::move(reason);
    complaints.push_back(std::move(diagnostic));
  };
  std::optional<CsvRow> header = scanner.next();
  if (!header) {
    complain(0, "the file is empty; expected a header line");
  } else {
    table.header = std::move(header->fields);
    while (std::optional<CsvRow> row = scanner.next()) {
      if (row->fields.size() != table.header.size()) {
        complain(row->line,
                 fmt::format("expected {} fields as in the header, got {}", table.header.size(), row->fields.size()));
        continue;
      }
      table.rows.push_back(*std::move(row));
    }
  }
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  return table;
}

void append_csv_field(std::string& out, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace contend
