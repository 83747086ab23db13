#include "cli/options.hpp"

#include "scenarios/yaml/shipped.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <boost/program_options.hpp>

namespace contend {
namespace {

namespace po = boost::program_options;

po::options_description describe(const Command& command) {
  po::options_description description;
  for (const Option& option : command.options) {
    std::string name{option.name};
    if (option.letter != '\0') name += fmt::format(",{}", option.letter);
    // Every value is text here, because Boost would accept -1 for an unsigned number.
    if (option.value.empty())
      description.add_options()(name.c_str(), "");
    else
      description.add_options()(name.c_str(), po::value<std::string>(), "");
  }
  description.add_options()("help,h", "");
  return description;
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names{"--help"};
  for (const Option& option : command.options) names.push_back(fmt::format("--{}", option.name));
  return names;
}

void check_repetitions(const Command& command, const std::vector<Arguments::Given>& given) {
  for (const Option& option : command.options) {
    const auto times = std::count_if(given.begin(), given.end(), [&](const auto& g) { return g.name == option.name; });
    if (times > 1 && !option.repeatable) throw UsageError{fmt::format("--{} is given {} times", option.name, times)};
  }
}

void check_values(const Command& command, const std::vector<Arguments::Given>& given) {
  for (const Option& option : command.options)
    for (const Arguments::Given& each : given)
      if (each.name == option.name && !option.value.empty() && each.value.empty())
        throw UsageError{
            fmt::format("contend {}: --{}: expected {}, got an empty text", command.name, option.name, option.value)};
}

void check_positionals(const Command& command, const std::vector<std::string>& positionals) {
  if (positionals.size() < command.min_arguments)
    throw UsageError{fmt::format("contend {}: expected {}, got {}", command.name, command.arguments,
                                 positionals.empty() ? "nothing" : fmt::format("only \"{}\"", positionals.back()))};
  if (positionals.size() > command.max_arguments)
    throw UsageError{
        fmt::format("contend {}: unexpected argument \"{}\"", command.name, positionals[command.max_arguments])};
}

}  // namespace

Arguments parse_arguments(const Command& command, std::span<const std::string> words,
                          std::vector<std::string> command_line) {
  const po::options_description description = describe(command);
  std::vector<std::string> positionals;
  std::vector<Arguments::Given> given;
  try {
    // Guessing off: else `--seq 3` would silently be --sequence, until a second option begins with the same letters.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    const po::parsed_options parsed =
        po::command_line_parser{{words.begin(), words.end()}}.options(description).style(style).run();
    for (const po::option& option : parsed.options) {
      if (option.position_key >= 0)
        positionals.insert(positionals.end(), option.value.begin(), option.value.end());
      else
        given.push_back({.name = option.string_key, .value = option.value.empty() ? "" : option.value.front()});
    }
  } catch (const po::unknown_option& error) {
    const std::string name = error.get_option_name();
    throw UsageError{
        fmt::format("contend {}: unknown option {}{}", command.name, name, suggestion(name, option_names(command)))};
  } catch (const po::error& error) {
    throw UsageError{fmt::format("contend {}: {}", command.name, error.what())};
  }
  // What is shipped is found in any folder.
  for (std::string& path : positionals) path = shipped_path(path);
  const bool help = std::any_of(given.begin(), given.end(), [](const auto& g) { return g.name == "help"; });
  if (!help) {
    check_repetitions(command, given);
    check_values(command, given);
    check_positionals(command, positionals);
  }
  return Arguments{std::move(positionals), std::move(given), std::move(command_line), command.options};
}

}  // namespace contend
