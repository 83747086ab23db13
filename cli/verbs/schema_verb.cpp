#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "results/result_columns.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/study/study_messages.hpp"

namespace contend {
namespace {

constexpr std::string_view kSchemaExamples[] = {
    "contend schema > scenario.schema.json",
    "contend schema --markdown > scenario-keys.md",
};
constexpr Option kSchemaOptions[] = {
    {.name = "markdown", .letter = '\0', .value = "", .text = "print the reference page of the scenario keys instead"},
    {.name = "columns", .letter = '\0', .value = "", .text = "print the reference page of the result files instead"},
};

int run_schema(const Arguments& arguments) {
  if (arguments.has("markdown") && arguments.has("columns"))
    throw UsageError{"contend schema: expected one of --markdown and --columns, got both"};
  if (arguments.has("markdown"))
    print_output("{}", keys_markdown());
  else if (arguments.has("columns"))
    print_output("{}{}", columns_markdown(), messages_markdown());
  else
    print_output("{}", json_schema());
  return kExitOk;
}

}  // namespace

const Command& schema_command() {
  static constexpr Command kCommand = {.name = "schema",
                                       .arguments = "",
                                       .summary = "Print the JSON Schema of scenarios, for editors.",
                                       .examples = kSchemaExamples,
                                       .options = kSchemaOptions,
                                       .min_arguments = 0,
                                       .max_arguments = 0,
                                       .run = run_schema};
  return kCommand;
}

}  // namespace contend
