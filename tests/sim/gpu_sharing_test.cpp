// Jobs with a duration that share GPUs and slow each other down. Times are in seconds where nothing else is said.

#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"
#include "tests/sim/same_result.hpp"
#include "tests/sim/test_kit.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// At a time, the job starts on these GPUs; without any it is preempted.
struct StartOrder {
  std::int64_t at;
  std::size_t job;
  std::vector<std::uint32_t> gpus{};
};

class StartsAt final : public SchedulingPolicy {
 public:
  StartsAt(std::vector<StartOrder> orders, std::string& refused) : orders_{std::move(orders)}, refused_{refused} {}
  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }
  [[nodiscard]] bool idle_passes() const override { return true; }
  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    for (; next_ < orders_.size() && Time::seconds(orders_[next_].at) <= cluster.now(); ++next_) {
      const StartOrder& order = orders_[next_];
      std::vector<GpuId> gpus;
      for (const std::uint32_t gpu : order.gpus) gpus.emplace_back(gpu);
      if (gpus.empty())
        actions.preempt(JobId{order.job});
      else if (!actions.start_at(JobId{order.job}, gpus))
        refused_ += static_cast<char>('A' + static_cast<int>(order.job));
    }
  }
  [[nodiscard]] Time next_decision(const ClusterView&) override {
    return next_ < orders_.size() ? Time::seconds(orders_[next_].at) : Time::never();
  }

 private:
  std::vector<StartOrder> orders_;
  std::string& refused_;
  std::size_t next_ = 0;
};

/// Halves the speed for each other job on a GPU, and can't have job C run beside any.
class TestLaw final : public SharingLaw {
 public:
  [[nodiscard]] std::int64_t speed(JobId job, std::span<const JobId> others, std::int32_t) const override {
    if (job.index() == 2 || std::ranges::find(others, JobId{2U}) != others.end()) return 0;
    return kFullSpeed >> others.size();
  }
};

JobSpec lasting(std::int64_t duration, int gpus = 1, std::int64_t memory = 10) {
  JobSpec job;
  job.duration = Time::seconds(duration);
  job.gpus = gpus;
  job.memory_per_gpu = Bytes{memory};
  return job;
}

struct Shared {
  RunResult result;
  std::string refused;
};

Shared run_starts(std::vector<JobSpec> jobs, std::vector<StartOrder> orders, SimulationOptions options = {},
                  ClusterSpec cluster = {}) {
  Shared run;
  Workload workload;
  workload.jobs = std::move(jobs);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j)
    workload.jobs[j].name = static_cast<char>('A' + static_cast<int>(j));
  PolicySet policies = policies_of({}, {});
  policies.placement = std::make_unique<AnyGpus>();
  policies.scheduling = std::make_unique<StartsAt>(std::move(orders), run.refused);
  policies.scheduling_name = "scripted";
  if (!options.sharing.any()) options.sharing = {std::make_shared<TestLaw>(), 3, false};
  if (cluster.gpus_per_server == 1) cluster.gpus_per_server = 2;
  cluster.gpu_memory = Bytes{100};
  const std::size_t count = workload.jobs.size();
  Simulation simulation{cluster, std::move(workload), std::move(policies),
                        std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(cluster.servers), count),
                        std::move(options)};
  run.result = simulation.run();
  return run;
}

double finish(const Shared& run, std::size_t job) {
  return run.result.jobs[job].finish.to_seconds();
}

}  // namespace

TEST_CASE("sharing: two jobs on a GPU run at half their speed while they share it") {
  // B comes at 2 s and needs 8 s for its 4 s of work. A has done 2 + 4 s of its 10 s by then, and ends 4 s later.
  const Shared run = run_starts({lasting(10), lasting(4)}, {{0, 0, {0}}, {2, 1, {0}}});
  CHECK(finish(run, 0) == near(14));
  CHECK(finish(run, 1) == near(10));
  for (std::size_t j : {0U, 1U}) {
    const JobResult& job = run.result.jobs[j];
    CHECK(job.shared == Time::seconds(8));
    CHECK(job.lost_to_sharing == Time::seconds(4));
    CHECK(job.compute == GpuTime{Time::seconds(j == 0 ? 10 : 4), 1});
    CHECK(job.shared_with == (j == 0 ? "B" : "A"));
  }
  CHECK(run.result.jobs[0].held == Time::seconds(14));
  CHECK(run.result.gpus[0].busy == Time::seconds(14));  // not twice what both were there
  CHECK(run.result.gpus[1].busy == Time{});
}

TEST_CASE("sharing: a gang goes as its slowest GPU does, and each GPU has its own jobs") {
  // A on both GPUs, B on the first from 0 s, D on the first, too, from 2 s: A and B at 1/2 until 2 s, then 1/4.
  const Shared run = run_starts({lasting(3, 2), lasting(2), lasting(1), lasting(1)},
                                {{0, 0, {0, 1}}, {0, 1, {0}}, {2, 3, {0}}, {2, 2, {0}}, {60, 2, {1}}});
  CHECK(run.refused == "C");              // there are three on the GPU
  CHECK(finish(run, 3) == near(6));       // 1 s at 1/4
  CHECK(finish(run, 1) == near(6));       // 1 s until 2 s, and 1 s until 6 s: both end together
  CHECK(finish(run, 0) == near(7));       // 1 + 1 s until 6 s, and 1 s alone
  CHECK(run.result.sharing.size() == 5);  // A beside B, B and D; B beside A, A and D; D beside both
  CHECK(finish(run, 2) == near(61));
}

TEST_CASE("sharing: what may not share is refused") {
  const std::vector<JobSpec> jobs{lasting(10, 1, 60), lasting(10, 1, 50), lasting(10), lasting(10), lasting(1, 2)};
  std::vector<JobSpec> parts = jobs;
  parts[3].gpu_share = 500;
  // B needs more memory than A leaves; C may not run beside any; D reserves a part of a GPU; E would be beside C.
  const Shared run = run_starts(parts, {{0, 0, {0}},
                                        {1, 1, {0}},
                                        {1, 2, {0}},
                                        {1, 3, {0}},
                                        {2, 2, {1}},
                                        {3, 4, {0, 1}},
                                        {20, 1, {0}},
                                        {20, 3, {1}},
                                        {40, 4, {1, 0}}});
  CHECK(run.refused == "BCDE");
  CHECK(finish(run, 0) == near(10));
  CHECK(finish(run, 4) == near(41));
  const auto naming = [&](std::vector<std::uint32_t> gpus) {
    static_cast<void>(run_starts({lasting(1, 2)}, {{0, 0, std::move(gpus)}}));
  };
  const char* const kMessage =
      "scheduling policy `scripted`: job `A` needs 2 different GPUs of the cluster to start on";
  CHECK_THROWS_WITH_AS(naming({0}), kMessage, InputError);
  CHECK_THROWS_WITH_AS(naming({0, 0}), kMessage, InputError);
  CHECK_THROWS_WITH_AS(naming({0, 7}), kMessage, InputError);
}

TEST_CASE("sharing: by priority a job is slowed down only by those that count as much") {
  std::vector<JobSpec> jobs{lasting(10), lasting(4)};
  jobs[0].priority = 1;
  SimulationOptions options;
  options.sharing = {std::make_shared<TestLaw>(), 2, true};
  const Shared run = run_starts(jobs, {{0, 0, {0}}, {2, 1, {0}}}, std::move(options));
  CHECK(finish(run, 0) == near(10));
  CHECK(finish(run, 1) == near(10));
  CHECK(run.result.jobs[0].lost_to_sharing == Time{});
  CHECK(run.result.jobs[0].shared == Time::seconds(8));
  CHECK(run.result.jobs[1].lost_to_sharing == Time::seconds(4));
}

TEST_CASE("sharing: a job that moves from one GPU of a gang to another changes the speed of the gang") {
  // A counts D and E, not B. Until 4 s D is beside it on GPU 0 and E on GPU 1: half of its speed, 2 s of its 8. Then D
  // moves to E: a quarter, though A has the same jobs beside it, three jobs on one GPU and two on the other.
  std::vector<JobSpec> jobs{lasting(8, 2), lasting(100), lasting(1), lasting(100), lasting(100)};
  for (const std::size_t counted : {0U, 3U, 4U}) jobs[counted].priority = 1;
  SimulationOptions options;
  options.sharing = {std::make_shared<TestLaw>(), 3, true};
  const std::vector<StartOrder> orders{{0, 0, {0, 1}}, {0, 1, {0}}, {0, 3, {0}},   {0, 4, {1}},
                                       {4, 3},         {4, 3, {1}}, {2000, 2, {0}}};
  const Shared run = run_starts(jobs, orders, std::move(options));
  CHECK(run.refused.empty());
  CHECK(finish(run, 0) == near(4 + 6 * 4));
  CHECK(run.result.jobs[0].lost_to_sharing == Time::seconds(20));
}

TEST_CASE("sharing: a restart takes its time whoever is there, and makes no progress") {
  // A works from 0 to 2 s and is stopped. From 3 s it restarts for 4 s beside B, and has 8 s left, of which it does
  // half a second in each one from 7 s until B ends: B, which shares from 3 s, ends at 13 s with its 5 s of work.
  SimulationOptions options;
  options.rules.preemption.restart = Time::seconds(4);
  const Shared run =
      run_starts({lasting(10), lasting(5)}, {{0, 0, {0}}, {2, 0, {}}, {3, 1, {0}}, {3, 0, {0}}}, std::move(options));
  CHECK(finish(run, 1) == near(13));
  CHECK(finish(run, 0) == near(18));
  const JobResult& job = run.result.jobs[0];
  CHECK(job.restarting == Time::seconds(4));
  CHECK(job.overhead == Time::seconds(4));
  CHECK(job.lost_to_sharing == Time::seconds(3));
  CHECK(job.held == Time::seconds(10 + 4 + 3));
}

TEST_CASE("sharing: a preempted job keeps the work saved by its own clock") {
  // A saves each 2 s of work. At 8 s it has done 2 + 3 s; 4 s are saved, and the 2 s that 1 s of work took are lost.
  SimulationOptions options;
  options.rules.preemption.checkpoint_interval = Time::seconds(2);
  const Shared run =
      run_starts({lasting(10), lasting(9)}, {{0, 0, {0}}, {2, 1, {0}}, {8, 0, {}}, {20, 0, {1}}}, std::move(options));
  CHECK(run.result.jobs[0].lost == GpuTime{Time::seconds(1), 1});
  CHECK(finish(run, 0) == near(26));
  CHECK(finish(run, 1) == near(2 + 6 + 6));
}

TEST_CASE("sharing: a job that others slow down meets its time limit sooner") {
  SimulationOptions options;
  options.rules.kill_at_limit = true;
  std::vector<JobSpec> jobs{lasting(6), lasting(20)};
  jobs[0].limit = Time::seconds(8);
  const Shared run = run_starts(jobs, {{0, 0, {0}}, {1, 1, {0}}}, std::move(options));
  CHECK(finish(run, 0) == near(8));
  CHECK(run.result.jobs[0].outcome == JobOutcome::timeout);
  CHECK(finish(run, 1) == near(1 + 7 + 16.5));
}

TEST_CASE("sharing: those on a GPU divide its price") {
  SimulationOptions options;
  ClusterSpec cluster;
  cluster.gpus_per_server = 2;
  cluster.types = {{"a", 1, 2, Bytes{100}, 3600}};
  const Shared run = run_starts({lasting(10), lasting(4)}, {{0, 0, {0}}, {2, 1, {0}}}, std::move(options), cluster);
  CHECK(*run.result.jobs[0].cost == near(2 + 4 + 4));
  CHECK(*run.result.jobs[1].cost == near(4));
}

TEST_CASE("sharing: an observer sees when a job ran alone, and beside whom") {
  struct Listener final : Observer {
    std::string seen;
    void compute(GpuId gpu, JobId job, const Op&, std::int64_t, Time start, Time end) override {
      seen += fmt::format("{}:{} {:g}-{:g} ", gpu.value(), job.value(), start.to_seconds(), end.to_seconds());
    }
    void transfer(const TransferRequest&, const Op&, std::int64_t, Time, Time) override {}
    void shared(GpuId gpu, JobId job, std::span<const JobId> beside, const Op&, std::int64_t, Time start,
                Time end) override {
      seen += fmt::format("{}:{}+{} {:g}-{:g} ", gpu.value(), job.value(), beside.front().value(), start.to_seconds(),
                          end.to_seconds());
    }
  } listener;
  SimulationOptions options;
  options.observer = &listener;
  static_cast<void>(run_starts({lasting(10, 2), lasting(4)}, {{0, 0, {0, 1}}, {2, 1, {0}}}, std::move(options)));
  CHECK(listener.seen == "0:0 0-2 1:0 0-2 0:1+0 2-10 0:0+1 2-10 1:0 2-10 0:0 10-14 1:0 10-14 ");
}

TEST_CASE("sharing: the clock of a run loses nothing where speeds change") {
  RandomStream stream{7, "clock"};
  for (int run = 0; run < 200; ++run) {
    const Time restart = Time::nanoseconds(stream.uniform_integer(0, 50));
    Time now;
    SharedClock clock{now, restart, now};
    Int128 expected = 0;
    for (int change = 0; change < 20; ++change) {
      const Time next = now + Time::nanoseconds(stream.uniform_integer(0, 30));
      for (; now < next; now += Time::nanoseconds(1))
        expected += expected < Int128{restart.ns()} * kFullSpeed ? kFullSpeed : clock.speed();
      CHECK(clock.exact(now) == expected);
      clock.set_speed(stream.uniform_integer(kSlowestSpeed, kFullSpeed), now);
      const Time wanted = clock.shown(now) + Time::nanoseconds(stream.uniform_integer(1, 40));
      const Time at = clock.when(wanted);
      CHECK(clock.shown(at) >= wanted);
      CHECK(clock.shown(at - Time::nanoseconds(1)) < wanted);
    }
  }
}
