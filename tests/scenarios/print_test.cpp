// Printing: scenarios read back as themselves; schema and reference page name every key.
#include "scenarios/keys/print.hpp"
#include "scenarios/run/make_policy.hpp"

#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "tests/effort.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "text/words.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace contend {
namespace {

TEST_CASE("the default scenario, every key filled in") {
  CHECK(to_yaml(default_scenario()) == R"(schema_version: 1
name: ""
description: ""
seed: 1
repeat: 1
cluster:
  servers: 16
  gpus_per_server: 4
  gpu_memory: 32GiB
  types: []
  cpus: any
  host_memory: any
  vcs: []
  levels: []
network:
  fidelity: contention
  nic: 10Gbps
  alpha: 0s
  beta: auto
  eta: auto
  contention_penalty: auto
  islands: []
  fitted_workers: unknown
  fitted_bytes: unknown
  tick: 0s
  formula: auto
  gamma: 0ns/B
  inside:
    alpha: 0s
    bandwidth: auto
    beta: auto
  interference:
    compute: 0
    network: 0
  delays: false
policies:
  scheduling: {policy: srsf, strict: false, preemptive: false, rewalk: false, list_order: false, migrate: false}
  placement: {policy: lwf, kappa: 1}
  communication: {policy: srsf, ways: 1, per_iteration: false}
scheduling:
  quantum: 0s
  ties: submission
  kill_at_limit: false
  retries:
    failed:
      times: recorded
      delay: 0s
      factor: 1
      max_delay: 365d
      position: original
  sharing:
    law: none
failures:
  preset: none
  components: []
  spares: 0
  cold_spares: 0
loans:
  servers: 0
checkpoints:
  policy: continuous
  restart_cost: 0s
  start_up:
    mean: 0s
workload:
  generate:
    models: [vgg16, resnet50, inception-v3, lstm]
    sizes: {1: 80, 2: 14, 4: 26, 8: 30, 16: 8, 32: 2}
    iterations: [1000, 6000]
    arrivals: 20min
  scatter_penalty: []
engine:
  leap: true
  until: none
measure:
  from: 0s
  until: none
)");
}

TEST_CASE("a job list is printed instead of the mix, relative to where the text goes") {
  const Scenario s = parsed("workload: {jobs: lists/a.csv}\n");
  CHECK(to_yaml(s).find("workload:\n  jobs: lists/a.csv\n") != std::string::npos);
  for (const char* nic : {"3200Gbps", "1Tbps", "25Gbps", "1GiB/s"})  // as people say it
    CHECK(to_yaml(parse_scenario(fmt::format("schema_version: 2\nnetwork: {{nic: {}}}\n", nic), "a"))
              .find(fmt::format("\n  nic: {}\n", nic)) != std::string::npos);
  CHECK(to_yaml(s).find("generate") == std::string::npos);
  CHECK(to_yaml(s, "out/run").find("  jobs: \"../../lists/a.csv\"\n") != std::string::npos);
  CHECK(parse_scenario(to_yaml(s, "out/run"), "out/run/scenario.yaml").workload.jobs == s.workload.jobs);
}

PolicyChoice some_policy(std::mt19937_64& random, const PolicyKind& kind) {
  const PolicyInfo& policy = kind.policies[random() % kind.policies.size()];
  std::vector<std::pair<std::string, ParameterValue>> values;
  for (const ParameterInfo& p : policy.parameters) {
    ParameterValue value = p.default_value;
    if (std::holds_alternative<bool>(value)) value = random() % 2 == 0;
    if (std::holds_alternative<std::string>(value)) value = std::to_string(random());
    if (std::holds_alternative<double>(value))
      value = std::fmod(static_cast<double>(random()) / 3e9, p.maximum - p.minimum) + p.minimum;
    if (std::holds_alternative<std::int64_t>(value))
      value = std::min(static_cast<std::int64_t>(p.minimum) + static_cast<std::int64_t>(random() % 5),
                       static_cast<std::int64_t>(p.maximum));
    values.emplace_back(p.name, value);
  }
  return {std::string{policy.name}, Parameters{std::move(values)}};
}

std::string some_text(std::mt19937_64& random) {
  const std::vector<std::string> pieces{"a",   "B7", " ",  "\n",           "\"", "'",  "\\", ":",
                                        "#",   "\t", "\r", "\xe2\x82\xac", "-",  "no", "1",  std::string(1, '\0'),
                                        "\x7f"};
  std::string text;
  for (std::uint64_t i = random() % 6; i > 0; --i) text += pieces[random() % pieces.size()];
  return text;
}

/// Turns the network into a topology, whose keys leave no room for keys of the other fidelities.
void take_a_topology(std::mt19937_64& random, Scenario& s) {
  s.network.fidelity = Fidelity::flow;
  s.network.nic = ByteRate{125.0 + static_cast<double>(random() >> 20) / 7.0};
  s.network.beta.reset();
  s.network.eta.reset();
  s.network.tick = Time{};
  s.cluster.servers = 1 + static_cast<int>(random() % 1'000);
  FabricSpec& fabric = s.network.topology.fabric;
  fabric.kind = "leaf-spine";
  fabric.servers_per_leaf = 1 + random() % 100;
  fabric.spines = 1 + random() % 100;
  if (random() % 2 == 0)
    fabric.oversubscription = 1 + static_cast<double>(random() % 1'000) / 7;
  else
    fabric.link_bandwidth = ByteRate{1e9 / 3};
  s.network.topology.server.pcie_latency = Time::nanoseconds(static_cast<std::int64_t>(random() % 1'000'000));
  s.network.routing = random() % 2 == 0 ? Routing::spraying : Routing::shortest_path;
  s.network.contention_penalty = static_cast<double>(random() % 1'000) / 3e3;
  s.network.efficiency = {1, 1 / 3.0, static_cast<double>(1 + random() % 10) / 11};
  if (random() % 2 == 0) s.network.events = "lists/" + std::to_string(random() % 100) + " events.csv";
  s.network.link_interval = Time::nanoseconds(static_cast<std::int64_t>(random() % 10'000'000'000));
}

Scenario some_scenario(std::mt19937_64& random) {
  const auto up_to = [&](std::uint64_t limit) { return static_cast<std::int64_t>(random() % limit); };
  Scenario s;
  do {
    s.name = some_text(random);
  } while (!s.name.empty() && !why_not_printable(s.name).empty());
  s.description = some_text(random);
  s.seed = random() >> 1;
  s.repeat = 1 + static_cast<int>(up_to(100));
  s.cluster.servers = 1 + static_cast<int>(up_to(1'000'000));
  s.cluster.gpu_memory = Bytes{1 + up_to(1ULL << 50)};
  s.network.fidelity = random() % 2 == 0 ? Fidelity::analytic : Fidelity::contention;
  if (random() % 2 == 0)
    s.network.nic = ByteRate{125.0 + static_cast<double>(random() >> 20) / 7.0};
  else
    s.network.beta = TimePerByte{static_cast<double>(random() >> 40) / 1e9};
  if (random() % 2 == 0) s.network.eta = TimePerByte{static_cast<double>(random() >> 40) / 1'048'576.0};
  s.network.alpha = Time::nanoseconds(up_to(3'600'000'000'000));
  s.network.tick = Time::microseconds(up_to(1'000'000));
  do s.scheduling = some_policy(random, policy_kind("scheduling"));
  while (!scheduling_complaints(s.scheduling).empty());
  s.sharing.law = SharingKind::factor;  // some policies need a law, and some profiles
  s.sharing.factor = 1 + static_cast<double>(random() % 100) / 64;
  s.sharing.most = static_cast<int>(2 + random() % 3);
  s.sharing.profiles = "lists/" + std::to_string(random() % 100) + " profiles.csv";
  s.sharing.by_priority = random() % 2 == 0;
  s.placement = some_policy(random, policy_kind("placement"));
  s.communication = some_policy(random, policy_kind("communication"));
  if (random() % 3 == 0) {
    s.workload.jobs = "lists/" + std::to_string(random() % 100) + " jobs.csv";
  } else {
    s.workload.generate.models = {"lstm"};
    s.workload.generate.sizes = {{1 + static_cast<int>(up_to(8)), 1}, {16, 1 + static_cast<int>(up_to(50))}};
    s.workload.generate.max_iterations = 6'000 + up_to(1'000'000);
    s.workload.generate.arrival_window = Time::milliseconds(1 + up_to(1'000'000'000));
  }
  s.engine.leap = random() % 2 == 0;
  if (random() % 2 == 0) s.engine.until = Time::nanoseconds(1 + up_to(1ULL << 60));
  if (random() % 3 == 0) take_a_topology(random, s);
  return s;
}

TEST_CASE("property: a printed scenario reads back as itself") {
  std::mt19937_64 random{4'711};
  for (int i = 0; i < effort(500); ++i) {
    const Scenario scenario = some_scenario(random);
    const std::string text = to_yaml(scenario);
    CAPTURE(text);
    const Scenario again = parse_scenario(text, "a.yaml");
    CHECK(to_yaml(again) == text);
    CHECK(again.name == scenario.name);
    CHECK(again.cluster.gpu_memory == scenario.cluster.gpu_memory);
    CHECK(again.network.nic == scenario.network.nic);
    CHECK(again.network.beta == scenario.network.beta);
    CHECK(again.network.eta == scenario.network.eta);
    CHECK(again.network.alpha == scenario.network.alpha);
    CHECK(again.network.topology.fabric.oversubscription == scenario.network.topology.fabric.oversubscription);
    CHECK(again.network.efficiency == scenario.network.efficiency);
    CHECK(again.network.events == scenario.network.events);
    CHECK(again.workload.jobs == scenario.workload.jobs);
    CHECK(again.workload.generate.sizes == scenario.workload.generate.sizes);
    CHECK(again.scheduling.parameters.values() == scenario.scheduling.parameters.values());
    CHECK(again.engine.until == scenario.engine.until);
  }
}

TEST_CASE("the hash names a scenario") {
  CHECK(scenario_hash(parsed("")) == scenario_hash(default_scenario()));
  CHECK(scenario_hash(parsed("")).size() == 16);
  CHECK(scenario_hash(parsed("")) != scenario_hash(parsed("seed: 2\n")));
  CHECK(scenario_hash(parsed("network: {nic: 1.25GB/s}\n")) == scenario_hash(parsed("")));
}

TEST_CASE("schema and reference page name every key, policy and parameter") {
  const std::string schema = json_schema();
  const std::string page = keys_markdown();
  for (const ScenarioKey& key : scenario_keys()) {
    CAPTURE(key.path);
    const std::string name{key.path.substr(key.path.rfind('.') + 1)};
    CHECK(schema.find("\"" + name + "\": {") != std::string::npos);
    CHECK(page.find("| `" + std::string{key.path} + "` |") != std::string::npos);
    CHECK_FALSE(key.text.empty());
    CHECK_FALSE(key.io->type.empty());
  }
  for (const PolicyKind& kind : policy_kinds()) {
    for (const PolicyInfo& policy : kind.policies) {
      CAPTURE(policy.name);
      CHECK(schema.find("\"const\": \"" + std::string{policy.name} + "\"") != std::string::npos);
      for (const ParameterInfo& parameter : policy.parameters) {
        CHECK(schema.find("\"" + std::string{parameter.name} + "\": {") != std::string::npos);
        CHECK(page.find("| `" + std::string{policy.name} + "` | `" + std::string{parameter.name} + "` |") !=
              std::string::npos);
      }
    }
  }
}

TEST_CASE("a key that is taken back has no value if it is optional, else its default") {
  for (const ScenarioKey& key : scenario_keys()) {
    CAPTURE(key.path);
    Scenario scenario = default_scenario();
    reset(key, scenario);
    CHECK(key.io->print(scenario) == (key.io->is_optional ? key.io->unset : key.io->print(default_scenario())));
  }
}

TEST_CASE("every default passes its own reader, alone") {
  int defaults = 0;
  for (const ScenarioKey& key : scenario_keys()) {
    const std::string value = key.io->print(default_scenario());
    if (key.role != KeyRole::value || value.empty()) continue;
    CAPTURE(key.path);
    // What decides which keys mean anything goes first.
    std::vector<std::string> overrides;
    if (key.needs.starts_with("network.fidelity: flow")) overrides.emplace_back("network.fidelity=flow");
    if (key.path.starts_with("network.planning.")) overrides = {"network.fidelity=flow", "network.routing=planned"};
    if (key.needs.starts_with("workload.like")) overrides.emplace_back("workload.like=philly");
    if (key.needs == "a list of jobs (workload.jobs)") overrides.emplace_back("workload.jobs=jobs.csv");
    if (key.needs == "workload.regimes")
      overrides = {"cluster.types=[{name: a, servers: 1}]", "workload.jobs=jobs.csv", "workload.regimes=rules.csv"};
    if (key.needs == "workload.resample.block") overrides = {"workload.jobs=jobs.csv", "workload.resample.block=1d"};
    if (key.path.starts_with("failures.")) overrides = {"failures.spares=1", "failures.cold_spares=1"};
    if (key.path.starts_with("loans.")) overrides.emplace_back("loans.servers=1");
    if (key.path.starts_with("failures.mitigation.")) overrides.emplace_back("failures.events=slow.csv");
    if (key.path == "failures.mitigation.left") overrides.emplace_back("failures.mitigation.topology=1min");
    if (key.path.starts_with("failures.redundancy."))
      overrides = {"failures.spares=1", "failures.redundancy.cover=replicas"};
    if (key.needs.starts_with("checkpoints.policy"))
      overrides = {"checkpoints.policy=asynchronous", "checkpoints.period=1h", "checkpoints.iterations=2"};
    if (key.needs == "a number for scheduling.retries.failed.times")
      overrides.emplace_back("scheduling.retries.failed.times=1");
    if (key.needs.starts_with("network.formula: nccl"))
      overrides = {"network.formula=nccl", "network.nccl.machine=dgx-a100"};
    if (key.needs == "network.formula: store") overrides = {"network.formula=store", "network.nic=1Gbps"};
    if (key.needs == "checkpoints.start_up.mean above 0") overrides.emplace_back("checkpoints.start_up.mean=1s");
    if (key.needs == "network.sites")
      overrides = {"network.sites=scenarios/overlap/aws-regions.csv", "cluster.gpus_per_server=1"};
    if (key.needs == "network.many_senders.free") overrides.emplace_back("network.many_senders.free=8");
    if (key.needs == "cluster.levels") overrides.emplace_back("cluster.levels=[{name: rack, servers: 8}]");
    if (key.needs == "cluster.types") overrides.emplace_back("cluster.types=[{name: a, servers: 1}]");
    if (key.needs.starts_with("cluster.power")) overrides.emplace_back("cluster.power={computing: 300}");
    if (key.path.starts_with("scheduling.sharing.")) overrides.emplace_back("scheduling.sharing.law=factor");
    if (key.needs == "scheduling.kill_at_limit: true") overrides.emplace_back("scheduling.kill_at_limit=true");
    if (key.needs == "overlap.training")
      overrides.insert(overrides.end(), {"training.it.model=resnet50", "overlap.training=it"});
    overrides.push_back(std::string{key.path} + "=" + value);
    CHECK(errors_of("", overrides).empty());
    ++defaults;
  }
  CHECK(defaults >= 50);
}

TEST_CASE("the keys of a section stand together, so that a printed scenario has each section once") {
  std::vector<std::string> sections;
  for (const ScenarioKey& key : scenario_keys()) {
    const std::string section{key.path.substr(0, key.path.find('.'))};
    if (!sections.empty() && sections.back() == section) continue;
    CHECK_MESSAGE(std::ranges::find(sections, section) == sections.end(), section);
    sections.push_back(section);
  }
}

}  // namespace
}  // namespace contend
