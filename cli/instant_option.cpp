#include "cli/instant_option.hpp"

#include "text/decimal.hpp"
#include "traces/jobs/timestamp.hpp"

#include <fmt/core.h>

namespace contend {

std::optional<Time> instant_of(const Arguments& arguments, std::string_view option, std::string_view clock) {
  const std::optional<std::string> text = arguments.value(option);
  if (!text) return std::nullopt;
  const ScaledDecimal seconds = parse_scaled(*text, 9);
  if (seconds.error == DecimalError::none) return Time::nanoseconds(seconds.value);
  const std::optional<Time> date = parse_timestamp(text->size() == 10 ? *text + " 00:00" : *text);
  if (!date)
    throw UsageError{fmt::format("--{}: expected a date such as '2020-09-01 12:00', or seconds {}, got \"{}\"", option,
                                 clock, *text)};
  return date;
}

}  // namespace contend
