#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/sweep_store.hpp"
#include "cli/text_table.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace contend {
int merge_verb(const Arguments& arguments) {
  if (!arguments.has("output")) throw UsageError{"contend merge: expected -o STORE"};
  const std::string out = *arguments.value("output");
  const WriterLock lock = lock_store(out);
  const MergeReport report = merge_stores(arguments.positionals(), out);
  print_output("{}: {} runs of {} stores\n", out, report.runs, arguments.positionals().size());
  if (report.failed > 0) print_message("contend: {} of these runs failed\n", report.failed);
  if (!report.missing.empty()) {
    std::string list;
    for (std::size_t i = 0; i < std::min(kMaxShown, report.missing.size()); ++i)
      list += fmt::format(" {}", report.missing[i]);
    print_message("contend: {} runs are in none of the stores:{}{}\n", report.missing.size(), list,
                  report.missing.size() > kMaxShown ? " ..." : "");
  }
  return report.missing.empty() && report.failed == 0 ? kExitOk : kExitUnfinished;
}

}  // namespace contend
