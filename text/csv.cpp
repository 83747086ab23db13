#include "text/csv.hpp"

#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "text/decimal.hpp"
#include "text/file_complaints.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::size_t kReadBuffer = std::size_t{1} << 18;
constexpr std::size_t kLongestRow = std::size_t{16} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // spreadsheets put it in front
constexpr std::string_view kStrayReturn = "a carriage return inside a row";
constexpr std::string_view kStrayQuote = "a quote inside a field that does not begin with one";
constexpr char kGuard = '\'';
constexpr std::string_view kBeginsFormula = "=+-@\t\r\n";

/// How many guards are in front of what a spreadsheet takes for a formula; nothing for any other field.
std::optional<std::size_t> guards_of(std::string_view field) {
  const std::size_t guards = field.find_first_not_of(kGuard);
  const bool formula = guards != std::string_view::npos && kBeginsFormula.find(field[guards]) != std::string_view::npos;
  return formula ? std::optional{guards} : std::nullopt;
}

bool needs_guard(std::string_view field) {
  const std::optional<std::size_t> guards = guards_of(field);
  return guards && (*guards > 0 || parse_scaled(field, 0).error == DecimalError::not_a_number);
}

}  // namespace

RowReader::RowReader(ByteSource& source, std::string file, RowSyntax syntax)
    : source_{source}, file_{std::move(file)}, syntax_{syntax} {
  buffer_.resize(kReadBuffer);
}

bool RowReader::next() {
  for (;;) {
    row_ = next_;
    row_line_ = line_;
    fields_.clear();
    if (first_ && row_line_ == 1) {
      while (filled_ - row_ < kByteOrderMark.size() && refill()) continue;
      if (std::string_view{buffer_.data() + row_, filled_ - row_}.starts_with(kByteOrderMark))
        row_ += kByteOrderMark.size();
    }
    if (!available(0)) return false;
    const bool comments = syntax_.comment != '\0' && (first_ || syntax_.comments_anywhere);
    const bool is_comment = comments && at(0) == syntax_.comment;
    const std::size_t length = line_end();
    next_ = std::min(row_ + length + 1, filled_);  // row_ may have moved during the search for the end
    ++line_;
    if (is_comment) continue;
    if (!split_line(length)) split_quoted();
    if (fields_.empty()) continue;
    if (syntax_.guarded) {
      for (std::string_view& field : fields_)
        if (field.starts_with(kGuard) && guards_of(field)) field.remove_prefix(1);
    }
    first_ = false;
    return true;
  }
}

bool RowReader::refill() {
  if (ended_) return false;
  if (row_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + row_, filled_ - row_);
    filled_ -= row_;
    row_ = 0;
  }
  if (filled_ == buffer_.size()) {
    if (filled_ >= kLongestRow) fail(row_line_, fmt::format("a row longer than {} MiB", kLongestRow >> 20));
    buffer_.resize(2 * filled_);
  }
  const std::size_t count = read_at_line(source_, buffer_.data() + filled_, buffer_.size() - filled_, row_line_);
  filled_ += count;
  ended_ = count == 0;
  return !ended_;
}

bool RowReader::available(std::size_t offset) {
  while (row_ + offset >= filled_)
    if (!refill()) return false;
  return true;
}

/// Length of the line at row_, without its end.
std::size_t RowReader::line_end() {
  std::size_t from = 0;
  for (;;) {
    const char* start = buffer_.data() + row_ + from;
    const std::size_t rest = filled_ - row_ - from;
    if (const void* found = std::memchr(start, '\n', rest); found != nullptr)
      return from + static_cast<std::size_t>(static_cast<const char*>(found) - start);
    from += rest;
    if (!refill()) return from;
  }
}

/// Splits a line of this length into fields. False if a field begins with a quote, so the row may continue after it.
bool RowReader::split_line(std::size_t length) {
  std::string_view line{buffer_.data() + row_, length};
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return true;
  if (syntax_.separator == ' ') {
    split_blanks(line);
    return true;
  }
  // Both are rare, and one search for each costs less than a test of every character.
  if (line.find('\r') != std::string_view::npos) fail(row_line_, std::string{kStrayReturn});
  const bool any_quote = syntax_.quotes && line.find('"') != std::string_view::npos;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(line.find(syntax_.separator, begin), line.size());
    const std::string_view field = line.substr(begin, end - begin);
    if (any_quote && field.starts_with('"')) {
      fields_.clear();
      return false;
    }
    if (any_quote && field.find('"') != std::string_view::npos) fail(row_line_, std::string{kStrayQuote});
    fields_.push_back(field);
    if (end == line.size()) return true;
    begin = end + 1;
  }
}

void RowReader::split_blanks(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    fields_.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
}

/// Splits the row character by character. An unquoted field is shorter than its quoted form, so it is written over the
/// text that has been read.
void RowReader::split_quoted() {
  bounds_.clear();
  line_ = row_line_;
  std::size_t read = 0;
  std::size_t write = 0;
  for (;;) {
    const std::size_t begin = write;
    if (available(read) && at(read) == '"') {
      write = unquote(read, write);
    } else {
      for (; available(read) && at(read) != syntax_.separator && at(read) != '\r' && at(read) != '\n'; ++read) {
        if (at(read) == '"') fail(line_, std::string{kStrayQuote});
        buffer_[row_ + write++] = at(read);
      }
    }
    bounds_.emplace_back(begin, write);
    if (!available(read) || at(read) != syntax_.separator) break;
    ++read;
  }
  if (available(read) && at(read) == '\r') {
    ++read;
    if (available(read) && at(read) != '\n') fail(line_, std::string{kStrayReturn});
  }
  if (available(read)) ++line_;
  next_ = std::min(row_ + read + 1, filled_);
  for (const auto& [begin, end] : bounds_) fields_.emplace_back(buffer_.data() + row_ + begin, end - begin);
}

/// Moves the quoted field at `read` to `write` and returns where it ends there.
std::size_t RowReader::unquote(std::size_t& read, std::size_t write) {
  const int first_line = line_;
  for (++read;; ++read) {
    if (!available(read)) fail(first_line, "a quote is never closed");
    const char c = at(read);
    if (c == '\n') ++line_;
    if (c == '"') {
      if (!available(read + 1) || at(read + 1) != '"') break;
      ++read;
    }
    buffer_[row_ + write++] = c;
  }
  ++read;
  if (available(read) && at(read) != syntax_.separator && at(read) != '\r' && at(read) != '\n')
    fail(line_, "text after a closing quote");
  return write;
}

void RowReader::fail(int line, std::string reason) const {
  throw InputError{{.file = file_, .line = line, .reason = std::move(reason)}};
}

CsvRows::CsvRows(ByteSource& source, FileComplaints& complaints)
    : rows_{source, complaints.file(), {.guarded = true}}, complaints_{complaints} {
  if (!rows_.next())
    throw InputError{{.file = complaints.file(), .reason = "the file is empty; expected a header line"}};
  header_.assign(rows_.fields().begin(), rows_.fields().end());
}

bool CsvRows::next() {
  while (rows_.next()) {
    const std::size_t got = rows_.fields().size();
    if (got == header_.size()) return true;
    complaints_.add({rows_.line(), 0}, "",
                    fmt::format("expected {} fields as in the header, got {}", header_.size(), got));
  }
  return false;
}

CsvTable parse_csv(std::string_view text, const std::string& name) {
  TextSource source{text};
  FileComplaints complaints{name};
  CsvRows rows{source, complaints};
  CsvTable table{.header = rows.header(), .rows = {}};
  while (rows.next())
    table.rows.push_back({.line = rows.line(), .fields = {rows.fields().begin(), rows.fields().end()}});
  complaints.throw_if_any();
  return table;
}

void append_csv_field(std::string& out, std::string_view field) {
  const std::string_view guard{&kGuard, needs_guard(field) ? std::size_t{1} : 0};
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    out.append(guard).append(field);
    return;
  }
  out.append(1, '"').append(guard);
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace contend
