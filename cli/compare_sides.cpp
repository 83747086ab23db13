#include "cli/compare_sides.hpp"

#include "cli/load.hpp"
#include "scenarios/keys/differences.hpp"
#include "scenarios/keys/reader.hpp"
#include "sim/error.hpp"

#include <filesystem>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

/// Enough of a hash to tell two files apart, and to find it in a manifest.
constexpr std::size_t kShownOfHash = 12;

/// The comparison needs the figures of a folder, and its scenario only to say what differs: a file that an earlier
/// version wrote, or that names a file which is gone, is no reason to refuse.
void read_kept_scenario(ComparedSide& side) {
  try {
    side.kept = load_scenario((std::filesystem::path{side.path} / "scenario.yaml").string());
  } catch (const InputError& error) {
    Complaint first = error.complaints().front();
    first.source_line.clear();  // so that it is one line
    side.unreadable = first.format();
  }
}

ComparedSide load_side(const Arguments& arguments, std::size_t index) {
  ComparedSide side;
  side.path = arguments.positionals()[index];
  if (std::filesystem::is_directory(side.path)) {
    side.stored = read_results(side.path);
    note_unchecked(arguments, side.path, side.stored->has_digests);
    read_kept_scenario(side);
    return side;
  }
  const std::vector<std::string> more = index == 1 ? arguments.values("set-new") : std::vector<std::string>{};
  side.scenario = load_scenarios(arguments, {&side.path, 1}, more, "--set-new").scenarios.front();
  return side;
}

/// The hash of the job list that a side read or will read; empty if it has none or the hash isn't known.
std::string hash_of_jobs(const ComparedSide& side, JobLists& lists) {
  const std::optional<Scenario>& scenario = side.scenario ? side.scenario : side.kept;
  if (!scenario || !scenario->workload.jobs) return {};
  if (side.scenario) return lists.read(*scenario->workload.jobs)->sha256;
  // The folder or the list may be elsewhere now; the file has kept its name.
  const auto name_of = [](const std::string& path) { return std::filesystem::path{path}.filename(); };
  for (const InputFile& each : side.stored->inputs)
    if (name_of(each.path) == name_of(*scenario->workload.jobs)) return each.sha256;
  return {};
}

}  // namespace

std::vector<ComparedSide> load_sides(const Arguments& arguments) {
  std::vector<ComparedSide> sides;
  std::vector<Complaint> complaints;
  for (std::size_t i = 0; i < 2; ++i) {
    try {
      sides.push_back(load_side(arguments, i));
    } catch (const InputError& error) {
      complaints.insert(complaints.end(), error.complaints().begin(), error.complaints().end());
    }
  }
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  for (const ComparedSide& side : sides)
    if (side.scenario) refuse_sweeps({&*side.scenario, 1});
  const bool runs_any = sides[0].scenario || sides[1].scenario;
  for (const char* option : {"set", "point", "seed", "repeat", "as-is", "until-precise"})
    if (arguments.has(option) && !runs_any)
      throw UsageError{fmt::format("contend compare: --{} applies to scenarios, but both sides are folders", option)};
  if (arguments.has("certify") && runs_any)
    throw UsageError{"contend compare: --certify checks folders; run the scenarios first, with --certificate and -o"};
  if (arguments.has("set-new") && !sides[1].scenario)
    throw UsageError{"contend compare: --set-new applies to a scenario, but NEW is a folder"};
  return sides;
}

void describe_sides(const std::vector<ComparedSide>& sides, JobLists& lists, JudgedSides& report) {
  report.base = sides[0].path;
  report.other = sides[1].path;
  std::vector<Scenario> scenarios;
  for (const ComparedSide& side : sides) {
    if (!side.unreadable.empty()) report.unknown_because = side.unreadable;
    if (side.scenario || side.kept) scenarios.push_back(side.scenario ? *side.scenario : *side.kept);
  }
  if (scenarios.size() != sides.size()) return;
  report.differences = differing_keys(scenarios);
  const std::string base = hash_of_jobs(sides[0], lists), other = hash_of_jobs(sides[1], lists);
  if (base.empty() || other.empty() || base == other) return;
  const auto told = [](const std::string& hash) { return "SHA-256 " + hash.substr(0, kShownOfHash) + "..."; };
  report.differences->push_back({.key = "content of workload.jobs", .values = {told(base), told(other)}});
}

}  // namespace contend
