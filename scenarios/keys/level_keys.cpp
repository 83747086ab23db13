#include "scenarios/keys/key_tables.hpp"

#include "scenarios/keys/key_rows.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using key_rows::property;
using key_rows::row;

constexpr int kMaxLevelServers = 1'000'000;

bool has_levels(const Scenario& scenario) {
  return !scenario.cluster.levels.empty();
}

Codec<std::vector<NamedLevel>> levels_codec() {
  const Codec<int> servers = integer_codec<int>(1, kMaxLevelServers);
  return list_codec(
      map_codec<NamedLevel>({field("name", &NamedLevel::name, text_codec(), true),
                             field("servers", &NamedLevel::servers, optional_codec(servers, "")),
                             field("sizes", &NamedLevel::sizes, list_codec(servers, "numbers of servers"))},
                            "{name: rack, servers: 8}"),
      "levels");
}

template <std::string LevelWish::*kName>
ScenarioKey wish_key(std::string_view path) {
  using Name = std::optional<std::string>;
  return property<Name>(
      path,
      [](const Scenario& s) {
        const std::string& name = s.workload.level.*kName;
        return name.empty() ? Name{} : Name{name};
      },
      [](Scenario& s, Name name) { s.workload.level.*kName = std::move(name).value_or(""); },
      optional_codec(text_codec(), "none"));
}

/// The numbers of the servers after which domains end.
std::set<std::int64_t> ends_of(const NamedLevel& level, int servers) {
  std::set<std::int64_t> ends;
  std::int64_t end = 0;
  for (const int size : level.sizes) ends.insert(end += size);
  if (level.servers)
    for (end = *level.servers; end < servers; end += *level.servers) ends.insert(end);
  ends.insert(servers);
  return ends;
}

}  // namespace

std::vector<ScenarioKey> level_keys() {
  return {row<&ClusterSetup::levels>("cluster.levels", levels_codec())};
}

std::vector<ScenarioKey> level_wish_keys() {
  std::vector<ScenarioKey> keys{
      wish_key<&LevelWish::required>("workload.level.required"),
      wish_key<&LevelWish::preferred>("workload.level.preferred"),
      row(
          "workload.level.segment", [](auto& s) -> auto& { return s.workload.level.segment; },
          integer_codec<int>(0, kMaxLevelServers)),
      wish_key<&LevelWish::segment_level>("workload.level.segment_level"),
  };
  for (ScenarioKey& key : keys) {
    key.needs = "cluster.levels";
    key.conditions = {has_levels};
  }
  return keys;
}

std::vector<Complaint> level_complaints(const ClusterSetup& cluster, const LevelWish& wish) {
  std::vector<Complaint> complaints;
  std::set<std::string> names{"server", "cluster", "none"};
  const NamedLevel* below = nullptr;
  for (const NamedLevel& level : cluster.levels) {
    const auto complain = [&](std::string_view member, std::string reason, std::string hint) {
      complaints.push_back({.key = fmt::format("cluster.levels[{}]{}", &level - cluster.levels.data(), member),
                            .reason = std::move(reason),
                            .hint = std::move(hint)});
    };
    if (level.name.empty()) complain(".name", "a level has no name", {});
    if (!names.insert(level.name).second)
      complain(".name", fmt::format("there are two levels `{}`", level.name),
               "server, cluster and none mean something else");
    if (level.servers && !level.sizes.empty())
      complain("", fmt::format("`{}` has servers and sizes", level.name), "give one of the two");
    if (!level.servers && level.sizes.empty()) {
      below = nullptr;
      continue;
    }
    const std::int64_t sum = std::accumulate(level.sizes.begin(), level.sizes.end(), std::int64_t{0});
    if (!level.sizes.empty() && sum != cluster.servers)
      complain(".sizes",
               fmt::format("the domains of `{}` have {} servers, the cluster has {}", level.name, sum, cluster.servers),
               "each server is in one domain of each level");
    else if (below != nullptr)
      for (const std::int64_t end : ends_of(level, cluster.servers))
        if (!ends_of(*below, cluster.servers).contains(end)) {
          complain("",
                   fmt::format("a domain of `{}` ends after server{}, in the middle of a domain of `{}`", level.name,
                               end - 1, below->name),
                   "levels stand from the lowest up, and a domain has whole domains of the level below");
          break;
        }
    below = &level;
  }
  if ((wish.segment > 0) != !wish.segment_level.empty())
    complaints.push_back({.key = wish.segment > 0 ? "workload.level.segment" : "workload.level.segment_level",
                          .reason = "segment and segment_level need each other",
                          .hint = "give both, or none"});
  return complaints;
}

}  // namespace contend
