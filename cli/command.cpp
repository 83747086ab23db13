#include "cli/command.hpp"

#include "sim/error.hpp"

#include <charconv>

#include <fmt/format.h>

namespace contend {

bool Arguments::has(std::string_view option) const {
  return value(option).has_value();
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  for (const Given& each : given_)
    if (each.name == option) return each.value;
  return std::nullopt;
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  std::vector<std::string> all;
  for (const Given& each : given_)
    if (each.name == option) all.push_back(each.value);
  return all;
}

void Arguments::refuse(std::string_view option, std::string_view why) const {
  if (has(option)) throw UsageError{fmt::format("--{} has no effect {}", option, why)};
}

std::optional<std::uint64_t> Arguments::whole_number(std::string_view option, std::uint64_t minimum,
                                                     std::uint64_t maximum) const {
  const std::optional<std::string> text = value(option);
  if (!text) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || stop != end || number < minimum || number > maximum)
    throw UsageError{
        fmt::format("--{}: expected a whole number from {} to {}, got \"{}\"", option, minimum, maximum, *text)};
  return number;
}

std::string help_text(const Command& command) {
  std::string out = fmt::format("{}\n\nExamples:\n", command.summary);
  for (const std::string_view example : command.examples) out += fmt::format("  {}\n", example);
  out += fmt::format("\nUsage: contend {} [OPTION]...{}{}\n\nOptions:\n", command.name,
                     command.arguments.empty() ? "" : " ", command.arguments);
  const auto line = [&](const Option& option) {
    const std::string letter = option.letter == '\0' ? "    " : fmt::format("-{}, ", option.letter);
    const std::string value = option.value.empty() ? "" : fmt::format(" {}", option.value);
    out += fmt::format("  {:<27} {}\n", fmt::format("{}--{}{}", letter, option.name, value), option.text);
  };
  for (const Option& option : command.options) line(option);
  line(kHelpOption);
  return out;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(word, candidates);
  return nearest.empty() ? nearest : fmt::format("; did you mean \"{}\"?", nearest);
}

}  // namespace contend
