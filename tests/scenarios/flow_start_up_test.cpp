// What a run at fidelity `flow` says of network.alpha, which means less there than at the other fidelities.

#include "scenarios/run/fabric_collective.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/run/run_notes.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::string start_up_note(const std::string& network, const std::string& work) {
  JobLists lists;
  return flow_start_up_note(parsed("network: {nic: 10Gbps, " + network + "}\n" + work), lists);
}

constexpr const char* kSizesToEight =
    "cluster: {servers: 8, gpus_per_server: 1}\nworkload: {generate: {sizes: {1: 3, 4: 2, 8: 1}}}\n";

}  // namespace

TEST_CASE("start-up at flow: the note has the difference for the largest job, and that is what runs differ by") {
  const std::string note = start_up_note("fidelity: flow, alpha: 50us", kSizesToEight);
  CHECK_MESSAGE(note.find("a transfer pays it once: 50us for a ring all-reduce among 8 GPUs") != std::string::npos,
                note);
  CHECK_MESSAGE(note.find("14 x 50us = 700us") != std::string::npos, note);
  CHECK(start_up_note("fidelity: flow", kSizesToEight).empty());
  CHECK(start_up_note("fidelity: contention, alpha: 50us", kSizesToEight).empty());
  CHECK(start_up_note("fidelity: flow, alpha: 50us", "cluster: {servers: 8}\nworkload: {generate: {sizes: {1: 3}}}\n")
            .empty());
  CHECK(start_up_note("fidelity: flow, alpha: 50us",
                      "training: {it: {model: resnet50}}\noverlap: {training: it, workers: [2, 4]}\n")
            .find("among 4 GPUs") != std::string::npos);
  // A ring of 8 with 40 MB at 10 Gbit/s: 2 x 7/8 x 40e6 B x 0.8 ns/B = 56 ms of bytes, exactly.
  const Scenario flow = parsed(
      "cluster: {servers: 8, gpus_per_server: 1}\n"
      "network: {fidelity: flow, nic: 10Gbps, alpha: 50us, fabric: {kind: single-switch, link_latency: 0s}, "
      "server: {kind: plain, pcie_latency: 0s}}\n");
  CHECK(fabric_collective(flow.cluster, flow.network, flow.failures, flow.seed, CollectiveKind::all_reduce,
                          Bytes{40'000'000}, {1, 1, 1, 1, 1, 1, 1, 1})
            .time.ns() == 56'050'000);
  Scenario closed = flow;
  closed.network.fidelity = Fidelity::analytic;
  const LinearCost cost = CostTable{closed.network}.of(JobShape{8, 8, 1}).of(CollectiveKind::all_reduce);
  CHECK(cost.alpha == Time::microseconds(700));
  CHECK(cost.of(Bytes{40'000'000}).ns() == 56'700'000);
}
