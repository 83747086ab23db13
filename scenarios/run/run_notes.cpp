#include "scenarios/run/run_notes.hpp"

#include "network/catalogue.hpp"
#include "network/collectives/collective_run.hpp"
#include "network/idle_interfaces.hpp"
#include "network/library/nccl_machine.hpp"
#include "policies/registry.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/run/fabric.hpp"
#include "scenarios/run/flow_fidelity.hpp"
#include "scenarios/run/scenario_failures.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include <fmt/format.h>

namespace contend {
namespace {

/// Of the jobs that communicate, or of the variants of a study.
int most_ranks(const Scenario& scenario, JobLists& lists) {
  int most = 0;
  if (scenario.overlap.given()) {
    for (const int workers : scenario.overlap.workers) most = std::max(most, workers);
    return most;
  }
  const auto list = scenario_jobs(scenario, scenario.seed, lists);
  for (const JobRequest& job : list->jobs)
    if (!job.duration) most = std::max(most, job.gpus);
  return most;
}

/// Such as "7 of 8 interfaces of server0, the first server0/nic1, carry nothing while others do, and so on 3 servers".
std::string describe(const Topology& topology, const std::vector<NodeId>& idle) {
  const ServerId server = topology.nodes()[idle.front().index()].server;
  const auto in_server = [&](NodeId node) { return topology.nodes()[node.index()].server == server; };
  const auto here = std::ranges::count_if(idle, in_server);
  const auto all = std::ranges::count_if(
      topology.nodes(), [&](const Node& node) { return node.kind == NodeKind::nic && node.server == server; });
  std::size_t servers = 0;
  for (std::size_t i = 0; i < idle.size(); ++i) {
    const bool is_first =
        i == 0 || topology.nodes()[idle[i].index()].server != topology.nodes()[idle[i - 1].index()].server;
    if (is_first) ++servers;
  }
  return fmt::format(
      "{} of {} interfaces of server{} ({} first) carry none of its bytes while others of the server do{}", here, all,
      server.value(), topology.nodes()[idle.front().index()].name,
      servers > 1 ? fmt::format(", and {} servers in all have such interfaces", servers) : "");
}

/// The interfaces that an all-reduce over all GPUs of the first two servers leaves idle.
std::vector<NodeId> expected_idle(const NetworkSetup& network, const Topology& topology, std::uint64_t seed) {
  const auto router = build_router(network, topology, seed);
  const auto first =
      topology.gpus().first(topology.gpus_of(ServerId{0U}).size() + topology.gpus_of(ServerId{1U}).size());
  std::vector<NodeId> gpus{first.begin(), first.end()};
  const CollectiveSchedule schedule =
      collective_scheduler(network, topology, *router)(CollectiveKind::all_reduce, Bytes::mebibytes(64), gpus);
  std::vector<LinkId> used;
  for (const CoupledFlow& flow : coupled_flows(schedule, gpus, topology, *router, {})) {
    for (const LinkShare& use : flow.links) used.push_back(use.link);
  }
  return idle_interfaces(topology, used);
}

/// The other collectives that would use all interfaces.
std::string remedy(const NetworkSetup& network, const Topology& topology, std::uint64_t seed) {
  std::vector<std::string> better;
  for (const char* const name : {"auto", "ring", "hierarchical"}) {
    NetworkSetup other = network;
    other.collectives = name;
    if (network.collectives != name && expected_idle(other, topology, seed).empty())
      better.push_back(fmt::format("`{}`", name));
  }
  if (better.empty())
    return "A GPU sends through the interface next to it, and there are fewer GPUs than interfaces that they could use";
  return fmt::format("`network.collectives`: {} would use the interfaces of all GPUs", fmt::join(better, " or "));
}

}  // namespace

std::string version_note(int schema_version, const std::vector<std::string>& ideals) {
  if (ideals.empty()) return {};
  return fmt::format(
      "schema_version {} has ideals where version {} has what frameworks and libraries do: {}. Write `schema_version: "
      "{}`, or write these ideals too, which changes no figure",
      schema_version, kSchemaVersion, fmt::join(ideals, ", "), kSchemaVersion);
}

std::string flow_start_up_note(const Scenario& scenario, JobLists& lists) {
  const Time alpha = scenario.network.alpha;
  if (!scenario.network.traits().has_topology || alpha == Time{} ||
      cost_formula(scenario.network).basis == CostBasis::library)
    return {};
  const int ranks = most_ranks(scenario, lists);
  if (ranks < 2) return {};
  const int messages = 2 * (ranks - 1);
  return fmt::format(
      "network.alpha: at fidelity `flow` a transfer pays it once: {} for a ring all-reduce among {} GPUs, the most of "
      "a "
      "job here. At `analytic` and `contention` each message in a row pays it: {} x {} = {}. network.step_overhead is "
      "what `flow` adds to each step",
      print_quantity(alpha), ranks, messages, print_quantity(alpha), print_quantity(alpha * messages));
}

std::string expected_idle_interfaces(const ClusterSetup& cluster, const NetworkSetup& network, std::uint64_t seed) {
  if (!network.traits().has_topology || cluster.servers < 2) return {};
  const Topology topology = build_topology(cluster, network);
  const std::vector<NodeId> idle = expected_idle(network, topology, seed);
  if (idle.empty()) return {};
  return fmt::format("network.collectives: of an all-reduce by `{}` over two servers, {}. {}", network.collectives,
                     describe(topology, idle), remedy(network, topology, seed));
}

std::string seen_idle_interfaces(const ClusterSetup& cluster, const NetworkSetup& network, const RunResult& result) {
  if (!network.traits().has_topology || result.fabric.links.empty()) return {};
  const Topology topology = build_topology(cluster, network);
  std::map<JobId, std::vector<LinkId>> used;
  for (std::size_t link = 0; link < result.fabric.links.size(); ++link) {
    for (const FabricLinkResult::User& user : result.fabric.links[link].users) {
      if (user.bytes > 0) used[user.job].push_back(LinkId{link});
    }
  }
  std::size_t jobs = 0;
  std::string first;
  for (const auto& [job, links] : used) {
    const std::vector<NodeId> idle = idle_interfaces(topology, links);
    if (idle.empty()) continue;
    if (jobs++ == 0) first = fmt::format("of job {}, {}", result.jobs[job.index()].name, describe(topology, idle));
  }
  if (jobs == 0) return {};
  constexpr std::uint64_t kAnySeed = 1;  // of the hashes of routes
  const std::string others = jobs == 1 ? "" : fmt::format("; {} jobs leave interfaces idle", jobs);
  return fmt::format("{}{}. {}", first, others, remedy(network, topology, kAnySeed));
}

std::vector<std::string> effectless_notes(const NetworkSetup& network, const std::vector<TrainingEntry>& training) {
  std::vector<std::string> notes;
  if (!network.traits().shares && (network.eta || network.contention_penalty))
    notes.push_back(
        fmt::format("network.{}: changes nothing at fidelity `{}`, where no transfer slows another down; `contention` "
                    "has it",
                    network.eta ? "eta" : "contention_penalty", network.traits().name));
  constexpr double kGbps = 1e9 / 8;
  const ServerSpec& server = network.topology.server;
  const bool has_own_links = find_machine(server.kind) == nullptr;
  if (network.traits().has_topology && has_own_links && network.nic && *network.nic > server.pcie_bandwidth)
    notes.push_back(fmt::format(
        "network.nic: a GPU reaches an interface of {:g}Gbps through PCIe at {:g}Gbps, which limits its transfers at "
        "fidelity `flow`; network.server.pcie_bandwidth sets that rate",
        network.nic->bytes_per_second() / kGbps, server.pcie_bandwidth.bytes_per_second() / kGbps));
  for (const TrainingEntry& entry : training) {
    if (!entry.parallel) continue;
    const ParallelSetup& parallel = *entry.parallel;
    if (parallel.zero == 3 && parallel.bucket > 0)
      notes.push_back(
          fmt::format("training.{}.parallel.bucket: changes nothing with zero: 3, which exchanges each layer by itself",
                      entry.name));
    if (parallel.tensor == 1 && parallel.sequence_parallel)
      notes.push_back(
          fmt::format("training.{}.parallel.sequence_parallel: changes nothing with tensor: 1, where no "
                      "other GPU has a part of a layer",
                      entry.name));
  }
  return notes;
}

std::string nccl_machine_note(const NetworkSetup& network) {
  const bool by_library = cost_formula(network).basis == CostBasis::library && network.nccl.machine;
  const std::optional<std::string>& name = by_library ? network.nccl.machine : network.machine;
  if (!name) return {};
  const TextEntry& machine = *find_machine(*name);
  if (!network.traits().has_topology) {
    constexpr double kBytesOfGbit = 1e9 / 8, kAlike = 0.1;
    const double line = machine.number("line"), nics = machine.number("nics");
    if (!network.nic || network.nic == default_scenario().network.nic || line == 0) return {};
    const double lines = network.nic->bytes_per_second() / (line * kBytesOfGbit);
    if (std::abs(lines / nics - 1) < kAlike) return {};
    if (std::abs(lines - 1) < kAlike)
      return fmt::format(
          "network.nic: {:g}Gbps is the rate of one of the {:g} interfaces of a {}; without a topology network.nic is "
          "the rate of all interfaces of a server together, {:g}Gbps",
          line, nics, machine.name, line * nics);
    if (!by_library) return {};
    return fmt::format(
        "network.nic: with network.formula: nccl collectives take what NCCL takes with the {:g} interfaces of a {}, of "
        "{:g}Gbps each; network.nic is for messages from GPU to GPU only",
        nics, machine.name, line);
  }
  if (!by_library) return {};
  const std::string& built = network.topology.server.kind;
  const bool is_known = std::ranges::find(nccl_machines(), built, &NcclMachine::name) != nccl_machines().end();
  if (!is_known || built == machine.name) return {};
  return fmt::format(
      "network.nccl.machine: NCCL plans with the links of a {}, and network.server has those of a {}; name the same "
      "machine in both",
      machine.name, built);
}

std::string seen_torn_groups(const std::vector<TrainingEntry>& training, const RunResult& result) {
  const JobResult* first = nullptr;
  std::size_t others = 0;
  for (const JobResult& job : result.jobs) {
    const TrainingEntry* const entry = find_entry(training, job.model);
    if (!job.torn || entry == nullptr || entry->parallel->across_servers) continue;
    if (first == nullptr)
      first = &job;
    else
      ++others;
  }
  if (first == nullptr) return {};
  return fmt::format(
      "{}{} lay on {} servers with groups of ranks torn apart that belong on one server: what these send passes the "
      "network; policies.placement: groups keeps them together",
      first->name, others > 0 ? fmt::format(" (as {} other jobs)", others) : "", first->servers);
}

std::string nothing_to_weigh_note(const PolicyChoice& scheduling, const ClusterSetup& cluster,
                                  const std::function<std::shared_ptr<const JobList>()>& jobs) {
  const std::string& name = scheduling.name;
  const auto rows = scheduling_policies();
  const auto row = std::ranges::find(rows, name, &PolicyRow<SchedulingPolicy>::name);
  if (row == rows.end()) return {};
  const auto has_deadline = [](const JobRequest& job) { return job.deadline.has_value(); };
  const auto has_price = [](const NamedServerType& type) { return type.price > 0; };
  if (row->weighs == Weighs::deadlines && std::ranges::none_of(jobs()->jobs, has_deadline))
    return fmt::format("policies.scheduling: {} weighs deadlines, and no job has one (`deadline_s` of the job list)",
                       name);
  if (row->weighs == Weighs::prices && std::ranges::none_of(cluster.types, has_price))
    return fmt::format(
        "policies.scheduling: {} weighs prices, and no type of servers has one (`price` in `cluster.types`)", name);
  return {};
}

std::string service_share_note(const ClusterSetup& cluster, const FailureSetup& failures) {
  constexpr double kHardlyEver = 0.1;  // jobs take more than ten times as long as without failures
  constexpr double kOften = 0.9;       // components that work for longer are not to blame
  double share = 1;
  std::vector<std::string> blamed;
  for (const ComponentClass& each : failing_components(cluster, failures)) {
    if (each.slows) continue;
    const Time up = each.failure.mean(), down = each.repair.mean();
    const double works = up.to_seconds() / (up.to_seconds() + down.to_seconds());
    const bool takes_server = each.drains && each.gpus < cluster.gpus_per_server;
    const double all_work = std::pow(works, takes_server ? cluster.gpus_per_server / each.gpus : 1);
    share *= all_work;
    if (all_work > kOften) continue;
    blamed.push_back(fmt::format("each `{}` fails after {} and is repaired in {} on average{}", each.name,
                                 print_quantity(up), print_quantity(down),
                                 takes_server ? ", and takes its server with it" : ""));
  }
  if (share >= kHardlyEver) return {};
  return fmt::format(
      "failures: a GPU is in service for {:.3g}% of the time: {}; jobs wait for the rest of the time, and the run may "
      "take very long",
      share * 100, fmt::join(blamed, "; "));
}

}  // namespace contend
