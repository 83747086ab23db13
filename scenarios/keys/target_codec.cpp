#include "scenarios/keys/target_codec.hpp"

#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/yaml/map_codec.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace contend {
namespace {

using Kind = YamlNode::Kind;
using Targets = std::vector<IterationsToTarget>;

constexpr std::string_view kSource = "source";

const PolicyKind& methods() {
  return policy_kind("compression");
}

Codec<double> factor_codec() {
  return number_codec(0.01, 1000);
}

/// `{compression: top-k, factor: 1.1, source: ...}`
Codec<IterationsToTarget> policy_target_codec() {
  using Target = IterationsToTarget;
  Codec<PolicyChoice> policy = policy_codec(methods());
  policy.read = [read = policy.read](const YamlNode& node, const Reading& reading, PolicyChoice& choice) {
    choice = default_policy(methods(), "none");
    read(node, reading, choice);
  };
  return map_codec<Target>(
      {field("compression", &Target::compression, policy, true), field("factor", &Target::factor, factor_codec(), true),
       field("source", &Target::source, text_codec(), true)},
      "{compression: top-k, factor: 1.05, source: \"paper, table\"}");
}

/// `{factor: 1.1, source: ...}`: the value for a method, unless it is the factor alone.
Codec<IterationsToTarget> sourced_codec() {
  using Target = IterationsToTarget;
  return map_codec<Target>(
      {field("factor", &Target::factor, factor_codec(), true), field("source", &Target::source, text_codec())},
      "{factor: 1.05, source: \"paper, table\"}");
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const PolicyInfo& each : methods().policies) {
    if (each.name != "none") names.emplace_back(each.name);
  }
  return names;
}

/// A map of methods; its `source` applies to methods without a source of their own.
Targets read_methods(const YamlNode& map, const Reading& reading) {
  const std::vector<std::string> names = method_names();
  Targets targets;
  std::string source;
  for (const YamlNode::Entry& entry : map.entries) {
    const std::string key = reading.key + "." + entry.key;
    const Reading inner{reading.source, key, reading.complaints, reading.files};
    if (entry.key == kSource) {
      text_codec().read(entry.value, inner, source);
    } else if (entry.key == "none") {
      inner.complain(entry.place, "none is what the factors are relative to");
    } else if (std::find(names.begin(), names.end(), entry.key) == names.end()) {
      inner.complain(entry.place, "unknown compression method", did_you_mean(entry.key, names));
    } else {
      IterationsToTarget target;
      if (entry.value.kind == Kind::map)
        sourced_codec().read(entry.value, inner, target);
      else
        factor_codec().read(entry.value, inner, target.factor);
      target.compression = default_policy(methods(), entry.key);
      target.by_name = true;
      targets.push_back(std::move(target));
    }
  }
  for (IterationsToTarget& each : targets) {
    if (each.source.empty()) each.source = source;
  }
  return targets;
}

std::string print_methods(const Targets& targets) {
  std::vector<std::string> entries;
  for (const IterationsToTarget& each : targets)
    entries.push_back(fmt::format("{}: {}", each.compression.name, sourced_codec().print(each)));
  return fmt::format("{{{}}}", join(entries));
}

/// Of a map of methods: `top-k`, `top-k.factor` or `top-k.source`.
std::optional<PlainValue> method_part(const Targets& targets, std::string_view name) {
  const std::size_t point = std::min(name.find('.'), name.size());
  for (const IterationsToTarget& each : targets) {
    if (!each.by_name || each.compression.name != name.substr(0, point)) continue;
    const std::string_view member = name.substr(std::min(point + 1, name.size()));
    if (member.empty()) return PlainValue{sourced_codec().print(each), std::nullopt};
    if (member == "factor") return plain_value(factor_codec(), each.factor);
    if (member == kSource && !each.source.empty()) return PlainValue{each.source, std::nullopt};
  }
  return std::nullopt;
}

void methods_schema(JsonWriter& json) {
  json.member("type", "object").member("additionalProperties", false).key("properties").begin_object();
  json.key(kSource).begin_object();
  text_codec().schema(json);
  json.end_object();
  for (const std::string& name : method_names()) {
    json.key(name).begin_object();
    any_of_schema(json, factor_codec().schema, sourced_codec().schema);
    json.end_object();
  }
  json.end_object();
}

}  // namespace

Codec<Targets> targets_codec() {
  const Codec<IterationsToTarget> one = policy_target_codec();
  const Codec<Targets> list = numbered_list(one, "factors", kMaxItems);
  Codec<Targets> codec;
  codec.type = "map of methods to factors, or list of policies with factors";
  codec.schema = [list](JsonWriter& json) { any_of_schema(json, methods_schema, list.schema); };
  codec.read = [one, list](const YamlNode& node, const Reading& reading, Targets& value) {
    if (node.kind == Kind::sequence) return list.read(node, reading, value);
    if (node.kind != Kind::map) return reading.expected("a map such as {top-k: 1.1, source: \"paper, table\"}", node);
    const std::size_t complaints = reading.complaints.size();
    const bool is_item = std::any_of(node.entries.begin(), node.entries.end(),
                                     [](const YamlNode::Entry& entry) { return entry.key == "compression"; });
    Targets read;
    if (is_item)  // the only one of a list, as a sweep may set it
      one.read(node, reading, read.emplace_back());
    else
      read = read_methods(node, reading);
    if (reading.complaints.size() == complaints) value = std::move(read);
  };
  codec.print = [list](const Targets& value) {
    return !value.empty() && value.front().by_name ? print_methods(value) : list.print(value);
  };
  codec.part = method_part;
  return codec;
}

}  // namespace contend
