#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "results/result_columns.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/study/study_messages.hpp"

namespace contend {
int schema_verb(const Arguments& arguments) {
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

}  // namespace contend
