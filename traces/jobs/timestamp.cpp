#include "traces/jobs/timestamp.hpp"

#include <chrono>
#include <cstdint>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Parses a text from its front; after the first mismatch it stays failed.
class Taker {
 public:
  explicit Taker(std::string_view text) : rest_{text} {}

  /// A number of `least` to `most` digits, from `minimum` to `maximum`.
  int number(std::size_t least, std::size_t most, int minimum, int maximum) {
    int value = 0;
    std::size_t digits = 0;
    while (digits < most && digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9')
      value = value * 10 + (rest_[digits++] - '0');
    rest_.remove_prefix(digits);
    failed_ = failed_ || digits < least || value < minimum || value > maximum;
    return value;
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) failed_ = true;
  }
  /// The nanoseconds after a decimal point, if there is one.
  std::int64_t fraction() {
    if (!take('.')) return 0;
    std::int64_t value = 0;
    std::int64_t unit = kSecond;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      unit /= 10;  // what is shorter than a nanosecond is cut
      value += (rest_[digits] - '0') * unit;
    }
    rest_.remove_prefix(digits);
    failed_ = failed_ || digits == 0;
    return value;
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

/// The seconds to subtract for the UTC offset after the time of day.
std::int64_t offset(Taker& text) {
  if (text.at_end() || text.take('Z')) return 0;
  const bool east = text.take('+');
  if (!east) text.expect('-');
  const int hours = text.number(2, 2, 0, 14);
  text.take(':');
  const int minutes = text.at_end() ? 0 : text.number(2, 2, 0, 59);
  const std::int64_t seconds = 3600LL * hours + 60LL * minutes;
  return east ? seconds : -seconds;
}

}  // namespace

std::optional<Time> parse_timestamp(std::string_view text) {
  Taker taker{text};
  const int year = taker.number(4, 4, 1990, 2088);
  taker.expect('-');
  const int month = taker.number(2, 2, 1, 12);
  taker.expect('-');
  const int day = taker.number(2, 2, 1, 31);
  if (!taker.take('T')) taker.expect(' ');
  const int hour = taker.number(2, 2, 0, 23);
  taker.expect(':');
  const int minute = taker.number(2, 2, 0, 59);
  const bool has_seconds = taker.take(':');
  const int second = has_seconds ? taker.number(2, 2, 0, 59) : 0;
  const std::int64_t fraction = has_seconds ? taker.fraction() : 0;
  const std::int64_t east = offset(taker);
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (taker.failed() || !taker.at_end() || !date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  return Time::nanoseconds((days * 86'400 + hour * 3'600LL + minute * 60LL + second - east) * kSecond + fraction);
}

std::string format_timestamp(Time since_1970) {
  const std::int64_t ns = since_1970.ns();
  const std::int64_t seconds = ns / kSecond - (ns % kSecond < 0 ? 1 : 0);
  const std::int64_t days = seconds / 86'400 - (seconds % 86'400 < 0 ? 1 : 0);
  const std::int64_t of_day = seconds - days * 86'400;
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), of_day / 3'600,
                     of_day / 60 % 60, of_day % 60);
}

std::optional<Time> parse_slurm_duration(std::string_view text) {
  Taker taker{text};
  std::int64_t days = 0;
  const bool has_days = text.find('-') != std::string_view::npos;
  if (has_days) {
    days = taker.number(1, 5, 0, 36'500);
    taker.expect('-');
  }
  std::int64_t whole = taker.number(1, 6, 0, 999'999);
  int fields = 1;
  while (fields < 3 && taker.take(':')) {
    whole = whole * 60 + taker.number(1, 2, 0, 59);
    ++fields;
  }
  const std::int64_t fraction = taker.fraction();
  if (taker.failed() || !taker.at_end() || (fields == 1 && !has_days)) return std::nullopt;
  // After days, the fields begin with hours; without days, the last field is seconds.
  if (has_days)
    for (; fields < 3; ++fields) whole *= 60;
  return Time::nanoseconds((days * 86'400 + whole) * kSecond + fraction);
}

}  // namespace contend
