#include "scenarios/keys/key_tables.hpp"

#include "policies/registry.hpp"
#include "scenarios/keys/device_codec.hpp"
#include "scenarios/keys/key_rows.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

using key_rows::row;

constexpr int kMostServers = 1'000'000;
constexpr std::size_t kMostTypes = 64;

Codec<std::vector<NamedServerType>> types_codec() {
  using Type = NamedServerType;
  const Codec<Type> type = map_codec<Type>(
      {field("name", &Type::name, text_codec(), true),
       field("servers", &Type::servers, integer_codec<int>(1, kMostServers), true),
       field("gpus_per_server", &Type::gpus_per_server, integer_codec<int>(1, 1024)),
       field("gpu_memory", &Type::gpu_memory, quantity_codec(Bytes{1}, Bytes{std::int64_t{1} << 50})),
       field("speed", &Type::speed, number_codec(1e-3, 1e3)), field("price", &Type::price, number_codec(0, 1e6)),
       field("device", &Type::device, optional_codec(device_codec(), "")),
       field("power", &Type::power, power_codec(true)), field("site", &Type::site, text_codec())},
      "{name: v100, servers: 4, gpus_per_server: 8}");
  return numbered_list(type, "types of servers", kMostTypes);
}

}  // namespace

ScenarioKey types_key() {
  return row<&ClusterSetup::types>("cluster.types", types_codec());
}

std::vector<ScenarioKey> throughput_keys() {
  std::vector<ScenarioKey> keys{
      row<&WorkloadSetup::throughputs>("workload.throughputs", optional_codec(path_codec(), "")),
      row<&WorkloadSetup::goodput>("workload.goodput", optional_codec(path_codec(), "")),
      row<&WorkloadSetup::regimes>("workload.regimes", optional_codec(path_codec(), "")),
      row<&WorkloadSetup::reference_type>("workload.reference_type", optional_codec(text_codec(), "first")),
      row<&WorkloadSetup::demands_types>("workload.demands_types", bool_codec()),
  };
  for (ScenarioKey& key : keys) {
    key.needs = "cluster.types";
    key.conditions = {[](const Scenario& scenario) { return !scenario.cluster.types.empty(); }};
  }
  return keys;
}

std::vector<Complaint> types_complaints(const ClusterSetup& cluster, const PolicyChoice& scheduling,
                                        const WorkloadSetup& workload) {
  std::vector<Complaint> complaints;
  const auto complain = [&](std::string key, std::string reason, std::string hint = {}) {
    complaints.push_back({.key = std::move(key), .reason = std::move(reason), .hint = std::move(hint)});
  };
  std::vector<std::string> names;
  std::int64_t servers = 0;
  for (const NamedServerType& type : cluster.types) {
    const std::string key = fmt::format("cluster.types[{}].name", names.size());
    if (type.name.empty()) complain(key, "a type of server has no name");
    if (type.name.find('+') != std::string::npos)
      complain(key, fmt::format("the name `{}` has a +, which joins types in a job list", type.name));
    if (std::ranges::find(names, type.name) != names.end())
      complain(key, fmt::format("there are two types of server `{}`", type.name));
    names.push_back(type.name);
    servers += type.servers;
  }
  if (servers > kMostServers)
    complain("cluster.types", fmt::format("they have {} servers, expected at most {}", servers, kMostServers));
  const auto policies = scheduling_policies();
  const auto policy = std::ranges::find(policies, scheduling.name, &PolicyRow<SchedulingPolicy>::name);
  if (policy != policies.end() && policy->one_type && names.size() > 1)
    complain(
        "policies.scheduling",
        fmt::format("`{}` divides the GPUs of one type of servers, and cluster.types has {}", policy->name,
                    names.size()),
        "keep one type, or choose a policy that knows types: sia, lyra or themis also change the number of GPUs of "
        "a job, max-min and others divide time");
  const auto& reference = workload.reference_type;
  if (reference && std::ranges::find(names, *reference) == names.end())
    complain("workload.reference_type", fmt::format("cluster.types has no type \"{}\"", *reference),
             did_you_mean(*reference, names));
  return complaints;
}

void take_types(Scenario& scenario) {
  std::int64_t servers = 0;
  auto& cluster = scenario.cluster;
  cluster.gpus_per_server = 1;
  cluster.gpu_memory = Bytes{1};
  for (const NamedServerType& type : cluster.types) {
    servers += type.servers;
    cluster.gpus_per_server = std::max(cluster.gpus_per_server, type.gpus_per_server);
    cluster.gpu_memory = std::max(cluster.gpu_memory, type.gpu_memory);
  }
  cluster.servers = static_cast<int>(std::min<std::int64_t>(servers, kMostServers));
}

std::string why_not_mixed(const PolicyChoice& scheduling, const ClusterSpec& cluster, const JobSpec& job) {
  if (mix_of(cluster, job) < 0) return {};
  const auto policies = scheduling_policies();
  const auto policy = std::ranges::find(policies, scheduling.name, &PolicyRow<SchedulingPolicy>::name);
  if (policy == policies.end() || !policy->names_types) return {};
  return fmt::format("it may mix types ({}), but `{}` runs each job on one type",
                     cluster.demanded[static_cast<std::size_t>(job.gpu_type)], policy->name);
}

}  // namespace contend
