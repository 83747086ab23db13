// `contend show --topology`, and what `check` finds in the files that a scenario names.

#include "tests/cli/program.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

namespace {

/// Two leaves of two servers, one GPU each; a leaf has 20 Gbit/s below and 10 above.
constexpr const char* kTwoLeaves =
    "schema_version: 1\n"
    "cluster: {servers: 4, gpus_per_server: 1}\n"
    "network:\n"
    "  fidelity: flow\n"
    "  nic: 10Gbps\n"
    "  fabric: {kind: leaf-spine, servers_per_leaf: 2, spines: 1, oversubscription: 2}\n"
    "workload: {generate: {sizes: {1: 1}}}\n";

}  // namespace

TEST_CASE("the topology in numbers") {
  const Workplace here;
  here.write("s.yaml", kTwoLeaves);
  const Outcome text = here.contend("show --topology s.yaml");
  CHECK(text.code == 0);
  CHECK_MESSAGE(contains(text.out, "a leaf-spine fabric around plain servers"), text.out);
  const Outcome json = here.contend("show --topology --json s.yaml");
  CHECK(json.code == 0);
  CHECK_MESSAGE(contains(json.out, "\"gpus\": 4,"), json.out);
  CHECK(contains(json.out, "\"switches\": 3,"));
  // GPU, NIC, leaf, spine, leaf, NIC, GPU, with what joins a GPU to its NIC in a plain server between.
  CHECK(contains(json.out, "\"diameter_links\": "));
  // Half of the servers against the rest, leaf against leaf: one cable of 10 Gbit/s.
  CHECK(contains(json.out, "\"bisection_bytes_per_s\": 1250000000,"));
  CHECK(contains(json.out, "\"oversubscription\": 2"));
}

TEST_CASE("the topology as a graph and a drawing") {
  const Workplace here;
  here.write("s.yaml", kTwoLeaves);
  CHECK(here.contend("show --topology --dot t.dot --svg t.svg s.yaml").code == 0);
  CHECK(contains(here.read("t.dot"), "spine0"));
  CHECK(contains(here.read("t.svg"), "<svg"));
  CHECK(here.contend("show --topology --dot missing/t.dot s.yaml").code == 3);
}

TEST_CASE("no topology, no report") {
  const Workplace here;
  here.write("s.yaml", "schema_version: 1\n");
  const Outcome outcome = here.contend("show --topology s.yaml");
  CHECK(outcome.code == 3);
  CHECK_MESSAGE(contains(outcome.err, "s.yaml: network.fidelity: only fidelity `flow` has a topology"), outcome.err);
  CHECK(here.contend("show --dot t.dot s.yaml").code == 2);
}

TEST_CASE("check builds the topology and reads routes and events, all complaints at once") {
  const Workplace here;
  here.write("s.yaml", kTwoLeaves);
  CHECK(here.contend("check s.yaml").code == 0);
  here.write("r.yaml", "- {from: server0/gpu0, to: server1/gpu0, paths: [[server0/nic0, leaf1, server1/nic0]]}\n");
  here.write("e.csv", "time_s,link,factor\n1,leaf9,0\n");
  const Outcome outcome = here.contend("check s.yaml --set network.routes=r.yaml --set network.events=e.csv");
  CHECK(outcome.code == 3);
  CHECK_MESSAGE(contains(outcome.err, "r.yaml:1:65: [0].paths[0][1]: no link from server0/nic0 to leaf1"), outcome.err);
  CHECK(contains(outcome.err, "e.csv:2: link: the topology has no node \"leaf9\"; did you mean \"leaf0\"?"));
}

TEST_CASE("check names jobs that the cluster could never run") {
  const Workplace here;
  here.write("s.yaml", "schema_version: 1\ncluster: {servers: 2}\nworkload: {jobs: jobs.csv}\n");
  here.write("jobs.csv", "job_id,submit_ms,model,gpus,iterations\nfits,0,vgg16,8,1\nbig,0,vgg16,9,1\n");
  const Outcome outcome = here.contend("check s.yaml");
  CHECK(outcome.code == 3);
  CHECK_MESSAGE(contains(outcome.err, "jobs.csv:3: gpus: job \"big\" needs 9 GPUs, the cluster has 8"), outcome.err);
  CHECK_FALSE(contains(outcome.err, "fits"));
  here.write("g.yaml", "schema_version: 1\nworkload: {generate: {sizes: {64: 1, 65: 2}}}\n");
  const Outcome mix = here.contend("check g.yaml");
  CHECK(mix.code == 3);
  CHECK_MESSAGE(contains(mix.err, "g.yaml:2:30: workload.generate.sizes: a job needs 65 GPUs, the cluster has 64"),
                mix.err);
  here.write("large.yaml",
             "schema_version: 1\ntraining:\n  a: {model: bert-large, batch: 512}\n"
             "workload: {generate: {models: [a]}}\n");
  for (const char* const verb : {"check", "run"}) {
    const Outcome large = here.contend(std::string{verb} + " large.yaml");
    CHECK(large.code == 3);
    CHECK_MESSAGE(contains(large.err, "large.yaml:3:6: training.a: job `job-0`: needs 168.5 GiB of GPU memory"),
                  large.err);
  }
}

TEST_CASE("check finds jobs that their virtual cluster or the CPUs and memory of a server could never run") {
  const Workplace here;
  here.write("s.yaml",
             "schema_version: 1\ncluster: {servers: 3, gpus_per_server: 4, cpus: 16, host_memory: 64GiB, vcs: "
             "[{name: own, servers: 1}, {name: quota, gpus: 2}]}\nworkload: {jobs: jobs.csv}\n");
  here.write("jobs.csv",
             "job_id,submit_s,gpus,duration_s,vc,cpus,host_memory\nfits,0,8,1,,4,16GiB\nown,0,5,1,own,,\n"
             "quota,0,3,1,quota,,\nall,0,9,1,,,\ncpus,0,1,1,,17,\nmemory,0,1,1,,,65GiB\n");
  const Outcome outcome = here.contend("check s.yaml");
  CHECK(outcome.code == 3);
  for (const char* complaint :
       {"jobs.csv:3: gpus: job \"own\" needs 5 GPUs, its virtual cluster has 4",
        "jobs.csv:4: gpus: job \"quota\" needs 3 GPUs, the quota of its virtual cluster is 2",
        "jobs.csv:5: gpus: job \"all\" needs 9 GPUs, the servers that no virtual cluster owns",
        "jobs.csv:6: gpus: job \"cpus\" needs more CPUs or host memory for each GPU than a server has",
        "jobs.csv:7: gpus: job \"memory\" needs more CPUs or host memory"})
    CHECK_MESSAGE(contains(outcome.err, complaint), outcome.err);
  CHECK_FALSE(contains(outcome.err, "fits"));
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s,vc\na,0,1,1,own\nb,0,1,1,quoat\n");
  const Outcome missing = here.contend("check s.yaml");
  CHECK(missing.code == 3);
  CHECK_MESSAGE(contains(missing.err, "jobs.csv:3: vc: cluster.vcs has no virtual cluster \"quoat\"; did you mean"),
                missing.err);
}

TEST_CASE("lists fit a screen") {
  const Workplace here;
  for (const char* topic : {"keys", "topologies", "policies", "metrics", "suites", "models"}) {
    CAPTURE(topic);
    const std::string out = here.contend(std::string{"list "} + topic).out;
    for (std::size_t start = 0; start < out.size();) {
      const std::size_t end = out.find('\n', start);
      CHECK_MESSAGE(end - start <= 100, out.substr(start, end - start));
      start = end + 1;
    }
  }
  CHECK(contains(here.contend("list topologies").out, "rail-optimised"));
}

TEST_SUITE_END();

TEST_CASE("check and run warn of interfaces that sit idle beside a busy one of the same server") {
  if (!has_program()) return;
  const Workplace here;
  here.write("idle.yaml",
             "schema_version: 1\nname: idle\ncluster: {servers: 2, gpus_per_server: 4}\n"
             "network:\n  fidelity: flow\n  nic: 100Gbps\n  server: {kind: nvswitch, nics: 4}\n"
             "workload: {generate: {models: [resnet50], sizes: {8: 1}, iterations: [2, 3], arrivals: 1s}}\n");
  for (const char* verb : {"check", "run"}) {
    INFO(verb);
    const Outcome all = here.contend(std::string{verb} + " idle.yaml --set network.collectives=ring");
    CHECK_MESSAGE(all.err.empty(), all.err);
    const Outcome leaders =
        here.contend(std::string{verb} + " idle.yaml --set network.collectives=hierarchical-leader");
    CHECK(leaders.code == 0);
    CHECK_MESSAGE(leaders.err.find("3 of 4 interfaces of server0 (server0/nic1 first) carry none") != std::string::npos,
                  leaders.err);
    CHECK_MESSAGE(leaders.err.find("and 2 servers in all have such interfaces") != std::string::npos, leaders.err);
  }
}
