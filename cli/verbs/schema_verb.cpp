#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "results/result_columns.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/study/study_messages.hpp"
#include "validate/systems.hpp"

namespace contend {
int schema_verb(const Arguments& arguments) {
  if (arguments.has("markdown") + arguments.has("columns") + arguments.has("systems") > 1)
    throw UsageError{"contend schema: expected one of --markdown, --columns and --systems, got several"};
  if (arguments.has("markdown"))
    print_output("{}", keys_markdown());
  else if (arguments.has("columns"))
    print_output("{}{}", columns_markdown(), messages_markdown());
  else if (arguments.has("systems"))
    print_output("{}", systems_markdown());
  else
    print_output("{}", json_schema());
  return kExitOk;
}

}  // namespace contend
