#pragma once
// Keys whose values are policies: maps `{policy: lwf, kappa: 1}` or just the name; names and parameters come
// from the tables of policies/registry.hpp.

#include "policies/registry.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A row of any of the policy tables, without its factory.
struct PolicyInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::span<const ParameterInfo> parameters;
};

struct PolicyKind {
  std::string_view word;  ///< `scheduling`
  std::string_view key;   ///< `policies.scheduling`
  std::vector<PolicyInfo> policies;
};

[[nodiscard]] const std::vector<PolicyKind>& policy_kinds();
[[nodiscard]] const PolicyKind& policy_kind(std::string_view word);
/// The policy of that name with the defaults of its parameters; the name must be in the table.
[[nodiscard]] PolicyChoice default_policy(const PolicyKind& kind, std::string_view name);
[[nodiscard]] std::string print_parameter(const ParameterValue& value);
/// `integer` and its like, and its limits, for people.
[[nodiscard]] std::string parameter_type(const ParameterInfo& parameter);
[[nodiscard]] std::string parameter_range(const ParameterInfo& parameter);

/// Reading merges: parameters given before stay as long as the policy does, another policy starts from its defaults.
/// In tables a policy is its name and those parameters that differ from the usual; each parameter is a part of it.
[[nodiscard]] Codec<PolicyChoice> policy_codec(const PolicyKind& kind);

}  // namespace contend
