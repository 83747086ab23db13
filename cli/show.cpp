#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/load.hpp"
#include "cli/overlap_report.hpp"
#include "scenarios/print.hpp"

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kExamples[] = {
    "contend show scenario.yaml",
    "contend show scenarios/overlap/resnet50-10gbe.yaml --layers",
    "contend show scenario.yaml --set network.nic=25Gbps > changed.yaml",
};
constexpr Option kOptions[] = {
    kSetOption,
    {.name = "layers", .letter = '\0', .value = "", .text = "print the layers of an overlap study, with their times"},
};

int run(const Arguments& arguments) {
  const Scenario scenario = load_scenarios(arguments).scenarios.front();
  fmt::print("{}", arguments.has("layers") ? layers_text(overlap_model(scenario.overlap)) : to_yaml(scenario));
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
