#include "scenarios/sweep/effective.hpp"

#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/sweep/sweep_keys.hpp"
#include "scenarios/yaml/source_layers.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/sha256.hpp"

#include <algorithm>
#include <utility>

namespace contend {
namespace {

/// The policy that a key stands for, and its kind.
std::pair<const PolicyChoice*, std::string_view> policy_of(const Scenario& scenario, std::string_view path) {
  if (path == "policies.scheduling") return {&scenario.scheduling, "scheduling"};
  if (path == "policies.placement") return {&scenario.placement, "placement"};
  if (path == "policies.communication") return {&scenario.communication, "communication"};
  if (path == "overlap.fusion" && scenario.overlap.fusion.size() == 1)
    return {&scenario.overlap.fusion.front(), "fusion"};
  if (path == "overlap.compression" && scenario.overlap.compression.size() == 1)
    return {&scenario.overlap.compression.front(), "compression"};
  return {nullptr, {}};
}

std::string policy_text(const PolicyChoice& choice, std::string_view kind, const std::string& path,
                        const std::vector<std::string>& keys) {
  const auto usual = default_policy(policy_kind(kind), choice.name).parameters.values();
  std::string text = choice.name;
  const auto& values = choice.parameters.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool has_column = std::find(keys.begin(), keys.end(), path + "." + values[i].first) != keys.end();
    if (!has_column && values[i].second != usual[i].second)
      text += fmt::format(" {}={}", values[i].first, print_parameter(values[i].second));
  }
  return text;
}

std::optional<std::string> parameter_text(const PolicyChoice& choice, std::string_view name) {
  for (const auto& [parameter, value] : choice.parameters.values())
    if (parameter == name) return print_parameter(value);
  return std::nullopt;
}

/// A part of a printed value, or all of it; scalars without their quotes.
std::optional<std::string> part_of(const std::string& printed, std::string_view rest) {
  if (rest.empty() && printed.front() != '"' && printed.front() != '[') return printed;
  const SourceText source{{}, printed};
  std::vector<Complaint> complaints;
  const std::optional<YamlNode> root = parse_yaml(printed, source, 1, complaints);
  if (!root) return printed;
  const YamlNode* node = &*root;
  if (!rest.empty()) {
    node = follow(*root, rest).second;
    if (node == &*root) return std::nullopt;
  }
  if (node->kind == YamlNode::Kind::sequence && node->items.size() == 1) node = &node->items.front();
  if (node->kind == YamlNode::Kind::scalar) return node->text;
  return printed;
}

}  // namespace

std::optional<std::string> effective_value(const Scenario& scenario, const std::string& key,
                                           const std::vector<std::string>& keys) {
  const ScenarioKey* row = sweepable_key(key);
  if (row == nullptr || !applies(*row, scenario)) return std::nullopt;
  const std::string path{row->path};
  const std::string_view rest = std::string_view{key}.substr(path.size());
  if (const auto [choice, kind] = policy_of(scenario, path); choice != nullptr)
    return rest.empty() ? policy_text(*choice, kind, path, keys) : parameter_text(*choice, rest.substr(1));
  const std::string printed = row->print(scenario);
  return printed.empty() ? std::nullopt : part_of(printed, rest);
}

std::string PointHasher::operator()(Scenario scenario) {
  scenario.name.clear();
  scenario.description.clear();
  scenario.seed = 1;
  scenario.repeat = 1;
  scenario.sweep = {};
  for (auto* path : {&scenario.network.routes, &scenario.network.events, &scenario.workload.jobs,
                     &scenario.overlap.layers, &scenario.overlap.device.profile, &scenario.overlap.links})
    if (*path) *path = content(**path);
  return scenario_hash(scenario);
}

std::string PointHasher::content(const std::string& path) {
  const std::scoped_lock lock{mutex_};
  const auto [there, is_new] = files_.emplace(path, std::string{});
  if (is_new) {
    try {
      there->second = "sha256:" + sha256_hex(read_file(path));
    } catch (const InputError&) {
      there->second = path;  // its runs will say what is wrong with it
    }
  }
  return there->second;
}

}  // namespace contend
