// These tests compare InOrder with an obvious scheduler on random job lists and Lanes with a sorted list. They
// also work out by hand passes at the quantum, ties, and the costs of preemption.

#include "policies/scheduling/in_order.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

RunResult run(const ClusterSpec& cluster, const Workload& workload, std::unique_ptr<SchedulingPolicy> scheduling,
              const SchedulingRules& rules = {}) {
  PolicySet policies = policies_of({}, {});
  policies.scheduling = std::move(scheduling);
  policies.placement = placement({"first-fit", {}});
  SimulationOptions options;
  options.rules = rules;
  Simulation simulation{
      cluster, workload, std::move(policies),
      std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(cluster.servers), workload.jobs.size()), options};
  return simulation.run();
}

JobSpec timed(std::string name, std::int64_t submit, std::int64_t duration, int gpus = 1) {
  JobSpec job = timed_ns(submit, duration, gpus);
  job.name = std::move(name);
  return job;
}

ClusterSpec one_gpu() {
  ClusterSpec cluster;
  cluster.gpu_memory = Bytes{100};
  return cluster;
}

std::string order_of(const RunResult& result) {
  std::vector<const JobResult*> jobs;
  for (const JobResult& job : result.jobs) jobs.push_back(&job);
  std::sort(jobs.begin(), jobs.end(), [](auto* a, auto* b) { return a->start < b->start; });
  std::string names;
  for (const JobResult* job : jobs) names += job->name;
  return names;
}

}  // namespace

TEST_CASE("lanes visit jobs in order, and of a refused lane or one that may not start no other") {
  RandomStream stream{1, "lanes"};
  int refused_alike = 0, not_allowed = 0;
  Lanes lanes;
  std::vector<std::pair<Lanes::Place, int>> list;  // with the number of GPUs
  std::uint32_t jobs = 0;
  for (int round = 0; round < 400; ++round) {
    for (std::int64_t n = stream.uniform_integer(0, 6); n > 0; --n) {
      JobView job;
      job.id = JobId{jobs++};
      job.gpu_share = kWholeGpu;
      job.gpus = static_cast<int>(stream.uniform_integer(1, 4));
      const Lanes::Place place{stream.uniform_integer(0, 20), job.id.value(), job.id};
      lanes.insert(place, job, job.gpus);
      list.emplace_back(place, job.gpus);
    }
    std::sort(list.begin(), list.end());
    const int most_at_first = static_cast<int>(stream.uniform_integer(1, 4));
    int most = most_at_first;
    std::set<int> refused;
    lanes.begin_round([&](const Lanes::Lane& lane) { return lane.example.gpus <= most_at_first; });
    for (auto at = list.begin(); at != list.end();) {
      if (at->second > most || refused.contains(at->second)) {
        ++(refused.contains(at->second) ? refused_alike : not_allowed);
        ++at;
        continue;
      }
      const Lanes::Place* next = lanes.front([&](const Lanes::Lane& lane) { return lane.example.gpus <= most; });
      REQUIRE(next != nullptr);
      REQUIRE(*next == at->first);
      const auto outcome = static_cast<Lanes::Outcome>(stream.uniform_integer(0, 2));
      lanes.advance(outcome);
      if (outcome == Lanes::Outcome::refused_alike) refused.insert(at->second);
      if (outcome == Lanes::Outcome::started && stream.uniform_integer(0, 3) == 0) most = std::max(most - 1, 0);
      at = outcome == Lanes::Outcome::started ? list.erase(at) : at + 1;
    }
    REQUIRE(lanes.front([&](const Lanes::Lane& lane) { return lane.example.gpus <= most; }) == nullptr);
    std::size_t seen = 0;
    for (const auto& [shape, lane] : lanes.by_shape()) seen += lane.jobs.size();
    REQUIRE(seen == list.size());
  }
  CHECK(refused_alike > 100);
  CHECK(not_allowed > 100);
}

TEST_CASE("InOrder makes the schedule of an obvious scheduler, on random lists") {
  int waits = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{200}); ++seed) {
    RandomStream stream{seed, "in-order"};
    const auto in = [&](std::int64_t low, std::int64_t high) { return stream.uniform_integer(low, high); };
    ClusterSpec cluster = one_gpu();
    cluster.servers = static_cast<int>(in(1, 4));
    cluster.gpus_per_server = static_cast<int>(in(1, 4));
    Workload workload;
    for (int j = 0; j < 40; ++j) {
      workload.jobs.push_back(timed(fmt::format("{}", j), in(0, 100), in(0, 30),
                                    static_cast<int>(in(1, cluster.servers * cluster.gpus_per_server))));
      if (workload.jobs.back().gpus == 1 && in(0, 3) == 0) workload.jobs.back().gpu_share = 500;
      if (in(0, 9) == 0) workload.jobs.back().attempts = {Time::nanoseconds(in(0, 9))};
    }
    SchedulingRules rules;
    rules.quantum = Time::nanoseconds(in(0, 2) == 0 ? in(2, 20) : 0);
    const bool strict = in(0, 1) == 1;
    Setup setup;
    setup.key = [](const JobView& job) { return job.remaining_service.ns() / job.gpus; };
    setup.strict = strict;
    INFO("seed ", seed);
    const RunResult plain = run(cluster, workload, std::make_unique<TestScheduling>(setup), rules);
    const RunResult ours = run(cluster, workload, scheduling({"srtf", {{"strict", strict}}}), rules);
    CHECK(difference(plain, ours) == "");
    GpuTime service;
    for (const JobResult& job : ours.jobs) {
      CHECK(job.state == JobState::finished);
      CHECK(job.held + job.waited == job.jct());
      service += job.compute;
      waits += job.waited > Time{} ? 1 : 0;
    }
    CHECK(service > GpuTime{});
  }
  CHECK(waits > effort(2000));  // of 8000 jobs
}

TEST_CASE("with a quantum jobs end exactly, and their GPUs are used from its next multiple on") {
  // The quantum is 10. A arrives at 1, starts at 10 and ends at 17. B starts at 20 and ends at 30, when C starts.
  Workload workload;
  workload.jobs = {timed("A", 1, 7), timed("B", 2, 10), timed("C", 3, 5)};
  SchedulingRules rules;
  rules.quantum = Time::nanoseconds(10);
  const RunResult result = run(one_gpu(), workload, scheduling({"fifo", {}}), rules);
  CHECK(result.jobs[0].start.ns() == 10);
  CHECK(result.jobs[0].finish.ns() == 17);
  CHECK(result.jobs[1].start.ns() == 20);
  CHECK(result.jobs[2].start.ns() == 30);
  CHECK(result.jobs[2].finish.ns() == 35);
}

TEST_CASE("ties: equal keys by submission, backwards in the list, latest first, by name") {
  Workload workload;  // every job takes 5; X runs first under every rule
  workload.jobs = {timed("X", 0, 5), timed("C", 1, 5), timed("A", 2, 5), timed("B", 2, 5)};
  const auto order = [&](TieOrder ties) {
    SchedulingRules rules;
    rules.ties = ties;
    return order_of(run(one_gpu(), workload, scheduling({"sjf", {}}), rules));
  };
  CHECK(order(TieOrder::submission) == "XCAB");
  CHECK(order(TieOrder::list_reversed) == "XCBA");
  CHECK(order(TieOrder::latest) == "XBAC");
  CHECK(order(TieOrder::name) == "XABC");
}

TEST_CASE("ties: a job that fails and counts as submitted when it queues again") {
  // A fails at 4 and queues again at 8, when B, C and D have been submitted and E has not. From 4 on, B or C runs until
  // 14. All take 10, A with the attempt that fails.
  Workload workload;
  workload.jobs = {timed("A", 0, 6), timed("B", 1, 10), timed("C", 2, 10), timed("D", 5, 10), timed("E", 9, 10)};
  workload.jobs[0].attempts = {Time::nanoseconds(4)};
  const auto order = [&](TieOrder ties, bool at_end) {
    SchedulingRules rules;
    rules.ties = ties;
    rules.failures.delay = Time::nanoseconds(4);
    rules.failures.at_end = at_end;
    const RunResult result = run(one_gpu(), workload, scheduling({"sjf", {}}), rules);
    std::map<Time, std::string> ends;
    for (const JobResult& job : result.jobs) ends[job.finish] += job.name;
    std::string names;
    for (const auto& [end, name] : ends) names += name;
    return names;
  };
  CHECK(order(TieOrder::submission, true) == "BCDAE");
  CHECK(order(TieOrder::submission, false) == "BACDE");
  CHECK(order(TieOrder::list_reversed, true) == "BCDAE");
  CHECK(order(TieOrder::latest, true) == "CEADB");
  CHECK(order(TieOrder::latest, false) == "CEDBA");
  CHECK(order(TieOrder::name, true) == "BACDE");
}

TEST_CASE("a preemption costs the work since the last checkpoint and a restart") {
  // A needs 20 with a checkpoint of 1 after each 5 of work: 0-5, 6-11, ... At 14, B of length 3 preempts it: 10 are
  // saved, 2 are lost. From 17 on A takes 4 to restart, 5 of work, 1 for a checkpoint, and the last 5: 17 + 4 + 11 =
  // 32.
  Workload workload;
  workload.jobs = {timed("A", 0, 20), timed("B", 14, 3)};
  SchedulingRules rules;
  rules.preemption = {Time::nanoseconds(4), Time::nanoseconds(5), Time::nanoseconds(1)};
  const RunResult result = run(one_gpu(), workload, scheduling({"srtf", {{"preemptive", true}}}), rules);
  const JobResult& a = result.jobs[0];
  CHECK(a.finish.ns() == 32);
  CHECK(a.lost.ns() == 2);
  CHECK(a.overhead.ns() == 2 + 4 + 1);
  CHECK(a.held.ns() == 14 + 15);
  CHECK(a.waited.ns() == 3);
  CHECK(a.compute.ns() == 20);
  CHECK(result.jobs[1].finish.ns() == 17);
}

TEST_CASE("scattered over more servers than needed a job takes longer, if the user says how much") {
  // Two servers of two GPUs. A and B leave one GPU free on each. C of two GPUs spans both servers: 10 x 1.5. D has one
  // GPU.
  ClusterSpec cluster = one_gpu();
  cluster.servers = cluster.gpus_per_server = 2;
  Workload workload;
  workload.jobs = {timed("A", 0, 30), timed("H", 0, 1), timed("B", 0, 30), timed("C", 2, 10, 2)};
  SchedulingRules rules;
  rules.scatter_penalty = {1500, 2000};
  const RunResult result = run(cluster, workload, scheduling({"fifo", {}}), rules);
  CHECK(result.jobs[3].servers == 2);
  CHECK(result.jobs[3].finish.ns() == 17);
  CHECK(result.jobs[3].compute.ns() == 20);
  CHECK(run(cluster, workload, scheduling({"fifo", {}})).jobs[3].finish.ns() == 12);
}
