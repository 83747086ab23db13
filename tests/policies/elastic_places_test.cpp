// elasticflow promises deadlines, and a promise in numbers of GPUs is none where the placement policy has no place for
// a job though enough GPUs are free. The first cases can be followed by hand.

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace contend;
using namespace contend::test;

namespace {

struct PromisedCase {
  ClusterSpec cluster;
  std::vector<JobSpec> jobs;
  std::vector<std::vector<JobSize>> sizes{};

  void add(std::int64_t submit, int gpus, std::int64_t duration, std::int64_t deadline) {
    jobs.push_back(timed_job(submit, gpus, duration));
    if (deadline > 0) jobs.back().deadline = Time::seconds(deadline);
  }
  [[nodiscard]] Played play_with(const std::string& placement_name, double period_s = 0, Time quantum = {}) const {
    SchedulingRules rules;
    rules.quantum = quantum;
    Played played =
        play({"elasticflow", {{"period_s", period_s}}}, cluster, jobs, placement({placement_name, {}}), rules, sizes);
    CHECK(played.faults.empty());
    CHECK(fmt::format("{}", fmt::join(played.vain_starts, ", ")) == "");
    return played;
  }
};

ClusterSpec servers_of(int servers, int per_server) {
  ClusterSpec cluster;
  cluster.servers = servers;
  cluster.gpus_per_server = per_server;
  cluster.gpu_memory = Bytes{1};
  return cluster;
}

/// Jobs of fixed sizes and elastic ones, most with deadlines, where GPUs are short at times.
PromisedCase random_promises(std::uint64_t seed) {
  RandomStream random{seed, "promises"};
  PromisedCase made{servers_of(static_cast<int>(random.uniform_integer(1, 4)), 1), {}};
  made.cluster.gpus_per_server = static_cast<int>(random.uniform_integer(made.cluster.servers == 1 ? 2 : 1, 4));
  const int gpus = made.cluster.servers * made.cluster.gpus_per_server;
  if (seed % 4 == 1) {  // servers of others
    made.cluster.vcs = {{{0, static_cast<std::uint32_t>(made.cluster.servers)}}};
    made.cluster.servers += 2;
  }
  if (seed % 4 == 2) made.cluster.vcs = {{{}, std::max(1, gpus / 2)}, {{}, std::max(1, gpus * 2 / 3)}};
  const bool has_hosts = seed % 2 == 0;  // some jobs ask for more CPUs or memory than a server has for each GPU
  if (has_hosts) made.cluster.milli_cpus = 1'000 * made.cluster.gpus_per_server;
  if (has_hosts) made.cluster.host_memory = Bytes{1'000 * made.cluster.gpus_per_server};
  for (std::int64_t j = random.uniform_integer(4, 14); j > 0; --j) {
    const std::int64_t submit = random.uniform_integer(0, 80), duration = random.uniform_integer(5, 60);
    made.add(submit, static_cast<int>(random.uniform_integer(1, gpus)), duration, 0);
    JobSpec& job = made.jobs.back();
    if (random.uniform() < 0.8)
      job.deadline = job.submit + *job.duration + Time::seconds(random.uniform_integer(0, 60));
    if (!made.cluster.vcs.empty()) job.vc = seed % 4 == 1 ? 0 : static_cast<std::int32_t>(random.uniform_integer(0, 1));
    if (seed % 4 == 2) job.gpus = std::min(job.gpus, made.cluster.vcs[static_cast<std::size_t>(job.vc)].quota);
    if (has_hosts) job.milli_cpus = static_cast<std::int32_t>(random.uniform_integer(0, 3) * 500);
    if (has_hosts && random.uniform() < 0.3) job.host_memory = Bytes{random.uniform_integer(1, 1'500)};
    if (random.uniform() < 0.4) continue;
    job.sizes = static_cast<std::int32_t>(made.sizes.size());
    std::vector<JobSize>& own = made.sizes.emplace_back();
    for (int size = 1; size <= gpus; ++size) {
      if (size != job.gpus && random.uniform() < 0.3) continue;
      const double faster = std::pow(static_cast<double>(size) / job.gpus, 0.8);
      own.push_back({.gpus = size, .paces = {{.together = std::llround(static_cast<double>(kNominalPace) / faster)}}});
    }
  }
  return made;
}

}  // namespace

TEST_CASE("elasticflow: an admitted job finds its place, if others have to move for it") {
  // A and B have a GPU of each server. Two GPUs are free for C, on two servers: one of A and B moves.
  PromisedCase made{servers_of(2, 2), {}};
  made.add(0, 1, 100, 100);
  made.add(0, 1, 100, 100);
  made.add(10, 2, 50, 60);
  const Played played = made.play_with("worst-fit");
  CHECK(played.finishes() == "A100 B100 C60");
  CHECK(played.result.jobs[0].resizes + played.result.jobs[1].resizes == 1);
  CHECK(made.play_with("first-fit").finishes() == "A100 B100 C60");
}

TEST_CASE("elasticflow: a job is refused where the GPUs suffice in number, and there is no place at any time") {
  // A server of three GPUs has a place for one job of two. By number three jobs fit.
  PromisedCase made{servers_of(2, 3), {}};
  for (int j = 0; j < 3; ++j) made.add(0, 2, 100, 120);
  const Played apart = made.play_with("consolidated");
  CHECK(apart.result.jobs[0].finish == Time::seconds(100));
  CHECK(apart.result.jobs[1].finish == Time::seconds(100));
  CHECK(apart.result.jobs[2].state == JobState::failed);
  CHECK(made.play_with("first-fit").finishes() == "A100 B100 C100");
}

TEST_CASE("elasticflow: a job without a deadline makes room for a promise") {
  // D has the GPUs that are free, one on each server, until C comes.
  PromisedCase made{servers_of(2, 2), {}};
  made.add(0, 1, 100, 100);
  made.add(0, 1, 100, 100);
  made.add(10, 2, 50, 60);
  made.add(5, 1, 20, 0);
  const Played played = made.play_with("worst-fit");
  CHECK(played.finishes() == "A100 B100 C60 D75");
  CHECK(played.preemptions() == "D1");
}

TEST_CASE("elasticflow: a job without a deadline does not start where the same pass would stop it for a promise") {
  // A and B would take a GPU of each server, one after the other, and leave C no server of two GPUs.
  PromisedCase made{servers_of(2, 2), {}};
  made.add(0, 1, 20, 0);
  made.add(0, 1, 20, 0);
  made.add(0, 2, 50, 50);
  const Played played = made.play_with("worst-fit");
  CHECK(played.finishes() == "A20 B20 C50");
  CHECK(played.preemptions() == "");
  CHECK(holds(played) == "C2 0-50, A1 0-20, B1 0-20");
}

TEST_CASE("elasticflow: a promise goes before a job without a deadline where a quota has room for one of them") {
  // The quota of five GPUs has room for the three of A or the four of B. Eight GPUs are free.
  PromisedCase made{servers_of(4, 2), {}};
  made.cluster.vcs = {{{}, 5}};
  made.add(0, 3, 18, 0);
  made.add(0, 4, 85, 85);
  for (JobSpec& job : made.jobs) job.vc = 0;
  const Played played = made.play_with("first-fit");
  CHECK(played.finishes() == "A103 B85");
  CHECK(played.preemptions() == "");
}

TEST_CASE("elasticflow: with a period GPUs change hands at its multiples only, and plans know it") {
  // A ends at 5, and B can have its GPU at 10. It is then done at 20, in time. C would be done at 30.
  PromisedCase made{servers_of(1, 1), {}};
  made.add(0, 1, 5, 5);
  made.add(0, 1, 10, 20);
  made.add(0, 1, 10, 29);
  const Played played = made.play_with("first-fit", 10);
  CHECK(played.result.jobs[0].finish == Time::seconds(5));
  CHECK(played.result.jobs[1].finish == Time::seconds(20));
  CHECK(played.result.jobs[2].state == JobState::failed);
}

TEST_CASE("elasticflow: a job without a deadline gives the CPUs that a promise needs") {
  // A leaves GPUs 0, 1 and 2, of which C needs two, with three CPUs each. B, on GPU 3, has three of the eight CPUs.
  PromisedCase made{servers_of(1, 4), {}};
  made.cluster.milli_cpus = 8'000;
  made.add(0, 3, 10, 0);
  made.add(0, 1, 100, 0);
  made.add(10, 2, 20, 30);
  made.jobs[1].milli_cpus = made.jobs[2].milli_cpus = 3'000;
  for (const char* name : {"first-fit", "consolidated", "spread"}) {
    const Played played = made.play_with(name);
    CHECK(played.finishes() == "A10 B120 C30");
    CHECK(played.preemptions() == "B1");
  }
}

TEST_CASE("elasticflow: a job beside a promise goes on if its quota, and the CPUs and memory of its server, allow it") {
  // C needs a whole server, and three GPUs of the quota of five. A keeps its two, and B gives way.
  PromisedCase made{servers_of(2, 3), {}};
  made.cluster.vcs = {{{}, 5}};
  made.add(0, 2, 100, 0);
  made.add(0, 2, 100, 0);
  made.add(10, 3, 20, 30);
  for (JobSpec& job : made.jobs) job.vc = 0;
  const Played played = made.play_with("worst-fit");
  CHECK(played.finishes() == "A100 B120 C30");
  CHECK(played.preemptions() == "B1");
}

TEST_CASE("elasticflow: with a quantum GPUs change hands at its multiples only, and plans know it") {
  // A has the GPU until 11, so that B can have it at 20. With C before B, B would have it at 40 and end at 51.
  PromisedCase made{servers_of(1, 1), {}};
  made.add(0, 1, 11, 11);
  made.add(0, 1, 11, 40);
  made.add(0, 1, 11, 34);
  const Played at_once = made.play_with("first-fit");
  CHECK(at_once.finishes() == "A11 B33 C22");
  const Played played = made.play_with("first-fit", 0, Time::seconds(10));
  CHECK(played.result.jobs[0].finish == Time::seconds(11));
  CHECK(played.result.jobs[1].finish == Time::seconds(31));
  CHECK(played.result.jobs[2].state == JobState::failed);
  // Passes at 0, 7, 14, ... decide at the first of them from 0, 10, 20, ... on: at 14, 21, 35. B is done at 25.
  const Played both = made.play_with("first-fit", 10, Time::seconds(7));
  CHECK(both.result.jobs[1].finish == Time::seconds(25));
  CHECK(both.result.jobs[2].state == JobState::failed);
}

TEST_CASE("elasticflow: a job that is done 5 ns after a decision has its GPU until the next one") {
  // At 10 s A still has 5 ns to do. B can have the GPU at 20 s, and is done at 30 s.
  for (const auto& [period_s, quantum_s] : {std::pair{10, 0}, std::pair{0, 10}}) {
    PromisedCase made{servers_of(1, 1), {}};
    made.add(0, 1, 10, 11);
    made.add(0, 1, 10, 25);
    made.jobs[0].duration = Time::nanoseconds(10'000'000'005);
    const Played late = made.play_with("first-fit", period_s, Time::seconds(quantum_s));
    CHECK(late.result.jobs[0].finish == Time::nanoseconds(10'000'000'005));
    CHECK(late.result.jobs[1].state == JobState::failed);
    made.jobs[1].deadline = Time::seconds(30);
    CHECK(made.play_with("first-fit", period_s, Time::seconds(quantum_s)).finishes() == "A10 B30");
  }
}

TEST_CASE("elasticflow: a job without work starts and ends, whatever its deadline and the period") {
  for (const double period : {0.0, 60.0}) {
    for (const std::int64_t deadline : {30, 119, 121}) {
      PromisedCase made{servers_of(1, 1), {}};
      made.add(15, 1, 0, deadline);
      CHECK(made.play_with("consolidated", period).result.jobs[0].finish <= Time::seconds(15 + 60));
    }
  }
}

TEST_CASE("elasticflow: no admitted job misses its deadline, wherever jobs are placed") {
  const auto seeds = effort(std::uint64_t{60});
  std::map<std::string, int> admitted, refused;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const PromisedCase made = random_promises(seed);
    for (const auto& row : placement_policies()) {
      if (row.is_outside || row.name == "vclos") continue;  // it needs a fabric
      const std::string name{row.name};
      const std::string which = fmt::format("seed {}, {}", seed, name);
      INFO(which);
      const double period_s = seed % 3 == 0 ? 7 : 0;
      const Time quantum = Time::milliseconds(std::array{0, 0, 10'000, 100, 2'500}[seed % 5]);
      const Played played = made.play_with(name, period_s, quantum);
      for (std::size_t j = 0; j < made.jobs.size(); ++j) {
        const JobResult& job = played.result.jobs[j];
        if (job.state == JobState::failed) {
          ++refused[name];
          continue;
        }
        REQUIRE(job.state == JobState::finished);
        if (!made.jobs[j].deadline) continue;
        ++admitted[name];
        const std::string late = job.finish > *made.jobs[j].deadline + Time::microseconds(1)
                                     ? fmt::format("job {} ends at {:g} s, due at {:g} s", j, job.finish.to_seconds(),
                                                   made.jobs[j].deadline->to_seconds())
                                     : std::string{};
        CHECK(late == "");
      }
    }
  }
  for (const auto& each : admitted) {
    const std::string name{each.first};
    const auto jobs = each.second;
    INFO(name);
    CHECK(jobs > static_cast<int>(seeds));
    CHECK(refused[name] > static_cast<int>(seeds) / 2);
  }
}
