#pragma once
// The explicit tables of policies: name, summary, parameters, paper and factory. The scenario reader, the JSON Schema,
// `contend list` and the reference docs are generated from them. A new policy is one .cpp and one line here.

#include "models/overlap/compression_method.hpp"
#include "policies/fusion/fusion_policy.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace contend {

using ParameterValue = std::variant<std::int64_t, double, bool>;

/// One parameter of a policy, as the scenario reader checks it.
struct ParameterInfo {
  std::string_view name;
  ParameterValue default_value;  ///< its alternative is the type of the parameter
  double minimum = 0;            ///< inclusive; numbers only
  double maximum = 0;            ///< inclusive; numbers only
  std::string_view text;         ///< one line, with the unit if there is one
};

/// Parameter values of one policy instance, complete and checked against its ParameterInfo rows.
class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(std::vector<std::pair<std::string, ParameterValue>> values) : values_{std::move(values)} {}
  [[nodiscard]] const std::vector<std::pair<std::string, ParameterValue>>& values() const { return values_; }
  /// The value of a declared parameter; asking for an undeclared one or for another type breaks an invariant.
  template <class T>
  [[nodiscard]] T get(std::string_view name) const {
    return std::get<T>(find(name));
  }

 private:
  [[nodiscard]] const ParameterValue& find(std::string_view name) const;
  std::vector<std::pair<std::string, ParameterValue>> values_;
};

/// What a policy may need beside its own parameters.
struct PolicyContext {
  std::uint64_t seed = 0;  ///< of the run; a policy that draws takes a stream named after itself
  TimePerByte beta;        ///< of the network, for policies whose thresholds derive from it
  TimePerByte eta;
  /// By tier of the network, the lowest first: the group of each server, where servers of a group reach each other
  /// without a higher tier (network/server_groups.hpp). Empty: one switch for all.
  std::function<std::vector<std::vector<std::uint32_t>>()> server_groups{};
};

template <class Port>
struct PolicyRow {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view source;   ///< paper or origin
  std::span<const ParameterInfo> parameters;
  std::unique_ptr<Port> (*make)(const Parameters&, const PolicyContext&);
};

[[nodiscard]] std::span<const PolicyRow<SchedulingPolicy>> scheduling_policies();
[[nodiscard]] std::span<const PolicyRow<PlacementPolicy>> placement_policies();
[[nodiscard]] std::span<const PolicyRow<CommunicationPolicy>> communication_policies();
[[nodiscard]] std::span<const PolicyRow<FusionPolicy>> fusion_policies();
/// The first, `none`, makes a nullptr.
[[nodiscard]] std::span<const PolicyRow<CompressionMethod>> compression_policies();

}  // namespace contend
