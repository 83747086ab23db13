#pragma once
// A cluster whose components fail at given times, for tests of what happens then.

#include "sim/error.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/same_result.hpp"
#include "tests/sim/test_kit.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace contend::test {

inline constexpr std::int64_t kSecond = 1'000'000'000, kMinute = 60 * kSecond;

struct StruckCluster {
  int servers = 1, gpus_per_server = 1;
  std::vector<JobSpec> jobs;
  std::vector<std::string> graphs{};
  FailureSpec failures{};
  PreemptionCosts costs{};
  Time until = Time::never();
  bool leap = true;
  bool shortest_first = false;
  bool preemptive = false;
  MeasuredWindow window{};
  DecisionObserver* decisions = nullptr;
  std::vector<VirtualCluster> vcs{};
  std::vector<ServiceMaker> services{};
  std::vector<std::vector<JobSize>> sizes{};

  [[nodiscard]] RunResult run() const {
    Workload workload;
    workload.jobs = jobs;
    workload.services = services;
    workload.sizes = sizes;
    for (const std::string& graph : graphs) workload.graphs.push_back(graph_from_text(graph));
    for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
      workload.jobs[j].name = "job" + std::to_string(j);
    }
    Setup setup;
    if (shortest_first) setup.key = by_remaining_service;
    setup.preemptive = preemptive;
    PolicySet policies = policies_of(setup, {});
    policies.placement = std::make_unique<AnyGpus>();
    SimulationOptions options;
    options.until = until;
    options.leap = leap;
    options.failures = failures;
    options.rules.preemption = costs;
    options.window = window;
    options.decisions = decisions;
    ClusterSpec cluster;
    cluster.servers = servers;
    cluster.gpus_per_server = gpus_per_server;
    cluster.gpu_memory = Bytes{100};
    cluster.vcs = vcs;
    for (std::size_t vc = 0; vc < vcs.size(); ++vc) workload.vcs.push_back("vc" + std::to_string(vc));
    const std::size_t count = workload.jobs.size();
    Simulation simulation{cluster, std::move(workload), std::move(policies),
                          std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(servers), count),
                          std::move(options)};
    return simulation.run();
  }
  /// The result with leaping, which is the result of executing every event, and in which wall times are accounted for.
  [[nodiscard]] RunResult run_both_ways() const {
    StruckCluster other = *this;
    other.leap = !leap;
    RunResult result = run();
    CHECK(difference(other.run(), result) == "");
    for (const JobResult& job : result.jobs)
      if (job.state == JobState::finished) CHECK(job.finish - job.submit == job.waited + job.held + job.away);
    return result;
  }
  /// What the run is refused for; empty if it isn't.
  [[nodiscard]] std::string refusal() const {
    try {
      static_cast<void>(run());
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

inline Outage outage(std::int64_t from, std::int64_t until, std::uint32_t first, std::uint32_t last) {
  return {Time::nanoseconds(from), Time::nanoseconds(until), first, last};
}

/// Of every ended job: its wall time is accounted for, and the time on its GPUs, to the nanosecond.
inline void check_sums(const RunResult& result) {
  for (const JobResult& job : result.jobs) {
    CAPTURE(job.name);
    if (job.state == JobState::finished) CHECK(job.finish - job.submit == job.waited + job.held + job.away);
    CHECK(GpuTime{job.held, job.gpus} == job.compute + job.lost + GpuTime{job.overhead, job.gpus});
    CHECK(GpuTime{job.redone, job.gpus} == job.lost);
    CHECK(GpuTime{job.useful(), job.gpus} == job.compute);
  }
}

}  // namespace contend::test
