// Includes, overrides, and keys that displace each other.
#include "tests/scenarios/scenario_text.hpp"

#include <doctest/doctest.h>

namespace contend {
namespace {

TEST_CASE("the file wins over its includes, and a later include over an earlier one") {
  const Scenario s = parsed("include: [one.yaml, two.yaml]\ncluster: {servers: 3}\n", {},
                            {{"one.yaml", versioned("seed: 1\nrepeat: 1\ncluster: {servers: 1, gpus_per_server: 1}\n")},
                             {"two.yaml", versioned("repeat: 2\ncluster: {servers: 2}\n")}});
  CHECK(s.seed == 1);
  CHECK(s.repeat == 2);
  CHECK(s.cluster.servers == 3);
  CHECK(s.cluster.gpus_per_server == 1);  // maps merge
}

TEST_CASE("paths are relative to the file that holds them") {
  const MemoryFiles files{{"sub/one.yaml", versioned("include: ../two.yaml\nworkload: {jobs: one.csv}\n")},
                          {"two.yaml", versioned("seed: 7\n")}};
  const Scenario s = parsed("include: sub/one.yaml\n", {}, files);
  CHECK(s.seed == 7);
  CHECK(s.workload.jobs == "sub/one.csv");
  CHECK(parsed("include: sub/one.yaml\n", {"workload.jobs=here.csv"}, files).workload.jobs == "here.csv");
}

TEST_CASE("includes that fail") {
  CHECK(errors_of("include: none.yaml\n") == "a.yaml:2:10: include: can't read none.yaml: no such file");
  CHECK(errors_of("include: {a: b}\n") == "a.yaml:2:10: include: expected a path or a list of paths, got a map");
  CHECK(errors_of("include: a.yaml\n") == "a.yaml:2:10: include: a cycle of files: a.yaml -> a.yaml");
  CHECK(errors_of("include: b.yaml\n", {}, {{"b.yaml", versioned("include: ./x/../a.yaml\n")}}) ==
        "b.yaml:2:10: include: a cycle of files: a.yaml -> b.yaml -> a.yaml");
  CHECK(errors_of("include: b.yaml\nseed: x\n", {}, {{"b.yaml", "seed: y\n"}}) ==
        "b.yaml:1:1: schema_version: missing; write `schema_version: 2`\n"
        "b.yaml:1:7: seed: expected an integer >= 0, got \"y\"\n"
        "a.yaml:3:7: seed: expected an integer >= 0, got \"x\"");
}

TEST_CASE("a file may be included twice, but not a hundred times") {
  CHECK(parsed("include: [b.yaml, b.yaml]\n", {}, {{"b.yaml", versioned("seed: 4\n")}}).seed == 4);
  MemoryFiles files;  // each includes the next one twice: 2^20 without a limit
  for (int i = 0; i < 20; ++i) {
    const std::string next = std::to_string(i + 1) + ".yaml";
    files[std::to_string(i) + ".yaml"] = versioned("include: [" + next + ", " + next + "]\n");
  }
  files["20.yaml"] = versioned("");
  CHECK(errors_of("include: 0.yaml\n", {}, files).find("more than 100 files") != std::string::npos);
}

TEST_CASE("overrides: the last wins, checked like a file") {
  const Scenario s = parsed("seed: 2\n", {"seed=3", "seed=4", "network.nic=25Gbps", "policies.placement.kappa=3",
                                          "workload.generate.sizes={2: 5}", "name=a name"});
  CHECK(s.seed == 4);
  CHECK(s.network.nic == ByteRate{3.125e9});
  CHECK(s.placement.parameters.get<std::int64_t>("kappa") == 3);
  CHECK(s.workload.generate.sizes == std::vector<std::pair<int, int>>{{2, 5}});
  CHECK(s.name == "a name");
}

TEST_CASE("overrides that are wrong") {
  CHECK(errors_of("", {"cluster.servers=eight"}) == "--set: cluster.servers: expected an integer >= 1, got \"eight\"");
  CHECK(errors_of("", {"cluster.serverz=8"}) == "--set: cluster.serverz: unknown key; did you mean \"servers\"?");
  CHECK(errors_of("", {"cluster.servers="}) == "--set: cluster.servers: expected an integer >= 1, got nothing");
  CHECK(errors_of("", {"cluster=3"}) == "--set: cluster: expected a map of keys, got \"3\"");
  CHECK(errors_of("", {"include=b.yaml"}) == "--set: include: not possible as an override");
  for (const std::string text : {"", "seed", "=1", ".seed=1", "cluster..servers=1", "cluster.=1"}) {
    CAPTURE(text);
    CHECK(errors_of("", {text}).starts_with("--set: expected key=value such as network.nic=25Gbps, got "));
  }
  try {
    static_cast<void>(parsed("", {"cluster.servers=eight"}));
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string{error.what()}.ends_with("\n  cluster.servers=eight\n                  ^"));
  }
}

TEST_CASE("the parameters of a policy stay as long as the policy does") {
  const std::string text = "policies: {placement: {policy: lwf, kappa: 4}}\n";
  CHECK(parsed(text, {"policies.placement=lwf"}).placement.parameters.get<std::int64_t>("kappa") == 4);
  const Scenario s = parsed(text, {"policies.placement=random", "policies.placement=lwf"});
  CHECK(s.placement.parameters.get<std::int64_t>("kappa") == 1);
}

TEST_CASE("a job list displaces a generated mix, and the other way round") {
  const std::string jobs = "workload: {jobs: a.csv}\n";
  const std::string mix = "workload: {generate: {arrivals: 5s}}\n";
  const Scenario listed = parsed(mix, {"workload.jobs=a.csv"});
  CHECK(listed.workload.jobs == "a.csv");
  CHECK(listed.workload.generate.arrival_window == GeneratedWorkload{}.arrival_window);
  const Scenario generated = parsed(jobs, {"workload.generate.arrivals=5s"});
  CHECK_FALSE(generated.workload.jobs.has_value());
  CHECK(generated.workload.generate.arrival_window == Time::seconds(5));
  CHECK(errors_of("workload:\n  jobs: a.csv\n  generate:\n    arrivals: 5s\n    models: [lstm]\n") ==
        "a.yaml:5:5: workload.generate.arrivals: can't stand beside workload.jobs (line 3); give one of the two");
}

TEST_CASE("a line rate displaces beta and eta of earlier layers, beta displaces the line rate") {
  const std::string fit = "network: {beta: 2ns/B, eta: 1ns/B}\n";
  const Scenario rate = parsed(fit, {"network.nic=25Gbps"});
  CHECK(rate.network.nic == ByteRate{3.125e9});
  CHECK_FALSE(rate.network.beta.has_value());
  CHECK_FALSE(rate.network.eta.has_value());

  const Scenario slope = parsed("network: {nic: 25Gbps, eta: 1ns/B}\n", {"network.beta=2ns/B"});
  CHECK_FALSE(slope.network.nic.has_value());
  CHECK(slope.network.beta == TimePerByte{2});
  CHECK(slope.network.eta == TimePerByte{1});

  CHECK(parsed(fit, {"network.nic=auto"}).network.beta == TimePerByte{2});  // no rate, nothing displaced
  CHECK(parsed(fit, {"network.beta=auto"}).network.nic == ByteRate{1.25e9});
  CHECK(errors_of("network: {nic: auto, beta: 2ns/B}\n").empty());
  CHECK(errors_of("network:\n  beta: 2ns/B\n  nic: 1Gbps\n") ==
        "a.yaml:4:3: network.nic: can't stand beside network.beta (line 3); give one of the two");
}

}  // namespace
}  // namespace contend
