// These tests run placement policies in the engine: the patience of consolidated-or-wait by hand, and every policy on
// random workloads.

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/placement_kit.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

JobSpec timed(const char* name, std::int64_t submit_s, std::int64_t duration_s, int gpus) {
  JobSpec job;
  job.name = name;
  job.submit = Time::seconds(submit_s);
  job.duration = Time::seconds(duration_s);
  job.gpus = gpus;
  return job;
}

RandomCluster on(const ClusterSpec& cluster, std::vector<JobSpec> jobs, Choice scheduling, Choice placement) {
  RandomCluster run;
  run.cluster = cluster;
  run.jobs = std::move(jobs);
  run.scheduling = std::move(scheduling);
  run.placement = std::move(placement);
  run.communication = {"srsf", {}};
  run.cost.beta = TimePerByte{1};  // timed jobs send nothing
  return run;
}

}  // namespace

TEST_CASE("consolidated-or-wait: whole until the patience ends, to the nanosecond, then scattered") {
  // Two servers of two GPUs. A fills server 0 until 10 s; B (until 100 s) and C (until 51 s) fill server 1. D comes at
  // 11 s and takes a GPU of server 0 until 111 s. From 51 s on one GPU is free on each server. E wants two at 60 s.
  //   patience 30 s: nothing happens until 90 s; then E takes the two GPUs, on two servers.
  //   patience 60 s: B ends at 100 s, so that server 1 is free, and E takes it.
  //   patience 0: E starts at 60 s.
  const std::vector<JobSpec> jobs{timed("A", 0, 10, 2), timed("B", 0, 100, 1), timed("C", 1, 50, 1),
                                  timed("D", 11, 100, 1), timed("E", 60, 10, 2)};
  const auto start_of_e = [&](double patience) {
    const RunResult result =
        on(cluster_of(2, 2), jobs, {"fifo", {}}, {"consolidated-or-wait", {{"patience_s", patience}}}).run(true);
    const JobResult& e = result.jobs[4];
    return std::pair{e.start.ns(), e.servers};
  };
  constexpr std::int64_t kSecond = 1'000'000'000;
  CHECK(start_of_e(30) == std::pair{90 * kSecond, 2});
  CHECK(start_of_e(30.5) == std::pair{90 * kSecond + kSecond / 2, 2});
  CHECK(start_of_e(60) == std::pair{100 * kSecond, 1});
  CHECK(start_of_e(0) == std::pair{60 * kSecond, 2});
  CHECK(start_of_e(1e9) == std::pair{100 * kSecond, 1});
}

TEST_CASE("random workloads end under every placement policy, with virtual clusters that own servers") {
  const std::vector<const char*> names{
      "consolidated", "consolidated-or-wait", "first-fit",     "groups",    "kai",
      "kueue",        "list-scheduling",      "lwf",           "own-first", "random",
      "spread",       "topology-aware",       "traffic-aware", "volcano",   "worst-fit",
      "yarn"};
  const auto is_inside = [](const auto& row) { return !row.is_outside; };
  // All but vclos, which needs a fabric of leaves and spines (placement_vclos_test.cpp), and the two of Slurm, with
  // whose equal tasks a job of 7 GPUs needs 7 servers.
  CHECK(std::ranges::count_if(placement_policies(), is_inside) == std::ssize(names) + 3);
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{40}); ++seed) {
    RandomStream random{seed, "test.placements"};
    ClusterSpec cluster = cluster_of(6, 4);
    cluster.milli_cpus = random.uniform() < 0.5 ? 0 : 16'000;
    cluster.vcs.resize(2);
    cluster.vcs[0].servers = {0, 4};
    cluster.vcs[1].servers = {4, 6};
    std::vector<JobSpec> jobs;
    for (int j = 0; j < 60; ++j) {
      JobSpec job = timed(("j" + std::to_string(j)).c_str(), random.uniform_integer(0, 300),
                          random.uniform_integer(0, 50), static_cast<int>(random.uniform_integer(1, 8)));
      job.vc = static_cast<std::int32_t>(random.uniform_integer(0, 1));
      job.milli_cpus = static_cast<std::int32_t>(random.uniform_integer(0, 4) * 1000);
      if (job.gpus == 1 && random.uniform() < 0.6) {
        job.gpu_share = static_cast<std::int32_t>(random.uniform_integer(1, 999));
      }
      jobs.push_back(job);
    }
    for (const char* scheduling : {"fifo", "srtf"}) {
      for (const char* name : names) {
        INFO(name << " under " << scheduling << ", seed " << seed);
        const RunResult result = on(cluster, jobs, {scheduling, {}}, {name, {}}).run(true);
        std::size_t finished = 0;
        for (const JobResult& job : result.jobs) finished += job.state == JobState::finished ? 1 : 0;
        CHECK(finished == jobs.size());
      }
    }
  }
}
