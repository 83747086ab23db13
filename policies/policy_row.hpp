#pragma once
// The description of a policy: name, summary, source, parameters and factory (PolicyRow); and the arguments of the
// factory: the values of its parameters and the context that it may need beside them.

#include "policies/account_tree.hpp"
#include "sim/ids.hpp"
#include "sim/levels.hpp"
#include "sim/policy_failure.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace contend {

struct ClosFabric;      // network/clos.hpp
struct ReservedSpines;  // network/clos.hpp

/// The default of a parameter; its text lives as long as the program.
using ParameterDefault = std::variant<std::int64_t, double, bool, std::string_view>;

/// The value of a parameter.
struct ParameterValue : std::variant<std::int64_t, double, bool, std::string> {
  using variant::variant;
  using variant::operator=;
  ParameterValue(const ParameterDefault& usual) {  // NOLINT(google-explicit-constructor): a default is a value
    std::visit([this](const auto& value) { emplace<Held<std::decay_t<decltype(value)>>>(value); }, usual);
  }

 private:
  template <class T>
  using Held = std::conditional_t<std::is_same_v<T, std::string_view>, std::string, T>;
};

/// A parameter of a policy as its own file declares it. The scenario reader checks type and range.
struct ParameterInfo {
  std::string_view name;           ///< in scenarios: lower case with underscores; unique within the policy
  ParameterDefault default_value;  ///< its alternative is the type of the parameter
  double minimum = 0;              ///< inclusive; numbers only
  double maximum = 0;              ///< inclusive; numbers only
  std::string_view text;           ///< one line, with the unit if there is one
  /// The condition of its effect: a key, which has a point, or a parameter of the policy that has to be true.
  std::string_view needs{};
};

/// The parameter values of one policy instance, complete and checked against its ParameterInfo rows.
class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(std::vector<std::pair<std::string, ParameterValue>> values) : values_{std::move(values)} {}
  [[nodiscard]] const std::vector<std::pair<std::string, ParameterValue>>& values() const { return values_; }
  /// The value of a declared parameter. A name that the policy doesn't declare stops the program; a wrong type throws
  /// std::bad_variant_access.
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
  std::uint64_t seed = 0;  ///< of the run; a policy that draws random numbers takes a stream named after itself
  TimePerByte beta;        ///< of the network: time per byte of a transfer that has its interfaces to itself
  TimePerByte eta;         ///< of the network: further time per byte for each other transfer on the same interface
  Time quantum{};          ///< scheduling passes come at its multiples only; 0: at any instant (SchedulingRules)
  /// Returns the group of each server, tier by tier, the lowest tier first. Servers of a group reach each other without
  /// a higher tier (network/server_groups.hpp). Empty: one switch connects all servers.
  std::function<std::vector<std::vector<std::uint32_t>>()> server_groups{};
  /// The levels above the servers; none: there are none.
  std::shared_ptr<const LevelTree> levels{};
  /// Returns the fabric of leaves and spines, or nothing if it is no such fabric (network/clos.hpp). Empty: no routes
  /// are planned.
  std::function<std::optional<ClosFabric>()> clos{};
  /// What a placement policy may tell the router of the run: the spines that it gives jobs. None: no routes are
  /// planned.
  std::shared_ptr<ReservedSpines> reserved{};
  /// By job, the bytes that each of its servers sends through its interfaces in a second when the job is alone and
  /// spans servers; 0 where that isn't known, as of jobs with a duration. Empty: nothing is known.
  std::function<std::vector<double>()> sent_per_second{};
  /// Returns the name of a job. Given where a policy is outside of the program.
  std::function<std::string(JobId)> job_name{};
  /// Returns the name of a virtual cluster of the Workload. Empty: virtual clusters have their numbers.
  std::function<std::string(std::int32_t)> vc_name{};
  /// Returns the accounts and users of the workload. Empty: all users are alike, and virtual clusters too.
  std::function<AccountTree()> accounts{};
  /// Where a policy outside of the program reports that it can't decide any more; if there is none, it throws
  /// InputError.
  std::shared_ptr<PolicyFailure> failure{};
};

/// What a policy needs to know of jobs with a duration that share GPUs (sim/sharing.hpp).
enum class GpuShares : std::uint8_t {
  none,        ///< none share because of it, or only where its parameter `pack` is true
  by_law,      ///< how fast they are then
  by_profile,  ///< that, and the stages of their iterations
};

/// What a scheduling policy weighs that a scenario may lack. Without it the policy decides as another, simpler one.
enum class Weighs : std::uint8_t { always_given, deadlines, prices };

/// What a scheduling policy looks at of PolicyContext::accounts and of virtual clusters that may exceed their quotas.
struct AccountUse {
  bool weight = false;
  bool parent = false;
  bool users = false;
  bool priority = false;
  bool job_factor = false;
  bool guarantees = false;                    ///< a quota that may be exceeded guarantees GPUs
  std::span<const std::string_view> rules{};  ///< members of QueueRules, with their names in scenarios
};

/// A policy as its own file describes it. The texts and parameters live as long as the program.
template <class Port>
struct PolicyRow {
  std::string_view name;     ///< in scenarios: lower case, digits and hyphens; unique within the kind
  std::string_view summary;  ///< one line
  std::string_view source;   ///< paper or origin
  std::span<const ParameterInfo> parameters{};  ///< in the order of the reference
  /// Makes the policy. May throw InputError if values contradict each other, each being within its range.
  std::unique_ptr<Port> (*make)(const Parameters&, const PolicyContext&) = nullptr;
  /// True if what decides is a program that the parameter `command` names, and which the user has to provide.
  bool is_outside = false;
  /// True if it divides the GPUs of one type of servers; a scenario with several types is refused.
  bool one_type = false;
  /// True if it says itself on which type of servers each job runs; jobs that mix types are refused.
  bool names_types = false;
  /// Of a scheduling policy: true if it plans with the places of running jobs until their ends, so that a job has to
  /// keep the GPUs that it holds.
  bool plans_places = false;
  GpuShares shares = GpuShares::none;
  Weighs weighs = Weighs::always_given;
  /// Of a scheduling policy: true if one instance decides for the whole cluster, because its rule compares virtual
  /// clusters. Else each virtual cluster with servers of its own has an instance of its own
  /// (policies/scheduling/by_owner.hpp).
  bool compares_vcs = false;
  /// Of a scheduling policy: the members that its rule reads with these parameters; nullptr: none.
  AccountUse (*accounts)(const Parameters&) = nullptr;
};

/// PolicyRow::make of a policy that is made of its parameters and the context, of its parameters alone, or of nothing.
template <class Port, class Policy>
std::unique_ptr<Port> make_own(const Parameters& parameters, const PolicyContext& context) {
  if constexpr (std::is_constructible_v<Policy, const Parameters&, const PolicyContext&>)
    return std::make_unique<Policy>(parameters, context);
  else if constexpr (std::is_constructible_v<Policy, const Parameters&>)
    return std::make_unique<Policy>(parameters);
  else
    return std::make_unique<Policy>();
}

}  // namespace contend
