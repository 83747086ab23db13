// Tests what an observer of decisions hears about failures: which component struck a job, where, and who noticed it.

#include "tests/sim/quiet_observer.hpp"
#include "tests/sim/struck_cluster.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

/// One line for each interruption and each change in the way in which a job goes on, and for each begin and end of a
/// slowdown.
class Causes final : public QuietObserver {
 public:
  void interrupted(Time now, JobId job, std::string_view cause) override {
    lines.push_back(fmt::format("{} s, job {}: {}", now.ns() / kSecond, job.value(), cause));
  }
  void adapted(Time now, JobId job, std::string_view what) override {
    lines.push_back(fmt::format("{} s, job {} {}", now.ns() / kSecond, job.value(), what));
  }
  void slowed(Time now, const SlowGpus& slow, bool is_over) override {
    lines.push_back(fmt::format("{} s, GPUs {} to {}: {} {} by {}", now.ns() / kSecond, slow.first, slow.last - 1,
                                slow.name, is_over ? "no longer slows" : "slows", slow.times));
  }

  std::vector<std::string> lines;
};

using CauseLines = std::vector<std::string>;

/// Jobs on so many GPUs of so many iterations of a second.
void add_jobs(StruckCluster& cluster, std::vector<std::pair<int, std::int64_t>> jobs) {
  for (const auto& [gpus, iterations] : jobs) {
    JobSpec job;
    job.gpus = gpus;
    job.iterations = iterations;
    job.memory_per_gpu = Bytes{60};
    job.graph = cluster.graphs.size();
    cluster.jobs.push_back(job);
    cluster.graphs.push_back(fmt::format("role worker {} | compute step worker 1000000000", gpus));
  }
}

Outage outage_s(std::int64_t from, std::int64_t until, std::uint32_t first, std::uint32_t last,
                FoundBy found_by = FoundBy::delay) {
  Outage one = test::outage(from * kSecond, until * kSecond, first, last);
  one.found_by = found_by;
  return one;
}

CauseLines causes(StruckCluster cluster) {
  Causes causes;
  cluster.decisions = &causes;
  const RunResult result = cluster.run();
  cluster.decisions = nullptr;
  CHECK(difference(cluster.run(), result) == "");  // whoever looks changes nothing
  return causes.lines;
}

}  // namespace

TEST_CASE("the cause of an interruption: what struck, and on which GPU or server of the job") {
  // Job 0 has GPUs 0 to 5, of which 4 and 5 are the GPUs of server 1, job 1 has GPUs 6 and 7; 8 to 11 are free.
  StruckCluster cluster{.servers = 3, .gpus_per_server = 4, .jobs = {}};
  add_jobs(cluster, {{6, 100}, {2, 100}});
  const auto lines = [&cluster](std::vector<Outage> outages) {
    cluster.failures.outages = std::move(outages);
    return causes(cluster);
  };
  CHECK(lines({outage_s(10, 20, 3, 4)}) == CauseLines{"10 s, job 0: an outage on GPU 3 of server 0"});
  CHECK(lines({outage_s(10, 20, 5, 6)}) == CauseLines{"10 s, job 0: an outage on GPU 1 of server 1"});
  CHECK(lines({outage_s(10, 20, 6, 7)}) == CauseLines{"10 s, job 1: an outage on GPU 2 of server 1"});
  CHECK(lines({outage_s(10, 20, 8, 12)}).empty());
  // A server, of which each job has a part; and what reaches from one job to the next.
  CHECK(lines({outage_s(10, 20, 4, 8)}) ==
        CauseLines{"10 s, job 0: an outage on server 1", "10 s, job 1: an outage on server 1"});
  CHECK(lines({outage_s(10, 20, 5, 7)}) ==
        CauseLines{"10 s, job 0: an outage on server 1", "10 s, job 1: an outage on server 1"});
  // Next to each other at one instant: each job hears of its own, and of all its own.
  CHECK(lines({outage_s(10, 20, 5, 6), outage_s(10, 20, 6, 7)}) ==
        CauseLines{"10 s, job 0: an outage on GPU 1 of server 1", "10 s, job 1: an outage on GPU 2 of server 1"});
  CHECK(lines({outage_s(10, 20, 1, 2), outage_s(10, 20, 4, 6)}) ==
        CauseLines{"10 s, job 0: an outage on GPU 1 of server 0, an outage on server 1"});
  // What is repaired, or slows GPUs down, or strikes at another instant, interrupts nobody now.
  std::vector<Outage> others{outage_s(10, 20, 2, 3), outage_s(5, 10, 9, 10), outage_s(10, 30, 0, 2),
                             outage_s(15, 30, 10, 11)};
  others[2].slows = Slowdown{1'200, 1'000};
  CHECK(lines(others) == CauseLines{"10 s, GPUs 0 to 1: an event slows by 1200",
                                    "10 s, job 0: an outage on GPU 2 of server 0",
                                    "30 s, GPUs 0 to 1: an event no longer slows by 1200"});
  Outage planned = outage_s(10, 20, 0, 1);
  planned.drain = Time::seconds(5);
  CHECK(lines({planned}) == CauseLines{"10 s, job 0: a planned outage on GPU 0 of server 0"});
}

TEST_CASE("the cause of an interruption: the class of a component, the job itself") {
  const auto law = [](std::int64_t at) { return DurationLaw::constant(Time::seconds(at)); };
  StruckCluster cluster{.servers = 2, .gpus_per_server = 2, .jobs = {}};
  add_jobs(cluster, {{2, 15}});
  cluster.failures.components = {{"board", 2, false, law(10), law(1'000)}};
  cluster.until = Time::seconds(20);
  CHECK(causes(cluster) == CauseLines{"10 s, job 0: board on server 0"});
  cluster.failures.components = {{"gpu", 1, false, law(10), law(1'000)}};
  CHECK(causes(cluster) == CauseLines{"10 s, job 0: gpu on GPU 0 of server 0, gpu on GPU 1 of server 0"});
  // A class that slows is named, too; the slower of computing and transfers counts.
  cluster.failures.components[0].slows = Slowdown{1'500, 1'000};
  CHECK(causes(cluster) == CauseLines{"10 s, GPUs 0 to 0: gpu slows by 1500", "10 s, GPUs 1 to 1: gpu slows by 1500",
                                      "10 s, GPUs 2 to 2: gpu slows by 1500", "10 s, GPUs 3 to 3: gpu slows by 1500"});

  StruckCluster alone{.jobs = {}};
  add_jobs(alone, {{1, 15}});
  alone.failures.of_jobs = law(10);
  CHECK(causes(alone) == CauseLines{"10 s, job 0: the job fails by itself"});
  alone.failures.outages = {outage_s(10, 12, 0, 1)};
  CHECK(causes(alone) == CauseLines{"10 s, job 0: the job fails by itself, an outage on GPU 0 of server 0"});
}

TEST_CASE("a job that goes on without GPUs says which, and when it has them back") {
  StruckCluster cluster{.servers = 2, .gpus_per_server = 2, .jobs = {}};
  add_jobs(cluster, {{4, 100}});
  cluster.failures.redundancy.cover = RedundancyRule::Cover::replicas;
  cluster.failures.outages = {outage_s(10, 40, 1, 2), outage_s(20, 30, 2, 4)};
  CHECK(causes(cluster) == CauseLines{"10 s, job 0 goes on without 1 GPU: an outage on GPU 1 of server 0",
                                      "20 s, job 0 goes on without 2 GPUs: an outage on server 1",
                                      "30 s, job 0 goes on with GPUs that are back, still without 1 GPU",
                                      "40 s, job 0 goes on with all of its GPUs again"});
}

TEST_CASE("a job that takes steps against slow components says which") {
  StruckCluster cluster{.servers = 2, .gpus_per_server = 2, .jobs = {}};
  add_jobs(cluster, {{4, 100}});
  Outage slow = outage_s(10, 50, 1, 2);
  slow.slows = Slowdown{2'000, Slowdown::kFullPace};
  cluster.failures.outages = {slow};
  cluster.failures.mitigation.microbatches = Time::seconds(2);
  // Half of the time is lost until 14 s.
  CHECK(causes(cluster) == CauseLines{"10 s, GPUs 1 to 1: an event slows by 2000",
                                      "14 s, job 0 gives slow GPUs fewer micro-batches",
                                      "50 s, GPUs 1 to 1: an event no longer slows by 2000"});
}

TEST_CASE("the cause of a restart that had to wait for room: what slows the job down, not what failed before") {
  // Job 0 has lost the 20 s that a restart costs at 50 s, and finds no four GPUs but slow ones until job 1 ends at 60
  // s. A GPU that fails at 55 s doesn't interrupt it.
  StruckCluster cluster{.servers = 3, .gpus_per_server = 2, .jobs = {}};
  add_jobs(cluster, {{4, 100}, {2, 60}});
  Outage slow = outage_s(10, 900, 1, 2);
  slow.slows = Slowdown{2'000, Slowdown::kFullPace};
  cluster.failures.outages = {slow, outage_s(55, 900, 2, 3)};
  cluster.failures.redundancy.cover = RedundancyRule::Cover::replicas;
  cluster.failures.redundancy.tolerates = 1;
  cluster.failures.mitigation.restart = Time::seconds(20);
  CHECK(causes(cluster) == CauseLines{"10 s, GPUs 1 to 1: an event slows by 2000",
                                      "55 s, job 0 goes on without 1 GPU: an outage on GPU 0 of server 1",
                                      "60 s, GPUs 1 to 1: an event no longer slows by 2000",
                                      "60 s, job 0: a slow component on GPU 1 of server 0, found by its slowness"});
}

TEST_CASE("the cause of an interruption: who noticed it first, and after how long") {
  StruckCluster cluster{.servers = 2, .gpus_per_server = 2, .jobs = {}};
  add_jobs(cluster, {{2, 100}});
  cluster.failures.detectors.exit_code = Time::seconds(3);
  cluster.failures.detectors.heartbeat = Time::seconds(4);
  cluster.failures.detectors.timeout = Time::seconds(60);
  cluster.failures.detection = Time::seconds(7);
  const auto lines = [&cluster](std::vector<Outage> outages) {
    cluster.failures.outages = std::move(outages);
    return causes(cluster);
  };
  const std::string gpu = "10 s, job 0: an outage on GPU 0 of server 0";
  CHECK(lines({outage_s(10, 20, 0, 1)}) == CauseLines{gpu + ", noticed 7 s later"});
  CHECK(lines({outage_s(10, 20, 0, 1, FoundBy::exit_code)}) == CauseLines{gpu + ", found 3 s later by its exit code"});
  // The last heartbeat came at 8 s; the heartbeats of 12, 16 and 20 s are missed.
  CHECK(lines({outage_s(10, 20, 0, 1, FoundBy::heartbeat)}) ==
        CauseLines{gpu + ", found 10 s later by its heartbeats"});
  CHECK(lines({outage_s(10, 20, 0, 1, FoundBy::timeout)}) == CauseLines{gpu + ", found 60 s later by a time-out"});
  // The first to notice counts, in whatever order they are listed.
  for (const bool reversed : {false, true}) {
    std::vector<Outage> two{outage_s(10, 20, 0, 1, FoundBy::timeout), outage_s(10, 20, 1, 2, FoundBy::exit_code)};
    if (reversed) std::swap(two[0].found_by, two[1].found_by);
    CHECK(lines(two) == CauseLines{gpu + ", an outage on GPU 1 of server 0, found 3 s later by its exit code"});
  }
  // A monitor isolates what has been slow for 5 s, from 15 s on.
  cluster.failures.detectors.slow_for = Time::seconds(5);
  std::vector<Outage> slow{outage_s(10, 30, 0, 1, FoundBy::slowdown)};
  slow[0].slows = Slowdown{2'000, 1'000};
  CHECK(lines(slow) == CauseLines{"10 s, GPUs 0 to 0: an event slows by 2000",
                                  "15 s, GPUs 0 to 0: an event no longer slows by 2000",
                                  "15 s, job 0: a slow component on GPU 0 of server 0, found by its slowness"});
}
