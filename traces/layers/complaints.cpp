#include "traces/layers/complaints.hpp"

#include "traces/decimal.hpp"

#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::size_t kKept = 50;
constexpr Time kLongestLayer = Time::seconds(3600);

}  // namespace

void FileComplaints::add(TextPlace place, std::string key, std::string reason, std::string hint) {
  if (kept_.size() >= kKept) {
    ++more_;
    return;
  }
  Diagnostic diagnostic;
  diagnostic.file = file_;
  diagnostic.line = place.line;
  diagnostic.column = place.column;
  diagnostic.key = std::move(key);
  diagnostic.reason = std::move(reason);
  diagnostic.hint = std::move(hint);
  kept_.push_back(std::move(diagnostic));
}

void FileComplaints::throw_if_any() {
  if (kept_.empty()) return;
  if (more_ > 0) {
    Diagnostic rest;
    rest.file = file_;
    rest.reason = fmt::format("and {} more", more_);
    kept_.push_back(std::move(rest));
  }
  throw InputError{std::move(kept_)};
}

void FileComplaints::fail(TextPlace place, std::string key, std::string reason, std::string hint) {
  Diagnostic last;
  last.file = file_;
  last.line = place.line;
  last.column = place.column;
  last.key = std::move(key);
  last.reason = std::move(reason);
  last.hint = std::move(hint);
  kept_.push_back(std::move(last));
  throw InputError{std::move(kept_)};
}

std::string suggest(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(word, candidates);
  return nearest.empty() ? nearest : fmt::format("did you mean \"{}\"?", nearest);
}

Time read_layer_time(std::string_view text, int decimals, TextPlace place, const std::string& key,
                     FileComplaints& complaints) {
  const ScaledDecimal number = parse_scaled(text, decimals);
  if (number.error == DecimalError::not_a_number)
    complaints.add(place, key, fmt::format("expected a time >= 0, got \"{}\"", text));
  else if (number.error == DecimalError::overflow || number.value > kLongestLayer.ns())
    complaints.add(place, key, fmt::format("{} is longer than an hour", text));
  else if (number.value < 0 || text.starts_with('-'))
    complaints.add(place, key, fmt::format("expected a time >= 0, got {}", text));
  else
    return Time::nanoseconds(number.value);
  return Time{};
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
