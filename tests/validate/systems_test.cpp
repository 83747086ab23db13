// The table of published systems: the files that it names exist, and each scenario runs.

#include "validate/systems.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

bool has_policy(std::string_view kind, std::string_view name) {
  const auto kinds = policy_kinds();
  const auto found = std::ranges::find(kinds, kind, &PolicyKind::word);
  return found != kinds.end() &&
         std::ranges::any_of(found->policies, [&](const PolicyInfo& policy) { return policy.name == name; });
}

}  // namespace

TEST_CASE("systems: each has a paper, policies or keys that exist, a word for its validation, and a page that exists") {
  std::set<std::string_view> names;
  for (const PublishedSystem& system : published_systems()) {
    INFO(system.name);
    CHECK(names.insert(system.name).second);
    CHECK(!system.paper.empty());
    CHECK(system.policies.size() + system.keys.size() > 0);
    for (const auto& each : system.policies)
      CHECK_MESSAGE(has_policy(each.first, each.second), each.first, " ", each.second);
    for (const std::string_view key : system.keys)
      CHECK_MESSAGE(std::ranges::find(scenario_keys(), key, &ScenarioKey::path) != scenario_keys().end(), key);
    CHECK(std::ranges::find(validation_words(), system.how) != validation_words().end());
    CHECK((system.how == "not" || !system.validated.empty()));
    if (!system.page.empty()) CHECK(std::filesystem::exists("docs/validation/" + std::string{system.page}));
  }
  CHECK(names.size() >= 57);
  for (const auto& absent : absent_systems()) {
    CHECK_MESSAGE(names.insert(absent.first).second, absent.first);
    CHECK_MESSAGE(!absent.second.empty(), absent.first);
  }
  CHECK(validated_by("scheduling", "dlas-gpu") == "Tiresias (exact)");
  CHECK(validated_by("scheduling", "fifo").empty());
}

TEST_CASE("systems: the scenario of each is valid and runs to its end") {
  for (const PublishedSystem& system : published_systems()) {
    INFO(system.name);
    LoadOptions options;
    options.overrides.assign(system.settings.begin(), system.settings.end());
    const Scenario scenario = load_scenario(std::string{system.scenario}, options);
    const RunResult result = run_scenario(scenario, scenario.seed);
    CHECK(!result.jobs.empty());
    CHECK(std::ranges::any_of(result.jobs, [](const JobResult& job) { return job.state == JobState::finished; }));
    CHECK(!result.interrupted);
  }
}
