#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/load.hpp"
#include "models/workload.hpp"
#include "sim/error.hpp"
#include "traces/job_list.hpp"

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kExamples[] = {
    "contend check scenario.yaml",
    "contend check scenarios/*/*.yaml --set cluster.servers=64",
};
constexpr Option kOptions[] = {kSetOption};

int run(const Arguments& arguments) {
  const std::vector<Scenario> scenarios = load_scenarios(arguments).scenarios;
  std::vector<Diagnostic> complaints;
  for (const Scenario& scenario : scenarios) {
    if (!scenario.workload.jobs) continue;
    try {
      static_cast<void>(build_workload(read_job_list(*scenario.workload.jobs)));
    } catch (const InputError& error) {
      complaints.insert(complaints.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  for (const std::string& path : arguments.positionals()) fmt::print("{}: ok\n", path);
  return kExitOk;
}

}  // namespace

const Command& check_command() {
  static constexpr Command kCommand = {.name = "check",
                                       .arguments = "SCENARIO...",
                                       .summary = "Read scenarios and their job lists without running them.",
                                       .examples = kExamples,
                                       .options = kOptions,
                                       .min_arguments = 1,
                                       .max_arguments = SIZE_MAX,
                                       .run = run};
  return kCommand;
}

}  // namespace contend
