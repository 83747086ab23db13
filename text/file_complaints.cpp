#include "text/file_complaints.hpp"

#include "text/decimal.hpp"

#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::size_t kKept = 50;

}  // namespace

void FileComplaints::add(TextPlace place, std::string key, std::string reason, std::string hint) {
  if (kept_.size() >= kKept) {
    ++more_;
    return;
  }
  keep(place, std::move(key), std::move(reason), std::move(hint));
}

void FileComplaints::keep(TextPlace place, std::string key, std::string reason, std::string hint) {
  kept_.push_back({.file = file_,
                   .line = place.line,
                   .column = place.column,
                   .key = std::move(key),
                   .reason = std::move(reason),
                   .hint = std::move(hint)});
}

void FileComplaints::throw_if_any() {
  if (kept_.empty()) return;
  if (more_ > 0) keep({}, {}, fmt::format("and {} more", more_), {});
  throw InputError{std::move(kept_)};
}

void FileComplaints::fail(TextPlace place, std::string key, std::string reason, std::string hint) {
  keep(place, std::move(key), std::move(reason), std::move(hint));
  throw InputError{std::move(kept_)};
}

std::int64_t read_whole(std::string_view text, std::int64_t minimum, std::int64_t maximum, TextPlace place,
                        const std::string& key, FileComplaints& complaints) {
  const ScaledDecimal number = parse_integer(text);
  if (number.error == DecimalError::not_a_number)
    complaints.add(place, key, fmt::format("expected a whole number, got \"{}\"", text));
  else if (number.error == DecimalError::overflow || number.value < minimum || number.value > maximum)
    complaints.add(place, key, fmt::format("expected a whole number from {} to {}, got {}", minimum, maximum, text));
  else
    return number.value;
  return minimum;
}

}  // namespace contend
