#include "report/facts.hpp"

#include "models/workloads/fitted.hpp"
#include "report/topology/topology_drawing.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/run/fabric.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/check.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kMebibyte = 1048576;

std::string policy_text(const PolicyChoice& choice) {
  std::string text = choice.name;
  for (const auto& parameter : choice.parameters.values())
    std::visit([&](const auto& value) { text += fmt::format(", {} {}", parameter.first, value); }, parameter.second);
  return text;
}

/// The rate of an interface in bits a second, as people write it.
std::string interface_text(ByteRate rate) {
  constexpr double kGbps = 1e9 / 8;
  return fmt::format("{:g}Gbps", rate.bytes_per_second() / kGbps);
}

/// The keys that begin with `prefix` and have another value than the usual one, or are among `always`, as people write
/// them: `nic 200Gbps, alpha 50us`.
std::string keys_text(const Scenario& scenario, std::string_view prefix,
                      std::initializer_list<std::string_view> always = {}) {
  std::string text;
  for (const ScenarioKey& key : scenario_keys()) {
    if (!key.path.starts_with(prefix)) continue;
    const std::string_view name = key.path.substr(prefix.size());
    std::string value = key.io->print(scenario);
    const bool is_shown = std::ranges::find(always, name) != always.end() || value != key.io->print(default_scenario());
    if (key.path == "network.nic" && scenario.network.nic) value = interface_text(*scenario.network.nic);
    if (is_shown && !value.empty() && value != "auto" && name != "fidelity")
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

std::string network_text(const Scenario& scenario) {
  const NetworkSetup& network = scenario.network;
  if (!network.traits().has_topology) {
    return fmt::format("{}: {}", network.traits().title, keys_text(scenario, "network.", {"nic", "alpha"}));
  }
  return fmt::format("{}: {} fabric, {} servers, interfaces of {}, collectives {}", network.traits().title,
                     network.topology.fabric.kind, network.topology.server.kind, interface_text(*network.nic),
                     network.collectives);
}

/// The settings that make the jobs differ from the jobs of their trace or list.
std::string scaling_text(const WorkloadScaling& scaling) {
  std::string text;
  if (scaling.load)
    text += fmt::format(", arriving at load {:g}", *scaling.load);
  else if (scaling.rate != 1)
    text += fmt::format(", arriving at {:g} times its rate", scaling.rate);
  if (scaling.durations != 1) text += fmt::format(", durations times {:g}", scaling.durations);
  if (scaling.longest) text += fmt::format(", cut to {}", print_quantity(*scaling.longest));
  if (scaling.largest) text += fmt::format(", of at most {} GPUs", *scaling.largest);
  return text;
}

std::string list_text(const WorkloadSetup& workload) {
  std::string text = "job list " + *workload.jobs + scaling_text(workload.synthetic);
  if (const auto& block = workload.sampling.block)
    text += fmt::format(", blocks of {} {}", print_quantity(*block),
                        workload.sampling.replace ? "drawn with replacement" : "in another order");
  if (workload.sampling.bootstrap) text += ", demands drawn with replacement";
  if (workload.sampling.subset < 1) text += fmt::format(", {:g} % of the jobs", 100 * workload.sampling.subset);
  return text;
}

/// Jobs generated from a trace, with the settings that differ from it.
std::string like_text(const std::string& trace, const SyntheticWorkload& synthetic) {
  const FittedWorkload* fitted = find_fitted_workload(trace);
  CONTEND_CHECK(fitted != nullptr, "a scenario names a fitted workload");
  return fmt::format("{} jobs like {}", synthetic.jobs.value_or(fitted->fitted_jobs), trace) + scaling_text(synthetic);
}

std::string workload_text(const Scenario& scenario) {
  if (scenario.workload.jobs) return list_text(scenario.workload);
  if (scenario.workload.like) return like_text(*scenario.workload.like, scenario.workload.synthetic);
  int jobs = 0;
  for (const auto& [gpus, count] : scenario.workload.generate.sizes) jobs += count;
  return fmt::format("generated mix of {} jobs", jobs);
}

std::vector<std::pair<std::string, std::string>> study_facts(const Scenario& scenario) {
  const IterationStudy& study = scenario.overlap;
  const NetworkSetup& network = scenario.network;
  std::vector<std::string> fusion, compression;
  for (const PolicyChoice& each : study.fusion) fusion.push_back(policy_title("fusion", each));
  for (const PolicyChoice& each : study.compression) compression.push_back(policy_title("compression", each));
  return {
      {"network", network.sites ? "links between sites of " + *network.sites : network_text(scenario)},
      {"workers", fmt::format("{}, {} on a server", fmt::join(study.workers, ", "), scenario.cluster.gpus_per_server)},
      {"fusion", fmt::format("{}", fmt::join(fusion, "; "))},
      {"compression", fmt::format("{}", fmt::join(compression, "; "))}};
}

}  // namespace

namespace {

std::string servers_text(int servers, int gpus_per_server, Bytes gpu_memory) {
  return fmt::format("{} with {} each, {:g} GiB a GPU", counted(servers, "server"), counted(gpus_per_server, "GPU"),
                     static_cast<double>(gpu_memory.count()) / kMebibyte / 1024);
}

std::string cluster_text(const ClusterSetup& cluster) {
  if (cluster.types.empty()) return servers_text(cluster.servers, cluster.gpus_per_server, cluster.gpu_memory);
  std::vector<std::string> types;
  for (const NamedServerType& each : cluster.types)
    types.push_back(each.name + ": " + servers_text(each.servers, each.gpus_per_server, each.gpu_memory));
  return fmt::format("{}", fmt::join(types, "; "));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> scenario_facts(const Scenario& scenario) {
  if (scenario.overlap.given()) return study_facts(scenario);
  const ClusterSetup& cluster = scenario.cluster;
  std::vector<std::pair<std::string, std::string>> facts;
  facts.emplace_back("cluster", cluster_text(cluster));
  facts.emplace_back("network", network_text(scenario));
  facts.emplace_back("scheduling", policy_text(scenario.scheduling));
  facts.emplace_back("placement", policy_text(scenario.placement));
  facts.emplace_back("communication", policy_text(scenario.communication));
  facts.emplace_back("workload", workload_text(scenario));
  if (std::string failures = keys_text(scenario, "failures."); !failures.empty())
    facts.emplace_back("failures", std::move(failures));
  if (std::string saved = keys_text(scenario, "checkpoints."); !saved.empty())
    facts.emplace_back("checkpoints", std::move(saved));
  return facts;
}

std::string unequal_servers_note(const ClusterSetup& cluster) {
  const auto is_smaller = [&](const NamedServerType& type) { return type.gpus_per_server < cluster.gpus_per_server; };
  if (std::ranges::none_of(cluster.types, is_smaller)) return {};
  return fmt::format(
      "The topology has {} in every server, as many as the largest servers have; nothing goes to GPUs "
      "that a smaller server lacks.",
      counted(cluster.gpus_per_server, "GPU"));
}

TopologyDrawing draw_topology(const ClusterSetup& cluster, const NetworkSetup& network, const IterationStudy& study) {
  constexpr int kMostServers = 4096;
  if (study.given()) return {.svg = "", .note = ""};
  if (cluster.servers > kMostServers)
    return {.svg = "", .note = fmt::format("Topologies of more than {} servers are not drawn.", kMostServers)};
  try {
    if (network.traits().has_topology)
      return {.svg = topology_svg(build_topology(cluster, network), network.topology.fabric.dimensions),
              .note = unequal_servers_note(cluster)};
    TopologySpec one_switch;
    one_switch.server.nic_bandwidth = ByteRate{1e9 / network_cost(network).beta.ns_per_byte()};
    const Topology topology = build_topology(one_switch, static_cast<std::size_t>(cluster.servers),
                                             static_cast<std::size_t>(cluster.gpus_per_server));
    const std::string unequal = unequal_servers_note(cluster);
    return {.svg = topology_svg(topology),
            .note =
                "At this fidelity the network is one switch that never is a bottleneck; jobs share the interfaces of "
                "their servers." +
                (unequal.empty() ? "" : " " + unequal)};
  } catch (const InputError& error) {
    return {.svg = "", .note = fmt::format("The topology can't be drawn: {}.", error.what())};
  }
}

}  // namespace contend
