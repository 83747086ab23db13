#include "cli/exchange_option.hpp"

#include "text/words.hpp"

#include <string>
#include <vector>

#include <fmt/core.h>

namespace contend {

std::optional<TimedExchange> exchange_option(const Arguments& arguments) {
  const std::optional<std::string> name = arguments.value("collective");
  if (!name) return std::nullopt;
  if (const auto exchange = timed_exchange_named(*name)) return exchange;
  std::vector<std::string> names;
  for (const TimedExchange each : timed_exchanges()) names.emplace_back(to_string(each));
  throw UsageError{
      fmt::format("--collective: expected one of {}, got \"{}\"{}", join(names), *name, suggestion(*name, names))};
}

}  // namespace contend
