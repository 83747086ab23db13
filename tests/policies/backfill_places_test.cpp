// Backfilling reserves places, not numbers of GPUs. The worked cases can be followed by hand. validate/backfill plays
// the rules plainly, on random lists.

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;
using namespace contend::test;

namespace {

/// In seconds.
struct WaitingJob {
  std::int64_t submit = 0;
  int gpus = 1;
  std::int64_t duration = 0;
  std::int64_t limit = 0;  ///< 0: the duration
  [[nodiscard]] std::int64_t estimate() const { return limit > 0 ? limit : duration; }
  [[nodiscard]] std::int64_t runs() const { return limit > 0 ? std::min(limit, duration) : duration; }
};

Played play_waiting(const char* policy, const char* placement_name, int servers, int per_server,
                    const std::vector<WaitingJob>& jobs) {
  std::vector<JobSpec> specs;
  for (const WaitingJob& job : jobs) {
    specs.push_back(timed_job(job.submit, job.gpus, job.duration));
    specs.back().limit = Time::seconds(job.estimate());
    specs.back().gpu_share = kWholeGpu;
  }
  ClusterSpec cluster;
  cluster.servers = servers;
  cluster.gpus_per_server = per_server;
  Played result = play({policy, {}}, cluster, specs, placement({placement_name, {}}));
  CHECK(result.faults.empty());
  return result;
}

/// Starts and places under a policy of the program: `100@0:2` is a start at 100 s with two GPUs of server 0.
std::vector<std::string> starts_and_places(const char* policy, const char* placement_name, int servers, int per_server,
                                           const std::vector<WaitingJob>& jobs) {
  const Played result = play_waiting(policy, placement_name, servers, per_server, jobs);
  std::vector<std::string> texts(jobs.size());
  for (const Hold& hold : result.runs) {
    std::map<std::size_t, int> counts;
    for (const GpuId gpu : hold.gpus) ++counts[gpu.index() / static_cast<std::size_t>(per_server)];
    std::string& text = texts[hold.job.index()];
    text = fmt::format("{}@", hold.start.ns() / 1'000'000'000);
    for (const auto& [server, gpus] : counts) text += fmt::format("{}:{} ", server, gpus);
    text.pop_back();
  }
  return texts;
}

/// What the policy says that it keeps, by job: `2: 100@0:4, 66@0:4` for two reservations of the job 2.
std::string kept_places(const char* policy, const char* placement_name, int servers, int per_server,
                        const std::vector<WaitingJob>& jobs) {
  std::string text;
  for (const auto& [job, kept] : play_waiting(policy, placement_name, servers, per_server, jobs).reservations)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", job.value(), fmt::join(kept, ", "));
  return text;
}

using Texts = std::vector<std::string>;

std::string joined(const Texts& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// A deep queue of jobs of few sizes, and limits that are right, or up to twice too long.
std::vector<WaitingJob> random_waiting_jobs(std::uint64_t seed, int gpus, bool exact) {
  RandomStream stream{seed, "backfill-places"};
  std::vector<WaitingJob> jobs;
  std::int64_t submit = 0;
  for (int j = 0; j < 40; ++j) {
    submit += stream.uniform_integer(0, 8);
    const int most = stream.uniform() < 0.3 ? gpus : 3;
    WaitingJob job{submit, static_cast<int>(stream.uniform_integer(1, std::min(most, gpus))),
                   stream.uniform_integer(1, 40), 0};
    if (!exact && stream.uniform() < 0.7) job.limit = job.duration + stream.uniform_integer(0, job.duration);
    jobs.push_back(job);
  }
  return jobs;
}

}  // namespace

TEST_CASE("backfilling says what is kept: the start and the servers, and each change of them") {
  // The cases of this file, by job: a job that starts at once, and one behind the first under easy, has nothing kept.
  const std::vector<WaitingJob> one = {{0, 1, 100}, {0, 1, 1000}, {1, 2, 50}, {2, 1, 1000}, {3, 1, 90}};
  const std::vector<WaitingJob> two = {{0, 4, 60}, {0, 4, 600}, {1, 2, 300}, {2, 2, 300}, {3, 2, 30}};
  const std::vector<WaitingJob> three = {{0, 2, 100}, {0, 4, 300}, {0, 3, 200}, {1, 8, 50},
                                         {2, 1, 500}, {3, 2, 99},  {4, 1, 196}};
  const std::vector<WaitingJob> four = {{0, 3, 40, 100}, {0, 3, 100}, {5, 4, 50}, {6, 1, 60}, {7, 1, 200}};
  const std::vector<WaitingJob> five = {{0, 4, 100}, {1, 6, 50}, {2, 2, 99}, {3, 3, 60}, {4, 1, 500}};
  CHECK(kept_places("easy", "worst-fit", 2, 2, one) == "2: 100@0:2");
  CHECK(kept_places("conservative", "worst-fit", 2, 2, one) == "2: 100@0:2");
  CHECK(kept_places("easy", "consolidated", 2, 4, two) == "2: 60@0:2; 4: 360@0:2");
  CHECK(kept_places("conservative", "consolidated", 2, 4, two) == "2: 60@0:2; 3: 60@0:2; 4: 360@0:2");
  CHECK(kept_places("easy", "consolidated", 3, 4, three) == "3: 200@0:4 2:4; 4: 250@0:1");
  CHECK(kept_places("conservative", "consolidated", 3, 4, three) == "3: 200@0:4 2:4; 4: 250@0:1");
  // a ends at 40 s, 60 s before its limit; then only m is in the way on server 0, until 66 s.
  CHECK(kept_places("easy", "worst-fit", 2, 4, four) == "2: 100@0:4, 66@0:4");
  CHECK(kept_places("easy", "spread", 4, 2, five).starts_with("1: 100@0:2 1:2 2:1 3:1"));
  CHECK(kept_places("conservative", "spread", 4, 2, five) == "1: 100@0:2 1:2 2:1 3:1; 3: 150@0:1 1:1 2:1; 4: 101@2:1");
}

TEST_CASE("backfilling keeps places: two servers of two GPUs") {
  // a and b hold a GPU of each server. big can have server 0 when a ends at 100; c would be in its way there, and runs
  // on server 1; d ends in time.
  const std::vector<WaitingJob> jobs = {{0, 1, 100}, {0, 1, 1000}, {1, 2, 50}, {2, 1, 1000}, {3, 1, 90}};
  const Texts right = {"0@0:1", "0@1:1", "100@0:2", "2@1:1", "3@0:1"};
  CHECK(joined(starts_and_places("easy", "worst-fit", 2, 2, jobs)) == joined(right));
  CHECK(joined(starts_and_places("conservative", "worst-fit", 2, 2, jobs)) == joined(right));
}

TEST_CASE("backfilling keeps places: jobs that will share a server start together") {
  const std::vector<WaitingJob> jobs = {{0, 4, 60}, {0, 4, 600}, {1, 2, 300}, {2, 2, 300}, {3, 2, 30}};
  const Texts right = {"0@0:4", "0@1:4", "60@0:2", "60@0:2", "360@0:2"};
  CHECK(joined(starts_and_places("easy", "consolidated", 2, 4, jobs)) == joined(right));
  CHECK(joined(starts_and_places("conservative", "consolidated", 2, 4, jobs)) == joined(right));
}

TEST_CASE("backfilling keeps places: a job that ends exactly when the reservation begins may pass") {
  const std::vector<WaitingJob> jobs = {{0, 2, 100}, {0, 4, 300}, {0, 3, 200}, {1, 8, 50},
                                        {2, 1, 500}, {3, 2, 99},  {4, 1, 196}};
  const Texts right = {"0@0:2", "0@1:4", "0@2:3", "200@0:4 2:4", "250@0:1", "3@0:2", "4@2:1"};
  CHECK(joined(starts_and_places("easy", "consolidated", 3, 4, jobs)) == joined(right));
  CHECK(joined(starts_and_places("conservative", "consolidated", 3, 4, jobs)) == joined(right));
}

TEST_CASE("easy: the reservation follows limits, and a long job runs beside it") {
  const std::vector<WaitingJob> jobs = {{0, 3, 40, 100}, {0, 3, 100}, {5, 4, 50}, {6, 1, 60}, {7, 1, 200}};
  const Texts texts = starts_and_places("easy", "worst-fit", 2, 4, jobs);
  CHECK(joined(texts) == "0@0:3, 0@1:3, 66@0:4, 6@0:1, 7@1:1");
}

TEST_CASE("backfilling keeps places: jobs that spread over servers") {
  const std::vector<WaitingJob> jobs = {{0, 4, 100}, {1, 6, 50}, {2, 2, 99}, {3, 3, 60}, {4, 1, 500}};
  for (const char* policy : {"easy", "conservative"}) {
    const Texts texts = starts_and_places(policy, "spread", 4, 2, jobs);
    CHECK(texts[2] == "2@2:1 3:1");
    CHECK(texts[1] == "100@0:2 1:2 2:1 3:1");
    CHECK(texts[4] == "101@2:1");
    CHECK(texts[3].starts_with("150@"));
  }
}

namespace {

/// Jobs with exact limits, in seconds.
std::vector<JobSpec> limited_jobs(const std::vector<WaitingJob>& jobs, const std::vector<std::int32_t>& vcs) {
  std::vector<JobSpec> specs;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    JobSpec& job = specs.emplace_back(timed_job(jobs[j].submit, jobs[j].gpus, jobs[j].duration));
    job.limit = job.duration;
    job.gpu_share = kWholeGpu;
    job.vc = vcs[j];
  }
  return specs;
}

}  // namespace

TEST_CASE("easy: the first job of one queue leaves the place that is kept for the first of another") {
  // A, of the virtual cluster with a quota, has both servers until 10. B, without a quota, is promised the first at 10,
  // and D, with it, the second. C is the first of B's queue when B has started, and finds its place at 30.
  ClusterSpec cluster;
  cluster.servers = 2;
  cluster.gpus_per_server = 1;
  cluster.gpu_memory = Bytes{1};
  cluster.vcs = {{{}, 2}, {}};
  const auto jobs = limited_jobs({{0, 2, 10}, {1, 1, 20}, {2, 1, 20}, {3, 1, 20}}, {0, 1, 1, 0});
  const Played played = play({"easy", {}}, cluster, jobs, placement({"consolidated", {}}));
  CHECK(played.faults.empty());
  CHECK(played.first_plans.at(JobId{3U}) == Time::seconds(10));
  CHECK(played.finishes() == "A10 B30 C50 D30");
}

TEST_CASE("easy: a job behind the first takes nothing of the quota that the first will need") {
  // B needs the whole quota of three GPUs at 10. C would have one of them until 102, though a fourth GPU is idle.
  ClusterSpec cluster;
  cluster.gpus_per_server = 4;
  cluster.gpu_memory = Bytes{1};
  cluster.vcs = {{{}, 3}, {}};
  const auto jobs = limited_jobs({{0, 2, 10}, {1, 3, 20}, {2, 1, 100}, {3, 1, 7}, {4, 1, 100}}, {0, 0, 0, 0, 1});
  for (const char* policy : {"easy", "conservative"}) {
    INFO(policy);
    const Played played = play({policy, {}}, cluster, jobs, placement({"first-fit", {}}));
    CHECK(played.faults.empty());
    CHECK(played.finishes() == "A10 B30 C130 D10 E104");
  }
}

TEST_CASE("no backfilled job starts later than its first plan, whatever the placement, types of servers and quotas") {
  int plans = 0, later_than_at_once = 0;
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{4}); ++seed) {
    for (const auto& [has_types, has_vcs, has_hosts] :
         {std::array{false, false, false}, std::array{true, false, false}, std::array{false, true, seed % 2 == 0},
          std::array{true, true, seed % 2 == 1}}) {
      ClusterSpec cluster;
      cluster.servers = 4;
      cluster.gpus_per_server = 4;
      cluster.gpu_memory = Bytes{100};
      if (has_types) {
        cluster.types = {{.name = "old", .servers = 1, .gpus_per_server = 4, .gpu_memory = Bytes{100}},
                         {.name = "new", .servers = 3, .gpus_per_server = 2, .gpu_memory = Bytes{100}}};
        cluster.demanded = {"old", "new"};
      }
      if (has_hosts) cluster.milli_cpus = 6'000;
      if (has_hosts) cluster.host_memory = Bytes{6'000};
      // A server of its own, quotas that are short, one that isn't, and none.
      if (has_vcs) cluster.vcs = {{{0, has_types ? 0U : 1U}}, {{}, 3}, {{}, 4}, {{}, has_types ? 4 : 12}, {}};
      RandomStream stream{seed, "first-plans"};
      std::vector<JobSpec> jobs;
      for (const WaitingJob& job : random_waiting_jobs(seed, has_types ? 4 : 16, true)) {
        JobSpec& spec = jobs.emplace_back(timed_job(job.submit, job.gpus, job.duration));
        spec.limit = Time::seconds(job.duration);
        spec.gpu_share = stream.uniform() < 0.2 ? 500 : kWholeGpu;
        if (has_types && stream.uniform() < 0.5)
          spec.gpu_type = static_cast<std::int32_t>(stream.uniform_integer(0, 1));
        if (has_hosts && stream.uniform() < 0.5)
          spec.milli_cpus = static_cast<std::int32_t>(stream.uniform_integer(1, 3) * 500);
        if (has_hosts && stream.uniform() < 0.3) spec.host_memory = Bytes{stream.uniform_integer(1, 1'500)};
        if (!has_vcs) continue;
        spec.vc = static_cast<std::int32_t>(stream.uniform_integer(has_types ? 1 : 0, 4));
        const VirtualCluster& own = cluster.vcs[static_cast<std::size_t>(spec.vc)];
        spec.gpus = std::min({spec.gpus, own.quota, own.servers.size() > 0 ? 4 : 12});
      }
      for (const auto& row : placement_policies()) {
        if (row.is_outside || row.name == "vclos") continue;  // it needs a fabric of leaves and spines
        for (const char* policy : {"easy", "conservative"}) {
          const std::string which =
              fmt::format("seed {}, {}, {}{}{}{}", seed, policy, row.name, has_types ? ", types" : "",
                          has_vcs ? ", quotas" : "", has_hosts ? ", hosts" : "");
          INFO(which);
          const Played result = play({policy, {}}, cluster, jobs, placement({std::string{row.name}, {}}));
          CHECK(joined(result.faults) == "");
          for (const auto& [job, start] : result.first_plans) {
            const JobResult& ran = result.result.jobs[job.index()];
            const std::string what = fmt::format("job {} of {} GPUs, share {}", job.value(), jobs[job.index()].gpus,
                                                 jobs[job.index()].gpu_share);
            INFO(what);
            CHECK(ran.start.to_seconds() <= start.to_seconds());
            ++plans;
            later_than_at_once += start > ran.submit ? 1 : 0;
          }
        }
      }
    }
  }
  CHECK(plans > effort(2000));
  CHECK(later_than_at_once > effort(1000));
}
