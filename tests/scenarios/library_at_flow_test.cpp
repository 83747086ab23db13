// NCCL at fidelity `flow`: alone a collective takes what NCCL expects, and longer where links are slow or shared.

#include "network/library/nccl_machine.hpp"
#include "network/library/nccl_tree.hpp"
#include "scenarios/run/flow_fidelity.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/run_notes.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

std::string nccl_on(const std::string& server, const std::string& fabric) {
  return fmt::format(
      "network: {{fidelity: flow, nic: {}, server: {}, fabric: {}, collectives: nccl, "
      "nccl: {{machine: {}, measured: false}}}}\n",
      server == "dgx-h100" ? "400Gbps" : "200Gbps", server, fabric, server);
}

/// The time of a collective on the first GPUs of an idle cluster, in seconds, and what NCCL expects.
struct Both {
  double flow_s, expected_s;
};
Both collective_on(const std::string& server, const std::string& fabric, int servers, int each, CollectiveKind kind,
                   Bytes bytes) {
  const Scenario scenario =
      parsed(nccl_on(server, fabric) + fmt::format("cluster: {{servers: {}, gpus_per_server: 8}}\n", servers));
  const auto network = make_flow_network(scenario.cluster, scenario.network, scenario.failures, 1, 1);
  std::vector<GpuId> gpus;
  for (int s = 0; s < servers; ++s)
    for (int g = 0; g < each; ++g) gpus.emplace_back(static_cast<std::size_t>(s * 8 + g));
  TransferRequest request;
  request.job = JobId{0U};
  request.collective = kind;
  request.bytes = bytes;
  request.ranks = static_cast<int>(gpus.size());
  request.gpus = gpus;
  const std::vector<int> by_server(static_cast<std::size_t>(servers), each);
  return {network->solo_time(request).to_seconds(), nccl_library(scenario.network).seconds(kind, bytes, by_server)};
}

}  // namespace

TEST_CASE("the messages of NCCL's tree: chains in servers, and two trees over their first ranks") {
  // Three servers of two ranks, and two stripes that enter them at the one rank and at the other.
  const std::vector<std::vector<int>> stripes{{0, 1, 2, 3, 4, 5}, {1, 0, 3, 2, 5, 4}};
  const CollectiveSchedule tree = nccl_tree(std::vector{0, 0, 1, 1, 2, 2}, stripes, Bytes{800});
  REQUIRE(tree.steps.size() == 1);
  std::map<std::pair<int, int>, std::int64_t> inside;
  std::map<int, std::int64_t> out, in;  // of servers
  for (const Send& send : tree.steps.front().sends) {
    if (send.from / 2 == send.to / 2) {
      inside[{send.from, send.to}] += send.range.bytes;
      continue;
    }
    CHECK(send.from % 2 == send.to % 2);  // a stripe stays at its interfaces
    out[send.from / 2] += send.range.bytes;
    in[send.to / 2] += send.range.bytes;
  }
  for (const auto& [ends, bytes] : inside) CHECK(bytes == 800);  // half up and half down, and the other way round
  CHECK(inside.size() == 6);
  // Each tree has two edges, which carry half of the tensor up and down.
  for (const auto& bytes : {out, in}) CHECK(bytes.at(0) + bytes.at(1) + bytes.at(2) == 2 * 2 * 2 * 400);
  CHECK(out == in);
  CHECK(nccl_tree(std::vector{0, 0, 0}, {}, Bytes{10}).bytes_sent() == 40);
}

TEST_CASE("nccl at flow: on long links its buffers are the limit") {
  // Of an all-gather each interface sends 15/16 of an eighth, in buffers of 8 MiB, of which one is under way for a
  // round trip: two links of 1 ms there and back, and four of 150 ns in the servers.
  constexpr double kRoundTrip_s = 2 * (2e-3 + 4 * 150e-9);
  const auto fabric = [](const char* latency) {
    return fmt::format("{{kind: single-switch, link_latency: {}}}", latency);
  };
  const auto of = [](const std::string& long_fabric) {
    return collective_on("dgx-a100", long_fabric, 2, 8, CollectiveKind::all_gather, Bytes{1 << 30});
  };
  const Both both = of(fabric("1ms"));
  CHECK(both.flow_s == near(15 * kRoundTrip_s, 2e-3));  // 0.1 of 60 ms are NCCL's start-up
  CHECK(both.flow_s > 10 * both.expected_s);
  // 10 us of fibre, 2 km, don't matter.
  CHECK(of(fabric("10us")).flow_s == near(both.expected_s));
}

TEST_CASE("nccl at flow: alone a collective takes what NCCL expects") {
  std::size_t compared = 0;
  for (const std::string server : {"dgx-a100", "dgx-h100"}) {
    for (const int servers : {1, 2, 4, 16}) {
      for (const CollectiveKind kind :
           {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
            CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all}) {
        for (std::int64_t bytes = 1024; bytes <= std::int64_t{1} << 30; bytes *= 32) {
          const Both both = collective_on(server, "single-switch", servers, 8, kind, Bytes{bytes});
          CAPTURE(server);
          CAPTURE(servers);
          CAPTURE(name_of(kind));
          CAPTURE(bytes);
          CHECK(both.flow_s == near(both.expected_s, 2e-9 / both.expected_s + 1e-9));
          ++compared;
        }
      }
    }
  }
  CHECK(compared == 2 * 4 * 6 * 5);
}

TEST_CASE("nccl at flow: a job alone is as fast as at the other fidelities") {
  for (const int gpus : {8, 32}) {
    const std::string rest =
        "cluster: {servers: 4, gpus_per_server: 8}\n"
        "training: {it: {model: resnet50, device: A100-80GB, fusion: ddp}}\n";
    const Scenario flow = parsed(nccl_on("dgx-a100", "single-switch") + rest);
    const Scenario closed = parsed(
        "network: {fidelity: contention, nic: 200Gbps, formula: nccl, nccl: {machine: dgx-a100, measured: false}}\n" +
        rest);
    CHECK(lone_iteration(flow, "it", gpus).to_seconds() == near(lone_iteration(closed, "it", gpus).to_seconds(), 1e-6));
  }
}

TEST_CASE("nccl at flow: a fabric that is too narrow decides, and so do other jobs") {
  const Bytes large = Bytes::mebibytes(512);
  // A leaf for each server, and a quarter of its bandwidth to the spines.
  const std::string narrow = "{kind: leaf-spine, servers_per_leaf: 1, spines: 1, oversubscription: 4}";
  const Both both = collective_on("dgx-a100", narrow, 4, 8, CollectiveKind::all_reduce, large);
  CHECK(both.flow_s > 3 * both.expected_s);
  // Inside both of NCCL's trees four servers have six edges, and each sends and gets the tensor twice over its cable of
  // 50 GB/s, where it takes part in four of them.
  CHECK(both.flow_s == near(2 * large.to_double() / 50e9, 5e-3));
  // Two jobs of four ranks on each of the same two servers have interfaces of their own, or share the interfaces of
  // both.
  const auto iteration = [](const std::string& jobs) {
    return run_scenario(parsed(nccl_on("dgx-a100", "single-switch") +
                               "cluster: {servers: 4, gpus_per_server: 8}\n"
                               "policies: {placement: first-fit}\n"
                               "training: {it: {model: bert-large, device: A100-80GB, fusion: bsp}}\n"
                               "workload: {generate: {models: [it], sizes: " +
                               jobs + ", iterations: [10, 10], arrivals: 1ms}}\n"),
                        1)
        .end;
  };
  CHECK(iteration("{12: 1}") < iteration("{12: 2}"));
}

TEST_CASE("nccl at flow: a machine that isn't the machine of the servers is told") {
  const auto note_of = [](const std::string& server, const std::string& machine) {
    return nccl_machine_note(parsed("network: {fidelity: flow, nic: 200Gbps, server: " + server +
                                    ", collectives: nccl, nccl: {machine: " + machine +
                                    "}}\ncluster: {servers: 8, gpus_per_server: 8}\n")
                                 .network);
  };
  CHECK(note_of("dgx-a100", "dgx-a100").empty());
  CHECK(note_of("plain", "dgx-a100").empty());
  CHECK(note_of("dgx-a100", "dgx-1v").find("links of a dgx-1v, and network.server has those of a dgx-a100") !=
        std::string::npos);
}

TEST_CASE("nccl beside interfaces with another rate than its machine's is told") {
  const auto note_of = [](const std::string& nic) {
    return nccl_machine_note(parsed("network: {fidelity: contention, formula: nccl, nccl: {machine: dgx-a100}" + nic +
                                    "}\ncluster: {servers: 8, gpus_per_server: 8}\n")
                                 .network);
  };
  CHECK(note_of("").empty());
  CHECK(note_of(", nic: 1600Gbps").empty());
  CHECK(note_of(", nic: 200Gbps").find("is the rate of one of the 8 interfaces of a dgx-a100") != std::string::npos);
  CHECK(note_of(", nic: 100Gbps").find("of 200Gbps each; network.nic is for messages from GPU to GPU only") !=
        std::string::npos);
}

TEST_CASE("nccl at flow: keys that can't be, or have no effect") {
  const std::string begin = "network: {fidelity: flow, nic: 200Gbps, server: dgx-a100, collectives: ";
  const std::string cluster = "cluster: {servers: 8, gpus_per_server: 8}\n";
  CHECK(errors_of(begin + "nccl, nccl: {machine: dgx-a100}, step_overhead: 1us}\n" + cluster)
            .find("and not network.collectives: nccl") != std::string::npos);
  CHECK(errors_of(begin + "ring, nccl: {machine: dgx-a100}}\n" + cluster).find("(at fidelity flow ") !=
        std::string::npos);
  CHECK(errors_of(begin + "nccl}\n" + cluster).find("NCCL plans with the links of a server") != std::string::npos);
  CHECK(errors_of(begin + "nccl, nccl: {machine: dgx-a100}}\n" + cluster).empty());
  const std::string study =
      "cluster: {gpus_per_server: 8}\ntraining: {it: {model: resnet50}}\noverlap: {training: it}\n";
  CHECK(errors_of(begin + "nccl}\n" + study).find("NCCL plans with the links of a server") != std::string::npos);
}
