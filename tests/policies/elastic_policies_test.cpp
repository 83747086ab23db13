// Policies that give running jobs other numbers of GPUs, on cases that a reader can work out by hand, and what must
// hold for each of them.

#include "policies/scheduling/gpu_plan.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Sizes of a job by its speeds on 1, 2, 3, ... GPUs, with its duration on one; 0: it can't have so many.
std::vector<JobSize> sizes_of(const std::vector<double>& speeds) {
  std::vector<JobSize> sizes;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    if (speeds[i] > 0)
      sizes.push_back({.gpus = static_cast<int>(i) + 1,
                       .paces = {{.together = std::llround(static_cast<double>(kNominalPace) / speeds[i])}}});
  return sizes;
}

struct ElasticCase {
  std::vector<JobSpec> jobs;
  std::vector<std::vector<JobSize>> sizes;

  JobSpec& add(std::int64_t submit, std::int64_t duration, const std::vector<double>& speeds) {
    JobSpec job = timed_job(submit, 1, duration);
    job.sizes = static_cast<std::int32_t>(sizes.size());
    sizes.push_back(sizes_of(speeds));
    jobs.push_back(job);
    return jobs.back();
  }
  [[nodiscard]] Played play_on(const Choice& choice, int gpus, const SchedulingRules& rules = {}) const {
    ClusterSpec cluster;
    cluster.gpus_per_server = gpus;
    cluster.gpu_memory = Bytes{1};
    Played played = play(choice, cluster, jobs, nullptr, rules, sizes);
    CHECK(played.faults.empty());
    return played;
  }
};

const Choice kAfs{"afs", {}};
const Choice kOptimus{"optimus", {{"period_s", 0.0}}};
const Choice kElasticFlow{"elasticflow", {{"period_s", 0.0}}};

/// Two jobs whose speeds saturate, the second faster than the first.
ElasticCase two_jobs() {
  ElasticCase two;
  two.add(0, 100, {1, 1.8, 2.4, 2.8});
  two.add(0, 60, {1, 1.5, 1.8, 2});
  return two;
}

}  // namespace

TEST_CASE("afs: GPUs go one by one to B, A, A, B") {
  CHECK(holds(two_jobs().play_on(kAfs, 1)) == "B1 0-60, A1 60-160");
  CHECK(two_jobs().play_on(kAfs, 2).runs[1].gpus.size() == 1);
  CHECK(two_jobs().play_on(kAfs, 3).runs[0].gpus.size() == 2);
  // B is done at 60 / 1.5 s; A has done 1.8 x 40 s of its work by then and takes all GPUs.
  CHECK(holds(two_jobs().play_on(kAfs, 4)) == "A2 0-40, B2 0-40, A4 40-50");
}

TEST_CASE("afs and optimus divide only GPUs for which servers have CPUs and host memory") {
  // Two servers of 4 GPUs have CPUs, or memory, for two ranks each.
  ElasticCase equal;
  equal.add(0, 100, {1, 2, 3, 4});
  equal.add(0, 100, {1, 2, 3, 4});
  ClusterSpec cluster;
  cluster.servers = 2;
  cluster.gpus_per_server = 4;
  cluster.gpu_memory = Bytes{1};
  cluster.milli_cpus = 8000;
  cluster.host_memory = Bytes{80};
  for (const bool of_memory : {false, true}) {
    for (JobSpec& job : equal.jobs) {
      job.milli_cpus = of_memory ? 0 : 4000;
      job.host_memory = Bytes{of_memory ? 40 : 0};
    }
    for (const Choice& choice : {kAfs, kOptimus}) {
      INFO(choice.name, of_memory);
      const Played played = play(choice, cluster, equal.jobs, placement({"first-fit", {}}), {}, equal.sizes);
      CHECK(holds(played) == "A2 0-50, B2 0-50");
    }
  }
}

TEST_CASE("afs: of two jobs that gain the same the later one has the odd GPU") {
  ElasticCase equal;
  equal.add(0, 50, {1, 2});
  equal.add(0, 50, {1, 2});
  // B is done after 25 s on two GPUs; A has done half of its work by then.
  CHECK(holds(equal.play_on(kAfs, 3)) == "A1 0-25, B2 0-25, A2 25-37.5");
}

TEST_CASE("afs, optimus: a step that gains nothing is not taken, though a longer one would") {
  for (const Choice& choice : {kAfs, kOptimus}) {
    ElasticCase dip;
    dip.add(0, 100, {1, 0.8, 0, 1.2});
    CHECK(holds(dip.play_on(choice, 4)) == "A1 0-100");
  }
}

TEST_CASE("optimus: each job has one GPU first, then the time left that falls most decides") {
  CHECK(holds(two_jobs().play_on(kOptimus, 1)) == "A1 0-100, B1 100-160");
  // 100 - 100/1.8 s saved against 60 - 60/1.5 s.
  CHECK(two_jobs().play_on(kOptimus, 3).runs[0].gpus.size() == 2);
  // Then 20 s for B against 55.6 - 41.7 s for A.
  CHECK(holds(two_jobs().play_on(kOptimus, 4)) == "A2 0-40, B2 0-40, A4 40-50");
  ElasticCase equal;
  equal.add(0, 50, {1, 2});
  equal.add(0, 50, {1, 2});
  CHECK(equal.play_on(kOptimus, 3).runs[0].gpus.size() == 2);  // the first of equals
}

TEST_CASE(
    "elastic policies: a rigid job has the GPUs that it asks for or none, and others wait for the GPUs it leaves") {
  for (const Choice& choice : {kAfs, kOptimus}) {
    ElasticCase mixed;
    mixed.jobs.push_back(timed_job(0, 3, 10));
    mixed.add(0, 20, {1, 2, 3, 4});
    const Played played = mixed.play_on(choice, 4);
    CHECK(played.finishes() == "A10 B12");  // B: 10 s on 1 GPU, then 10 s of work on 4
    CHECK(played.result.jobs[1].resizes == 1);
  }
}

TEST_CASE("elastic-edf: the earliest deadline has the GPUs that it wants, the next one those that are left") {
  // A is fastest on 2 of 4 GPUs.
  ElasticCase three;
  three.add(0, 100, {1, 2, 0, 1.6}).deadline = Time::seconds(500);
  three.add(0, 90, {1, 1.5, 0, 3}).deadline = Time::seconds(600);
  three.add(10, 20, {1, 2, 0, 2}).deadline = Time::seconds(100);
  three.add(0, 40, {1});  // no deadline
  // C comes with the earliest one and takes the GPUs of B, which A leaves to it at 50 s.
  CHECK(holds(three.play_on({"elastic-edf", {}}, 4)) == "A2 0-50, B2 0-10, C2 10-20, B2 20-50, B4 50-60, D1 60-100");
  // As many as it can have: A has 4 until C comes, and is not faster so.
  const Choice most{"elastic-edf", {{"fastest", false}}};
  CHECK(holds(three.play_on(most, 4)).starts_with("A4 0-10, C4 10-20, A4 20-"));
  CHECK(three.play_on(most, 4).finishes() == "A72 B102 C20 D142");
}

TEST_CASE("elasticflow: the fewest GPUs that meet the deadline, and spare ones on top") {
  ElasticCase one;
  one.add(0, 100, {1, 2, 0, 4}).deadline = Time::seconds(50);
  CHECK(holds(one.play_on(kElasticFlow, 4)) == "A4 0-25");
  CHECK(holds(one.play_on(kElasticFlow, 3)) == "A2 0-50");
  ElasticCase two = one;
  two.add(0, 100, {1, 2, 0, 4}).deadline = Time::seconds(50);
  CHECK(holds(two.play_on(kElasticFlow, 4)) == "A2 0-50, B2 0-50");
}

TEST_CASE("elasticflow: a job whose deadline can't be met beside those admitted is refused, and its reason kept") {
  ElasticCase three;
  for (int j = 0; j < 3; ++j) three.add(0, 100, {1, 2, 0, 4}).deadline = Time::seconds(50);
  const Played played = three.play_on(kElasticFlow, 4);
  CHECK(played.result.jobs[0].finish == Time::seconds(50));
  CHECK(played.result.jobs[1].finish == Time::seconds(50));
  CHECK(played.result.jobs[2].state == JobState::failed);
  CHECK(played.result.jobs[2].reason.find("refused: no division of the GPUs meets its deadline") == 0);
  const Summary summary = summarise(played.result);
  CHECK(summary.failed == 1);
  CHECK(summary.deadlines_met == near(2.0 / 3));
}

TEST_CASE("elasticflow: a job may begin with fewer GPUs and get more where earlier deadlines leave them") {
  // A needs all 4 GPUs until 10 s. B, 60 s of work until 40 s, has 0 GPUs until then, and 2 for the 30 s after.
  ElasticCase later;
  later.add(0, 40, {1, 2, 0, 4}).deadline = Time::seconds(10);
  later.add(0, 60, {1, 2}).deadline = Time::seconds(40);
  CHECK(holds(later.play_on(kElasticFlow, 4)) == "A4 0-10, B2 10-40");
}

TEST_CASE("elasticflow: spare GPUs go where they cost least further GPU time, or most") {
  ElasticCase two;
  two.add(0, 90, {1, 1.5}).deadline = Time::seconds(90);
  two.add(0, 90, {1, 1.8}).deadline = Time::seconds(90);
  const Played least = two.play_on(kElasticFlow, 3);
  CHECK(least.runs[1].gpus.size() == 2);
  CHECK(least.result.jobs[1].finish.to_seconds() == near(50, 1e-8));
  const Played most = two.play_on({"elasticflow", {{"period_s", 0.0}, {"most_first", true}}}, 3);
  CHECK(most.runs[0].gpus.size() == 2);
  CHECK(most.result.jobs[0].finish.to_seconds() == near(60, 1e-8));
}

TEST_CASE("elasticflow: without a deadline a job runs on what others leave") {
  ElasticCase two;
  two.add(0, 40, {1, 2, 0, 4}).deadline = Time::seconds(10);
  two.add(0, 40, {1, 2, 0, 4});
  CHECK(holds(two.play_on(kElasticFlow, 4)) == "A4 0-10, B4 10-20");
}

namespace {

ElasticCase random_case(std::uint64_t seed, bool with_deadlines) {
  RandomStream random{seed, "elastic case"};
  ElasticCase made;
  const std::int64_t count = random.uniform_integer(1, 12);
  for (std::int64_t j = 0; j < count; ++j) {
    std::vector<double> speeds{1};
    double gain = 1;
    for (int k = 2; k <= 8; ++k) speeds.push_back(speeds.back() + (gain *= 0.5 + 0.5 * random.uniform()));
    JobSpec& job = made.add(random.uniform_integer(0, 60), random.uniform_integer(5, 100), speeds);
    if (with_deadlines && random.uniform() < 0.8)
      job.deadline = job.submit + Time::seconds(random.uniform_integer(5, 100));
  }
  return made;
}

}  // namespace

TEST_CASE("elasticflow: every admitted deadline is met where restarts cost nothing") {
  std::int64_t admitted = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{200}); ++seed) {
    const ElasticCase made = random_case(seed, true);
    CAPTURE(seed);
    const Played played = made.play_on(kElasticFlow, 8);
    for (std::size_t j = 0; j < made.jobs.size(); ++j) {
      const JobResult& job = played.result.jobs[j];
      if (job.state == JobState::failed) {
        ++refused;
        continue;
      }
      REQUIRE(job.state == JobState::finished);
      if (!made.jobs[j].deadline) continue;
      ++admitted;
      CHECK(job.finish <= *made.jobs[j].deadline + Time::microseconds(1));
    }
  }
  CHECK(admitted > static_cast<std::int64_t>(effort(std::uint64_t{200})));
  CHECK(refused > static_cast<std::int64_t>(effort(std::uint64_t{200})) / 4);
}

TEST_CASE("elastic policies: all jobs end, work is kept and GPUs have one holder, whatever restarts cost") {
  for (const std::string name : {"afs", "elastic-edf", "optimus", "elasticflow", "pollux", "themis"}) {
    const Choice choice{name, {{name == "themis" ? "lease_s" : "period_s", 10.0}}};
    std::int64_t changes = 0;
    for (std::uint64_t seed = 0; seed < effort(std::uint64_t{60}); ++seed) {
      const ElasticCase made = random_case(seed, name == "elastic-edf");
      CAPTURE(name);
      CAPTURE(seed);
      SchedulingRules rules;
      if (seed % 2 == 1) rules.preemption.restart = Time::seconds(3);
      const Played played = made.play_on(choice, 8, rules);
      for (std::size_t j = 0; j < made.jobs.size(); ++j) {
        const JobResult& job = played.result.jobs[j];
        REQUIRE(job.state == JobState::finished);
        CHECK(job.compute == GpuTime{*made.jobs[j].duration, 1});
        changes += job.resizes + job.preemptions;
      }
      CHECK(made.play_on(choice, 8, rules).result.fingerprint == played.result.fingerprint);
    }
    // The first by deadline mostly takes all GPUs.
    CHECK(changes > static_cast<std::int64_t>(effort(std::uint64_t{60})) / (name == "elastic-edf" ? 10 : 2));
  }
}

TEST_CASE("pollux: two equal jobs share the GPUs equally, and one alone has the number on which it is fastest") {
  ElasticCase two;
  two.add(1, 600, {1, 1.9, 2.7, 3.4});
  two.add(1, 600, {1, 1.9, 2.7, 3.4});
  const Played shared = two.play_on({"pollux", {}}, 4);
  CHECK(shared.runs[0].gpus.size() == 2);
  CHECK(shared.runs[1].gpus.size() == 2);
  CHECK(shared.runs[0].start == Time::seconds(60));  // it decides at multiples of its period
  CHECK(shared.result.jobs[0].finish == shared.result.jobs[1].finish);
  ElasticCase one;
  one.add(1, 600, {1, 1.4, 1.5, 1.2});
  CHECK(one.play_on({"pollux", {}}, 4).runs[0].gpus.size() == 3);
}

TEST_CASE("pollux: with `doubles` a job starts on one GPU and has at most twice as many as it had") {
  ElasticCase one;
  one.add(1, 1200, {1, 2, 3, 4});
  const Played played = one.play_on({"pollux", {{"doubles", true}}}, 4);
  REQUIRE(played.runs.size() >= 3);
  CHECK(played.runs[0].gpus.size() == 1);
  CHECK(played.runs[1].gpus.size() == 2);
  CHECK(played.runs[2].gpus.size() == 4);
  CHECK(one.play_on({"pollux", {}}, 4).runs[0].gpus.size() == 4);
}

TEST_CASE("pollux: without a period a job that is alone starts at once, and none waits beside idle GPUs") {
  ElasticCase four;
  for (const std::int64_t submit : {0, 0, 10, 3000}) four.add(submit, 200, {1, 1.9, 2.7, 3.4});
  const Played played = four.play_on({"pollux", {{"period_s", 0.0}}}, 4);
  for (const JobResult& job : played.result.jobs) CHECK(job.state == JobState::finished);
  CHECK(played.result.jobs[3].start == Time::seconds(3000));
  CHECK(played.runs.front().start == Time{});
}

TEST_CASE("pollux: a job that would gain little by a restart is left alone") {
  // At 120 s A is 119 s old. On 4 GPUs in place of 2 its fitness would be 1.1 x 119 / 149 of that on 2.
  ElasticCase two;
  two.add(1, 6000, {1, 2, 0, 2.2});
  two.add(1, 100, {1, 2, 0, 4});
  const Played played = two.play_on({"pollux", {}}, 4);
  CHECK(played.result.jobs[1].finish == Time::seconds(110));
  REQUIRE(played.runs.size() >= 2);
  CHECK(played.runs[0].gpus.size() == 2);
  CHECK(played.runs[0].end > Time::seconds(240));
}

TEST_CASE("GPU plans: steps are cut, joined and summed") {
  GpuPlan plan{4};
  plan.set(10, 20, 1);
  CHECK(plan.gpus_at(0) == 4);
  CHECK(plan.gpus_at(10) == 1);
  CHECK(plan.gpus_at(19.9) == 1);
  CHECK(plan.gpus_at(20) == 4);
  CHECK(plan.change_after(0) == 10);
  CHECK(plan.change_after(20) == GpuPlan::kForever);
  GpuPlan job{0};
  job.set(5, 15, 1);
  CHECK(job.gpu_seconds() == near(10));
  GpuPlan same{0};
  same.append(5, 9, 1);
  same.append(9, 15, 1);
  CHECK(same.steps() == job.steps());
  same.append(20, 30, 2);
  CHECK(same.steps() == std::vector<std::pair<double, int>>{{0, 0}, {5, 1}, {15, 0}, {20, 2}, {30, 0}});
  plan.subtract(job);
  CHECK(plan.gpus_at(7) == 3);
  CHECK(plan.gpus_at(12) == 0);
  CHECK(plan.gpus_at(15) == 1);
  plan.add(job);
  CHECK(plan.steps() == std::vector<std::pair<double, int>>{{0, 4}, {10, 1}, {20, 4}});
}

TEST_CASE("GPU plans: a job that takes the largest size that fits at every time has less left after each of them") {
  ElasticJob job;
  job.sizes = {1, 2, 4};
  job.speeds = {1, 1.5, 2};
  GpuPlan free{3};
  free.set(10, 20, 0);
  free.set(30, GpuPlan::kForever, 5);
  // 15 s of work on two GPUs until 10, none until 20, 15 s until 30; the other 40 s of work take 20 s on four.
  PlanMaker maker;
  GpuPlan most{0};
  maker.look_at(job, free, 0, GpuPlan::kForever);
  maker.most(70, most);
  CHECK(most.steps() == std::vector<std::pair<double, int>>{{0, 2}, {10, 0}, {20, 2}, {30, 4}, {50, 0}});
  // By 50 s the least share that suffices is unchanged; a second earlier nothing does.
  GpuPlan least{0};
  maker.look_at(job, free, 0, 50);
  CHECK(maker.least(70, least));
  CHECK(least.gpu_seconds() == near(2 * 10 + 2 * 10 + 4 * 20));
  maker.look_at(job, free, 0, 49);
  CHECK_FALSE(maker.least(70, least));
  // What the job has already counts with what is free: with one GPU less of that and one of its own nothing changes.
  GpuPlan less{2}, own{0}, again{0};
  less.set(10, 20, 0);
  less.set(30, GpuPlan::kForever, 4);
  own.append(0, 10, 1);
  own.append(20, GpuPlan::kForever, 1);
  CHECK(GpuPlan::sum_changes(less, own) == 10);
  maker.look_at(job, less, own, 0, 50);
  CHECK(maker.least(70, again));
  CHECK(again.steps() == least.steps());
}

TEST_CASE("elastic policies: virtual clusters that own servers are divided each by itself") {
  // Two servers of 4 GPUs: the virtual cluster 0 owns the first, with two jobs; a job of none has the second alone.
  for (const Choice& choice :
       {kAfs, kOptimus, Choice{"pollux", {{"period_s", 10.0}}}, kElasticFlow, Choice{"themis", {}}}) {
    CAPTURE(choice.name);
    ElasticCase mixed;
    for (int j = 0; j < 3; ++j) mixed.add(0, 400, {1, 2, 3, 4}).vc = j < 2 ? 0 : -1;
    ClusterSpec cluster;
    cluster.servers = 2;
    cluster.gpus_per_server = 4;
    cluster.gpu_memory = Bytes{1};
    cluster.vcs = {{.servers = {0, 1}}};
    const Played played = play(choice, cluster, mixed.jobs, nullptr, {}, mixed.sizes);
    CHECK(played.faults.empty());
    for (const Hold& run : played.runs)
      for (const GpuId gpu : run.gpus) CHECK((gpu.index() < 4) == (run.job.index() < 2));
    for (const JobResult& job : played.result.jobs) CHECK(job.state == JobState::finished);
    CHECK(played.result.jobs[2].held <= Time::seconds(110));
  }
}
