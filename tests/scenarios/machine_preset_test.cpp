// Scenarios that name a machine: keys that the machine gives, keys that beat the machine, and the collectives at
// fidelity `flow`.

#include "scenarios/keys/machine_preset.hpp"

#include "network/catalogue.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/run/fabric_collective.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/run_notes.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

const std::string kJob =
    "training: {m: {model: llama-3-8b, parallel: {tensor: 2}}}\n"
    "workload: {generate: {models: [m], sizes: {16: 1}, iterations: [2, 2], arrivals: 1ms}}\n";

bool gave(const Scenario& scenario, const std::string& key) {
  const auto& keys = scenario.network.of_machine;
  return std::ranges::find(keys, key) != keys.end();
}

}  // namespace

TEST_CASE("a machine gives what a scenario doesn't say") {
  const Scenario scenario = parsed("machine: dgx-h100\ncluster: {servers: 4}\n" + kJob);
  CHECK(scenario.cluster.gpus_per_server == 8);
  CHECK(scenario.cluster.gpu_memory == Bytes::mebibytes(80 << 10));
  CHECK(scenario.network.nic->bytes_per_second() == near(8 * 50e9));
  CHECK(scenario.network.formula == "nccl");
  CHECK(*scenario.network.nccl.machine == "dgx-h100");
  CHECK(scenario.network.interference.both->usual);
  REQUIRE(scenario.training.size() == 1);
  CHECK(scenario.training[0].device.name == "H100-SXM");
  for (const char* key : {"network.nic", "network.formula", "network.interference", "training.m.device"})
    CHECK(gave(scenario, key));
  // The printed scenario keeps its meaning, although it now gives all keys of the machine.
  const Scenario again = parse_scenario(to_yaml(scenario), "again");
  CHECK(to_yaml(again) == to_yaml(scenario));
}

TEST_CASE("the format of a parallel job is the usual one of the machine's device") {
  const auto type_on = [](const std::string& machine) {
    return parse_scenario("schema_version: 2\nmachine: " + machine +
                              "\ncluster: {servers: 1}\ntraining: {m: {model: llama-3-8b, parallel: {tensor: 8}}}\n",
                          "preset")
        .training[0]
        .type;
  };
  CHECK(type_on("dgx-h100") == DataType::bf16);
  CHECK(type_on("dgx-1v") == DataType::fp16);  // a V100 has no bf16
}

TEST_CASE("messages between trays of one NVLink domain don't take the interface") {
  const auto iteration = [](int servers, const std::string& nic) {
    const Scenario scenario = parsed(fmt::format(
        "machine: gb200-nvl72\ncluster: {{servers: {}}}\n{}"
        "training: {{m: {{model: llama-3-8b, global_batch: 40, parallel: {{pipeline: {}, partition: balanced}}}}}}\n"
        "workload: {{generate: {{models: [m], sizes: {{{}: 1}}, iterations: [2, 2], arrivals: 1ms}}}}\n",
        servers, nic, servers == 2 ? 2 : 20, servers * 4));
    return lone_iteration(scenario, "m", servers * 4);
  };
  CHECK(iteration(2, "") == iteration(2, "network: {nic: 4Gbps}\n"));
  CHECK(iteration(20, "") < iteration(20, "network: {nic: 4Gbps}\n"));  // a rack has 18 trays
}

TEST_CASE("a key that is given beats the machine, and so does one that says it otherwise") {
  const Scenario scenario = parsed(
      "machine: dgx-h100\ncluster: {servers: 4, gpu_memory: 96GB}\n"
      "network: {beta: 0.1ns/B, formula: ring, inside: {beta: 0.01ns/B}, interference: 0.3}\n"
      "training: {m: {model: llama-3-8b, device: H200, parallel: {tensor: 2}}}\n"
      "workload: {generate: {models: [m], sizes: {16: 1}, iterations: [2, 2], arrivals: 1ms}}\n");
  CHECK(scenario.cluster.gpus_per_server == 8);
  CHECK(scenario.cluster.gpu_memory.count() == 96'000'000'000);
  CHECK(scenario.network.formula == "ring");
  CHECK_FALSE(scenario.network.nic.has_value());
  CHECK_FALSE(scenario.network.inside.bandwidth.has_value());
  CHECK(scenario.network.interference.both->factor == 0.3);
  CHECK(scenario.training[0].device.name == "H200");
  for (const char* key : {"network.nic", "network.formula", "network.nccl.machine", "network.inside.bandwidth",
                          "network.interference", "training.m.device"})
    CHECK_FALSE(gave(scenario, key));
  const Scenario without = parsed("cluster: {servers: 4}\n");
  CHECK(without.network.of_machine.empty());
  CHECK(errors_of("machine: dgx-h10\n").find("dgx-h100") != std::string::npos);
}

TEST_CASE("an iteration study has the servers of its machine") {
  const Scenario study =
      parsed("machine: p4d\ntraining: {it: {model: resnet50}}\noverlap: {training: it, workers: [16]}\n");
  CHECK(study.cluster.gpus_per_server == 8);
  CHECK(study.cluster.servers == 2);
  CHECK(study.overlap.entry.device.name == "A100-40GB");
}

TEST_CASE("every machine is a scenario at every fidelity, with a device that there is") {
  for (const TextEntry& machine : machines()) {
    CAPTURE(machine.name);
    CHECK(find_device(machine.text("device")) != nullptr);
    for (const char* fidelity : {"analytic", "contention", "flow"}) {
      CAPTURE(fidelity);
      const std::string text =
          fmt::format("machine: {}\ncluster: {{servers: 4}}\nnetwork: {{fidelity: {}}}\n", machine.name, fidelity);
      CHECK(errors_of(text).empty());
      CHECK(errors_of(text + kJob).empty());
    }
  }
}

TEST_CASE("at flow network.nic is the rate of one interface, and collectives take what NCCL takes") {
  const Scenario scenario = parsed("machine: dgx-h100\ncluster: {servers: 2}\nnetwork: {fidelity: flow}\n");
  CHECK(scenario.network.nic->bytes_per_second() == near(50e9));
  CHECK(scenario.network.topology.server.kind == "dgx-h100");
  CHECK(scenario.network.collectives == "nccl");
  const NcclLibrary library = nccl_library(scenario.network);
  const std::vector<int> ranks{8, 8};
  for (const std::int64_t bytes : {8L, 1L << 20}) {
    const FabricCollective found = fabric_collective(scenario.cluster, scenario.network, scenario.failures, 1,
                                                     CollectiveKind::all_reduce, Bytes{bytes}, ranks);
    CHECK(found.time.to_seconds() == near(library.seconds(CollectiveKind::all_reduce, Bytes{bytes}, ranks), 1e-3));
  }
}

TEST_CASE("in version 2 servers of a machine at flow have the hops of NCCL, in version 1 no start-ups") {
  const auto us = [](int version) {
    const Scenario scenario =
        parse_scenario(fmt::format("schema_version: {}\ncluster: {{servers: 2, gpus_per_server: 8}}\n"
                                   "network: {{fidelity: flow, nic: 200Gbps, server: dgx-a100}}\n",
                                   version),
                       "two");
    return 1e6 * fabric_collective(scenario.cluster, scenario.network, scenario.failures, 1, CollectiveKind::all_reduce,
                                   Bytes{8}, {8, 8})
                     .time.to_seconds();
  };
  CHECK(us(1) < 7);
  CHECK(us(2) > 20);  // two servers of 8 A100 took 35.6 us
  const Scenario given = parse_scenario(
      "schema_version: 2\ncluster: {servers: 2, gpus_per_server: 8}\n"
      "network: {fidelity: flow, nic: 200Gbps, server: dgx-a100, collectives: ring}\n",
      "given");
  CHECK(given.network.collectives == "ring");
}

TEST_CASE("a note tells that network.nic is the rate of one of eight interfaces") {
  const auto note = [](const std::string& nic) {
    return nccl_machine_note(
        parsed("machine: dgx-h100\ncluster: {servers: 2}\nnetwork: {formula: ring, nic: " + nic + "}\n").network);
  };
  CHECK(note("3200Gbps").empty());
  CHECK(note("1600Gbps").empty());
  CHECK(note("400Gbps").find("400Gbps is the rate of one of the 8 interfaces of a dgx-h100") != std::string::npos);
}
