#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/import_report.hpp"
#include "cli/instant_option.hpp"
#include "cli/output.hpp"
#include "cli/quantity_option.hpp"
#include "sim/error.hpp"
#include "text/own_files.hpp"
#include "traces/job_list.hpp"
#include "traces/jobs/import_jobs.hpp"

#include <climits>
#include <map>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kTraceClock = "on the clock of the trace";

/// Reads one of two words; true for the second.
bool second_of(const Arguments& arguments, std::string_view option, std::string_view first, std::string_view second) {
  const std::string given = arguments.value(option).value_or(std::string{first});
  if (given != first && given != second)
    throw UsageError{fmt::format("--{}: expected {} or {}, got \"{}\"", option, first, second, given)};
  return given == second;
}

/// The pairs A=B of an option.
std::map<std::string, std::string> pairs_of(const Arguments& arguments, std::string_view option) {
  std::map<std::string, std::string> pairs;
  for (const std::string& pair : arguments.values(option)) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError{fmt::format("--{}: expected A=B, got \"{}\"", option, pair)};
    if (!pairs.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second)
      throw UsageError{fmt::format("--{}: {} is given twice", option, pair.substr(0, equals))};
  }
  return pairs;
}

ImportOptions options_of(const Arguments& arguments) {
  ImportOptions options;
  options.skip_bad_rows = arguments.has("skip-bad-rows");
  options.vcs = arguments.values("vc");
  options.from = instant_of(arguments, "from", kTraceClock);
  options.until = instant_of(arguments, "until", kTraceClock);
  options.min_gpus = static_cast<int>(arguments.whole_number("min-gpus", 1, INT_MAX).value_or(1));
  if (const auto gpus = arguments.whole_number("max-gpus", 1, INT_MAX)) options.max_gpus = static_cast<int>(*gpus);
  if (options.from && options.until && *options.until <= *options.from)
    throw UsageError{"--until: expected a time after the time of --from"};
  options.min_duration = quantity_of<Time>(arguments, "min-duration");
  if (arguments.has("origin"))
    options.origin = second_of(arguments, "origin", "first", "kept") ? TimeOrigin::kept : TimeOrigin::first;
  if (second_of(arguments, "work", "duration", "iterations")) options.work = TraceWork::iterations;
  options.models = pairs_of(arguments, "model");
  options.columns = pairs_of(arguments, "column");
  return options;
}

/// True if the options leave some jobs out.
bool selects(const ImportOptions& options) {
  return !options.vcs.empty() || options.from || options.until || options.min_duration || options.min_gpus > 1 ||
         options.max_gpus;
}

}  // namespace

int import_verb(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positionals();
  const std::string format = words.size() == 2 ? words.front() : "auto";
  if (arguments.has("json") && arguments.has("quiet"))
    throw UsageError{"contend import: expected one of --json and --quiet, got both"};
  const ImportOptions options = options_of(arguments);
  const ImportedJobs imported = import_jobs(format, words.back(), options);
  if (const auto output = arguments.value("output"); output && !imported.jobs.empty())
    write_own_file(*output, job_list_csv(imported.jobs));
  if (arguments.has("json"))
    print_output("{}", import_json(imported));
  else if (!arguments.has("quiet"))
    print_output("{}", import_text(imported));
  if (imported.jobs.empty())
    throw InputError{{.file = words.back(),
                      .reason = imported.report.rows() == 0 ? "there is no job in it"
                                : selects(options)          ? "the options leave no job"
                                                            : "no row of it is a job"}};
  return kExitOk;
}

}  // namespace contend
