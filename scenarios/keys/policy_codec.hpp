#pragma once
// Reads and prints keys whose values are policies: maps such as `{policy: lwf, kappa: 1}`, or just the name. Names and
// parameters come from the tables of policies/registry.hpp.

#include "policies/registry.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A row of any policy table, without its factory.
struct PolicyInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::span<const ParameterInfo> parameters;
};

/// A policy table and the key that chooses from it.
struct PolicyKind {
  std::string_view word;  ///< `scheduling`
  std::string_view key;   ///< `policies.scheduling`
  std::vector<PolicyInfo> policies;
};

[[nodiscard]] const std::vector<PolicyKind>& policy_kinds();
[[nodiscard]] const PolicyKind& policy_kind(std::string_view word);
/// The policy of that name, which must be in the table, with default parameters.
[[nodiscard]] PolicyChoice default_policy(const PolicyKind& kind, std::string_view name);
[[nodiscard]] std::string print_parameter(const ParameterValue& value);
/// The name of a policy of that kind, with the parameters that are not the usual ones: `threshold mib=8`.
[[nodiscard]] std::string policy_title(std::string_view kind, const PolicyChoice& choice);
/// The type (`integer`) and the limits of a parameter, for people.
[[nodiscard]] std::string parameter_type(const ParameterInfo& parameter);
[[nodiscard]] std::string parameter_range(const ParameterInfo& parameter);

/// Reading merges with the value so far: its parameters stay if the policy doesn't change; another policy starts from
/// its defaults.
/// In tables a policy is its name and its non-default parameters; each parameter is a part of it.
[[nodiscard]] Codec<PolicyChoice> policy_codec(const PolicyKind& kind);
/// A list of policies, each there once: `all` is every policy of the table with its usual parameters, `auto` an empty
/// list.
[[nodiscard]] Codec<std::vector<PolicyChoice>> policies_codec(const PolicyKind& kind);

}  // namespace contend
