#include "traces/jobs/row_report.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace contend {
namespace {

/// Complaints to keep: with the line that counts the others, as many as cli/ prints.
constexpr std::size_t kKept = 19;

}  // namespace

void RowReport::bad(int line, std::string_view column, std::string_view reason, std::string message, std::string hint) {
  if (line != last_bad_line_) ++bad_rows_;
  last_bad_line_ = line;
  add(bad_, line, column.empty() ? std::string{reason} : fmt::format("{}: {}", column, reason));
  if (complaints_.size() >= kKept) {
    ++more_complaints_;
    return;
  }
  complaints_.push_back({.file = file_,
                         .line = line,
                         .key = std::string{column},
                         .reason = message.empty() ? std::string{reason} : std::move(message),
                         .hint = std::move(hint)});
}

void RowReport::throw_if_bad(std::string_view way_out) const {
  if (complaints_.empty() || skip_bad_rows_) return;
  std::vector<Complaint> all = complaints_;
  if (more_complaints_ > 0 || !way_out.empty()) {
    const std::string more = more_complaints_ > 0 ? fmt::format("and {} more; ", more_complaints_) : "";
    all.push_back({.file = file_,
                   .reason = fmt::format("{}{} of {} rows are bad", more, bad_rows_, rows_),
                   .hint = std::string{way_out}});
  }
  throw InputError{std::move(all)};
}

std::int64_t RowReport::left_out_rows() const {
  std::int64_t rows = 0;
  for (const RowReason& reason : left_out_) rows += reason.rows;
  return rows;
}

void RowReport::add(std::vector<RowReason>& reasons, int line, std::string_view reason) {
  auto found =
      std::find_if(reasons.begin(), reasons.end(), [&](const RowReason& each) { return each.reason == reason; });
  if (found == reasons.end())
    found = reasons.insert(reasons.end(), {.reason = std::string{reason}, .rows = 0, .first_lines = {}});
  ++found->rows;
  if (found->first_lines.size() < kFirstLines) found->first_lines.push_back(line);
}

std::string quote_for_message(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string shown;
  for (const char c : text.substr(0, kLongest)) {
    // A terminal would obey them.
    const bool is_control = (c >= 0 && c < ' ' && c != '\t') || c == '\x7f';
    shown += is_control ? fmt::format("\\x{:02x}", static_cast<unsigned>(c)) : std::string{c};
  }
  return fmt::format("\"{}{}\"", shown, text.size() > kLongest ? "..." : "");
}

}  // namespace contend
