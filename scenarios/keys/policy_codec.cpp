#include "scenarios/keys/policy_codec.hpp"

#include "scenarios/yaml/usual_words.hpp"
#include "sim/check.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

template <class Port>
std::vector<PolicyInfo> without_factories(std::span<const PolicyRow<Port>> rows) {
  std::vector<PolicyInfo> result;
  for (const auto& row : rows) result.push_back({row.name, row.summary, row.source, row.parameters});
  return result;
}

Codec<bool> codec_of(const ParameterInfo&, bool) {
  return bool_codec();
}
Codec<double> codec_of(const ParameterInfo& parameter, double) {
  return number_codec(parameter.minimum, parameter.maximum);
}
Codec<std::int64_t> codec_of(const ParameterInfo& parameter, std::int64_t) {
  // The limits of the table are doubles; beyond these, doubles do not represent 64-bit integers exactly.
  constexpr double kLimit = 9e18;
  const auto whole = [=](double x) { return static_cast<std::int64_t>(std::clamp(x, -kLimit, kLimit)); };
  return integer_codec<std::int64_t>(whole(parameter.minimum), whole(parameter.maximum));
}

Codec<std::string> codec_of(const ParameterInfo&, std::string_view) {
  return text_codec();
}

/// Calls `use` with the codec of the parameter's type.
template <class Use>
auto with_codec(const ParameterInfo& parameter, Use use) {
  return std::visit([&](auto value) { return use(codec_of(parameter, value)); }, parameter.default_value);
}

ParameterValue read_parameter(const ParameterInfo& parameter, const YamlNode& node, const Reading& reading) {
  ParameterValue read{parameter.default_value};
  std::visit([&](auto& value) { codec_of(parameter, value).read(node, reading, value); }, read);
  return read;
}

const PolicyInfo* find_policy(const PolicyKind& kind, std::string_view name) {
  for (const PolicyInfo& policy : kind.policies) {
    if (policy.name == name) return &policy;
  }
  return nullptr;
}

/// What is meant by the name of a policy that this kind doesn't have: a name that other programs use, the policy of
/// another kind, a near name, or the policies of that paper or system. Empty if nothing is.
std::string policy_hint(const PolicyKind& kind, const std::string& word) {
  constexpr std::size_t kShortest = 4, kMost = 6;
  const auto ask = [](const std::vector<std::string>& names) {
    std::vector<std::string> quoted;
    for (const std::string& name : names) quoted.push_back(fmt::format("\"{}\"", name));
    return fmt::format("did you mean {}?", join(quoted, " or "));
  };
  if (const std::vector<std::string> called = policies_called(kind.word, word); !called.empty()) return ask(called);
  for (const PolicyKind& other : policy_kinds())
    if (other.word != kind.word && find_policy(other, word) != nullptr)
      return fmt::format("{} is a policy of {}", word, other.key);
  std::vector<std::string> names, named;
  for (const PolicyInfo& policy : kind.policies) names.emplace_back(policy.name);
  if (std::string near = did_you_mean(word, names); !near.empty()) return near;
  const auto lower = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  };
  for (const PolicyInfo& policy : kind.policies)
    if (lower(std::string{policy.source}).find(lower(word)) != std::string::npos) named.emplace_back(policy.name);
  return word.size() >= kShortest && !named.empty() && named.size() <= kMost ? ask(named) : std::string{};
}

/// Switches to the policy that `node` names, unless it is the current one. Reports an unknown name.
bool read_name(const PolicyKind& kind, const YamlNode& node, const Reading& reading, PolicyChoice& choice) {
  if (node.kind != Kind::scalar || find_policy(kind, node.text) == nullptr) {
    std::vector<std::string> names;
    for (const PolicyInfo& policy : kind.policies) names.emplace_back(policy.name);
    reading.expected_one_of(names, node, node.kind == Kind::scalar ? policy_hint(kind, node.text) : std::string{},
                            "policies of its kind that `contend list policies` names");
    return false;
  }
  if (node.text != choice.name) choice = default_policy(kind, node.text);
  return true;
}

void read_parameters(const PolicyInfo& policy, const YamlNode& map, const Reading& reading, PolicyChoice& choice) {
  std::vector<std::string> names{"policy"};
  for (const ParameterInfo& parameter : policy.parameters) names.emplace_back(parameter.name);
  auto values = choice.parameters.values();
  for (const YamlNode::Entry& entry : map.entries) {
    if (entry.key == "policy") continue;
    const std::string key = reading.key + "." + entry.key;
    const Reading inner{reading.source, key, reading.complaints};
    const auto parameter = std::find_if(policy.parameters.begin(), policy.parameters.end(),
                                        [&](const ParameterInfo& p) { return p.name == entry.key; });
    if (parameter == policy.parameters.end()) {
      inner.complain(entry.place, fmt::format("the policy {} has no such parameter", policy.name),
                     did_you_mean(entry.key, names));
      continue;
    }
    const auto value = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == entry.key; });
    CONTEND_CHECK(value != values.end(), "a choice holds every parameter of its policy");
    value->second = read_parameter(*parameter, entry.value, inner);
  }
  choice.parameters = Parameters{std::move(values)};
}

void policy_schema(JsonWriter& json, const PolicyKind& kind) {
  std::vector<std::string> names;
  for (const PolicyInfo& policy : kind.policies) names.emplace_back(policy.name);
  json.key("anyOf").begin_array().begin_object();
  names_schema(json, names);
  json.end_object();
  for (const PolicyInfo& policy : kind.policies) {
    json.begin_object().member("type", "object").member("additionalProperties", false).key("properties").begin_object();
    json.key("policy").begin_object();
    json.member("const", policy.name).member("description", policy.summary).end_object();
    for (const ParameterInfo& parameter : policy.parameters) {
      json.key(parameter.name).begin_object();
      with_codec(parameter, [&](const auto& codec) { codec.schema(json); });
      json.member("description", parameter.text);
      json.key("default");
      if (const auto* text = std::get_if<std::string_view>(&parameter.default_value))
        json.value(*text);
      else
        json.raw(print_parameter(parameter.default_value));
      json.end_object();
    }
    json.end_object().end_object();
  }
  json.end_array();
}

}  // namespace

const std::vector<PolicyKind>& policy_kinds() {
  static const std::vector<PolicyKind> kinds{
      {"scheduling", "policies.scheduling", without_factories(scheduling_policies())},
      {"placement", "policies.placement", without_factories(placement_policies())},
      {"communication", "policies.communication", without_factories(communication_policies())},
      {"fusion", "overlap.fusion", without_factories(fusion_policies())},
      {"compression", "overlap.compression", without_factories(compression_policies())},
      {"pipeline", "training.NAME.parallel.schedule", without_factories(pipeline_schedules())}};
  return kinds;
}

const PolicyKind& policy_kind(std::string_view word) {
  const auto& kinds = policy_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const PolicyKind& k) { return k.word == word; });
  CONTEND_CHECK(kind != kinds.end(), "the kind of policy exists");
  return *kind;
}

PolicyChoice default_policy(const PolicyKind& kind, std::string_view name) {
  const PolicyInfo* policy = find_policy(kind, name);
  CONTEND_CHECK(policy != nullptr, "the policy is in its table");
  std::vector<std::pair<std::string, ParameterValue>> values;
  for (const ParameterInfo& parameter : policy->parameters)
    values.emplace_back(parameter.name, parameter.default_value);
  return {std::string{name}, Parameters{std::move(values)}};
}

std::string print_parameter(const ParameterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return quote(*text);
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

std::string parameter_type(const ParameterInfo& parameter) {
  return with_codec(parameter, [](const auto& codec) { return codec.type; });
}

std::string parameter_range(const ParameterInfo& parameter) {
  return with_codec(parameter, [](const auto& codec) { return codec.range; });
}

namespace {

/// The name and the parameters that aren't the usual ones, but for those `apart`.
PlainValue plain_policy(const PolicyKind& kind, const PolicyChoice& choice, PartNames apart) {
  const auto usual = default_policy(kind, choice.name).parameters.values();
  const auto& values = choice.parameters.values();
  std::string text = choice.name;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [name, value] = values[i];
    if (std::find(apart.begin(), apart.end(), name) == apart.end() && value != usual[i].second)
      text += fmt::format(" {}={}", name, print_parameter(value));
  }
  return {std::move(text), std::nullopt};
}

std::optional<PlainValue> policy_part(const PolicyChoice& choice, std::string_view name) {
  for (const auto& [parameter, value] : choice.parameters.values()) {
    if (parameter != name) continue;
    const auto* text = std::get_if<std::string>(&value);
    PlainValue part{text != nullptr ? *text : print_parameter(value), std::nullopt};
    if (const auto* whole = std::get_if<std::int64_t>(&value)) part.magnitude = *whole;
    if (const auto* number = std::get_if<double>(&value)) part.magnitude = magnitude_of(*number);
    return part;
  }
  return std::nullopt;
}

}  // namespace

std::string policy_title(std::string_view kind, const PolicyChoice& choice) {
  return plain_policy(policy_kind(kind), choice, {}).text;
}

Codec<PolicyChoice> policy_codec(const PolicyKind& kind) {
  Codec<PolicyChoice> codec;
  codec.type = "policy";
  std::vector<std::string> names;
  for (const PolicyInfo& policy : kind.policies) names.emplace_back(policy.name);
  codec.range = join(names, " or ");
  codec.schema = [&kind](JsonWriter& json) { policy_schema(json, kind); };
  codec.read = [&kind](const YamlNode& node, const Reading& reading, PolicyChoice& choice) {
    if (node.kind != Kind::map) {
      read_name(kind, node, reading, choice);
      return;
    }
    const auto name =
        std::find_if(node.entries.begin(), node.entries.end(), [](const auto& e) { return e.key == "policy"; });
    if (name != node.entries.end() && !read_name(kind, name->value, reading, choice)) return;
    read_parameters(*find_policy(kind, choice.name), node, reading, choice);
  };
  codec.print = [](const PolicyChoice& choice) {
    std::string text = "{policy: " + choice.name;
    for (const auto& [name, value] : choice.parameters.values())
      text += fmt::format(", {}: {}", name, print_parameter(value));
    return text + "}";
  };
  codec.plain = [&kind](const PolicyChoice& choice, PartNames apart) { return plain_policy(kind, choice, apart); };
  codec.part = policy_part;
  return codec;
}

Codec<std::vector<PolicyChoice>> policies_codec(const PolicyKind& kind) {
  using Policies = std::vector<PolicyChoice>;
  constexpr std::string_view kAll = "all", kUnset = "auto";
  const Codec<Policies> list = distinct_list_codec<PolicyChoice>(
      policy_codec(kind), default_policy(kind, kind.policies.front().name), "policies");
  Codec<Policies> codec = list;
  codec.type = fmt::format("{}, {} or {}", list.type, kAll, kUnset);
  codec.unset = kUnset;
  codec.schema = [list, kAll, kUnset](JsonWriter& json) {
    any_of_schema(json, list.schema, word_schema(kAll), word_schema(kUnset));
  };
  codec.read = [list, &kind, kAll, kUnset](const YamlNode& node, const Reading& reading, Policies& value) {
    if (node.kind != Kind::scalar) return list.read(node, reading, value);
    if (node.text != kAll && node.text != kUnset) return reading.expected("a list of policies, all or auto", node);
    value.clear();
    if (node.text != kAll) return;
    for (const PolicyInfo& policy : kind.policies) value.push_back(default_policy(kind, policy.name));
  };
  codec.print = [list, kUnset](const Policies& value) {
    return value.empty() ? std::string{kUnset} : list.print(value);
  };
  codec.plain = [list, kUnset](const Policies& value, PartNames apart) -> std::optional<PlainValue> {
    return value.empty() ? PlainValue{std::string{kUnset}, std::nullopt} : plain_value(list, value, apart);
  };
  return codec;
}

}  // namespace contend
