#include "scenarios/keys/differences.hpp"

#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/print.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace contend {
namespace {

constexpr std::array<std::string_view, 4> kWhichRuns = {"name", "description", "seed", "repeat"};

/// The value as people write it: of a policy its name, and the parameters that aren't the usual ones.
std::string plain_text(const ScenarioKey& key, const Scenario& scenario) {
  if (printed_value(key, scenario).empty()) return {};
  const std::optional<PlainValue> value = key.io->plain(scenario, {});
  return value ? value->text : std::string{};
}

}  // namespace

std::vector<KeyDifference> differing_keys(std::span<const Scenario> scenarios) {
  std::vector<Scenario> all{scenarios.begin(), scenarios.end()};
  for (Scenario& each : all)
    visit_paths(each, [](std::string& path) { path = std::filesystem::proximate(path).string(); });
  std::vector<KeyDifference> differences;
  for (const ScenarioKey& key : scenario_keys()) {
    if (key.role != KeyRole::value || std::ranges::find(kWhichRuns, key.path) != kWhichRuns.end()) continue;
    KeyDifference one{std::string{key.path}, {}};
    for (const Scenario& each : all) one.values.push_back(plain_text(key, each));
    const bool differs = std::ranges::adjacent_find(one.values, std::not_equal_to<>{}) != one.values.end();
    if (differs) differences.push_back(std::move(one));
  }
  return differences;
}

}  // namespace contend
