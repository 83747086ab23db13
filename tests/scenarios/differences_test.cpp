// What differs between scenarios: in which words, and what doesn't count.
#include "scenarios/keys/differences.hpp"

#include "tests/scenarios/scenario_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace contend {
namespace {

/// `key: value | value` for each difference.
std::vector<std::string> lines(const std::vector<Scenario>& scenarios) {
  std::vector<std::string> all;
  for (const KeyDifference& each : differing_keys(scenarios)) {
    std::string line = each.key + ":";
    for (std::size_t i = 0; i < each.values.size(); ++i)
      line += (i == 0 ? " " : " | ") + (each.values[i].empty() ? "-" : each.values[i]);
    all.push_back(line);
  }
  return all;
}

using Lines = std::vector<std::string>;

TEST_CASE("a difference is shown in the keys that users set, not in figures that follow from them") {
  CHECK(lines({parsed("network: {nic: 10Gbps}\n"), parsed("network: {nic: 25Gbps}\n")}) ==
        Lines{"network.nic: 10Gbps | 25Gbps"});
  CHECK(lines({parsed("policies: {placement: first-fit}\n"),
               parsed("policies: {placement: {policy: lwf, kappa: 2}}\n")}) ==
        Lines{"policies.placement: first-fit | lwf kappa=2"});
}

TEST_CASE("a key that one side doesn't have has no value there") {
  CHECK(lines({parsed("network: {nic: 10Gbps}\n"), parsed("network: {beta: 1ns/B}\n")}) ==
        Lines{"network.nic: 10Gbps | auto", "network.beta: auto | 1s/GB"});
  CHECK(lines({parsed(""), parsed("cluster: {cpus: 8}\n")}) == Lines{"cluster.cpus: any | 8"});
  const Lines flow = lines({parsed(""), parsed("network: {fidelity: flow}\n")});
  CHECK(std::ranges::find(flow, "network.beta: auto | -") != flow.end());
  CHECK(std::ranges::find(flow, "network.routing: - | ecmp") != flow.end());
}

TEST_CASE("what says only which runs these are doesn't count") {
  CHECK(lines({parsed("name: a\nseed: 1\n"), parsed("name: b\ndescription: other\nseed: 7\nrepeat: 3\n")}).empty());
  // The same scenario, written otherwise.
  CHECK(lines({parsed("network: {nic: 10Gbps}\n"), parsed("", {"network.nic=10000Mbps"})}).empty());
}

TEST_CASE("any number of scenarios") {
  CHECK(lines({parsed("cluster: {servers: 2}\n"), parsed("cluster: {servers: 4}\n"),
               parsed("cluster: {servers: 2}\n")}) == Lines{"cluster.servers: 2 | 4 | 2"});
  CHECK(lines({parsed("")}).empty());
}

TEST_CASE("paths are the same if they lead to the same place") {
  const auto at = [](const std::string& path) { return parsed("", {"workload.jobs=" + path}); };
  CHECK(lines({at("jobs.csv"), at("out/../jobs.csv")}).empty());
  CHECK(lines({at("jobs.csv"), at(std::filesystem::absolute("jobs.csv").string())}).empty());
  CHECK(lines({at("jobs.csv"), at("out/jobs.csv")}) == Lines{"workload.jobs: jobs.csv | out/jobs.csv"});
}

}  // namespace
}  // namespace contend
