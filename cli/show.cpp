#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/load.hpp"
#include "scenarios/print.hpp"

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kExamples[] = {
    "contend show scenario.yaml",
    "contend show scenario.yaml --set network.nic=25Gbps > changed.yaml",
};
constexpr Option kOptions[] = {kSetOption};

int run(const Arguments& arguments) {
  fmt::print("{}", to_yaml(load_scenarios(arguments).scenarios.front()));
  return kExitOk;
}

}  // namespace

const Command& show_command() {
  static constexpr Command kCommand = {.name = "show",
                                       .arguments = "SCENARIO",
                                       .summary = "Print a scenario with its includes, overrides and every default.",
                                       .examples = kExamples,
                                       .options = kOptions,
                                       .min_arguments = 1,
                                       .max_arguments = 1,
                                       .run = run};
  return kCommand;
}

}  // namespace contend
