#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "scenarios/yaml/shipped.hpp"
#include "text/own_files.hpp"
#include "validate/suites.hpp"
#include "validate/verdict.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

const SuiteRow& find_suite(const std::string& wanted) {
  std::vector<std::string> names;
  for (const SuiteRow& suite : validation_suites()) {
    if (suite.name == wanted) return suite;
    names.emplace_back(suite.name);
  }
  throw UsageError{fmt::format("contend validate: no suite \"{}\"{}; there are: {}", wanted, suggestion(wanted, names),
                               fmt::join(names, ", "))};
}

/// What is to be done about suites that found none of their data. Their output names each file that is missing.
std::string nothing_compared_text(const std::vector<std::string_view>& suites) {
  const char* const data = std::getenv("CONTEND_DATA");
  return fmt::format(
      "contend validate: {} compared nothing: the data named above are missing. Reference data are looked for in {}, "
      "profiles of devices in ./{} and {}/{}; let CONTEND_DATA and CONTEND_SHARE name the folders that have them\n",
      fmt::join(suites, ", "), data != nullptr ? fmt::format("CONTEND_DATA, {}", data) : "../shared/data",
      kProfileFolder, shared_folder(), kProfileFolder);
}

}  // namespace

int validate_verb(const Arguments& arguments) {
  const std::vector<std::string>& wanted = arguments.positionals();
  const SuiteFiles files{arguments.value("rows"), arguments.value("with")};
  if (files.rows) refuse_foreign_file(*files.rows);
  if (wanted.empty() || find_suite(wanted.front()).run_with == nullptr)
    for (const Option& option : arguments.options()) arguments.refuse(option.name, "without the suite `public`");
  bool failed = false;
  std::vector<std::string_view> without;
  for (const SuiteRow& suite : validation_suites()) {
    if (!wanted.empty() && suite.name != wanted.front()) continue;
    if (wanted.empty() && suite.slow) {
      print_message("{} takes minutes; run it with: contend validate {}\n", suite.name, suite.name);
      continue;
    }
    const int verdict = suite.run_with != nullptr ? suite.run_with(stdout, files) : suite.run(stdout);
    if (verdict == kSuiteFailed) failed = true;
    if (verdict == kSuiteComparedNothing) without.push_back(suite.name);
  }
  if (!without.empty()) print_message("{}", nothing_compared_text(without));
  return failed ? kExitFailed : without.empty() ? kExitOk : kExitCapability;
}

}  // namespace contend
