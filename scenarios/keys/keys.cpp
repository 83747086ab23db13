#include "scenarios/keys/keys.hpp"

#include "network/collectives/choice.hpp"
#include "network/library/nccl_machine.hpp"
#include "scenarios/keys/expectation_codec.hpp"
#include "scenarios/keys/failure_keys.hpp"
#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/like_keys.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/scheduling_keys.hpp"
#include "scenarios/keys/study_keys.hpp"
#include "scenarios/keys/topology_codec.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "scenarios/keys/type_keys.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/sweep/sweep_keys.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace contend {
namespace {

using key_rows::displacing;
using key_rows::kDay;
using key_rows::kHour;
using key_rows::property;
using key_rows::row;

constexpr std::int64_t kMaxJobs = 1'000'000;
constexpr std::int64_t kMaxIterations = 1'000'000'000'000;

bool is_flow(const Scenario& scenario) {
  return scenario.network.fidelity == Fidelity::flow;
}

bool uses_nccl(const Scenario& scenario) {
  return !is_flow(scenario) && scenario.network.formula == CostFormula::nccl;
}

/// A key that needs a number of servers from which on they disturb each other.
ScenarioKey has_many_senders(ScenarioKey key) {
  key.needs = "network.many_senders.free";
  key.conditions = {[](const Scenario& scenario) { return scenario.network.many_senders.free.has_value(); }};
  return key;
}

bool is_not_flow(const Scenario& scenario) {
  return !is_flow(scenario);
}

bool studies_jobs(const Scenario& scenario) {
  return !scenario.overlap.given();
}

bool studies_iteration(const Scenario& scenario) {
  return scenario.overlap.given();
}

/// Scenarios that draw random numbers: those with jobs, and studies with links between pairs of workers.
bool draws(const Scenario& scenario) {
  return !scenario.overlap.given() || scenario.overlap.links;
}

/// A key that only exists at fidelity `flow`.
ScenarioKey flow_only(ScenarioKey key) {
  key.needs = "network.fidelity: flow";
  key.conditions = {is_flow};
  return key;
}

/// A key that does not exist at fidelity `flow`.
ScenarioKey no_flow(ScenarioKey key) {
  key.needs = "network.fidelity: analytic or contention";
  key.conditions = {is_not_flow};
  return key;
}

/// Keys of jobs and clusters are invalid in an iteration study, and `overlap.*` is invalid in a study of jobs.
ScenarioKey for_its_study(ScenarioKey key) {
  constexpr std::string_view kOfJobs[] = {"repeat",  "cluster.", "policies.", "scheduling.", "workload.",
                                          "engine.", "measure.", "expect",    "failures.",   "checkpoints."};
  const auto add = [&](KeyCondition condition, std::string_view needs) {
    key.conditions.push_back(condition);
    if (key.needs.empty()) key.needs = needs;
  };
  if (key.path == "seed") {
    add(draws, "a study of jobs, or overlap.links");
  } else if (std::any_of(std::begin(kOfJobs), std::end(kOfJobs),
                         [&](std::string_view group) { return key.path.starts_with(group); })) {
    add(studies_jobs, "a study of jobs (no overlap.model or overlap.layers)");
  } else if (key.path.starts_with("network.") && key.path != "network.gamma") {
    add(has_no_links, "no overlap.links");
  } else if (key.path.starts_with("overlap.") && key.path != "overlap.model" && key.path != "overlap.layers" &&
             key.path != "overlap.training") {
    add(studies_iteration, "overlap.model or overlap.layers");
  }
  return key;
}

/// A key of the file itself, not of the scenario that it describes: there is nothing of it to store or to show.
class FileKeyIo : public KeyIo {
 public:
  void read(const YamlNode&, const Reading&, Scenario&) const override {}
  void reset(Scenario&) const final {}
  [[nodiscard]] std::string print(const Scenario&) const override { return {}; }
  [[nodiscard]] std::optional<PlainValue> plain(const Scenario&, PartNames) const final { return std::nullopt; }
  [[nodiscard]] std::optional<PlainValue> part(const Scenario&, std::string_view) const final { return std::nullopt; }
};

class VersionIo final : public FileKeyIo {
 public:
  VersionIo() {
    type = "integer";
    range = "1";
  }
  void schema(JsonWriter& json) const override { json.member("const", 1); }
  void read(const YamlNode& node, const Reading& reading, Scenario&) const override {
    int version = 1;
    integer_codec<int>(1, 1).read(node, reading, version);
  }
  [[nodiscard]] std::string print(const Scenario&) const override { return "1"; }
};

class IncludeIo final : public FileKeyIo {
 public:
  IncludeIo() { type = "path or list of paths"; }
  void schema(JsonWriter& json) const override {
    json.key("anyOf").begin_array();
    json.begin_object().member("type", "string").end_object();
    json.begin_object().member("type", "array").key("items").begin_object().member("type", "string").end_object();
    json.end_object().end_array();
  }
};

ScenarioKey version_key() {
  ScenarioKey key = key_rows::key_of("schema_version", std::make_unique<const VersionIo>(),
                                     "version of the scenario format; required in every file");
  key.role = KeyRole::schema_version;
  return key;
}

ScenarioKey include_key() {
  ScenarioKey key =
      key_rows::key_of("include", std::make_unique<const IncludeIo>(),
                       "files whose keys this file takes over, relative to this file; later files override "
                       "earlier ones, this file overrides all");
  key.role = KeyRole::include;
  return key;
}

std::vector<ScenarioKey> run_keys() {
  return {
      version_key(),
      include_key(),
      row(
          "name", [](auto& s) -> auto& { return s.name; }, title_codec(), "short name, for tables and plots"),
      row(
          "description", [](auto& s) -> auto& { return s.description; }, text_codec(), "purpose of the scenario"),
      row(
          "seed", [](auto& s) -> auto& { return s.seed; }, integer_codec<std::uint64_t>(0, INT64_MAX),
          "seed of the first replica"),
      row(
          "repeat", [](auto& s) -> auto& { return s.repeat; }, integer_codec<int>(1, 100'000),
          "replicas, with the seeds seed, seed + 1, ..."),
  };
}

std::vector<ScenarioKey> cluster_keys() {
  std::vector<ScenarioKey> keys{
      row(
          "cluster.servers", [](auto& s) -> auto& { return s.cluster.servers; }, integer_codec<int>(1, 1'000'000),
          "number of servers; each has one network interface unless network.server describes it"),
      row(
          "cluster.gpus_per_server", [](auto& s) -> auto& { return s.cluster.gpus_per_server; },
          integer_codec<int>(1, 1024), "GPUs of each server"),
      row(
          "cluster.gpu_memory", [](auto& s) -> auto& { return s.cluster.gpu_memory; },
          quantity_codec(Bytes{1}, Bytes{std::int64_t{1} << 50}), "memory of each GPU"),
  };
  for (ScenarioKey& key : keys) {  // with types they follow from these
    key.conditions = {[](const Scenario& scenario) { return scenario.cluster.types.empty(); }};
  }
  keys.push_back(types_key());
  return keys;
}

Codec<std::string> collective_codec() {
  std::vector<std::pair<std::string, std::string>> names{{std::string{kAutoCollective}, std::string{kAutoCollective}}};
  for (const CollectiveAlgorithm& each : collective_algorithms()) {
    names.emplace_back(std::string{each.name}, std::string{each.name});
  }
  return choice_codec<std::string>(std::move(names));
}

Codec<CostFormula> formula_codec() {
  std::vector<std::pair<std::string, CostFormula>> names;
  for (const CostFormula formula : {CostFormula::automatic, CostFormula::ring, CostFormula::halving_doubling,
                                    CostFormula::measured, CostFormula::nccl})
    names.emplace_back(to_string(formula), formula);
  return choice_codec<CostFormula>(std::move(names));
}

Codec<std::string> nccl_version_codec() {
  Codec<std::string> codec = text_codec();
  codec.type = "version";
  codec.range = "2.10.3 or 2.18.5 or 2.23.4 to 2.30.7";
  codec.read = [](const YamlNode& node, const Reading& reading, std::string& value) {
    try {
      if (node.kind == YamlNode::Kind::scalar) {
        value = print_version(read_nccl_version(node.text));
        return;
      }
    } catch (const InputError&) {  // the text below says which versions are known
    }
    reading.expected("a version of NCCL whose constants are known: 2.10.3, 2.18.5 or 2.23.4 to 2.30.7", node);
  };
  return codec;
}

/// Keys of the library, which take part where the formula is nccl.
std::vector<ScenarioKey> nccl_keys() {
  std::vector<std::string> machines;
  for (const NcclMachine& each : nccl_machines()) machines.emplace_back(each.name);
  std::vector<ScenarioKey> keys{
      row(
          "network.nccl.machine", [](auto& s) -> auto& { return s.network.nccl.machine; },
          optional_codec(name_codec(machines), ""),
          "server whose GPUs, links and interfaces NCCL plans its channels on"),
      row(
          "network.nccl.version", [](auto& s) -> auto& { return s.network.nccl.version; }, nccl_version_codec(),
          "version of NCCL"),
      row(
          "network.nccl.sharp", [](auto& s) -> auto& { return s.network.nccl.sharp; }, bool_codec(),
          "whether the switches of the network add (SHARP)"),
      row(
          "network.nccl.latency", [](auto& s) -> auto& { return s.network.nccl.latency; },
          quantity_codec(Time{}, kHour), "latency that the plug-in of the network states; 0s: InfiniBand and sockets"),
      row(
          "network.nccl.hop", [](auto& s) -> auto& { return s.network.nccl.hop; },
          optional_codec(quantity_codec(Time::nanoseconds(1), kHour), "auto"),
          "measured latency of a hop, as `contend collective --fit` prints it; auto: the constants of NCCL, which are "
          "those of InfiniBand"),
      row(
          "network.nccl.rate", [](auto& s) -> auto& { return s.network.nccl.channel_rate; },
          optional_codec(quantity_codec(ByteRate{125}, ByteRate{1.25e14}), "auto"),
          "measured bandwidth of a channel, as `contend collective --fit` prints it; auto: what NCCL plans"),
  };
  for (ScenarioKey& key : keys) {
    key.needs = "network.formula: nccl";
    key.conditions = {uses_nccl};
  }
  return keys;
}

/// `none`, `auto`, or a number. As none is what holds without the key, it isn't kept.
Codec<std::optional<Scenario::Network::InterferenceChoice>> interference_codec() {
  using Choice = Scenario::Network::InterferenceChoice;
  const Codec<double> number = number_codec(0, 1'000);
  Codec<std::optional<Choice>> codec;
  codec.type = "number, auto or none";
  codec.range = number.range;
  codec.is_optional = true;
  codec.schema = [number](JsonWriter& json) {
    any_of_schema(json, number.schema,
                  [](JsonWriter& names) { names.key("enum").begin_array().value("auto").value("none").end_array(); });
  };
  codec.read = [number](const YamlNode& node, const Reading& reading, std::optional<Choice>& value) {
    const bool is_word = node.kind == YamlNode::Kind::scalar;
    if (is_word && node.text == "none") {
      value.reset();
    } else if (is_word && node.text == "auto") {
      value = Choice{.usual = true};
    } else {
      const std::size_t before = reading.complaints.size();
      double factor = 0;
      number.read(node, reading, factor);
      if (reading.complaints.size() != before)
        reading.complaints.back().hint = "or auto, none, or a map {compute: 0.2, network: 0.2}";
      else
        value = Choice{.factor = factor};
    }
  };
  codec.print = [number](const std::optional<Choice>& value) {
    if (!value) return std::string{};
    return value->usual ? std::string{"auto"} : number.print(value->factor);
  };
  codec.plain = [number](const std::optional<Choice>& value, PartNames apart) -> std::optional<PlainValue> {
    if (!value) return std::nullopt;
    if (value->usual) return PlainValue{"auto", std::nullopt};
    return plain_value(number, value->factor, apart);
  };
  return codec;
}

std::vector<ScenarioKey> network_keys() {
  const Codec<TimePerByte> slope = quantity_codec(TimePerByte{0}, TimePerByte{1e6});
  return {
      row(
          "network.fidelity", [](auto& s) -> auto& { return s.network.fidelity; },
          choice_codec<Fidelity>(
              {{"analytic", Fidelity::analytic}, {"contention", Fidelity::contention}, {"flow", Fidelity::flow}}),
          "network model: analytic ignores contention; contention lets transfers on one interface slow each other "
          "down; flow shares every link of a topology"),
      displacing({"network.beta", "network.eta", "overlap.fitted_workers", "overlap.fitted_bytes"},
                 row(
                     "network.nic", [](auto& s) -> auto& { return s.network.nic; },
                     optional_codec(quantity_codec(ByteRate{125}, ByteRate{1.25e14}), "auto"),
                     "line rate of each interface of a server; auto: 1/beta, or 10Gbps if beta is auto too")),
      row(
          "network.alpha", [](auto& s) -> auto& { return s.network.alpha; }, quantity_codec(Time{}, kHour),
          "start-up time of a transfer; see network.formula"),
      no_flow(
          displacing({"network.nic", "overlap.fitted_workers", "overlap.fitted_bytes"},
                     row(
                         "network.beta", [](auto& s) -> auto& { return s.network.beta; }, optional_codec(slope, "auto"),
                         "time per byte of a transfer without contention; auto: 1/nic"))),
      no_flow(row(
          "network.eta", [](auto& s) -> auto& { return s.network.eta; }, optional_codec(slope, "auto"),
          "further time per byte for each other transfer on the interface; auto: 0.2745 x beta, the ratio "
          "0.235/0.856 of the 10 GbE fit in the authors' simulator of arXiv 2002.10105")),
      no_flow(row(
          "network.tick", [](auto& s) -> auto& { return s.network.tick; }, quantity_codec(Time{}, kHour),
          "transfers end at the next multiple of this time; 0s: exactly")),
      no_flow(row(
          "network.formula", [](auto& s) -> auto& { return s.network.formula; }, formula_codec(),
          "what alpha and beta are the costs of: a link, from which a ring or halving-doubling gives the cost of a "
          "collective by its ranks, or the whole all-reduce (measured); nccl: collectives take what NCCL expects on "
          "network.nccl.machine, and only messages alpha and beta; auto: measured in a run of jobs that gives "
          "network.beta, else ring")),
      no_flow(row(
          "network.gamma", [](auto& s) -> auto& { return s.network.gamma; }, slope,
          "time to add up a received byte; not used with network.formula: measured")),
      no_flow(row(
          "network.inside.alpha", [](auto& s) -> auto& { return s.network.inside.alpha; },
          quantity_codec(Time{}, kHour), "start-up time of a transfer inside a server")),
      no_flow(displacing({"network.inside.beta"},
                         row(
                             "network.inside.bandwidth", [](auto& s) -> auto& { return s.network.inside.bandwidth; },
                             optional_codec(quantity_codec(ByteRate{125}, ByteRate{1.25e14}), "auto"),
                             "bandwidth of each GPU's link inside its server, in each direction; auto: 1/beta, or "
                             "transfers inside a server take no time if neither is given"))),
      no_flow(displacing({"network.inside.bandwidth"},
                         row(
                             "network.inside.beta", [](auto& s) -> auto& { return s.network.inside.beta; },
                             optional_codec(slope, "auto"), "time per byte inside a server; auto: 1/bandwidth"))),
      displacing({"network.interference.compute", "network.interference.network"},
                 row(
                     "network.interference", [](auto& s) -> auto& { return s.network.interference.both; },
                     interference_codec(),
                     "what computing and communicating on one GPU cost each other: one number for both factors below, "
                     "none, or auto, the figure that is usual for the device (`contend list interferences`)")),
      displacing({"network.interference"},
                 row(
                     "network.interference.compute", [](auto& s) -> auto& { return s.network.interference.compute; },
                     number_codec(0, 1'000),
                     "a task takes 1 + this times as long while its GPU communicates; 0: computing is not slowed "
                     "down")),
      no_flow(displacing({"network.interference"},
                         row(
                             "network.interference.network",
                             [](auto& s) -> auto& { return s.network.interference.network; }, number_codec(0, 1'000),
                             "a byte takes 1 + this times as long while a GPU of the transfer computes; 0: "
                             "communication is not slowed down"))),
      no_flow(row(
          "network.many_senders.free", [](auto& s) -> auto& { return s.network.many_senders.free; },
          optional_codec(number_codec(1, 1e6), ""),
          "servers that may send at once without disturbing each other; with more of them a byte of a collective takes "
          "(servers / this)^exponent times as long, as measured on 1 GbE with TCP, where it is 7.5; not in trees, "
          "where few send")),
      has_many_senders(row(
          "network.many_senders.exponent", [](auto& s) -> auto& { return s.network.many_senders.exponent; },
          number_codec(0, 4),
          "how fast that grows; 1.6 fits all-reduces among 16 and 32 servers on the cluster of gTop-k (ICDCS 2019)")),
  };
}

std::vector<ScenarioKey> planning_keys() {
  std::vector<ScenarioKey> keys{
      row(
          "network.planning.order", [](auto& s) -> auto& { return s.network.planning.order; },
          choice_codec<PlanningOrder>({{"arrival", PlanningOrder::arrival}, {"intensity", PlanningOrder::intensity}}),
          "which jobs choose their paths first: as they start (C4P, arXiv 2406.04594), or those with the most work for "
          "each second of communication, whenever a job starts or leaves (Crux, SIGCOMM 2024)"),
      row(
          "network.planning.levels", [](auto& s) -> auto& { return s.network.planning.levels; },
          integer_codec<int>(1, kMostPriorityLevels),
          "levels of priority of the bytes of jobs that share links, the most intense first (Crux); 1: all alike"),
      row(
          "network.planning.shifts", [](auto& s) -> auto& { return s.network.planning.shifts; }, bool_codec(),
          "jobs that share links begin their iterations in turns, so that one sends while another computes (CASSINI, "
          "NSDI 2024)"),
  };
  for (ScenarioKey& key : keys) {
    key = flow_only(std::move(key));
    key.needs = "network.fidelity: flow and network.routing: planned";
    key.conditions.push_back([](const Scenario& scenario) { return scenario.network.routing == Routing::planned; });
  }
  return keys;
}

std::vector<ScenarioKey> flow_keys() {
  std::vector<ScenarioKey> keys{
      row(
          "network.fabric", [](auto& s) -> auto& { return s.network.topology.fabric; }, fabric_codec(),
          "switches and the links between them"),
      row(
          "network.server", [](auto& s) -> auto& { return s.network.topology.server; }, server_codec(),
          "links between the GPUs of a server and to its network interfaces"),
      row(
          "network.routing", [](auto& s) -> auto& { return s.network.routing; },
          choice_codec<Routing>({{"shortest-path", Routing::shortest_path},
                                 {"ecmp", Routing::ecmp},
                                 {"spraying", Routing::spraying},
                                 {"ethereal", Routing::ethereal},
                                 {"planned", Routing::planned}}),
          "how flows choose among shortest paths: one path per pair; one per flow by hash; an even split over all; for "
          "flows that start together, the few splits that load links as an even split does (arXiv 2407.00550); or for "
          "each connection of a job the emptiest path, planned with the traffic of all jobs (network.planning)"),
      row(
          "network.routes", [](auto& s) -> auto& { return s.network.routes; }, optional_codec(path_codec(), ""),
          "file of planned routes (YAML), relative to the file with this key; other flows follow network.routing"),
      row(
          "network.collectives", [](auto& s) -> auto& { return s.network.collectives; }, collective_codec(),
          "algorithm of the collectives for the numbers of ranks that it supports, and auto for others: the fastest on "
          "the idle fabric"),
      row(
          "network.step_overhead", [](auto& s) -> auto& { return s.network.step_overhead; },
          quantity_codec(Time{}, kHour),
          "time of each step of a collective in addition to link latency; NCCL 2 assumes 3.4us within and 14us between "
          "servers (src/graph/tuning.cc)"),
      row(
          "network.contention_penalty", [](auto& s) -> auto& { return s.network.contention_penalty; },
          number_codec(0, 1'000), "eta / beta: further time per byte for each other flow on an interface"),
      row(
          "network.efficiency", [](auto& s) -> auto& { return s.network.efficiency; },
          list_codec(number_codec(1e-6, 1), "factors"),
          "share of its bandwidth that a link delivers with 1, 2, ... flows; the last value holds for more flows; "
          "empty: all of it"),
      row(
          "network.events", [](auto& s) -> auto& { return s.network.events; }, optional_codec(path_codec(), ""),
          "file of link changes over time (CSV), relative to the file with this key"),
      row(
          "network.link_interval", [](auto& s) -> auto& { return s.network.link_interval; },
          quantity_codec(Time{}, kDay), "interval between samples of link utilisation; 0s: no samples"),
      row(
          "network.delays", [](auto& s) -> auto& { return s.network.delays; }, bool_codec(),
          "write fabric_delays.csv: the time that each job's transfers lost on each link to each other job; costs time "
          "where many flows share a link"),
  };
  for (ScenarioKey& key : keys) key = flow_only(std::move(key));
  for (ScenarioKey& key : planning_keys()) keys.push_back(std::move(key));
  return keys;
}

std::vector<ScenarioKey> policy_keys() {
  return {
      row(
          "policies.scheduling", [](auto& s) -> auto& { return s.scheduling; }, policy_codec(policy_kind("scheduling")),
          "chooses the queued job that starts next"),
      row(
          "policies.placement", [](auto& s) -> auto& { return s.placement; }, policy_codec(policy_kind("placement")),
          "chooses the GPUs of a starting job"),
      row(
          "policies.communication", [](auto& s) -> auto& { return s.communication; },
          policy_codec(policy_kind("communication")), "decides when a waiting transfer may enter the network"),
  };
}

std::vector<ScenarioKey> workload_keys() {
  using Interval = std::pair<std::int64_t, std::int64_t>;
  std::vector<ScenarioKey> keys{
      jobs_key(),
      row(
          "workload.generate.models", [](auto& s) -> auto& { return s.workload.generate.models; }, models_codec(),
          "what the jobs train: entries of training or training profiles, chosen with equal probability"),
      row(
          "workload.generate.sizes", [](auto& s) -> auto& { return s.workload.generate.sizes; },
          sizes_codec(kMaxGpus, kMaxJobs), "number of jobs for each number of GPUs"),
      property<Interval>(
          "workload.generate.iterations",
          [](const Scenario& s) {
            return Interval{s.workload.generate.min_iterations, s.workload.generate.max_iterations};
          },
          [](Scenario& s, Interval value) {
            s.workload.generate.min_iterations = value.first;
            s.workload.generate.max_iterations = value.second;
          },
          interval_codec(1, kMaxIterations), "iterations of a job, uniform between these bounds, both included"),
      row(
          "workload.generate.arrivals", [](auto& s) -> auto& { return s.workload.generate.arrival_window; },
          quantity_codec(Time::milliseconds(1), 3650 * kDay),
          "jobs arrive at whole milliseconds, uniform in [0, this time); 1ms: all at the start"),
  };
  for (ScenarioKey& key : keys) {
    if (key.displaces.empty()) key.displaces = {"workload.jobs", "workload.like"};
  }
  keys.push_back(scatter_penalty_key());
  for (ScenarioKey& key : throughput_keys()) keys.push_back(std::move(key));
  std::vector<ScenarioKey> like = like_keys();
  keys.insert(keys.begin() + 1, std::make_move_iterator(like.begin()), std::make_move_iterator(like.end()));
  return keys;
}

std::vector<ScenarioKey> training_keys() {
  return {row(
      "training", [](auto& s) -> auto& { return s.training; }, training_codec(),
      "how jobs train, by names that job lists and workload.generate.models give: a network, its device, how its "
      "gradients are merged and compressed; the entry `default` holds for all others")};
}

std::vector<ScenarioKey> engine_keys() {
  return {
      row(
          "engine.leap", [](auto& s) -> auto& { return s.engine.leap; }, bool_codec(),
          "skip whole periods when the state of the simulation recurs; results are the same either way"),
      row(
          "engine.until", [](auto& s) -> auto& { return s.engine.until; },
          optional_codec(quantity_codec(Time::nanoseconds(1), 36'500 * kDay), "none"),
          "stop the simulation at this time"),
  };
}

std::vector<ScenarioKey> measure_keys() {
  return {
      row(
          "measure.from", [](auto& s) -> auto& { return s.measure.from; }, quantity_codec(Time{}, 36'500 * kDay),
          "figures are about jobs that are submitted from this time on; jobs before them only fill the cluster"),
      row(
          "measure.until", [](auto& s) -> auto& { return s.measure.until; },
          optional_codec(quantity_codec(Time::nanoseconds(1), 36'500 * kDay), "none"),
          "figures are about jobs that are submitted before this time; the run ends when these have ended, and jobs "
          "after them keep the cluster busy until then"),
  };
}

std::vector<ScenarioKey> expectation_keys() {
  return {row(
      "expect", [](auto& s) -> auto& { return s.expect; }, expectations_codec(),
      "bounds that figures of the run must meet, as means over replicas; if one is missed, `run`, `compare` and "
      "`sweep` (for any of its points) exit with 1")};
}

}  // namespace

const std::vector<ScenarioKey>& scenario_keys() {
  static const std::vector<ScenarioKey> keys = [] {
    std::vector<ScenarioKey> all;
    for (const auto& make : {run_keys, cluster_keys, host_keys, network_keys, nccl_keys, flow_keys, policy_keys,
                             scheduling_keys, failure_keys, checkpoint_keys, training_keys, workload_keys, study_keys,
                             engine_keys, measure_keys, expectation_keys, sweep_keys}) {
      for (ScenarioKey& key : make()) all.push_back(for_its_study(std::move(key)));
    }
    return all;
  }();
  return keys;
}

const Scenario& default_scenario() {
  static const Scenario defaults = [] {
    Scenario scenario;
    scenario.network.nic = ByteRate{1.25e9};
    scenario.scheduling = default_policy(policy_kind("scheduling"), "srsf");
    scenario.placement = default_policy(policy_kind("placement"), "lwf");
    scenario.communication = default_policy(policy_kind("communication"), "srsf");
    scenario.overlap.fusion = default_fusion();
    scenario.overlap.compression = {default_policy(policy_kind("compression"), "none")};
    return scenario;
  }();
  return defaults;
}

bool is_set(const ScenarioKey& key, const Scenario& scenario) {
  const std::string text = key.io->print(scenario);
  return !text.empty() && text != key.io->unset;
}

bool applies(const ScenarioKey& key, const Scenario& scenario) {
  return std::all_of(key.conditions.begin(), key.conditions.end(), [&](KeyCondition holds) { return holds(scenario); });
}

bool displaces(const ScenarioKey& key, const ScenarioKey& other) {
  const auto is_below = [](std::string_view path, std::string_view name) {
    return path.starts_with(name) && path[name.size()] == '.';
  };
  return std::any_of(key.displaces.begin(), key.displaces.end(), [&](std::string_view name) {
    // A key that displaces the whole that it is a part of leaves the other parts alone.
    return other.path == name || (is_below(other.path, name) && !is_below(key.path, name));
  });
}

}  // namespace contend
