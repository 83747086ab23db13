// Policies that have jobs with a duration share GPUs, in the real engine. Times are in seconds.

#include "models/sharing.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/same_result.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

struct PackedRun {
  std::vector<JobSpec> jobs;
  GpuSharing sharing{};
  int servers = 1, gpus = 1;
  SchedulingRules rules{};
  bool leap = true;
  std::vector<VirtualCluster> vcs{};
  FailureSpec failures{};
};

RunResult run_packed(const Choice& choice, PackedRun setup) {
  Workload workload;
  workload.jobs = std::move(setup.jobs);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j)
    workload.jobs[j].name = workload.jobs.size() > 26 ? std::to_string(j) : std::string(1, static_cast<char>('A' + j));
  PolicySet policies = policies_of({}, {});
  policies.scheduling = scheduling(choice);
  policies.placement = placement({"consolidated", {}});
  policies.scheduling_name = choice.name;
  SimulationOptions options;
  options.sharing = std::move(setup.sharing);
  options.rules = setup.rules;
  options.leap = setup.leap;
  options.failures = setup.failures;
  ClusterSpec cluster;
  cluster.servers = setup.servers;
  cluster.gpus_per_server = setup.gpus;
  cluster.gpu_memory = Bytes{100};
  cluster.vcs = setup.vcs;
  const std::size_t jobs = workload.jobs.size();
  Simulation simulation{cluster, std::move(workload), std::move(policies),
                        std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(cluster.servers), jobs),
                        std::move(options)};
  return simulation.run();
}

std::string ends(const RunResult& result) {
  std::string text;
  for (const JobResult& job : result.jobs)
    text += fmt::format("{}{}{:g}", text.empty() ? "" : " ", job.name, job.finish.to_seconds());
  return text;
}

GpuSharing halves(int most = 2, bool by_priority = false) {
  return {constant_sharing(2, {}), most, by_priority};
}

}  // namespace

TEST_CASE("every policy that shares GPUs: each job counts its GPUs in its quota, beside others and alone") {
  // The quota is as large as each job, so that they go one after the other, though they may share on 8 GPUs.
  const auto in_quota = [](int jobs, int servers, int gpus) {
    PackedRun run{.jobs = {}, .sharing = {constant_sharing(1.25, {}), 2, false}, .servers = servers, .gpus = gpus};
    for (int j = 0; j < jobs; ++j) run.jobs.push_back(timed_job(0, 2, 60));
    for (JobSpec& job : run.jobs) job.vc = 0;
    run.vcs = {{{}, 2}};
    return run;
  };
  for (const char* name : {"max-min", "max-min-water-filling", "min-makespan", "finish-time-fairness", "min-cost"}) {
    INFO(name);
    const Choice choice{name, {{"pack", true}, {"round_s", 60.0}, {"reallocate_s", 0.0}}};
    CHECK(ends(run_packed(choice, in_quota(2, 2, 4))) == "A60 B120");
  }
  CHECK(ends(run_packed({"muri", {{"period_s", 0.0}}}, in_quota(2, 2, 4))) == "A60 B120");
  CHECK(ends(run_packed({"lucid", {}}, in_quota(2, 2, 4))) == "A60 B120");
  CHECK(ends(run_packed({"antman", {}}, in_quota(2, 2, 4))) == "A60 B120");
  // Four jobs on one server of two GPUs take turns of a slice, of which each has six.
  CHECK(ends(run_packed({"gandiva", {{"slice_s", 10.0}}}, in_quota(4, 1, 2))) == "A210 B220 C230 D240");
}

TEST_CASE("gandiva: a job whose server fails is no further ahead of those on its new one than it was on the old one") {
  // A and C take turns on the first server, B and D on the second. At 25 s A is interrupted, and both come to the
  // second server, where B has had 15 s and D 10. C, which had nobody to be ahead of, is as far as D, and so is A,
  // which is new there. B ends at 30 s, A needs 5 s, C has its turn until 40 s, then D has the 10 s that it needs.
  PackedRun run{.jobs = std::vector<JobSpec>(4, timed_job(0, 1, 20)),
                .sharing = {pair_sharing({}, {-1, -1, -1, -1}, {}), 2, false},
                .servers = 2};
  run.failures.outages = {{Time::seconds(25), Time::seconds(1000), 0, 1}};
  CHECK(ends(run_packed({"gandiva", {{"slice_s", 10.0}}}, run)) == "A35 B30 C55 D50");
}

TEST_CASE("gandiva: slices that are too short for restarts end the run where components fail, too") {
  PackedRun run{.jobs = {timed_job(0, 1, 60), timed_job(0, 1, 60)},
                .sharing = {pair_sharing({}, {-1, -1}, {}), 2, false}};
  run.rules.preemption.restart = Time::seconds(10);
  run.failures.components.push_back(
      {"server", 1, false, DurationLaw::constant(Time::seconds(31)), DurationLaw::constant(Time::seconds(1))});
  std::string text;
  try {
    static_cast<void>(run_packed({"gandiva", {{"slice_s", 5.0}}}, run));
  } catch (const InputError& error) {
    text = error.what();
  }
  CHECK(text.starts_with("scheduling policy `gandiva`: the last 10000 preemptions, until "));
}

TEST_CASE("muri: jobs that need different stages run in step, and those that need the same don't share") {
  // A and C only read, B only uses its CPUs: beside B, A takes as long as alone, and beside C twice as long, so that
  // these take turns. A and B are the shortest and share; then C is alone.
  const std::vector<StageTimes> stages{{4, 0, 0, 0}, {0, 4, 0, 0}, {4, 0, 0, 0}};
  const RunResult result =
      run_packed({"muri", {{"period_s", 0.0}}}, {.jobs = {timed_job(0, 1, 8), timed_job(0, 1, 8), timed_job(0, 1, 12)},
                                                 .sharing = {interleaved_sharing(stages), 2, false}});
  CHECK(ends(result) == "A8 B8 C20");
  CHECK(result.jobs[0].shared_with == "B");
  CHECK(result.jobs[2].shared == Time{});
  CHECK(result.jobs[0].lost_to_sharing == Time{});
}

TEST_CASE("muri: the matching has the largest sum of efficiencies, though the first job would choose another") {
  // Two GPUs, four jobs. A suits B best (1.0), but A with C and B with D are better in sum.
  PairSpeeds speeds;
  const auto pair = [&](int a, int b, double speed) { speeds[{a, b, -1}] = speeds[{b, a, -1}] = speed; };
  pair(0, 1, 1.0);
  pair(2, 3, 0.55);
  pair(0, 2, 0.9);
  pair(1, 3, 0.9);
  const RunResult result =
      run_packed({"muri", {{"period_s", 0.0}}},
                 {.jobs = {timed_job(0, 1, 90), timed_job(0, 1, 90), timed_job(0, 1, 90), timed_job(0, 1, 90)},
                  .sharing = {pair_sharing(speeds, {0, 1, 2, 3}, {}), 2, false},
                  .gpus = 2});
  CHECK(ends(result) == "A100 B100 C100 D100");
  CHECK(result.jobs[0].shared_with == "C");
  CHECK(result.jobs[1].shared_with == "D");
}

TEST_CASE("muri: groups of four come of two rounds of matching, and GPUs that are left over are used") {
  const std::vector<StageTimes> stages{{4, 0, 0, 0}, {0, 4, 0, 0}, {0, 0, 4, 0}, {0, 0, 0, 4}};
  std::vector<JobSpec> four(4, timed_job(0, 1, 8));
  const GpuSharing sharing{interleaved_sharing(stages), 4, false};
  CHECK(ends(run_packed({"muri", {{"period_s", 0.0}}}, {.jobs = four, .sharing = sharing})) == "A8 B8 C8 D8");
  const RunResult two = run_packed({"muri", {{"period_s", 0.0}}}, {.jobs = four, .sharing = sharing, .gpus = 2});
  CHECK(ends(two) == "A8 B8 C8 D8");
  for (const GpuResult& gpu : two.gpus) CHECK(gpu.busy == Time::seconds(8));
  const RunResult all = run_packed({"muri", {{"period_s", 0.0}}}, {.jobs = four, .sharing = sharing, .gpus = 4});
  for (const JobResult& job : all.jobs) CHECK(job.shared == Time{});
}

TEST_CASE("muri: least attained time first gives all jobs turns") {
  // One GPU that jobs can't share: turns of 10 s.
  const RunResult result = run_packed(
      {"muri", {{"order", std::string{"las"}}, {"period_s", 10.0}}},
      {.jobs = {timed_job(0, 1, 20), timed_job(0, 1, 20)}, .sharing = {pair_sharing({}, {-1, -1}, {}), 2, false}});
  CHECK(ends(result) == "A30 B40");
}

TEST_CASE("lucid: a small job joins a running one, a jumbo job only a tiny one, and none is preempted") {
  // Tiny 0, medium 1, jumbo 2 by the part of the GPU stage.
  const StageTimes tiny{9, 0, 1, 0}, medium{1, 0, 1, 0}, jumbo{0, 0, 10, 0};
  // Two GPUs: A (jumbo) and B (medium) run. C (jumbo) finds none but A and B; D (medium) joins B at half its speed.
  const GpuSharing sharing{constant_sharing(2, {jumbo, medium, jumbo, medium, tiny}), 2, false};
  const RunResult result = run_packed(
      {"lucid", {}},
      {.jobs = {timed_job(0, 1, 20), timed_job(0, 1, 30), timed_job(1, 1, 40), timed_job(2, 1, 5), timed_job(3, 1, 4)},
       .sharing = sharing,
       .gpus = 2});
  CHECK(result.jobs[3].shared_with == "B");
  CHECK(result.jobs[3].finish == Time::seconds(12));
  CHECK(result.jobs[4].shared_with == "A");  // tiny beside jumbo
  CHECK(result.jobs[4].finish == Time::seconds(11));
  CHECK(result.jobs[0].finish == Time::seconds(24));
  CHECK(result.jobs[2].start == Time::seconds(24));  // beside none
  CHECK(result.jobs[1].finish == Time::seconds(35));
  for (const JobResult& job : result.jobs) CHECK(job.preemptions == 0);
}

TEST_CASE("antman: opportunistic jobs use what guaranteed ones leave, which are not slowed down") {
  std::vector<JobSpec> jobs{timed_job(0, 2, 10), timed_job(1, 1, 3), timed_job(2, 1, 4), timed_job(3, 2, 5)};
  jobs[0].priority = jobs[3].priority = 1;
  // Two GPUs: A has both until 10 s. B starts on one of them at 1 s, C on the other at 2 s, each at half its speed: B
  // ends at 7 s. D, guaranteed, waits for A; C has done 4 s by 10 s and ends with it.
  const RunResult result = run_packed({"antman", {}}, {.jobs = jobs, .sharing = halves(2, true), .gpus = 2});
  CHECK(ends(result) == "A10 B7 C10 D15");
  CHECK(result.jobs[0].lost_to_sharing == Time{});
  CHECK(result.jobs[1].lost_to_sharing == Time::seconds(3));
}

TEST_CASE("antman: an opportunistic job gives way only where memory makes it") {
  for (const std::int64_t memory : {40, 80}) {
    CAPTURE(memory);
    std::vector<JobSpec> jobs{timed_job(0, 1, 10), timed_job(4, 1, 6)};
    jobs[1].priority = 1;
    for (JobSpec& job : jobs) job.memory_per_gpu = Bytes{memory};
    const RunResult result = run_packed({"antman", {}}, {.jobs = jobs, .sharing = halves(2, true)});
    CHECK(result.jobs[1].finish == Time::seconds(10));
    CHECK(result.jobs[0].preemptions == (memory == 40 ? 0 : 1));
    CHECK(result.jobs[0].finish == Time::seconds(memory == 40 ? 13 : 16));
  }
}

TEST_CASE("gandiva: jobs of a server that has more than GPUs take turns, and the next one has had least") {
  const Choice turns{"gandiva", {{"slice_s", 10.0}, {"pack", false}}};
  CHECK(ends(run_packed(turns, {.jobs = {3, timed_job(0, 1, 20)}, .sharing = halves()})) == "A40 B50 C60");
  // A gang on two servers of two GPUs, and B on one of them: each has every other slice. B is done at 40 s.
  const RunResult gang = run_packed(
      turns, {.jobs = {timed_job(0, 4, 30), timed_job(0, 1, 20)}, .sharing = halves(), .servers = 2, .gpus = 2});
  CHECK(ends(gang) == "A50 B40");
  CHECK(gang.jobs[0].preemptions == 2);
}

TEST_CASE("gandiva: after a slice alone two jobs are together on trial, and stay so only if that pays") {
  // At 20 s each has done 10 of 100 s, and both go on together.
  const Choice packs{"gandiva", {{"slice_s", 10.0}}};
  const auto run = [&](double speed) {
    const PairSpeeds speeds{{{0, 1, -1}, speed}, {{1, 0, -1}, speed}};
    return run_packed(packs,
                      {.jobs = {2, timed_job(0, 1, 100)}, .sharing = {pair_sharing(speeds, {0, 1}, {}), 2, false}});
  };
  const RunResult pays = run(0.8);
  CHECK(ends(pays) == "A132.5 B132.5");  // 90 s at 0.8
  CHECK(pays.jobs[0].preemptions == 1);
  // At 0.4 they part after 10 s with 86 s left each, and never meet again. A had joined B: now it has the next turn.
  const RunResult parts = run(0.4);
  CHECK(ends(parts) == "A196 B202");
  CHECK(parts.jobs[0].shared == Time::seconds(10));
  CHECK(parts.jobs[1].shared == Time::seconds(10));
  // Half the speed each is what turns give; jobs that can't share are not tried.
  CHECK(run(0.5).jobs[0].shared == Time::seconds(10));
  const RunResult never =
      run_packed(packs, {.jobs = {2, timed_job(0, 1, 100)}, .sharing = {pair_sharing({}, {0, 1}, {}), 2, false}});
  CHECK(never.jobs[0].shared == Time{});
  CHECK(ends(never) == "A190 B200");
}

TEST_CASE("gandiva: those that keep GPUs busy least are tried first, and a pair parts when there is room for both") {
  // A, B and C have a GPU each when D comes at 20 s. At the end of the slice D has not run yet, and A and C, which are
  // idle most of the time, make room for it. When it ends they part.
  const StageTimes idle{9, 0, 1, 0}, busy{0, 0, 10, 0};
  const GpuSharing sharing{constant_sharing(1, {idle, busy, idle, idle}), 2, false};
  std::vector<JobSpec> jobs(3, timed_job(0, 1, 100));
  jobs.push_back(timed_job(20, 1, 40));
  const RunResult result = run_packed({"gandiva", {{"slice_s", 10.0}}}, {.jobs = jobs, .sharing = sharing, .gpus = 3});
  CHECK(ends(result) == "A100 B100 C100 D70");
  CHECK(result.jobs[3].waited == Time::seconds(10));
  CHECK(result.jobs[0].shared_with == "C");
  CHECK(result.jobs[0].shared == Time::seconds(40));
  CHECK(result.jobs[1].shared == Time{});
  CHECK(result.jobs[3].shared == Time{});
}

TEST_CASE("gandiva: a job that waits moves to the server that has room, and jobs of one size come together") {
  const Choice turns{"gandiva", {{"slice_s", 10.0}, {"pack", false}}};
  // C waits for A on the first server until B leaves the second.
  const RunResult moved = run_packed(
      turns,
      {.jobs = {timed_job(0, 1, 100), timed_job(0, 1, 5), timed_job(0, 1, 100)}, .sharing = halves(), .servers = 2});
  CHECK(ends(moved) == "A100 B5 C105");
  CHECK(moved.jobs[0].preemptions == 0);
  // Two small jobs leave a server to the gang.
  const RunResult together = run_packed(turns, {.jobs = {timed_job(0, 1, 50), timed_job(0, 1, 50), timed_job(1, 4, 50)},
                                                .sharing = halves(),
                                                .servers = 2,
                                                .gpus = 4});
  CHECK(ends(together) == "A50 B50 C51");
}

TEST_CASE("max-min with pack: pairs run together for their shares of the rounds") {
  // The two jobs of packed_shares_test.cpp: 2/3 of the speed for both.
  const PairSpeeds speeds{{{0, 1, -1}, 0.8}, {{1, 0, -1}, 0.6}};
  std::vector<JobSpec> jobs{timed_job(0, 1, 4000), timed_job(0, 1, 4000)};
  const PackedRun setup{.jobs = jobs, .sharing = {pair_sharing(speeds, {0, 1}, {}), 2, false}};
  const RunResult alone = run_packed({"max-min", {{"round_s", 100.0}}}, setup);
  const RunResult packed = run_packed({"max-min", {{"round_s", 100.0}, {"pack", true}}}, setup);
  CHECK(alone.jobs[0].shared == Time{});
  CHECK(alone.end == Time::seconds(8000));
  CHECK(packed.jobs[0].shared_with == "B");
  // 6000 s of both at 2/3: then the first has done its work, but for a few rounds of difference.
  CHECK(packed.jobs[0].finish.to_seconds() == near(6000, 0.05));
  CHECK(packed.jobs[1].finish.to_seconds() == near(6000, 0.05));
}

TEST_CASE("packing: work is conserved, no GPU has more jobs than it may, and leaping changes nothing") {
  const std::vector<Choice> choices{{"muri", {}},
                                    {"muri", {{"order", std::string{"las"}}, {"period_s", 50.0}}},
                                    {"lucid", {}},
                                    {"antman", {}},
                                    {"gandiva", {}},
                                    {"gandiva", {{"slice_s", 45.0}, {"pack", false}}},
                                    {"max-min", {{"pack", true}, {"round_s", 60.0}, {"reallocate_s", 0.0}}},
                                    {"min-makespan", {{"pack", true}, {"round_s", 60.0}, {"fill", true}}},
                                    {"finish-time-fairness", {{"pack", true}, {"round_s", 90.0}}},
                                    {"min-cost", {{"pack", true}, {"round_s", 90.0}}}};
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(12); ++seed) {
    RandomStream stream{seed, "packing"};
    PackedRun setup;
    setup.servers = 2;
    setup.gpus = 4;
    setup.rules.preemption.restart = Time::seconds(stream.uniform_integer(0, 5));
    if (stream.uniform() < 0.5) setup.rules.preemption.checkpoint_interval = Time::seconds(30);
    std::vector<StageTimes> stages;
    for (int j = 0; j < 30; ++j) {
      JobSpec job =
          timed_job(stream.uniform_integer(0, 600), 1 << stream.uniform_integer(0, 2), stream.uniform_integer(1, 400));
      job.memory_per_gpu = Bytes{stream.uniform_integer(5, 60)};
      job.priority = static_cast<std::int32_t>(stream.uniform_integer(0, 1));
      setup.jobs.push_back(job);
      StageTimes own{};
      for (double& each : own) each = static_cast<double>(stream.uniform_integer(0, 5));
      own[kGpuStage] += 1;
      stages.push_back(own);
    }
    setup.sharing = {interleaved_sharing(stages), static_cast<int>(stream.uniform_integer(2, 4)),
                     stream.uniform() < 0.3};
    for (const Choice& choice : choices) {
      CAPTURE(seed);
      CAPTURE(choice.name);
      const RunResult result = run_packed(choice, setup);
      double busy = 0, gpu_s = 0;
      for (const GpuResult& gpu : result.gpus) busy += gpu.busy.to_seconds();
      for (const JobResult& job : result.jobs) {
        CHECK(job.state == JobState::finished);
        if (job.state != JobState::finished) break;
        CHECK(job.jct() == job.waited + job.held);
        CHECK(job.compute == GpuTime{*setup.jobs[job.id.index()].duration, job.gpus});
        // What it held its GPUs for is its work, its work in vain, its restarts, and what others cost it.
        const double sum =
            (*setup.jobs[job.id.index()].duration + job.overhead + job.redone + job.lost_to_sharing).to_seconds();
        CHECK(job.held.to_seconds() == near_absolute(sum, 1e-6));
        CHECK(job.lost_to_sharing <= job.shared);
        gpu_s += job.gpu_time.to_seconds();
      }
      CHECK(busy <= gpu_s * (1 + 1e-9));
      CHECK(busy * setup.sharing.most >= gpu_s * (1 - 1e-9));
      // A job that was beside another one for a while had it beside itself for as long.
      for (const SharedTime& each : result.sharing)
        for (const JobId other : each.beside)
          CHECK(std::ranges::any_of(result.sharing, [&](const SharedTime& theirs) {
            return theirs.job == other && std::ranges::find(theirs.beside, each.job) != theirs.beside.end();
          }));
      PackedRun slow = setup;
      slow.leap = false;
      CHECK(run_packed(choice, slow).digest == result.digest);
      CHECK(run_packed(choice, setup).fingerprint == result.fingerprint);
    }
  }
}
