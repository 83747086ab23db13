#include "scenarios/keys/unknown_key.hpp"

#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "scenarios/yaml/usual_words.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// The possible next parts of keys after `prefix` (empty, or ending in a dot).
std::vector<std::string> names_after(const std::string& prefix) {
  std::vector<std::string> names;
  for (const ScenarioKey& key : scenario_keys()) {
    if (!key.path.starts_with(prefix)) continue;
    const std::string_view rest = key.path.substr(prefix.size());
    std::string name{rest.substr(0, rest.find('.'))};
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

/// The known group, as a path without its last dot, that has all keys of the map; of several the one whose name is most
/// like `name`, and an empty text if there is none.
std::string group_of(const std::string& name, const YamlNode& map) {
  std::vector<std::string> groups;
  for (const ScenarioKey& key : scenario_keys()) {
    const std::string group{key.path.substr(0, key.path.rfind('.') + 1)};
    if (group.empty() || (!groups.empty() && groups.back() == group)) continue;
    const std::vector<std::string> names = names_after(group);
    const bool has_all = std::ranges::all_of(
        map.entries, [&](const YamlNode::Entry& entry) { return std::ranges::find(names, entry.key) != names.end(); });
    if (has_all) groups.push_back(group);
  }
  if (groups.empty()) return {};
  for (std::string& group : groups) group.pop_back();
  const std::string nearest = nearest_name(name, groups);
  return nearest.empty() ? groups.front() : nearest;
}

/// Keys that had another name in an earlier version.
struct RenamedKey {
  std::string_view before, now;
  std::string_view how = {};  ///< what else to change
};
constexpr RenamedKey kRenamedKeys[] = {{"scheduling.preemption", "checkpoints"},
                                       {"scheduling.retry_delay", "scheduling.retries.failed.delay"},
                                       {"overlap.formula", "network.formula"},
                                       {"overlap.gamma", "network.gamma"},
                                       {"overlap.inside", "network.inside"},
                                       {"overlap.links", "network.sites"},
                                       {"overlap.per_server", "cluster.gpus_per_server"},
                                       {"overlap.two_at_once", "network.contention_penalty", "this value - 2"},
                                       {"overlap.fitted_workers", "network.fitted_workers"},
                                       {"overlap.fitted_bytes", "network.fitted_bytes"}};

}  // namespace

std::string unknown_key_hint(const std::string& name, const std::string& prefix, const YamlNode& value) {
  const auto is_path = [&](const ScenarioKey& key) { return key.path == prefix + name; };
  if (std::any_of(scenario_keys().begin(), scenario_keys().end(), is_path))
    return "write nested maps instead of points";
  for (const RenamedKey& key : kRenamedKeys) {
    if (key.before == prefix + name)
      return fmt::format("it is now \"{}\"{}{}", key.now, key.how.empty() ? "" : ": ", key.how);
  }
  const std::vector<MemberText> members = training_members();
  if (prefix == "overlap." && std::ranges::find(members, name, &MemberText::name) != members.end())
    return fmt::format("it is now \"training.NAME.{}\": of an entry that overlap.training names", name);
  std::string hint = hint_for_key(name, names_after(prefix), prefix);
  if (hint.empty() && value.kind == YamlNode::Kind::map && !value.entries.empty()) {
    if (const std::string group = group_of(name, value); !group.empty()) {
      const bool single = value.entries.size() == 1;
      hint = fmt::format("did you mean \"{}{}\"?", group, single ? "." + value.entries.front().key : "");
    }
  }
  for (const ScenarioKey& key : scenario_keys()) {
    if (hint.empty() && key.path.ends_with("." + name)) hint = fmt::format("did you mean \"{}\"?", key.path);
  }
  return hint;
}

}  // namespace contend
