#include "scenarios/keys/key_tables.hpp"

#include "scenarios/keys/key_rows.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace contend {
namespace {

using key_rows::kDay;
using key_rows::property;
using key_rows::row;

constexpr int kMaxServers = 1'000'000;
constexpr int kMaxQuota = 1'000'000'000;
constexpr double kThousandths = 1000;
constexpr double kMaxWeight = 1e9;
constexpr int kMaxPriority = 65'533;  // the largest PriorityTier of Slurm
constexpr int kMaxRetries = 1000;

/// A number with at most three decimals: the engine counts in thousandths.
Codec<double> thousandths_codec(double minimum, double maximum) {
  Codec<double> codec = number_codec(minimum, maximum);
  codec.read = [read = codec.read](const YamlNode& node, const Reading& reading, double& value) {
    const std::size_t complaints = reading.complaints.size();
    double number = value;
    read(node, reading, number);
    if (reading.complaints.size() != complaints) return;
    if (std::abs(number * kThousandths - std::round(number * kThousandths)) > 1e-6) {
      return reading.expected("a number with at most three decimals", node);
    }
    value = number;
  };
  return codec;
}

std::int64_t in_thousandths(double number) {
  return std::llround(number * kThousandths);
}

template <auto kRule, class T>
MapMember<NamedVirtualCluster> rule_field(std::string_view name, Codec<T> codec) {
  return {name,
          member_io<NamedVirtualCluster, T>([](NamedVirtualCluster& vc) -> T& { return vc.rules.*kRule; },
                                            std::move(codec)),
          false,
          {}};
}

Codec<std::vector<NamedVirtualCluster>> vcs_codec() {
  using Vc = NamedVirtualCluster;
  const Codec<WeightedUser> user =
      map_codec<WeightedUser>({field("name", &WeightedUser::name, text_codec(), true),
                               field("weight", &WeightedUser::weight, number_codec(0, kMaxWeight))},
                              "{name: ann, weight: 2}");
  const auto count = optional_codec(integer_codec<int>(0, kMaxQuota), "");
  const auto rule = [](bool with_any) {
    std::vector<std::pair<std::string, PreemptionRule>> rules{{"never", PreemptionRule::never},
                                                              {"lower-priority", PreemptionRule::lower},
                                                              {"lower-or-newer", PreemptionRule::lower_or_newer}};
    if (with_any) rules.emplace_back("any", PreemptionRule::any);
    return choice_codec<PreemptionRule>(std::move(rules));
  };
  const Codec<Vc> vc = map_codec<Vc>(
      {field("name", &Vc::name, text_codec(), true),
       field("servers", &Vc::servers, optional_codec(integer_codec<int>(1, kMaxServers), "")),
       field("gpus", &Vc::gpus, optional_codec(integer_codec<int>(0, kMaxQuota), "")),
       field("borrow", &Vc::borrow, bool_codec()), field("others", &Vc::others, bool_codec()),
       field("parent", &Vc::parent, text_codec()),
       field("weight", &Vc::weight, optional_codec(number_codec(0, kMaxWeight), "")),
       field("priority", &Vc::priority, integer_codec<int>(0, kMaxPriority)),
       field("job_factor", &Vc::job_factor, integer_codec<int>(0, kMaxPriority)),
       field("users", &Vc::users, list_codec(user, "users")),
       rule_field<&QueueRules::borrowing_limit>("borrowing_limit", count),
       rule_field<&QueueRules::lending_limit>("lending_limit", count),
       rule_field<&QueueRules::guarantee>("guarantee", count), rule_field<&QueueRules::strict>("strict", bool_codec()),
       rule_field<&QueueRules::reclaimable>("reclaimable", bool_codec()),
       rule_field<&QueueRules::within>("preempt_within", rule(false)),
       rule_field<&QueueRules::reclaim>("reclaim", rule(true)),
       rule_field<&QueueRules::borrow_preempting>("borrow_preempting", bool_codec()),
       rule_field<&QueueRules::borrow_threshold>("borrow_threshold",
                                                 optional_codec(integer_codec<int>(-kMaxQuota, kMaxQuota), ""))},
      "{name: vision, gpus: 32}");
  return numbered_list(vc, "virtual clusters", kMaxItems);
}

/// The keys of a rule of retries besides `times`, in this order: delay, factor, max_delay, position, from.
template <RetryRule SchedulingRules::*kRule>
void add_retry_keys(std::vector<ScenarioKey>& keys, const std::array<std::string_view, 5>& paths) {
  keys.push_back(row(
      paths[0], [](auto& s) -> auto& { return (s.rules.*kRule).delay; }, quantity_codec(Time{}, 365 * kDay)));
  keys.push_back(property<double>(
      paths[1], [](const Scenario& s) { return (s.rules.*kRule).growth / kThousandths; },
      [](Scenario& s, double factor) { (s.rules.*kRule).growth = static_cast<std::int32_t>(in_thousandths(factor)); },
      thousandths_codec(1, kThousandths)));
  keys.push_back(row(
      paths[2], [](auto& s) -> auto& { return (s.rules.*kRule).max_delay; }, quantity_codec(Time{}, 365 * kDay)));
  keys.push_back(row(
      paths[3], [](auto& s) -> auto& { return (s.rules.*kRule).at_end; },
      choice_codec<bool>({{"original", false}, {"new", true}})));
  keys.push_back(row(
      paths[4], [](auto& s) -> auto& { return (s.rules.*kRule).from_start; },
      choice_codec<bool>({{"start", true}, {"checkpoint", false}})));
}

}  // namespace

std::vector<ScenarioKey> scheduling_keys() {
  std::vector<ScenarioKey> keys{
      row<&SchedulingRules::quantum>("scheduling.quantum", quantity_codec(Time{}, kDay)),
      row<&SchedulingRules::foresees_batches>("scheduling.foresees_batches", bool_codec()),
      row<&SchedulingRules::ties>("scheduling.ties", choice_codec<TieOrder>({{"submission", TieOrder::submission},
                                                                             {"list-reversed", TieOrder::list_reversed},
                                                                             {"latest", TieOrder::latest},
                                                                             {"name", TieOrder::name}})),
      row<&SchedulingRules::kill_at_limit>("scheduling.kill_at_limit", bool_codec()),
      row(
          "scheduling.retries.failed.times", [](auto& s) -> auto& { return s.rules.failures.times; },
          optional_codec(integer_codec<int>(0, kMaxRetries), "recorded")),
  };
  add_retry_keys<&SchedulingRules::failures>(
      keys,
      {"scheduling.retries.failed.delay", "scheduling.retries.failed.factor", "scheduling.retries.failed.max_delay",
       "scheduling.retries.failed.position", "scheduling.retries.failed.from"});
  keys.push_back(property<int>(
      "scheduling.retries.timeout.times", [](const Scenario& s) { return s.rules.timeouts.times.value_or(0); },
      [](Scenario& s, int times) { s.rules.timeouts.times = times; }, integer_codec<int>(0, kMaxRetries)));
  add_retry_keys<&SchedulingRules::timeouts>(
      keys,
      {"scheduling.retries.timeout.delay", "scheduling.retries.timeout.factor", "scheduling.retries.timeout.max_delay",
       "scheduling.retries.timeout.position", "scheduling.retries.timeout.from"});
  for (ScenarioKey& key : keys) {
    if (key.path == "scheduling.retries.failed.from") {
      key.needs = "a number for scheduling.retries.failed.times";
      key.conditions = {[](const Scenario& s) { return s.rules.failures.times.has_value(); }};
    } else if (key.path == "scheduling.foresees_batches") {
      key.needs = "workload.regimes";
      key.conditions = {[](const Scenario& s) { return s.workload.regimes.has_value(); }};
    } else if (key.path.starts_with("scheduling.retries.timeout.")) {
      key.needs = "scheduling.kill_at_limit: true";
      key.conditions = {[](const Scenario& s) { return s.rules.kill_at_limit; }};
    }
  }
  return keys;
}

bool any_offloads(const Scenario& scenario) {
  return std::ranges::any_of(
      scenario.training, [](const TrainingEntry& entry) { return entry.parallel && entry.parallel->offload.any(); });
}

template <std::optional<ByteRate> HostRates::*Rate>
ScenarioKey host_rate_key(const char* key) {
  ScenarioKey made = row(
      key, [](auto& s) -> auto& { return s.cluster.host.*Rate; },
      optional_codec(quantity_codec(ByteRate{1'000}, ByteRate{1e18}), "unlimited"));
  made.conditions = {any_offloads};
  made.needs = "an entry of training with parallel.offload";
  return made;
}

std::vector<ScenarioKey> host_keys() {
  return {
      row<&ClusterSetup::cpus>("cluster.cpus", optional_codec(thousandths_codec(0.001, 1e6), "any")),
      row<&ClusterSetup::host_memory>("cluster.host_memory",
                                      optional_codec(quantity_codec(Bytes{1}, Bytes{std::int64_t{1} << 50}), "any")),
      host_rate_key<&HostRates::link>("cluster.host.link"),
      host_rate_key<&HostRates::memory>("cluster.host.memory"),
      host_rate_key<&HostRates::nvme>("cluster.host.nvme"),
      row<&ClusterSetup::vcs>("cluster.vcs", vcs_codec()),
  };
}

ScenarioKey scatter_penalty_key() {
  return row<&WorkloadSetup::scatter_penalty>("workload.scatter_penalty",
                                              list_codec(thousandths_codec(1, 1000), "factors"));
}

namespace {

/// The index of a virtual cluster; the number of them if there is none of that name.
std::size_t vc_index(std::span<const NamedVirtualCluster> vcs, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(vcs, name, &NamedVirtualCluster::name) - vcs.begin());
}

/// The names from a virtual cluster up to itself, if it is above itself; else none.
std::vector<std::string> circle_above(std::span<const NamedVirtualCluster> vcs, std::size_t first) {
  std::vector<std::string> names{vcs[first].name};
  for (std::size_t at = vc_index(vcs, vcs[first].parent); at < vcs.size() && names.size() <= vcs.size();
       at = vc_index(vcs, vcs[at].parent)) {
    names.push_back(vcs[at].name);
    if (at == first) return names;
  }
  return {};
}

/// Complains about the tree that `parent` makes of the virtual clusters, and about weights.
template <class Complain>
void check_vc_tree(std::span<const NamedVirtualCluster> vcs, const Complain& complain) {
  std::vector<std::string> names;
  for (const NamedVirtualCluster& vc : vcs) names.push_back(vc.name);
  std::set<std::string> in_circles;
  for (std::size_t v = 0; v < vcs.size(); ++v) {
    const NamedVirtualCluster& vc = vcs[v];
    if (!vc.parent.empty() && vc_index(vcs, vc.parent) == vcs.size()) {
      const std::string nearest = nearest_name(vc.parent, names);
      complain(vc, ".parent",
               fmt::format("the parent `{}` of `{}` is not in the list{}", vc.parent, vc.name,
                           nearest.empty() ? fmt::format("; add {{name: {}}}", vc.parent)
                                           : fmt::format("; did you mean \"{}\"?", nearest)));
    }
    if (const std::vector<std::string> circle = circle_above(vcs, v);
        !circle.empty() && !in_circles.contains(vc.name)) {
      in_circles.insert(circle.begin(), circle.end());
      complain(vc, ".parent",
               fmt::format("the parents make a circle ({}); leave out the parent of one of them, which is then below "
                           "the root",
                           fmt::join(circle, " below ")));
    }
    const auto check_weight = [&](std::string_view of, double weight) {
      if (weight == 0)
        complain(
            vc, vc.weight == weight ? ".weight" : ".users",
            fmt::format("the weight of {} is 0, so that nothing would be its fair share; give it a weight above 0, "
                        "such as 0.01",
                        of));
    };
    check_weight(fmt::format("`{}`", vc.name), vc.weight.value_or(1));
    std::set<std::string> users;
    for (const WeightedUser& user : vc.users) {
      check_weight(fmt::format("the user `{}` of `{}`", user.name, vc.name), user.weight);
      if (!users.insert(user.name).second)
        complain(vc, ".users", fmt::format("`{}` has the user `{}` twice", vc.name, user.name));
    }
  }
}

/// Complains about what a virtual cluster may use beyond its quota, lend of it, or keep.
template <class Complain>
void check_borrowing(const NamedVirtualCluster& vc, const Complain& complain) {
  const QueueRules& rules = vc.rules;
  const std::string_view member = vc.borrow ? ".borrow" : ".borrowing_limit";
  if (vc.may_borrow() && vc.servers)
    complain(vc, member, fmt::format("`{}` has servers of its own: it can't borrow", vc.name));
  if (vc.may_borrow() && !vc.servers && !vc.gpus)
    complain(vc, member,
             fmt::format("`{}` has no quota of gpus that it could exceed by borrowing{}", vc.name,
                         vc.borrow ? "" : "; give it gpus: 0 if it has nothing of its own"));
  const auto check = [&](std::string_view name, const std::optional<int>& gpus) {
    if (gpus && !vc.gpus) complain(vc, name, fmt::format("`{}` has no quota of gpus", vc.name));
    if (gpus && vc.gpus && *gpus > *vc.gpus)
      complain(vc, name, fmt::format("{} is more than the quota of `{}`, gpus: {}", *gpus, vc.name, *vc.gpus));
  };
  check(".lending_limit", rules.lending_limit);
  check(".guarantee", rules.guarantee);
  if (rules.borrow_threshold && !rules.borrow_preempting)
    complain(vc, ".borrow_threshold",
             fmt::format("changes nothing without borrow_preempting; give `{}` borrow_preempting: true", vc.name));
}

/// True if it is there as an account of the tree.
bool is_in_tree(std::span<const NamedVirtualCluster> vcs, const NamedVirtualCluster& vc) {
  return !vc.parent.empty() || vc.weight || vc.priority != 1 || vc.job_factor != 1 || !vc.users.empty() ||
         vc.rules != QueueRules{} ||
         std::ranges::any_of(vcs, [&](const auto& other) { return other.parent == vc.name; });
}

}  // namespace

std::vector<Complaint> vcs_complaints(const ClusterSetup& cluster) {
  std::vector<Complaint> complaints;
  const auto complain = [&](const NamedVirtualCluster& vc, std::string_view member, std::string reason) {
    complaints.push_back(
        {.key = fmt::format("cluster.vcs[{}]{}", &vc - cluster.vcs.data(), member), .reason = std::move(reason)});
  };
  std::set<std::string> names;
  const NamedVirtualCluster* others = nullptr;
  std::int64_t servers = 0;
  for (const NamedVirtualCluster& vc : cluster.vcs) {
    if (vc.name.empty()) complain(vc, ".name", "a virtual cluster has no name");
    if (!names.insert(vc.name).second)
      complain(vc, ".name", fmt::format("there are two virtual clusters `{}`", vc.name));
    if (vc.others && others != nullptr)
      complain(vc, ".others",
               fmt::format("`{}` and `{}` both have `others: true`; one of them can take the other jobs", others->name,
                           vc.name));
    if (vc.others) others = &vc;
    const bool has_neither = !vc.servers && !vc.gpus;
    if ((vc.servers && vc.gpus) || (has_neither && !vc.others && !is_in_tree(cluster.vcs, vc)))
      complain(vc, "", fmt::format("`{}` needs servers or gpus, one of the two", vc.name));
    check_borrowing(vc, complain);
    servers += vc.servers.value_or(0);
  }
  check_vc_tree(cluster.vcs, complain);
  if (servers > cluster.servers)
    complaints.push_back({.key = "cluster.vcs",
                          .reason = fmt::format("they own {} servers, the cluster has {}", servers, cluster.servers)});
  return complaints;
}

ClusterSpec cluster_spec(const ClusterSetup& cluster, const WorkloadSetup& setup, const Workload& workload) {
  const std::vector<std::string>& vcs = workload.vcs;
  ClusterSpec spec;
  for (const NamedServerType& type : cluster.types)
    spec.types.push_back({type.name, type.servers, type.gpus_per_server, type.gpu_memory, type.price});
  if (setup.demands_types) spec.demanded = workload.gpu_types;
  spec.servers = cluster.servers;
  spec.gpus_per_server = cluster.gpus_per_server;
  spec.gpu_memory = cluster.gpu_memory;
  spec.milli_cpus = in_thousandths(cluster.cpus.value_or(0));
  spec.host_memory = cluster.host_memory.value_or(Bytes{});
  if (cluster.vcs.empty()) return spec;
  std::vector<VirtualCluster> all;
  std::vector<std::string> names;
  std::uint32_t next = 0;
  for (const NamedVirtualCluster& vc : cluster.vcs) {
    VirtualCluster made;
    if (vc.servers) {
      made.servers = {next, next + static_cast<std::uint32_t>(*vc.servers)};
      next = made.servers.last;
    } else if (vc.gpus) {
      made.quota = *vc.gpus;
    }
    made.borrows = vc.may_borrow();
    all.push_back(made);
    names.push_back(vc.name);
  }
  std::vector<bool> is_named(all.size());
  for (const std::string& vc : vcs) {
    const auto found = std::find(names.begin(), names.end(), vc);
    if (found == names.end()) {
      const std::string nearest = nearest_name(vc, names);
      throw InputError{fmt::format("cluster.vcs: the jobs name a virtual cluster `{}` that is not there{}", vc,
                                   nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest))};
    }
    is_named[static_cast<std::size_t>(found - names.begin())] = true;
    spec.vcs.push_back(all[static_cast<std::size_t>(found - names.begin())]);
  }
  for (std::size_t v = 0; v < all.size(); ++v) {  // they own their servers though none of these jobs is theirs
    if (!is_named[v] && all[v].servers.size() > 0) spec.vcs.push_back(all[v]);
  }
  return spec;
}

SchedulingRules scheduling_rules(SchedulingRules rules, const WorkloadSetup& workload) {
  for (const double factor : workload.scatter_penalty) {
    rules.scatter_penalty.push_back(static_cast<std::int32_t>(in_thousandths(factor)));
  }
  return rules;
}

}  // namespace contend
