// CPUs and memory of servers under policies that choose servers themselves, and under all others. Times are in seconds.

#include "models/sharing.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Two servers of two GPUs and three CPUs each, which two jobs on a GPU share at half their speed.
struct HostCase {
  std::vector<JobSpec> jobs;
  ClusterSpec cluster = [] {
    ClusterSpec two;
    two.servers = 2;
    two.gpus_per_server = 2;
    two.gpu_memory = Bytes{100};
    two.milli_cpus = 3000;
    return two;
  }();
  GpuSharing sharing{constant_sharing(2, {}), 2, true};
  FailureSpec failures{};
  std::vector<JobPace> pace{};  ///< of all jobs, by type; none: they are as fast on all
};

RunResult run_on_hosts(const Choice& choice, HostCase made, const char* placed_by = "first-fit") {
  Workload workload;
  workload.jobs = std::move(made.jobs);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j)
    workload.jobs[j].name = std::string(1, static_cast<char>('A' + j));
  if (!made.pace.empty()) {
    workload.paces.push_back(std::move(made.pace));
    for (JobSpec& job : workload.jobs) job.pace = 0;
  }
  PolicySet policies = policies_of({}, {});
  policies.scheduling = scheduling(choice);
  policies.placement = placement({placed_by, {}});
  policies.scheduling_name = choice.name;
  SimulationOptions options;
  options.sharing = std::move(made.sharing);
  options.failures = std::move(made.failures);
  const std::size_t jobs = workload.jobs.size();
  Simulation simulation{made.cluster, std::move(workload), std::move(policies),
                        std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(made.cluster.servers), jobs),
                        std::move(options)};
  return simulation.run();
}

JobSpec on_cpus(std::int64_t submit, int gpus, std::int64_t duration, std::int32_t milli_cpus) {
  JobSpec job = timed_job(submit, gpus, duration);
  job.milli_cpus = milli_cpus;
  return job;
}

std::string times(const RunResult& result) {
  std::string text;
  for (const JobResult& job : result.jobs)
    text += fmt::format("{}{} {:g}-{:g}", text.empty() ? "" : ", ", job.name, job.start.to_seconds(),
                        job.finish.to_seconds());
  return text;
}

}  // namespace

TEST_CASE("gandiva: a job is spread over servers where the CPUs or the memory of one don't suffice") {
  CHECK(times(run_on_hosts({"gandiva", {}}, {{on_cpus(0, 2, 17, 2000)}})) == "A 0-17");
  HostCase memory{{timed_job(0, 3, 17)}};
  memory.cluster.servers = 3;
  memory.cluster.host_memory = Bytes{1500};
  memory.jobs[0].host_memory = Bytes{1000};
  CHECK(times(run_on_hosts({"gandiva", {}}, memory)) == "A 0-17");
  // Three GPUs with one CPU and two thirds each: one server can have but one of them.
  memory.jobs[0].milli_cpus = 1600;
  CHECK(times(run_on_hosts({"gandiva", {}}, memory)) == "A 0-17");
}

TEST_CASE("gandiva: jobs take turns where GPUs suffice for both and CPUs don't") {
  const Choice turns{"gandiva", {{"slice_s", 10.0}}};
  const std::vector<JobSpec> both{on_cpus(0, 2, 20, 2000), on_cpus(0, 2, 20, 2000)};
  CHECK(times(run_on_hosts(turns, {both})) == "A 0-30, B 10-40");
  // One GPU each: the second finds CPUs on the other server.
  CHECK(times(run_on_hosts(turns, {{on_cpus(0, 1, 20, 2000), on_cpus(0, 1, 20, 2000)}})) == "A 0-20, B 0-20");
  // C has CPUs beside none. It waits where B ends first.
  CHECK(times(run_on_hosts({"gandiva", {{"slice_s", 100.0}}},
                           {{on_cpus(0, 1, 50, 2000), on_cpus(0, 1, 20, 2000), on_cpus(0, 1, 20, 2000)}})) ==
        "A 0-50, B 0-20, C 20-40");
}

TEST_CASE("antman: an opportunistic job gives way where a guaranteed one needs its CPUs") {
  // A holds a GPU and two CPUs of the first server. B needs two CPUs of each server, and leaves one of each.
  HostCase made{{on_cpus(0, 1, 100, 2000), on_cpus(10, 2, 10, 2000)}};
  made.jobs[1].priority = 1;
  const RunResult gives_way = run_on_hosts({"antman", {}}, made);
  CHECK(times(gives_way) == "A 0-110, B 10-20");
  CHECK(gives_way.jobs[0].preemptions == 1);
  made.jobs[0].milli_cpus = 1000;
  CHECK(times(run_on_hosts({"antman", {}}, made)) == "A 0-100, B 10-20");
}

TEST_CASE("antman: no opportunistic job gives way for a job that its quota holds back") {
  HostCase made{{timed_job(0, 2, 100), timed_job(0, 2, 50), timed_job(10, 2, 10)}};
  made.cluster.vcs = {{{}, 2}};
  made.jobs[0].vc = made.jobs[2].vc = 0;
  made.jobs[0].priority = made.jobs[2].priority = 1;
  made.sharing.law = pair_sharing({}, {0, 1, 2}, {});  // none runs beside another
  const RunResult result = run_on_hosts({"antman", {}}, made);
  CHECK(times(result) == "A 0-100, B 0-50, C 100-110");
  CHECK(result.jobs[1].preemptions == 0);
}

TEST_CASE("antman: an opportunistic job takes GPUs of servers that have CPUs left") {
  // A has all CPUs of the first server and one of its GPUs; B has both GPUs of the second and two of its CPUs.
  HostCase made{{on_cpus(0, 1, 100, 3000), on_cpus(0, 2, 100, 1000), on_cpus(1, 1, 10, 1000)}};
  made.jobs[0].priority = made.jobs[1].priority = 1;
  CHECK(times(run_on_hosts({"antman", {}}, made)) == "A 0-100, B 0-100, C 1-21");
}

TEST_CASE("lucid: a job joins another one only where the CPUs suffice for both") {
  const StageTimes tiny{9, 0, 1, 0};
  for (const std::int32_t milli_cpus : {1000, 2000}) {
    HostCase made{{on_cpus(0, 2, 100, 1500), on_cpus(0, 2, 200, 1000), on_cpus(1, 2, 10, 500)}};
    made.sharing = {constant_sharing(2, {tiny, tiny, tiny}), 2, false};
    made.jobs[1].milli_cpus = milli_cpus == 2000 ? 1500 : 1000;
    const RunResult result = run_on_hosts({"lucid", {}}, made);
    // The first server has no CPU left. C joins B on the second, which has one left, or none in the second case.
    CHECK(result.jobs[2].start == Time::seconds(milli_cpus == 1000 ? 1 : 100));
    CHECK(result.jobs[2].shared_with == (milli_cpus == 1000 ? "B" : ""));
  }
}

TEST_CASE("pairs of rounds and muri: jobs share GPUs of servers that have CPUs for both of them") {
  // A has two of the three CPUs of the first server. B and C, which hardly slow each other, need one each, and find
  // them on the second server; D and E need none.
  const PairSpeeds speeds{{{0, 1, -1}, 0.95}, {{1, 0, -1}, 0.95}};
  HostCase made{{on_cpus(0, 1, 100, 2000), on_cpus(0, 1, 100, 1000), on_cpus(0, 1, 100, 1000), timed_job(0, 1, 100),
                 timed_job(0, 1, 100)}};
  made.sharing = {pair_sharing(speeds, {-1, 0, 1, -1, -1}, {}), 2, false};
  const auto choices = [](double period_s) {
    return std::vector<Choice>{{"max-min", {{"pack", true}, {"round_s", period_s}, {"reallocate_s", 0.0}}},
                               {"min-makespan", {{"pack", true}, {"round_s", period_s}, {"reallocate_s", 0.0}}},
                               {"muri", {{"order", std::string{"las"}}, {"period_s", period_s}}}};
  };
  for (const Choice& choice : choices(1000)) {
    INFO(choice.name);
    const RunResult result = run_on_hosts(choice, made);
    for (const JobResult& job : result.jobs) CHECK(job.start == Time{});
    CHECK(result.jobs[1].shared_with == "C");
  }
  // With two CPUs each no server has enough for both, so that they share no GPU, and wait for each other no longer than
  // others do.
  made.jobs[1].milli_cpus = made.jobs[2].milli_cpus = 2000;
  for (JobSpec& job : made.jobs) job.duration = Time::seconds(1000);
  for (const Choice& choice : choices(50)) {
    INFO(choice.name, ", apart");
    for (const JobResult& job : run_on_hosts(choice, made).jobs) {
      CHECK(job.start < Time::seconds(300));
      CHECK(job.shared_with.empty());
    }
  }
}

TEST_CASE("pairs of rounds: a pair has its CPUs where its first job runs, or moves to where it has them") {
  // A and B have all CPUs of the first server, C has a GPU of the second. At 50 s three others come, of which D would
  // share with A. At 100 s it does, and B, which came after A, moves to the second server.
  const PairSpeeds speeds{{{0, 1, -1}, 0.95}, {{1, 0, -1}, 0.95}};
  HostCase made{{on_cpus(0, 1, 400, 1000), on_cpus(0, 1, 400, 2000), timed_job(0, 1, 400), on_cpus(50, 1, 400, 1000),
                 timed_job(50, 1, 400), timed_job(50, 1, 400)}};
  made.sharing = {pair_sharing(speeds, {0, -1, -1, 1, -1, -1}, {}), 2, false};
  const RunResult result = run_on_hosts({"max-min", {{"pack", true}, {"round_s", 100.0}, {"reallocate_s", 0.0}}}, made);
  CHECK(result.jobs[3].start == Time::seconds(100));
  CHECK(result.jobs[3].shared_with == "A");
}

TEST_CASE("pairs of rounds and muri: servers out of service have no CPUs for a pair") {
  // A and B need six CPUs for each of two GPUs, and the server has eight, so that they take turns. With two servers
  // more, that are spares or fail at once, nothing changes: no pair could ever run there.
  const auto ends = [](const Choice& choice, int spares, int down) {
    HostCase made{{on_cpus(0, 2, 600, 2000), on_cpus(0, 2, 600, 4000)}};
    made.cluster.servers = 1 + spares + down;
    made.cluster.milli_cpus = 8000;
    made.sharing = {constant_sharing(1.25, {}), 2, false};
    made.failures.spares = spares;
    for (int server = 1; server <= down; ++server)
      made.failures.outages.push_back({Time{}, Time::seconds(5000), static_cast<std::uint32_t>(2 * server),
                                       static_cast<std::uint32_t>(2 * server + 2)});
    return times(run_on_hosts(choice, made));
  };
  for (const Choice& choice : {Choice{"max-min", {{"pack", true}, {"round_s", 10.0}, {"reallocate_s", 0.0}}},
                               Choice{"min-makespan", {{"pack", true}, {"round_s", 10.0}, {"reallocate_s", 0.0}}},
                               Choice{"muri", {{"order", std::string{"las"}}, {"period_s", 10.0}}}}) {
    INFO(choice.name);
    CHECK(ends(choice, 2, 0) == ends(choice, 0, 0));
    CHECK(ends(choice, 0, 2) == ends(choice, 0, 0));
  }
  CHECK(ends({"max-min", {{"pack", true}, {"round_s", 10.0}, {"reallocate_s", 0.0}}}, 0, 0) == "A 0-1190, B 10-1200");
}

TEST_CASE("every placement policy: a job goes to the type of GPU that has its memory") {
  HostCase made{{timed_job(0, 2, 60), timed_job(0, 3, 60)}};
  made.cluster.types = {{.name = "small", .servers = 1, .gpus_per_server = 4, .gpu_memory = Bytes{16}},
                        {.name = "large", .servers = 1, .gpus_per_server = 4, .gpu_memory = Bytes{40}}};
  made.cluster.gpus_per_server = 4;
  made.cluster.milli_cpus = 0;
  made.sharing = {};
  for (JobSpec& job : made.jobs) job.memory_per_gpu = Bytes{20};
  for (const auto& row : placement_policies()) {
    if (row.is_outside || std::string{row.name} == "vclos") continue;  // vclos needs a fabric
    INFO(row.name);
    const RunResult result = run_on_hosts({"fifo", {}}, made, std::string{row.name}.c_str());
    CHECK(times(result) == "A 0-60, B 60-120");
  }
}

TEST_CASE("every policy that knows types: a type whose servers can't hold a job is none of its types") {
  // Of four GPUs with 30 bytes of memory each a server of 64 bytes can have two. So the one fast server can't hold the
  // job, and the two slow ones can, each with two of its GPUs.
  const auto memory = [] {
    HostCase made{{timed_job(0, 4, 100)}};
    made.cluster.types = {{.name = "fast", .servers = 1, .gpus_per_server = 4, .gpu_memory = Bytes{100}},
                          {.name = "slow", .servers = 2, .gpus_per_server = 4, .gpu_memory = Bytes{100}}};
    made.cluster.servers = 3;
    made.cluster.gpus_per_server = 4;
    made.cluster.milli_cpus = 0;
    made.cluster.host_memory = Bytes{64};
    made.jobs[0].host_memory = Bytes{30};
    made.sharing = {};
    made.pace = {{.together = kNominalPace / 2}, {.together = kNominalPace}};
    return made;
  };
  HostCase cpus = memory();
  cpus.cluster.host_memory = Bytes{};
  cpus.cluster.milli_cpus = 4000;
  cpus.jobs[0].milli_cpus = 2000;
  // Two fast servers could hold two ranks each, but `consolidated` wants a gang of four on one of four GPUs.
  HostCase placed = memory();
  placed.cluster.types[0].servers = placed.cluster.types[1].servers = placed.cluster.types[1].gpus_per_server = 2;
  placed.cluster.servers = 4;
  for (const auto& row : scheduling_policies()) {
    if (row.is_outside || row.one_type || row.shares == GpuShares::by_law) continue;
    INFO(row.name);
    CHECK(times(run_on_hosts({std::string{row.name}, {}}, memory())) == "A 0-100");
    CHECK(times(run_on_hosts({std::string{row.name}, {}}, cpus, "spread")) == "A 0-100");
    CHECK(times(run_on_hosts({std::string{row.name}, {}}, placed, "consolidated")) == "A 0-100");
  }
}

TEST_CASE("rounds: jobs take turns where GPUs suffice for both and the memory of servers doesn't") {
  for (const Choice& choice : {Choice{"max-min", {{"round_s", 10.0}, {"reallocate_s", 0.0}}},
                               Choice{"max-min-agnostic", {{"round_s", 10.0}, {"reallocate_s", 0.0}}},
                               Choice{"gandiva-fair", {{"round_s", 10.0}, {"reallocate_s", 0.0}}}}) {
    INFO(choice.name);
    HostCase made{{timed_job(0, 1, 20), timed_job(0, 1, 20)}};
    made.cluster.servers = 1;
    made.cluster.milli_cpus = 0;
    made.cluster.host_memory = Bytes{64};
    for (JobSpec& job : made.jobs) job.host_memory = Bytes{40};
    CHECK(times(run_on_hosts(choice, made)) == "A 0-30, B 10-40");
    // Beside one of them C, which needs no memory, has the other GPU until it ends.
    made.jobs.push_back(timed_job(0, 1, 15));
    CHECK(times(run_on_hosts(choice, made)) == "A 0-30, B 10-40, C 0-15");
  }
}

TEST_CASE("rounds: shares promise no more CPUs of the servers of a type than there are") {
  // Both jobs are twice as fast on the first server, which has GPUs for both of them and CPUs for one. So each has half
  // of it and half of the other one, and does 1.5 times as much as there alone.
  HostCase made{{on_cpus(0, 1, 300, 2000), on_cpus(0, 1, 300, 2000)}};
  made.cluster.types = {{.name = "fast", .servers = 1, .gpus_per_server = 2, .gpu_memory = Bytes{100}},
                        {.name = "slow", .servers = 1, .gpus_per_server = 2, .gpu_memory = Bytes{100}}};
  made.cluster.milli_cpus = 2000;
  made.sharing = {};
  made.pace = {{.together = kNominalPace / 2}, {.together = kNominalPace}};
  for (const char* name : {"max-min", "max-min-water-filling", "min-makespan", "finish-time-fairness", "min-cost"}) {
    INFO(name);
    const RunResult result = run_on_hosts({name, {{"round_s", 10.0}, {"reallocate_s", 0.0}}}, made);
    CHECK(std::max(result.jobs[0].finish, result.jobs[1].finish) <= Time::seconds(230));
  }
}

TEST_CASE("rounds: hosts that are never short change nothing") {
  std::vector<Choice> choices;
  for (const char* name : {"max-min", "max-min-water-filling", "max-min-agnostic", "min-makespan",
                           "finish-time-fairness", "min-cost", "gandiva-fair"})
    choices.push_back({name, {{"round_s", 10.0}, {"reallocate_s", 0.0}}});
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{40}); ++seed) {
    RandomStream stream{seed, "hosts that suffice"};
    HostCase made;
    const int fast = static_cast<int>(stream.uniform_integer(1, 2)),
              slow = static_cast<int>(stream.uniform_integer(1, 3));
    made.cluster.gpus_per_server = 1 << stream.uniform_integer(0, 2);
    made.cluster.servers = fast + slow;
    made.cluster.types = {
        {.name = "fast", .servers = fast, .gpus_per_server = made.cluster.gpus_per_server, .gpu_memory = Bytes{100}},
        {.name = "slow", .servers = slow, .gpus_per_server = made.cluster.gpus_per_server, .gpu_memory = Bytes{100}}};
    made.pace = {{.together = kNominalPace / 2}, {.together = kNominalPace}};
    made.sharing = {};
    made.cluster.milli_cpus = 2000 * made.cluster.gpus_per_server;  // the most that any job needs
    made.cluster.host_memory = Bytes{30 * made.cluster.gpus_per_server};
    for (std::int64_t left = stream.uniform_integer(2, 12); left > 0; --left) {
      const auto gpus =
          static_cast<int>(stream.uniform_integer(1, made.cluster.gpus_per_server * std::min(fast, slow)));
      made.jobs.push_back(on_cpus(stream.uniform_integer(0, 100), gpus, stream.uniform_integer(10, 200),
                                  static_cast<std::int32_t>(stream.uniform_integer(0, 4) * 500)));
      made.jobs.back().host_memory = Bytes{stream.uniform_integer(0, 30)};
    }
    HostCase plain = made;
    plain.cluster.milli_cpus = 0;
    plain.cluster.host_memory = Bytes{};
    for (JobSpec& job : plain.jobs) {
      job.milli_cpus = 0;
      job.host_memory = Bytes{};
    }
    for (const Choice& choice : choices) {
      INFO(choice.name, ", seed ", seed);
      CHECK(times(run_on_hosts(choice, made)) == times(run_on_hosts(choice, plain)));
    }
  }
}

TEST_CASE("pairs of rounds and muri: a pair is planned on no more servers than the placement policy gives one job") {
  // Of two GPUs with two CPUs each (A and C) a server of eight CPUs can have both jobs, of others only one GPU of both.
  // Each server has room for one job that runs alone, whichever it is.
  HostCase made{
      {on_cpus(0, 2, 600, 2000), on_cpus(0, 2, 600, 4000), on_cpus(0, 2, 600, 2000), on_cpus(0, 2, 600, 4000)}};
  made.cluster.milli_cpus = 8000;
  made.sharing = {constant_sharing(1.25, {}), 2, false};
  for (const char* placed_by : {"consolidated", "yarn", "worst-fit"}) {
    for (const char* name : {"max-min", "min-makespan", "max-min-water-filling", "finish-time-fairness"}) {
      INFO(name, ", ", placed_by);
      const RunResult result =
          run_on_hosts({name, {{"pack", true}, {"round_s", 10.0}, {"reallocate_s", 0.0}}}, made, placed_by);
      for (const JobResult& job : result.jobs) {
        CHECK(job.start <= Time::seconds(20));
        CHECK((job.shared_with.empty() || job.name == "A" || job.name == "C"));
      }
      CHECK(result.jobs[0].shared_with == "C");
    }
    for (const JobResult& job : run_on_hosts({"muri", {{"period_s", 10.0}}}, made, placed_by).jobs)
      CHECK((job.shared_with.empty() || job.name == "A" || job.name == "C"));
  }
  // `spread` gives a job that is alone GPUs of both servers, and so a pair. No job waits for long.
  for (const JobResult& job :
       run_on_hosts({"max-min", {{"pack", true}, {"round_s", 10.0}, {"reallocate_s", 0.0}}}, made, "spread").jobs)
    CHECK(job.start <= Time::seconds(30));
}

TEST_CASE("every scheduling policy: CPUs and memory of servers keep no job waiting for ever") {
  std::vector<Choice> choices;
  std::set<std::string> of_one_type;
  for (const auto& row : scheduling_policies()) {
    if (!row.is_outside) choices.push_back({std::string{row.name}, {}});
    if (row.one_type || row.shares == GpuShares::by_law) of_one_type.emplace(row.name);
  }
  // With a period pollux has a job that has just come wait for the next decision.
  std::ranges::find(choices, "pollux", &Choice::name)->parameters = {{"period_s", 0.0}};
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{40}); ++seed) {
    RandomStream stream{seed, "host room"};
    HostCase made;
    made.sharing.by_priority = stream.uniform() < 0.5;
    made.cluster.servers = static_cast<int>(stream.uniform_integer(1, 4));
    made.cluster.gpus_per_server = 1 << stream.uniform_integer(0, 3);
    const bool has_cpus = stream.uniform() < 0.8;
    made.cluster.milli_cpus = has_cpus ? stream.uniform_integer(1, 2 * made.cluster.gpus_per_server) * 1000 : 0;
    if (!has_cpus || stream.uniform() < 0.3) made.cluster.host_memory = Bytes{stream.uniform_integer(10, 100)};
    // Servers of two types, the first of which is faster, and can hold some of the jobs on none of its servers.
    RandomStream kinds{seed, "types of hosts"};
    const bool has_types = made.cluster.servers > 1 && kinds.uniform() < 0.5;
    if (has_types) {
      const auto fast = static_cast<int>(kinds.uniform_integer(1, made.cluster.servers - 1));
      const int per_server = made.cluster.gpus_per_server;
      made.cluster.types = {{.name = "fast", .servers = fast, .gpus_per_server = per_server, .gpu_memory = Bytes{100}},
                            {.name = "slow",
                             .servers = made.cluster.servers - fast,
                             .gpus_per_server = per_server,
                             .gpu_memory = Bytes{100}}};
      made.pace = {{.together = kNominalPace / 2}, {.together = kNominalPace}};
    }
    const int largest =
        !has_types ? made.cluster.servers : std::max(made.cluster.types[0].servers, made.cluster.types[1].servers);
    const auto count = stream.uniform() < 0.3 ? 1 : stream.uniform_integer(2, 10);
    while (std::ssize(made.jobs) < count) {
      JobSpec job = timed_job(count == 1 ? 0 : stream.uniform_integer(0, 200),
                              static_cast<int>(stream.uniform_integer(1, made.cluster.servers * 2)),
                              stream.uniform_integer(10, 100));
      job.priority = static_cast<std::int32_t>(stream.uniform_integer(0, 1));
      if (has_cpus) job.milli_cpus = static_cast<std::int32_t>(stream.uniform_integer(0, 5) * 500);
      if (made.cluster.host_memory > Bytes{}) job.host_memory = Bytes{stream.uniform_integer(0, 40)};
      int most = made.cluster.gpus_per_server;
      if (job.milli_cpus > 0) most = std::min(most, static_cast<int>(made.cluster.milli_cpus / job.milli_cpus));
      if (job.host_memory > Bytes{})
        most = std::min(most, static_cast<int>(made.cluster.host_memory.count() / job.host_memory.count()));
      if (most * largest >= job.gpus) made.jobs.push_back(std::move(job));
    }
    for (const char* placed_by : {"first-fit", "spread"}) {
      const RunResult in_order = run_on_hosts({"fifo", {}}, made, placed_by);
      for (const Choice& choice : choices) {
        if (has_types && of_one_type.contains(choice.name)) continue;
        INFO(choice.name, ", ", placed_by, ", seed ", seed);
        const RunResult result = run_on_hosts(choice, made, placed_by);
        for (const JobResult& job : result.jobs) CHECK(job.state == JobState::finished);
        // With types, shares of time may begin with the slower one.
        if (count == 1) CHECK(result.jobs[0].start == in_order.jobs[0].start);
        if (count == 1 && !has_types) CHECK(result.jobs[0].finish == in_order.jobs[0].finish);
      }
    }
  }
}
