// Servers of several workers in a study of an iteration.

#include "results/iteration_figures.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/study/study_cost.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_run.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr int kLevels = 4;  // workers on a server
constexpr const char* kInside = "inside: {alpha: 4us, bandwidth: 100GB/s}";

std::string text(int per_server, const std::string& more, const std::string& network) {
  return "schema_version: 1\ncluster: {gpus_per_server: " + std::to_string(per_server) +
         "}\nnetwork: {nic: 10Gbps, alpha: 50us, fidelity: analytic" + (network.empty() ? "" : ", " + network) +
         "}\ntraining: {it: {model: resnet18}}\noverlap: {training: it, " + more + "}\n";
}

Scenario study_of_servers(int per_server, const std::string& more, const std::string& network = kInside) {
  return parse_scenario(text(per_server, more, network), "study");
}

/// `key: reason` of every complaint, one a line.
std::string level_complaints(int per_server, const std::string& more, const std::string& network = kInside) {
  std::string all;
  try {
    static_cast<void>(study_of_servers(per_server, more, network));
  } catch (const InputError& error) {
    for (const Complaint& each : error.complaints()) all += each.key + ": " + each.reason + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("servers of several workers are part of the exchange, and of the scenario that is printed back") {
  const Scenario scenario = study_of_servers(kLevels, "workers: [2, 8]");
  // 10 Gbps are 0.8 ns a byte, 100 GB/s 0.01: a flat ring of 8 over two servers.
  const LinearCost flat = study_cost(scenario, 8).of(CollectiveKind::all_reduce);
  CHECK(flat.alpha == Time::microseconds(4 * 50 + 10 * 4));  // of 14 hops in a row 4 are between servers
  CHECK(flat.beta.ns_per_byte() == near(2 * 7 / 8.0 * 0.8));
  const ExchangeCost one = study_cost(scenario, 2);
  CHECK(one.one_server());
  CHECK(one.of(CollectiveKind::all_reduce).alpha == Time::microseconds(8));
  CHECK(study_cost(study_of_servers(kLevels, "workers: [8]", "inside: {beta: 0.01ns/B}"), 8)
            .of(CollectiveKind::all_reduce, CollectiveScope::server)
            .beta.ns_per_byte() == near(0.015));
  const Scenario again = parse_scenario(to_yaml(scenario), "again");
  CHECK(again.cluster.gpus_per_server == 4);
  CHECK(again.network.inside.alpha == Time::microseconds(4));
  CHECK(again.network.inside.bandwidth == ByteRate{1e11});
}

TEST_CASE("what contradicts servers of several workers is said") {
  CHECK(level_complaints(kLevels, "workers: [4, 6, 8, 10]") ==
        "overlap.workers: 6 workers don't fill servers of 4\noverlap.workers: 10 workers don't fill servers of 4\n");
  CHECK(level_complaints(kLevels, "workers: [8]", "") ==
        "cluster.gpus_per_server: how fast the workers of a server reach each other is not given\n");
  CHECK(level_complaints(1, "workers: [8]") ==
        "network.inside.alpha: there is one worker on each server\n"
        "network.inside.bandwidth: there is one worker on each server\n");
  CHECK(level_complaints(kLevels, "workers: [8]", std::string{kInside} + ", formula: measured") ==
        "network.formula: measured costs are those of a whole all-reduce, and network.nic is the rate of a link\n");
  CHECK(level_complaints(kLevels, "workers: [8]", std::string{kInside} + ", formula: halving-doubling").empty());
  CHECK_FALSE(level_complaints(kLevels, "workers: [8]", "inside: {bandwidth: 100GB/s, beta: 0.01ns/B}").empty());
}

TEST_CASE("what leaves a server: 2(n-1)/n of the gradient around a flat ring, 2(s-1)/s of it among servers") {
  const Scenario scenario =
      study_of_servers(kLevels, "workers: [16, 4], fusion: [bsp], compression: [none, hierarchical]");
  const std::vector<JobResult> rows = run_study(scenario).jobs;
  REQUIRE(rows.size() == 4);
  const double gradient = study_problem(scenario, study_model(scenario.overlap), 16).gradient().to_double();
  CHECK(rows[0].gpus == 16);
  CHECK(rows[0].servers == 4);
  CHECK(rows[0].traffic->sent_bytes == near(2 * 15 / 16.0 * gradient));
  CHECK(rows[0].traffic->interface_bytes == near(2 * 15 / 16.0 * gradient));
  CHECK(rows[1].traffic->sent_bytes == near(2 * 15 / 16.0 * gradient));  // 2 x 3/4 inside, and 2 x 3/4 of a quarter
  CHECK(rows[1].traffic->interface_bytes == near(2 * 3 / 4.0 * gradient));
  CHECK(iteration_value(rows[1], "iteration_s") < iteration_value(rows[0], "iteration_s"));
  CHECK(iteration_value(rows[1], "iteration_s") > iteration_value(rows[1], "bound_s"));
  CHECK(rows[2].traffic->interface_bytes == 0);
  CHECK(rows[3].traffic->interface_bytes == 0);
}

TEST_CASE("methods on levels say so where there are none") {
  const std::vector<JobResult> rows =
      run_study(
          study_of_servers(
              1, "workers: [8], fusion: [bsp], compression: [hierarchical, {policy: hitopk, density: 0.01}, byte-grad]",
              ""))
          .jobs;
  CHECK(rows[0].reason == "needs servers of several workers: cluster.gpus_per_server must be 2 or more");
  CHECK(rows[1].reason == rows[0].reason);
  CHECK(rows[2].reason.empty());
}

TEST_CASE("weights averaged now and then, and beside training") {
  const std::vector<JobResult> rows =
      run_study(study_of_servers(1,
                                 "workers: [8], fusion: [bsp, mg-wfbp, horovod, last-batch], compression: [none, "
                                 "{policy: local-sgd, period: 4}, "
                                 "async-average, {policy: decentralized, all: false}]",
                                 ""))
          .jobs;
  REQUIRE(rows.size() == 16);
  const JobResult &dense = rows[0], &local = rows[4], &async = rows[8], &swapped = rows[12];
  // Three iterations compute, the fourth is an iteration of bsp; a quarter of the bytes.
  const double compute = iteration_value(dense, "iteration_s") * iteration_value(dense, "scaling_efficiency");
  CHECK(iteration_value(local, "iteration_s") ==
        near_absolute(0.75 * compute + 0.25 * iteration_value(dense, "iteration_s"), 1e-9));
  CHECK(local.traffic->sent_bytes == near(dense.traffic->sent_bytes / 4));
  CHECK(iteration_value(local, "compression_s") == 0);
  CHECK(iteration_value(async, "exposed_communication_s") == 0);
  CHECK(iteration_value(async, "iteration_s") ==
        near_absolute(compute + iteration_value(async, "compression_s"), 1e-9));
  CHECK(iteration_value(swapped, "iteration_s") < iteration_value(dense, "iteration_s"));
  for (const std::size_t method : {4U, 8U, 12U}) {
    CHECK(rows[method + 1].reason.empty());
    CHECK(iteration_value(rows[method + 1], "iteration_s") <= iteration_value(rows[method], "iteration_s") * 1.001);
    CHECK(rows[method + 2].reason ==
          "negotiates gradients during the backward pass, and this method exchanges weights");
    CHECK(rows[method + 3].reason == "is about gradients, and this method exchanges weights");
  }
}
