#include "cli/load.hpp"

#include "cli/output.hpp"
#include "cli/quantity_option.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/job_lists.hpp"
#include "scenarios/run/run_notes.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/sweep/sweep_keys.hpp"
#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_points.hpp"
#include "sim/complaints.hpp"
#include "text/sha256.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

std::vector<std::string> overrides(const Arguments& arguments) {
  std::vector<std::string> all = arguments.values("set");
  // The short forms come last and win: users append them to an existing command.
  if (const auto seed = arguments.whole_number("seed", 0, std::numeric_limits<std::int64_t>::max()))
    all.push_back(fmt::format("seed={}", *seed));
  if (const auto repeat = arguments.whole_number("repeat", 1, 100'000))
    all.push_back(fmt::format("repeat={}", *repeat));
  if (const auto until = arguments.value("until")) {
    if (*until != "none" && quantity_of<Time>(arguments, "until") == Time{})
      throw UsageError{"--until: expected a time above 0, or none"};
    all.push_back("engine.until=" + *until);
  }
  if (arguments.has("no-leap")) all.emplace_back("engine.leap=false");
  return all;
}

/// The point of the sweep that the file describes, with the number of runs that the sweep gives it.
Scenario load_point(const FileText& content, const std::string& path, const LoadOptions& options,
                    const FileReader& read, std::int64_t point) {
  ScenarioVariants variants{*content.text, path, options, read};
  if (!variants.base().sweep.given())
    throw InputError{{.file = path, .reason = "--point picks a point of a sweep, but this scenario has no `sweep`"}};
  std::vector<Complaint> complaints;
  for (const std::string& assignment : options.overrides) {
    const std::string key = assignment.substr(0, assignment.find('='));
    if (!varies(variants.base().sweep, key)) continue;
    Complaint& each = complaints.emplace_back();
    each.file = "--set";
    each.source_line = assignment;
    each.key = key;
    each.reason = fmt::format("point {} has a value of its own, because the sweep varies this key", point);
    each.hint =
        "pick another point (`contend sweep --list` numbers them), or leave out --point and add --set 'sweep={}'";
  }
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  if (variants.base().name.empty()) variants.base().name = std::filesystem::path{path}.stem().string();
  const SweepPlan plan{std::move(variants), 1};
  const auto points = static_cast<std::int64_t>(plan.points().size());
  if (point >= points)
    throw InputError{
        {.file = path, .reason = fmt::format("--point: expected a number from 0 to {}, got {}", points - 1, point)}};
  Scenario scenario = plan.scenario(point);
  scenario.name = fmt::format("{}-point-{}", plan.info().name, point);
  const auto sets_repeat = [](const std::string& assignment) { return assignment.starts_with("repeat="); };
  if (std::ranges::none_of(options.overrides, sets_repeat)) scenario.repeat = static_cast<int>(plan.info().repeat);
  return scenario;
}

/// Like load_scenario(), but also records the hash of every file as it was read. With a point, loads that point.
Scenario load_one(const std::string& path, const LoadOptions& options, std::optional<std::uint64_t> point,
                  std::vector<InputFile>& inputs) {
  const FileReader read = [&](const std::string& file) {
    FileText content = read_text_file(file);
    if (content.text && std::ranges::find(inputs, file, &InputFile::path) == inputs.end())
      inputs.push_back({.path = file, .sha256 = sha256_hex(*content.text)});
    return content;
  };
  const FileText content = read(path);
  if (!content.text) return load_scenario(path, options);  // words the complaint
  if (point) return load_point(content, path, options, read, static_cast<std::int64_t>(*point));
  Scenario scenario = parse_scenario(*content.text, path, options, read);
  if (scenario.name.empty()) scenario.name = std::filesystem::path{path}.stem().string();
  return scenario;
}

}  // namespace

std::vector<Complaint> faults_of_list(const Scenario& scenario, bool training_read) {
  if (!scenario.workload.jobs || !std::filesystem::is_regular_file(*scenario.workload.jobs)) return {};
  try {
    JobLists lists;
    const std::vector<std::string> models = training_read
                                                ? listed_models(scenario.cluster, scenario.workload, scenario.training)
                                                : std::vector<std::string>{};
    static_cast<void>(lists.read(*scenario.workload.jobs, models));
  } catch (const InputError& error) {
    return error.complaints();
  }
  return {};
}

LoadedScenarios load_scenarios(const Arguments& arguments) {
  return load_scenarios(arguments, arguments.positionals());
}

LoadedScenarios load_scenarios(const Arguments& arguments, std::span<const std::string> paths,
                               const std::vector<std::string>& more, const std::string& more_option) {
  LoadOptions options{.overrides = overrides(arguments)};
  options.overrides.insert(options.overrides.end(), more.begin(), more.end());
  const auto point = arguments.whole_number("point", 0, kMaxSweepPoints - 1);
  LoadedScenarios loaded;
  std::vector<Complaint> complaints;
  std::vector<std::string> notes, all_notes;
  options.notes = &notes;
  options.more = faults_of_list;
  for (const std::string& path : paths) {
    try {
      notes.clear();
      loaded.scenarios.push_back(load_one(path, options, point, loaded.inputs.emplace_back()));
      for (std::string& note : notes) {
        const bool is_more =
            std::ranges::any_of(more, [&](const auto& m) { return note.starts_with("--set " + m + ":"); });
        if (is_more) note.replace(0, std::string_view{"--set"}.size(), more_option);
        all_notes.push_back(std::move(note));
      }
      const Scenario& last = loaded.scenarios.back();
      if (const std::string note = version_note(last.schema_version, last.ideals); !note.empty())
        all_notes.push_back(path + ": " + note);
    } catch (const InputError& error) {
      complaints.insert(complaints.end(), error.complaints().begin(), error.complaints().end());
    }
  }
  if (complaints.empty()) {
    print_load_notes(arguments, std::move(all_notes));
    return loaded;
  }
  for (Complaint& each : complaints)
    if (each.file == "--set" && std::ranges::find(more, each.source_line) != more.end()) each.file = more_option;
  throw with_set_hints(InputError{std::move(complaints)});
}

void print_load_notes(const Arguments& arguments, std::vector<std::string> notes) {
  if (arguments.has("quiet")) return;
  std::vector<std::string> printed;
  for (std::string& note : notes) {
    if (std::ranges::find(printed, note) != printed.end()) continue;
    print_message("contend: note: {}\n", note);
    printed.push_back(std::move(note));
  }
}

void note_unchecked(const Arguments& arguments, const std::string& path, bool has_digests) {
  if (has_digests || arguments.has("quiet")) return;
  print_message(
      "contend: note: {}: an earlier version of contend has written it, without digests, so that damage or a change "
      "would go unnoticed\n",
      path);
}

void refuse_sweeps(std::span<const Scenario> scenarios) {
  for (const Scenario& scenario : scenarios)
    if (scenario.sweep.given())
      throw InputError{{.reason = fmt::format("the scenario \"{}\" describes a sweep", scenario.name),
                        .hint = "run it by `contend sweep`, one of its points with --point N (`contend sweep --list` "
                                "numbers them), or the scenario without its sweep with --set 'sweep={}'"}};
}

void need_fabric(const NetworkSetup& network, const std::string& path) {
  if (network.traits().has_topology) return;
  Complaint complaint;
  complaint.file = path;
  complaint.key = "network.fidelity";
  complaint.reason = "only fidelity `flow` has a fabric";
  complaint.hint = "add --set network.fidelity=flow";
  throw InputError{{std::move(complaint)}};
}

InputError with_set_hints(const InputError& error) {
  return amended(error, [](Complaint& each) {
    const bool several = each.file.starts_with("--set") && each.source_line.find(',') != std::string::npos &&
                         each.source_line.find_first_of("[{") == std::string::npos;
    if (!several || !each.hint.empty()) return;
    if (each.key == "seed")
      each.hint = "--repeat N runs the seeds seed, seed + 1, ...";
    else if (sweepable_key(each.key) != nullptr)
      each.hint = "`contend sweep` takes several values of a key";
  });
}

std::string file_name_of(std::string name) {
  for (char& c : name) {
    const bool is_unsuitable = c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    if (is_unsuitable) c = '-';
  }
  if (name.empty() || name.front() == '.') name.insert(0, 1, '_');
  return name;
}

}  // namespace contend
