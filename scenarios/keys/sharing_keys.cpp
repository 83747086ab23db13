#include "scenarios/keys/sharing_keys.hpp"

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
  keys.push_back(row<&SharingSetup::law>(
      "scheduling.sharing.law",
      choice_codec<SharingKind>({{"none", SharingKind::none},
                                 {"factor", SharingKind::factor},
                                 {"pairs", SharingKind::pairs},
                                 {"stages", SharingKind::stages}}),
      "how fast jobs with a duration are that share a GPU. none: they share only by parts (gpu_share), and none is "
      "slowed down; factor: all alike; pairs: by a table of measured pairs; stages: they take turns in reading, "
      "preparing, computing and communicating. A policy decides which jobs share: muri, lucid, antman, or pack: "
      "true of max-min and others"));
  keys.push_back(needing("scheduling.sharing.law other than none", has_law,
                         row<&SharingSetup::most>("scheduling.sharing.most", integer_codec<int>(2, kMostInterleaved),
                                                  "the most jobs on a GPU")));
  keys.push_back(
      needing("scheduling.sharing.law: factor", is_law<SharingKind::factor>,
              row<&SharingSetup::factor>(
                  "scheduling.sharing.factor", number_codec(1, 100),
                  "a job beside n - 1 others takes 1 + (factor - 1)(n - 1) times as long: 2: they divide the "
                  "GPU; 1: none is slowed down")));
  keys.push_back(needing(
      "scheduling.sharing.law: pairs", is_law<SharingKind::pairs>,
      row<&SharingSetup::pairs>(
          "scheduling.sharing.pairs", optional_codec(path_codec(), ""),
          "table (CSV) of the speeds of two jobs on the same GPUs over those alone, by model, GPUs and type of server, "
          "relative to the file with this key; pairs without a row can't share")));
  keys.push_back(needing(
      "scheduling.sharing.law other than none", has_law,
      row<&SharingSetup::profiles>(
          "scheduling.sharing.profiles", optional_codec(path_codec(), ""),
          "table (CSV) of the time that an iteration of each model alone needs for storage, CPUs, GPU and network, "
          "relative to the file with this key; for law: stages, and for policies that look at how busy a job keeps "
          "its GPU")));
  keys.push_back(needing("scheduling.sharing.law other than none", has_law,
                         row<&SharingSetup::by_priority>(
                             "scheduling.sharing.by_priority", bool_codec(),
                             "a job is slowed down only by those on its GPU whose priority is at least its own")));
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
  const bool packs = std::ranges::any_of(scheduling.parameters.values(), [](const auto& each) {
    return each.first == "pack" && each.second == ParameterValue{true};
  });
  if ((packs || policy->shares != GpuShares::none) && sharing.law == SharingKind::none)
    complain("policies.scheduling",
             fmt::format("`{}` has jobs share GPUs, and nothing says how fast they are then", policy->name),
             "set scheduling.sharing.law to factor, pairs or stages");
  if (policy->shares == GpuShares::by_profile && sharing.law != SharingKind::none && !sharing.profiles)
    complain("policies.scheduling", fmt::format("`{}` looks at how busy jobs keep their GPUs", policy->name),
             "set scheduling.sharing.profiles");
  return complaints;
}

}  // namespace contend
