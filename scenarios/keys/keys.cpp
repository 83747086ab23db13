#include "scenarios/keys/keys.hpp"

#include "network/collectives/choice.hpp"
#include "scenarios/keys/expectation_codec.hpp"
#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/like_keys.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/scheduling_keys.hpp"
#include "scenarios/keys/study_keys.hpp"
#include "scenarios/keys/topology_codec.hpp"
#include "scenarios/sweep/sweep_keys.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

namespace contend {
namespace {

using key_rows::displacing;
using key_rows::property;
using key_rows::row;

constexpr std::int64_t kMaxJobs = 1'000'000;
constexpr std::int64_t kMaxIterations = 1'000'000'000'000;
constexpr Time kHour = Time::seconds(3600);
constexpr Time kDay = 24 * kHour;

bool is_flow(const Scenario& scenario) {
  return scenario.network.fidelity == Fidelity::flow;
}

/// A key that only the fidelity `flow` knows.
ScenarioKey flow_only(ScenarioKey key) {
  key.needs = "network.fidelity: flow";
  key.applies = is_flow;
  return key;
}

/// A key that the fidelity `flow` does not know.
ScenarioKey no_flow(ScenarioKey key) {
  key.needs = "network.fidelity: analytic or contention";
  key.applies = [](const Scenario& scenario) { return !is_flow(scenario); };
  return key;
}

/// A study of one iteration has no use for jobs and clusters, and a study of jobs none for `overlap`.
ScenarioKey for_its_study(ScenarioKey key) {
  constexpr std::string_view kOfJobs[] = {"seed",        "repeat",    "cluster.", "policies.",
                                          "scheduling.", "workload.", "engine.",  "expect"};
  if (std::any_of(std::begin(kOfJobs), std::end(kOfJobs),
                  [&](std::string_view group) { return key.path.starts_with(group); })) {
    if (key.needs.empty()) key.needs = "a study of jobs (no overlap.model or overlap.layers)";
    const bool draws = key.path == "seed";  // pairs of workers
    if (draws) key.needs = "a study of jobs, or overlap.links";
    key.applies = [own = key.applies, draws](const Scenario& scenario) {
      return (!scenario.overlap.given() || (draws && scenario.overlap.links)) && (!own || own(scenario));
    };
  } else if (key.path.starts_with("network.")) {
    if (key.needs.empty()) key.needs = "no overlap.links";
    key.applies = [own = key.applies](const Scenario& scenario) {
      return has_no_links(scenario) && (!own || own(scenario));
    };
  } else if (key.path.starts_with("overlap.") && key.path != "overlap.model" && key.path != "overlap.layers") {
    if (key.needs.empty()) key.needs = "overlap.model or overlap.layers";
    key.applies = [own = key.applies](const Scenario& scenario) {
      return scenario.overlap.given() && (!own || own(scenario));
    };
  }
  return key;
}

/// A key of the file itself, not of the scenario that it describes.
ScenarioKey file_key(KeyRole role, std::string_view path, std::string type, std::string_view text) {
  ScenarioKey key;
  key.path = path;
  key.type = std::move(type);
  key.text = text;
  key.role = role;
  key.read = [](const YamlNode&, const Reading&, Scenario&) {};
  key.reset = [](Scenario&) {};
  key.print = [](const Scenario&) { return std::string{}; };
  return key;
}

ScenarioKey version_key() {
  ScenarioKey key =
      file_key(KeyRole::schema_version, "schema_version", "integer", "version of this format; required in every file");
  const Codec<int> codec = integer_codec<int>(1, 1);
  key.range = "1";
  key.schema = [](JsonWriter& json) { json.member("const", 1); };
  key.read = [codec](const YamlNode& node, const Reading& reading, Scenario&) {
    int version = 1;
    codec.read(node, reading, version);
  };
  key.print = [](const Scenario&) { return std::string{"1"}; };
  return key;
}

ScenarioKey include_key() {
  ScenarioKey key = file_key(KeyRole::include, "include", "path or list of paths",
                             "files to start from, relative to this one; later ones win, this file wins over all");
  key.schema = [](JsonWriter& json) {
    json.key("anyOf").begin_array();
    json.begin_object().member("type", "string").end_object();
    json.begin_object()
        .member("type", "array")
        .key("items")
        .begin_object()
        .member("type", "string")
        .end_object()
        .end_object();
    json.end_array();
  };
  return key;
}

std::vector<ScenarioKey> run_keys() {
  return {
      version_key(),
      include_key(),
      row(
          "name", [](auto& s) -> auto& { return s.name; }, text_codec(), "short name, for tables and plots"),
      row(
          "description", [](auto& s) -> auto& { return s.description; }, text_codec(), "what the scenario is about"),
      row(
          "seed", [](auto& s) -> auto& { return s.seed; }, integer_codec<std::uint64_t>(0, INT64_MAX),
          "seed of the first replica"),
      row(
          "repeat", [](auto& s) -> auto& { return s.repeat; }, integer_codec<int>(1, 100'000),
          "replicas, with the seeds seed, seed + 1, ..."),
  };
}

std::vector<ScenarioKey> cluster_keys() {
  return {
      row(
          "cluster.servers", [](auto& s) -> auto& { return s.cluster.servers; }, integer_codec<int>(1, 1'000'000),
          "servers; each has one network interface, unless network.server says otherwise"),
      row(
          "cluster.gpus_per_server", [](auto& s) -> auto& { return s.cluster.gpus_per_server; },
          integer_codec<int>(1, 1024), "GPUs in each server"),
      row(
          "cluster.gpu_memory", [](auto& s) -> auto& { return s.cluster.gpu_memory; },
          quantity_codec(Bytes{1}, Bytes{std::int64_t{1} << 50}), "memory of each GPU"),
  };
}

Codec<std::string> collective_codec() {
  std::vector<std::pair<std::string, std::string>> names{{std::string{kAutoCollective}, std::string{kAutoCollective}}};
  for (const CollectiveAlgorithm& each : collective_algorithms()) {
    names.emplace_back(std::string{each.name}, std::string{each.name});
  }
  return choice_codec<std::string>(std::move(names));
}

std::vector<ScenarioKey> network_keys() {
  const Codec<TimePerByte> slope = quantity_codec(TimePerByte{0}, TimePerByte{1e6});
  return {
      row(
          "network.fidelity", [](auto& s) -> auto& { return s.network.fidelity; },
          choice_codec<Fidelity>(
              {{"analytic", Fidelity::analytic}, {"contention", Fidelity::contention}, {"flow", Fidelity::flow}}),
          "analytic: transfers don't meet; contention: they slow each other down at interfaces; flow: they share every "
          "link of a topology"),
      displacing({"network.beta", "network.eta", "overlap.fitted_workers", "overlap.fitted_bytes"},
                 row(
                     "network.nic", [](auto& s) -> auto& { return s.network.nic; },
                     optional_codec(quantity_codec(ByteRate{125}, ByteRate{1.25e14}), "auto"),
                     "line rate of each interface of a server; auto: 1/beta, or 10Gbps if beta is auto too")),
      row(
          "network.alpha", [](auto& s) -> auto& { return s.network.alpha; }, quantity_codec(Time{}, kHour),
          "start-up time of a transfer"),
      no_flow(displacing({"network.nic", "overlap.fitted_workers", "overlap.fitted_bytes"},
                         row(
                             "network.beta", [](auto& s) -> auto& { return s.network.beta; },
                             optional_codec(slope, "auto"), "time per byte of a transfer alone; auto: 1/nic"))),
      no_flow(row(
          "network.eta", [](auto& s) -> auto& { return s.network.eta; }, optional_codec(slope, "auto"),
          "further time per byte for each other transfer on the interface; auto: 0.2745 x beta, the ratio "
          "0.235/0.856 of the 10 GbE fit in the authors' simulator of arXiv 2002.10105")),
      no_flow(row(
          "network.tick", [](auto& s) -> auto& { return s.network.tick; }, quantity_codec(Time{}, kHour),
          "transfers end at the next multiple of this; 0s: at their exact end")),
  };
}

std::vector<ScenarioKey> flow_keys() {
  std::vector<ScenarioKey> keys{
      row(
          "network.fabric", [](auto& s) -> auto& { return s.network.topology.fabric; }, fabric_codec(),
          "switches and the links between them"),
      row(
          "network.server", [](auto& s) -> auto& { return s.network.topology.server; }, server_codec(),
          "how the GPUs of a server reach each other and its interfaces"),
      row(
          "network.routing", [](auto& s) -> auto& { return s.network.routing; },
          choice_codec<Routing>(
              {{"shortest-path", Routing::shortest_path}, {"ecmp", Routing::ecmp}, {"spraying", Routing::spraying}}),
          "one shortest path for each pair, one by the hash of each flow, or an even split over all"),
      row(
          "network.routes", [](auto& s) -> auto& { return s.network.routes; }, optional_codec(path_codec(), ""),
          "planned routes (YAML), relative to the file that names it; other flows go as routing says"),
      row(
          "network.collectives", [](auto& s) -> auto& { return s.network.collectives; }, collective_codec(),
          "algorithm of the collectives and numbers of ranks that it takes, others as auto: the fastest by its closed "
          "form, as "
          "NCCL chooses"),
      row(
          "network.step_overhead", [](auto& s) -> auto& { return s.network.step_overhead; },
          quantity_codec(Time{}, kHour),
          "of each step of a collective beside the latency of the links; NCCL 2 reckons with 3.4us within and 14us "
          "between servers (src/graph/tuning.cc)"),
      row(
          "network.contention_penalty", [](auto& s) -> auto& { return s.network.contention_penalty; },
          number_codec(0, 1'000), "eta / beta: further time per byte for each other flow on an interface"),
      row(
          "network.efficiency", [](auto& s) -> auto& { return s.network.efficiency; },
          list_codec(number_codec(1e-6, 1), "factors"),
          "part of its bandwidth that a link has with 1, 2, ... flows, the last for more; empty: all of it"),
      row(
          "network.events", [](auto& s) -> auto& { return s.network.events; }, optional_codec(path_codec(), ""),
          "changes of links over time (CSV), relative to the file that names it"),
      row(
          "network.link_interval", [](auto& s) -> auto& { return s.network.link_interval; },
          quantity_codec(Time{}, kDay), "between samples of the utilisation of every link; 0s: none"),
  };
  for (ScenarioKey& key : keys) key = flow_only(std::move(key));
  return keys;
}

std::vector<ScenarioKey> policy_keys() {
  return {
      row(
          "policies.scheduling", [](auto& s) -> auto& { return s.scheduling; }, policy_codec(policy_kind("scheduling")),
          "which queued job starts next"),
      row(
          "policies.placement", [](auto& s) -> auto& { return s.placement; }, policy_codec(policy_kind("placement")),
          "which GPUs it gets"),
      row(
          "policies.communication", [](auto& s) -> auto& { return s.communication; },
          policy_codec(policy_kind("communication")), "which transfer may enter the network now"),
  };
}

std::vector<ScenarioKey> workload_keys() {
  using Interval = std::pair<std::int64_t, std::int64_t>;
  std::vector<ScenarioKey> keys{
      jobs_key(),
      row(
          "workload.generate.models", [](auto& s) -> auto& { return s.workload.generate.models; }, models_codec(),
          "training profiles, each as likely as the others"),
      row(
          "workload.generate.sizes", [](auto& s) -> auto& { return s.workload.generate.sizes; },
          sizes_codec(kMaxGpus, kMaxJobs), "how many jobs of each size"),
      property<Interval>(
          "workload.generate.iterations",
          [](const Scenario& s) {
            return Interval{s.workload.generate.min_iterations, s.workload.generate.max_iterations};
          },
          [](Scenario& s, Interval value) {
            s.workload.generate.min_iterations = value.first;
            s.workload.generate.max_iterations = value.second;
          },
          interval_codec(1, kMaxIterations), "iterations of a job, uniform between the two, both included"),
      row(
          "workload.generate.arrivals", [](auto& s) -> auto& { return s.workload.generate.arrival_window; },
          quantity_codec(Time::milliseconds(1), 3650 * kDay),
          "jobs arrive at whole milliseconds uniform in [0, this); 1ms: all at the start"),
  };
  for (ScenarioKey& key : keys) {
    if (key.displaces.empty()) key.displaces = {"workload.jobs", "workload.like"};
  }
  keys.push_back(scatter_penalty_key());
  std::vector<ScenarioKey> like = like_keys();
  keys.insert(keys.begin() + 1, std::make_move_iterator(like.begin()), std::make_move_iterator(like.end()));
  return keys;
}

std::vector<ScenarioKey> engine_keys() {
  return {
      row(
          "engine.leap", [](auto& s) -> auto& { return s.engine.leap; }, bool_codec(),
          "skip whole periods of a state that recurs; the results are the same either way"),
      row(
          "engine.until", [](auto& s) -> auto& { return s.engine.until; },
          optional_codec(quantity_codec(Time::nanoseconds(1), 36'500 * kDay), "none"),
          "stop the simulation at this time"),
  };
}

std::vector<ScenarioKey> expectation_keys() {
  return {row(
      "expect", [](auto& s) -> auto& { return s.expect; }, expectations_codec(),
      "what figures of the run must be, over replicas their means; `run`, `compare`, and `sweep` for each of its "
      "points, "
      "exit with 1 if one is not")};
}

}  // namespace

const std::vector<ScenarioKey>& scenario_keys() {
  static const std::vector<ScenarioKey> keys = [] {
    std::vector<ScenarioKey> all;
    for (const auto& make : {run_keys, cluster_keys, host_keys, network_keys, flow_keys, policy_keys, scheduling_keys,
                             workload_keys, study_keys, engine_keys, expectation_keys, sweep_keys}) {
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
  const std::string text = key.print(scenario);
  return !text.empty() && text != key.unset;
}

bool applies(const ScenarioKey& key, const Scenario& scenario) {
  return !key.applies || key.applies(scenario);
}

bool displaces(const ScenarioKey& key, const ScenarioKey& other) {
  return std::any_of(key.displaces.begin(), key.displaces.end(), [&](std::string_view name) {
    return other.path == name || (other.path.starts_with(name) && other.path[name.size()] == '.');
  });
}

}  // namespace contend
