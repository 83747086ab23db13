// Jobs with `parallel` in a cluster: what a placement does to their groups, and what they do to each other.

#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/run_notes.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// Four servers of eight H100s, and an entry with these members on so many GPUs.
Scenario small_cluster(const std::string& members, int gpus, std::vector<std::string> sets = {}) {
  return parsed(
      fmt::format("cluster: {{servers: 4, gpus_per_server: 8, gpu_memory: 200GiB}}\n"
                  "network: {{nic: 400Gbps, alpha: 10us, inside: {{bandwidth: 3600Gbps, alpha: 3us}}}}\n"
                  "policies: {{placement: groups, communication: {{policy: srsf, ways: 8}}}}\n"
                  "training: {{m: {{device: H100-SXM, dtype: bf16, optimizer: adam, {}}}}}\n"
                  "workload: {{generate: {{models: [m], sizes: {{{}: 1}}, iterations: [2, 2], arrivals: 1ms}}}}\n",
                  members, gpus),
      std::move(sets));
}

double seconds_of(const Scenario& scenario) {
  const RunResult run = run_scenario(scenario, 1);
  REQUIRE(!run.jobs.empty());
  return (run.jobs[0].finish - run.jobs[0].start).to_seconds();
}

const std::string kTensor =
    "model: llama-3-8b, sequence: 4096, accumulate: 4, recompute: full, parallel: {tensor: 4, zero: 1";

const std::vector<std::string> kFabric{"network.fidelity=flow", "network.topology.server=dgx",
                                       "network.topology.fabric=rail-optimized"};

}  // namespace

TEST_CASE("parallel: a placement that tears tensor-parallel groups apart makes a job slower, at every fidelity") {
  for (const char* fidelity : {"analytic", "contention", "flow"}) {
    INFO(fidelity);
    const std::string set = std::string{"network.fidelity="} + fidelity;
    const RunResult whole = run_scenario(small_cluster(kTensor + "}", 32, {set}), 1);
    const Scenario random = small_cluster(kTensor + "}", 32, {set, "policies.placement=random"});
    const RunResult torn = run_scenario(random, 1);
    CHECK_FALSE(whole.jobs[0].torn);
    CHECK(seen_torn_groups(random.training, whole).empty());
    CHECK(torn.jobs[0].torn);
    CHECK(torn.jobs[0].finish.to_seconds() > 1.2 * whole.jobs[0].finish.to_seconds());
    CHECK(seen_torn_groups(random.training, torn) ==
          torn.jobs[0].name +
              " lay on 4 servers with groups of ranks torn apart that belong on one server: what these send passes "
              "the network; policies.placement: groups keeps them together");
  }
}

TEST_CASE("parallel: groups that lie on several servers, alone on the network, take what their passes assume") {
  // The same graph with the collectives as parts of passes, and as operations.
  const std::string base = "sequence: 2048, recompute: full, accumulate: 2, ";
  for (const std::string members :
       {"model: gpt-3-6.7b, parallel: {tensor: 16, across_servers: true, zero: 1}",
        "model: gpt-3-6.7b, parallel: {tensor: 16, across_servers: true, sequence_parallel: true}",
        "model: llama-3-8b, parallel: {tensor: 4, context: 4}", "model: qwen-3-30b-a3b, parallel: {expert: 32}",
        "model: qwen-3-30b-a3b, parallel: {expert: 32, expert_pieces: 4}",
        "model: qwen-3-30b-a3b, parallel: {expert: 32, expert_exchange: by-server}",
        "model: qwen-3-30b-a3b, parallel: {pipeline: 2, expert: 16, expert_exchange: by-server}",
        "model: qwen-3-30b-a3b, parallel: {expert: 32, expert_exchange: by-server, expert_pieces: 4}",
        "model: qwen-3-30b-a3b, parallel: {pipeline: 2, expert: 16, expert_pieces: 8}"}) {
    INFO(members);
    const double inside = seconds_of(small_cluster(base + members, 32));
    const double outside = seconds_of(small_cluster(base + members, 32, {"network.fidelity=contention"}));
    CHECK(outside == near(inside, 0.02));
    const Scenario contended = small_cluster(base + members, 32, {"network.fidelity=contention"});
    const ParallelJob job = plan_parallel(contended, *find_entry(contended.training, "m"), 32);
    CHECK(std::ranges::count(job.iteration.in_network, true) == 1);
  }
}

TEST_CASE("parallel: what tensor-parallel groups of two jobs send shares the interfaces of their servers") {
  // Each job has half of the GPUs of two servers, and its groups of eight lie on both.
  TemporaryFolder folder;
  write_file(folder.path("jobs.csv"),
             "job_id,submit_s,gpus,model,iterations,place\n"
             "one,0,8,m,2,server0:0-3;server1:0-3\ntwo,0,8,m,2,server0:4-7;server1:4-7\n");
  write_file(folder.path("one.csv"),
             "job_id,submit_s,gpus,model,iterations,place\none,0,8,m,2,server0:0-3;server1:0-3\n");
  const auto time = [&](const char* jobs, const char* fidelity) {
    Scenario scenario = small_cluster(
        "model: llama-3-8b, sequence: 4096, recompute: full, memory: 80GiB, parallel: {tensor: 8, across_servers: "
        "true}",
        8, {std::string{"network.fidelity="} + fidelity});
    scenario.workload.jobs = folder.path(jobs);
    return seconds_of(scenario);
  };
  for (const char* fidelity : {"contention", "flow"})
    CHECK(time("jobs.csv", fidelity) > 1.1 * time("one.csv", fidelity));
  CHECK(time("jobs.csv", "analytic") == near(time("one.csv", "analytic")));
}

TEST_CASE("parallel: a job waits until its tensor-parallel groups fit into servers, unless it may be torn") {
  // Four GPUs are taken on each of two servers of eight.
  TemporaryFolder folder;
  write_file(folder.path("jobs.csv"),
             "job_id,submit_s,gpus,model,iterations,place\n"
             "a,0,4,m4,40,server0:0-3\nb,0,4,m4,40,server1:0-3\nc,1,8,m8,1,\n");
  const auto start_of_last = [&](const std::string& across) {
    const Scenario scenario = parsed(
        "cluster: {servers: 2, gpus_per_server: 8, gpu_memory: 200GiB}\n"
        "network: {nic: 400Gbps, alpha: 10us, inside: {bandwidth: 3600Gbps, alpha: 3us}}\n"
        "policies: {placement: groups}\n"
        "training: {m4: {model: llama-3-8b, device: H100-SXM, dtype: bf16, parallel: {tensor: 4}},\n"
        "           m8: {model: llama-3-8b, device: H100-SXM, dtype: bf16, parallel: {tensor: 8" +
        across + "}}}\nworkload: {jobs: " + folder.path("jobs.csv") + "}\n");
    const RunResult run = run_scenario(scenario, 1);
    CHECK(run.jobs[2].torn == !across.empty());
    return std::pair{run.jobs[2].start, std::min(run.jobs[0].finish, run.jobs[1].finish)};
  };
  const auto [waited, freed] = start_of_last("");
  CHECK(waited == freed);
  CHECK(start_of_last(", across_servers: true").first == Time::seconds(1));
}

TEST_CASE("parallel: two jobs that offload to one server have half of it each") {
  // A job of one GPU each, in step.
  const TemporaryFolder folder;
  const auto seconds = [&](int jobs, const std::string& host, const std::string& more = {}) {
    std::string list = "job_id,submit_s,gpus,model,iterations,place\n";
    for (int job = 0; job < jobs; ++job) list += fmt::format("{0},0,1,m,5,server0:{0}\n", job);
    const std::string path = folder.path("jobs.csv");
    write_file(path, list);
    const Scenario scenario = parsed(fmt::format(
        "cluster: {{servers: 1, gpus_per_server: 2, gpu_memory: 80GiB{}}}\n"
        "network: {{fidelity: analytic, nic: 100Gbps}}\n"
        "policies: {{scheduling: fifo, placement: first-fit}}\n"
        "training: {{m: {{model: gpt2, device: A100-80GB, dtype: bf16, batch: 4, optimizer: adam, accumulate: 2, "
        "parallel: {{zero: 2, offload: {{optimizer: nvme, activations: true, link: 25GB/s, memory: 20GB/s, nvme: "
        "6GB/s}}}}}}}}\n"
        "workload: {{jobs: {}}}\n{}",
        host.empty() ? "" : ", host: {" + host + "}", path, more));
    const RunResult run = run_scenario(scenario, 1);
    REQUIRE(run.jobs.size() == static_cast<std::size_t>(jobs));
    for (const JobResult& job : run.jobs) CHECK(job.finish == run.jobs[0].finish);
    return run.jobs[0].finish.to_seconds();
  };
  const double alone = seconds(1, "");
  CHECK(seconds(2, "") == near(alone));
  CHECK(seconds(2, "link: 50GB/s, memory: 200GB/s, nvme: 12GB/s") == near(alone, 1e-6));
  for (const auto& each : {std::pair{"nvme: 8GB/s", "nvme: 4GB/s"}, std::pair{"link: 4GB/s", "link: 2GB/s"},
                           std::pair{"memory: 12GB/s", "memory: 6GB/s"}}) {
    INFO(each.first);
    CHECK(seconds(2, each.first) == near(seconds(1, each.second), 1e-6));
    CHECK(seconds(2, each.first) > 1.05 * alone);
    CHECK(seconds(2, each.first) == seconds(2, each.first, "engine: {leap: false}\n"));
  }
  CHECK(errors_of("cluster: {host: {link: 4GB/s}}\n").find("needs `an entry of training with parallel.offload`") !=
        std::string::npos);
}

TEST_CASE("parallel: paths of a pipeline are planned, though the norm of its gradients has no bytes") {
  const std::string gpt =
      "transformer: {layers: 4, hidden: 512, heads: 8, feed_forward: 1024, vocabulary: 8000}, sequence: 256, batch: 1, "
      "global_batch: 16, parallel: {pipeline: 2";
  const auto seconds = [&](const char* routing) {
    return seconds_of(
        small_cluster(gpt + "}", 16, {"network.fidelity=flow", std::string{"network.routing="} + routing}));
  };
  // One switch, on which each pair of GPUs has one path, whoever plans it.
  CHECK(seconds("planned") == seconds("shortest-path"));
}
