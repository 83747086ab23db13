#pragma once
// Reads options whose values are quantities with units.

#include "cli/command.hpp"
#include "text/quantities.hpp"

#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace contend {

/// The value of an option as a Time, Bytes, ByteRate or TimePerByte; nothing without the option. Throws UsageError for
/// any other text.
template <class T>
[[nodiscard]] std::optional<T> quantity_of(const Arguments& arguments, std::string_view option) {
  const auto text = arguments.value(option);
  if (!text) return std::nullopt;
  const Parsed<T> parsed = parse_quantity<T>(*text);
  if (!parsed.value)
    throw UsageError{fmt::format("--{}: expected {}, got \"{}\"{}{}", option, parsed.expected, *text,
                                 parsed.hint.empty() ? "" : "; ", parsed.hint)};
  return parsed.value;
}

}  // namespace contend
