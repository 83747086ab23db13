#include "calibration/profile_merge.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "scenarios/study/profile_reader.hpp"
#include "text/own_files.hpp"

namespace contend {
int calibrate_merge_verb(const Arguments& arguments) {
  if (!arguments.has("output"))
    throw UsageError{"contend calibrate merge: expected -o FILE, to which the profile is written"};
  if (arguments.has("name") && arguments.value("name")->empty()) throw UsageError{"--name: expected a name"};
  const std::string path = *arguments.value("output");
  const CalibrationProfile other = read_profile(arguments.positionals()[1]);
  CalibrationProfile merged = with_tables_of(read_profile(arguments.positionals()[0]), other);
  merged.name = arguments.value("name").value_or(merged.name);
  write_own_file(path, to_yaml(merged));
  if (!arguments.has("quiet"))
    print_output("{}: {} of {} tables are those of {}\n", path, other.tables.size(), merged.tables.size(),
                 arguments.positionals()[1]);
  return kExitOk;
}

}  // namespace contend
