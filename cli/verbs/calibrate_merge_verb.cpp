#include "calibration/profile_merge.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/running.hpp"
#include "scenarios/study/profile_reader.hpp"
#include "text/own_files.hpp"

namespace contend {
namespace {

constexpr std::string_view kCalibrateMergeExamples[] = {
    "contend calibrate merge gpu.yaml torch.yaml --name gpu-pytorch -o gpu-pytorch.yaml",
};
constexpr Option kCalibrateMergeOptions[] = {
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .text = "file to which the profile is written (required)",
     .writes = true},
    {.name = "name", .letter = '\0', .value = "NAME", .text = "name of the profile (default: that of the first)"},
    kQuietOption,
};

int run_calibrate_merge(const Arguments& arguments) {
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

}  // namespace

const Command& calibrate_merge_command() {
  static constexpr Command kCommand = {
      .name = "calibrate merge",
      .arguments = "PROFILE OTHER",
      .summary = "Replace tables of a profile by those of another, such as one measured in PyTorch.",
      .examples = kCalibrateMergeExamples,
      .options = kCalibrateMergeOptions,
      .min_arguments = 2,
      .max_arguments = 2,
      .run = run_calibrate_merge};
  return kCommand;
}

}  // namespace contend
