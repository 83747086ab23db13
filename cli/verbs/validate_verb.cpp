#include "cli/output.hpp"
#include "validate/suites.hpp"

#include "cli/command.hpp"
#include "cli/exit_code.hpp"

#include <cstdio>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

constexpr std::string_view kValidateExamples[] = {
    "contend validate",
    "contend list suites",
};

void check_name(const std::string& wanted) {
  std::vector<std::string> names;
  for (const SuiteRow& suite : validation_suites()) {
    if (suite.name == wanted) return;
    names.emplace_back(suite.name);
  }
  throw UsageError{fmt::format("contend validate: no suite \"{}\"{}; there are: {}", wanted, suggestion(wanted, names),
                               fmt::join(names, ", "))};
}

int run_validate(const Arguments& arguments) {
  const std::vector<std::string>& wanted = arguments.positionals();
  if (!wanted.empty()) check_name(wanted.front());
  bool failed = false;
  for (const SuiteRow& suite : validation_suites()) {
    if (!wanted.empty() && suite.name != wanted.front()) continue;
    if (wanted.empty() && suite.slow) {
      print_message("{} takes minutes; run it with: contend validate {}\n", suite.name, suite.name);
      continue;
    }
    if (suite.run(stdout) != 0) failed = true;
  }
  return failed ? kExitFailed : kExitOk;
}

}  // namespace

const Command& validate_command() {
  static constexpr Command kCommand = {.name = "validate",
                                       .arguments = "[SUITE]",
                                       .summary = "Compare simulations with published reference figures.",
                                       .examples = kValidateExamples,
                                       .options = {},
                                       .min_arguments = 0,
                                       .max_arguments = 1,
                                       .run = run_validate};
  return kCommand;
}

}  // namespace contend
