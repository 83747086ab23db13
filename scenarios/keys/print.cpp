#include "scenarios/keys/print.hpp"

#include "scenarios/keys/keys.hpp"
#include "text/sha256.hpp"

#include <algorithm>
#include <filesystem>

namespace contend {
namespace {

/// The optional keys that displace others.
const std::vector<const ScenarioKey*>& displacing_keys() {
  static const std::vector<const ScenarioKey*> all = [] {
    std::vector<const ScenarioKey*> found;
    for (const ScenarioKey& key : scenario_keys())
      if (key.io->is_optional && !key.displaces.empty()) found.push_back(&key);
    return found;
  }();
  return all;
}

/// A key that has a value in any case, but means nothing beside another one that has a value now.
bool is_displaced(const ScenarioKey& key, const Scenario& scenario) {
  return !key.io->is_optional && std::ranges::any_of(displacing_keys(), [&](const ScenarioKey* other) {
    return displaces(*other, key) && is_set(*other, scenario);
  });
}

}  // namespace

void visit_paths(Scenario& scenario, const PathVisitor& visit) {
  for (const ScenarioKey& key : scenario_keys()) key.io->visit_paths(scenario, visit);
}

std::string printed_value(const ScenarioKey& key, const Scenario& scenario) {
  if (!applies(key, scenario)) return {};  // first: it costs nothing, and printing does
  std::string value = key.io->print(scenario);
  return value.empty() || is_displaced(key, scenario) ? std::string{} : value;
}

std::string to_yaml(const Scenario& scenario, const std::string& folder) {
  if (!folder.empty()) {
    Scenario moved = scenario;
    for (TrainingEntry& entry : moved.training)
      if (entry.device.described) entry.device.sheet.reset();  // a sheet goes along, so that the folder may be moved
    visit_paths(moved, [&](std::string& path) { path = std::filesystem::proximate(path, folder).string(); });
    return to_yaml(moved);
  }
  std::string out;
  std::string open;  // the group that the previous key stands in, such as `workload.generate.`
  for (const ScenarioKey& key : scenario_keys()) {
    const std::string value = printed_value(key, scenario);
    if (value.empty()) continue;
    std::string prefix;
    std::string_view rest = key.path;
    for (std::size_t point; (point = rest.find('.')) != std::string_view::npos; rest.remove_prefix(point + 1)) {
      const std::string indent(2 * static_cast<std::size_t>(std::count(prefix.begin(), prefix.end(), '.')), ' ');
      prefix += rest.substr(0, point + 1);
      if (!open.starts_with(prefix)) out += fmt::format("{}{}:\n", indent, rest.substr(0, point));
    }
    open = prefix;
    const std::string indent(2 * static_cast<std::size_t>(std::count(prefix.begin(), prefix.end(), '.')), ' ');
    out += fmt::format("{}{}: {}\n", indent, rest, value);
  }
  return out;
}

std::string scenario_hash(const Scenario& scenario) {
  constexpr std::size_t kDigits = 16;
  return sha256_hex(to_yaml(scenario)).substr(0, kDigits);
}

}  // namespace contend
