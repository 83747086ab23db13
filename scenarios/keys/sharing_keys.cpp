#include "scenarios/keys/key_tables.hpp"

#include "models/sharing.hpp"
#include "policies/registry.hpp"
#include "scenarios/keys/key_rows.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

using key_rows::row;

template <SharingKind kLaw>
bool is_law(const Scenario& scenario) {
  return scenario.sharing.law == kLaw;
}
bool has_law(const Scenario& scenario) {
  return !is_law<SharingKind::none>(scenario);
}

ScenarioKey needing(std::string_view needs, KeyCondition condition, ScenarioKey key) {
  key.needs = needs;
  key.conditions = {condition};
  return key;
}

}  // namespace

std::vector<ScenarioKey> sharing_keys() {
  std::vector<ScenarioKey> keys;
  keys.push_back(
      row<&SharingSetup::law>("scheduling.sharing.law", choice_codec<SharingKind>({{"none", SharingKind::none},
                                                                                   {"factor", SharingKind::factor},
                                                                                   {"pairs", SharingKind::pairs},
                                                                                   {"stages", SharingKind::stages}})));
  keys.push_back(needing("scheduling.sharing.law other than none", has_law,
                         row<&SharingSetup::most>("scheduling.sharing.most", integer_codec<int>(2, kMostInterleaved))));
  keys.push_back(needing("scheduling.sharing.law: factor", is_law<SharingKind::factor>,
                         row<&SharingSetup::factor>("scheduling.sharing.factor", number_codec(1, 100))));
  keys.push_back(needing("scheduling.sharing.law: pairs", is_law<SharingKind::pairs>,
                         row<&SharingSetup::pairs>("scheduling.sharing.pairs", optional_codec(path_codec(), ""))));
  keys.push_back(
      needing("scheduling.sharing.law other than none", has_law,
              row<&SharingSetup::profiles>("scheduling.sharing.profiles", optional_codec(path_codec(), ""))));
  keys.push_back(needing("scheduling.sharing.law other than none", has_law,
                         row<&SharingSetup::by_priority>("scheduling.sharing.by_priority", bool_codec())));
  return keys;
}

std::vector<Complaint> sharing_complaints(const PolicyChoice& scheduling, const SharingSetup& sharing) {
  std::vector<Complaint> complaints;
  const auto complain = [&](std::string key, std::string reason, std::string hint) {
    complaints.push_back({.key = std::move(key), .reason = std::move(reason), .hint = std::move(hint)});
  };
  if (sharing.law == SharingKind::pairs && !sharing.pairs)
    complain("scheduling.sharing.law", "pairs need a table of their speeds", "set scheduling.sharing.pairs");
  if (sharing.law == SharingKind::pairs && sharing.most != 2)
    complain("scheduling.sharing.most", fmt::format("a table of pairs has no speeds of {} jobs", sharing.most),
             "leave it at 2");
  if (sharing.law == SharingKind::stages && !sharing.profiles)
    complain("scheduling.sharing.law", "stages need a table of the profiles of models",
             "set scheduling.sharing.profiles");
  const auto policies = scheduling_policies();
  const auto policy = std::ranges::find(policies, scheduling.name, &PolicyRow<SchedulingPolicy>::name);
  if (policy == policies.end()) return complaints;
  const auto given = [&](bool value) {
    return std::ranges::any_of(scheduling.parameters.values(), [&](const auto& each) {
      return each.first == "pack" && each.second == ParameterValue{value};
    });
  };
  const bool packs = given(true) || (policy->shares != GpuShares::none && !given(false));
  if (packs && sharing.law == SharingKind::none)
    complain("policies.scheduling",
             fmt::format("`{}` has jobs share GPUs, and nothing says how fast they are then", policy->name),
             "set scheduling.sharing.law to factor, pairs or stages");
  if (policy->shares == GpuShares::by_profile && sharing.law != SharingKind::none && !sharing.profiles)
    complain("policies.scheduling", fmt::format("`{}` looks at how busy jobs keep their GPUs", policy->name),
             "set scheduling.sharing.profiles");
  return complaints;
}

}  // namespace contend
