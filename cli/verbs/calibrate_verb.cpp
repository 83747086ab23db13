#include "calibration/backend.h"
#include "calibration/calibrator.hpp"
#include "calibration/restart.hpp"
#include "cli/calibrate_backend.hpp"
#include "cli/calibrate_report.hpp"
#include "cli/clock.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/running.hpp"
#include "cli/sweep_store.hpp"
#include "cli/version.hpp"
#include "scenarios/study/profile_reader.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace contend {
namespace {

std::vector<OperatorGroup> groups_of(const Arguments& arguments) {
  std::vector<OperatorGroup> out;
  const std::optional<std::string> text = arguments.value("only");
  if (!text) return out;
  std::vector<std::string> names;
  for (const OperatorGroup each : operator_groups()) names.emplace_back(to_string(each));
  for (std::size_t begin = 0; begin <= text->size();) {
    const std::size_t comma = std::min(text->find(',', begin), text->size());
    const std::string word = text->substr(begin, comma - begin);
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end())
      throw UsageError{fmt::format("--only: there is no group \"{}\"{}; there are {}", word, suggestion(word, names),
                                   fmt::join(names, ", "))};
    out.push_back(operator_groups()[static_cast<std::size_t>(found - names.begin())]);
    begin = comma + 1;
  }
  return out;
}

CalibrationRequest request_of(const Arguments& arguments) {
  CalibrationRequest request;
  if (!arguments.has("output"))
    throw UsageError{"contend calibrate: expected -o FILE, to which the profile is written"};
  if (arguments.has("quick") && arguments.has("full"))
    throw UsageError{"contend calibrate: expected one of --quick and --full, got both"};
  request.mode = arguments.has("quick") ? CalibrationMode::quick : CalibrationMode::full;
  request.groups = groups_of(arguments);
  request.device = static_cast<int>(arguments.whole_number("device", 0, kMostDevices).value_or(0));
  request.name = arguments.value("name").value_or("");
  if (arguments.has("name") && request.name.empty()) throw UsageError{"--name: expected a name"};
  request.budget_seconds = default_budget(request.mode);
  if (const auto seconds = arguments.whole_number("budget", 1, kMostSeconds))
    request.budget_seconds = static_cast<double>(*seconds);
  request.visit_twice = true;
  request.date = utc_now();
  const std::string hash = git_hash();
  request.version = hash.empty() ? version() : fmt::format("{} ({})", version(), hash);
  return request;
}

bool is_profile(const std::string& path) {
  try {
    static_cast<void>(read_profile(path));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Suggests the nearest profile in the same folder, if one is near enough.
[[noreturn]] void refuse_to_resume(const std::string& path) {
  const std::filesystem::path wanted{path};
  const std::filesystem::path folder = wanted.has_parent_path() ? wanted.parent_path() : ".";
  std::vector<std::string> names;
  std::error_code no_folder;
  for (const auto& each : std::filesystem::directory_iterator{folder, no_folder})
    if (each.path().extension() == ".yaml" || each.path().extension() == wanted.extension())
      names.push_back(each.path().filename().string());
  std::sort(names.begin(), names.end());
  std::string nearest = nearest_name(wanted.filename().string(), names);
  while (!nearest.empty() && !is_profile((folder / nearest).string())) {
    std::erase(names, nearest);
    nearest = nearest_name(wanted.filename().string(), names);
  }
  Complaint fault;
  fault.file = path;
  fault.reason = "--resume needs this file, but it does not exist";
  fault.hint = nearest.empty() ? "without --resume a new profile is begun"
                               : fmt::format("did you mean \"{}\"? Without --resume a new profile is begun",
                                             (wanted.parent_path() / nearest).string());
  throw InputError{{std::move(fault)}};
}

/// The profile in the file, if it exists and may be resumed.
std::optional<CalibrationProfile> begun_profile(const Arguments& arguments, const std::string& path) {
  if (!std::filesystem::exists(path)) {
    if (arguments.has("resume")) refuse_to_resume(path);
    return std::nullopt;
  }
  if (!arguments.has("resume"))
    throw InputError{
        fmt::format("{}: the file exists already; --resume continues it, another -o FILE begins a new one", path)};
  return read_profile(path);
}

CalibrationResult measure_device(const contend_backend& backend, const CalibrationRequest& request,
                                 const std::optional<CalibrationProfile>& begun, const std::string& path,
                                 ProgressMode mode) {
  CalibrationLine line{mode};
  CalibrationHooks hooks;
  hooks.clock = monotonic_seconds;
  hooks.progress = [&](const CalibrationProgress& progress) { line.update(progress); };
  hooks.cancelled = interrupted;
  // Written at the start, so that an unwritable path is reported before minutes are spent.
  hooks.checkpoint = [&](const CalibrationProfile& profile) { write_file(path, to_yaml(profile)); };
  try {
    return calibrate(backend, request, hooks, begun);
  } catch (InputError& error) {
    // Faults of the profile to resume are faults of that file.
    std::vector<Complaint> faults = error.complaints();
    for (Complaint& each : faults)
      if (each.file.empty() && !each.key.empty()) each.file = path;
    throw InputError{std::move(faults)};
  }
}

/// True if there is a sample of these groups (of any group if none is given).
bool has_points(const CalibrationProfile& profile, const std::vector<OperatorGroup>& groups) {
  return std::any_of(profile.tables.begin(), profile.tables.end(), [&](const OperatorTable& table) {
    const OperatorGroup group = find_operator(table.name)->group;
    const bool wanted = groups.empty() || std::find(groups.begin(), groups.end(), group) != groups.end();
    return wanted && !table.samples.empty();
  });
}

void print_notes(const CalibrationProfile& profile) {
  for (const std::string& each : profile.warnings) print_message("contend: note: {}\n", each);
}

/// A calibration without any of the requested measurements is no success, and a profile without samples is useless.
int report_nothing(const CalibrationRequest& request, const CalibrationProfile& profile, const std::string& path,
                   bool resumed) {
  if (resumed)
    write_file(path, to_yaml(profile));
  else
    std::filesystem::remove(path);
  std::vector<std::string_view> names;
  for (const OperatorGroup each : request.groups) names.push_back(to_string(each));
  print_message("contend: nothing{} could be measured; {}\n{}",
                names.empty() ? "" : fmt::format(" of {}", fmt::join(names, ", ")),
                resumed ? fmt::format("{} is unchanged", path) : "no profile is written",
                skipped_summary(profile, request.groups));
  print_notes(profile);
  return kExitCapability;
}

std::uint64_t seconds_left(double seconds) {
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(seconds)));
}

/// Replaces this process by one that continues the profile; returns only if that fails.
void restart(const Arguments& arguments, std::uint64_t seconds) {
  std::vector<std::string> words = resumed_command(arguments.command_line(), seconds);
  std::vector<char*> pointers;
  for (std::string& each : words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  std::fflush(nullptr);
  ::execv("/proc/self/exe", pointers.data());
}

}  // namespace

int calibrate_verb(const Arguments& arguments) {
  const ProgressMode mode = progress_mode(arguments);
  const CalibrationRequest request = request_of(arguments);
  const std::string path = *arguments.value("output");
  const contend_backend* const backend = calibration_backend(arguments);
  if (backend == nullptr) return kExitCapability;
  const std::optional<CalibrationProfile> begun = begun_profile(arguments, path);
  catch_interrupts();
  const double begin = monotonic_seconds();
  CalibrationResult result;
  try {
    result = measure_device(*backend, request, begun, path, mode);
  } catch (const DeviceError& error) {
    print_message("contend: device {} of {} can't be measured: {}\n", request.device, backend->name, error.what());
    return kExitCapability;
  }
  if (result.end == CalibrationEnd::finished && !has_points(result.profile, request.groups))
    return report_nothing(request, result.profile, path, begun.has_value());
  write_file(path, to_yaml(result.profile));
  if (!arguments.has("quiet")) print_output("{}", calibration_summary(result.profile));
  std::fflush(stdout);  // before what follows on stderr, where both are one
  print_notes(result.profile);
  if (result.end == CalibrationEnd::finished) return kExitOk;
  if (result.end == CalibrationEnd::device_broken) {
    print_message("contend: the device is broken for this process ({}); a new one continues\n", result.message);
    restart(arguments, seconds_left(request.budget_seconds - (monotonic_seconds() - begin)));
    result.message += "; no new process could be started";
  }
  const bool lost = result.end != CalibrationEnd::cancelled;
  print_message("contend: {}; the measurements so far are in {}. To continue:\n  {}\n",
                lost ? "the device is lost: " + result.message : "interrupted", path, resume_command(arguments));
  return lost ? kExitCapability : kExitInterrupted;
}

}  // namespace contend
