#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>

namespace contend {

void check_failed(const char* file, int line, const char* expression, std::string_view message) {
  // fmt::print() would throw if nothing can be written there, and the caller would go on.
  std::fputs(
      fmt::format("contend: internal error at {}:{}: {}\n  violated: {}\n", file, line, message, expression).c_str(),
      stderr);
  std::abort();
}

std::string Complaint::format() const {
  std::string text;
  if (!file.empty()) {
    text += file;
    if (line > 0) text += fmt::format(":{}", line);
    if (line > 0 && column > 0) text += fmt::format(":{}", column);
    text += ": ";
  }
  if (!key.empty()) text += key + ": ";
  text += reason;
  if (!hint.empty()) text += "; " + hint;
  if (!source_line.empty()) {
    text += fmt::format("\n  {}", source_line);
    if (column > 0) text += fmt::format("\n  {:>{}}", "^", column);
  }
  return text;
}

namespace {
std::string join(const std::vector<Complaint>& complaints) {
  std::string text;
  for (const Complaint& d : complaints) {
    if (!text.empty()) text += '\n';
    text += d.format();
  }
  return text;
}

/// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}
}  // namespace

InputError::InputError(std::vector<Complaint> complaints)
    : std::runtime_error{join(complaints)}, complaints_{std::move(complaints)} {}

InputError::InputError(Complaint complaint) : InputError{std::vector{std::move(complaint)}} {}

InputError::InputError(std::string reason) : InputError{Complaint{.reason = std::move(reason)}} {}

std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace contend
