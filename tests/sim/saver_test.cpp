// Tests checkpoints for which jobs of iterations stop, and the store that jobs share, by hand.

#include "sim/checkpoint_store.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/same_result.hpp"
#include "tests/sim/test_kit.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

constexpr double kPerNs = 1e9;  // bytes per second that are a byte per nanosecond

/// Jobs of one GPU, each on a server of its own, with iterations of 10 ns, or with so much work at a time.
struct SavingJobs {
  std::vector<std::int64_t> iterations;
  PreemptionCosts costs{};
  std::optional<StoreRates> store{};
  std::vector<Outage> outages{};
  std::vector<std::int64_t> submits{};
  std::string graph = "role worker 1 | compute step worker 10";
  int servers = 0;
  bool timed = false;  ///< they have durations, of 10 ns for each iteration

  [[nodiscard]] RunResult run(bool leap) const {
    Workload workload;
    for (std::size_t j = 0; j < iterations.size(); ++j) {
      JobSpec job;
      job.name = "job" + std::to_string(j);
      job.iterations = iterations[j];
      job.gpu_share = kWholeGpu;
      if (timed) job.duration = Time::nanoseconds(10 * iterations[j]);
      if (!submits.empty()) job.submit = Time::nanoseconds(submits[j]);
      workload.jobs.push_back(job);
    }
    workload.graphs.push_back(graph_from_text(graph));
    const std::size_t count = iterations.size();
    ClusterSpec cluster;
    cluster.servers = servers > 0 ? servers : static_cast<int>(count);
    PolicySet policies = policies_of(Setup{}, {});
    policies.placement = std::make_unique<AnyGpus>();
    SimulationOptions options;
    options.leap = leap;
    options.failures.outages = outages;
    options.rules.preemption = costs;
    if (timed) options.rules.preemption.checkpoint_interval = Time::nanoseconds(10 * costs.iterations);
    options.rules.store = store;
    auto network = std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(cluster.servers), count);
    return Simulation{cluster, std::move(workload), std::move(policies), std::move(network), std::move(options)}.run();
  }
  /// With leaping and without, which must be equal.
  [[nodiscard]] RunResult run() const {
    RunResult slow = run(false);
    CHECK(difference(slow, run(true)) == "");
    return slow;
  }
};

PreemptionCosts every(std::int64_t iterations, std::int64_t cost, std::int64_t bytes = 0, bool beside = false) {
  PreemptionCosts costs;
  costs.iterations = iterations;
  costs.checkpoint = Time::nanoseconds(cost);
  costs.written = Bytes{bytes};
  costs.writes_beside = beside;
  return costs;
}

Outage outage(std::int64_t from, std::int64_t until, std::uint32_t gpu) {
  return {Time::nanoseconds(from), Time::nanoseconds(until), gpu, gpu + 1};
}

}  // namespace

TEST_CASE("a job of iterations stops for each checkpoint, but not after its last iteration") {
  SavingJobs one{.iterations = {12}, .costs = every(4, 7)};
  const RunResult result = one.run();
  CHECK(result.jobs[0].finish.ns() == 12 * 10 + 2 * 7);
  CHECK(result.jobs[0].overhead.ns() == 2 * 7);
  CHECK(result.jobs[0].restarting.ns() == 0);
  CHECK(result.gpus[0].busy.ns() == 120);
  one.costs = every(1, 7);
  CHECK(one.run().jobs[0].finish.ns() == 12 * 10 + 11 * 7);
  one.costs = every(kNoIterationSaved, 7);
  CHECK(one.run().jobs[0].finish.ns() == 120);
  one.iterations = {100'001};
  one.costs = every(1'000, 7);
  const RunResult many = one.run(true);
  CHECK(many.jobs[0].finish.ns() == 100'001 * 10 + 100 * 7);
  CHECK(many.events < 3'000);
}

TEST_CASE("the iteration after a checkpoint doesn't begin before it, however it overlaps with others") {
  // The forward pass of the next iteration needs no all-reduce, so it usually overlaps with that.
  SavingJobs one{.iterations = {4}, .costs = every(2, 100)};
  one.graph = "role worker 1 | compute f worker 10 | timer t worker 30 | f -> t | f => f";
  const RunResult free = [&] {
    SavingJobs without = one;
    without.costs = {};
    return without.run();
  }();
  CHECK(free.jobs[0].finish.ns() > 0);
  const RunResult result = one.run();
  // Two iterations in flight take 10 + 30 and 10 more; then a stop of 100, and the same again.
  CHECK(result.jobs[0].finish.ns() == 50 + 100 + 50);
}

TEST_CASE("a job of iterations saves after as many as take the period") {
  // Iterations of 10 ns: the first shows that, so that the checkpoint comes after the fourth, at 40, and each 4 later.
  SavingJobs one{.iterations = {12}, .costs = every(0, 7)};
  one.costs.checkpoint_interval = Time::nanoseconds(35);
  CHECK(one.run().jobs[0].finish.ns() == 120 + 2 * 7);
  one.costs.checkpoint_interval = Time::nanoseconds(1);
  CHECK(one.run().jobs[0].finish.ns() == 120 + 10 * 7);  // not after the first, while the second is in flight
  // From 47 on they take twice as long: the second period still has 4, the next ones have 2.
  one.costs.checkpoint_interval = Time::nanoseconds(35);
  one.outages = {outage(47, 1'000, 0)};
  one.outages[0].slows = Slowdown{2'000, 1'000};
  CHECK(one.run().jobs[0].finish.ns() == 40 + 7 + 80 + 7 + 40 + 7 + 40);
  // It saves until 47 and from 87 to 94; a failure at 100 undoes 6 ns.
  one.outages = {outage(100, 1'000, 0)};
  one.servers = 2;
  CHECK(one.run().jobs[0].redone.ns() == 6);
  // What costs nothing doesn't stop the job, and is there nevertheless.
  one.costs.checkpoint = Time{};
  CHECK(one.run().jobs[0].redone.ns() == 20);
  one.iterations = {100'001};
  one.outages.clear();
  const RunResult many = one.run(true);
  CHECK(many.jobs[0].finish.ns() == 1'000'010);
}

TEST_CASE("after a failure a job of iterations goes on from the checkpoint that is complete") {
  // Checkpoints from 20 to 25, 45 to 50, 70 to 75. It fails at 62: 12 ns since 50 are lost.
  for (const bool timed : {false, true}) {
    CAPTURE(timed);
    SavingJobs one{.iterations = {8}, .costs = every(2, 5), .outages = {outage(62, 100, 0)}, .servers = 2};
    one.timed = timed;
    const RunResult at_work = one.run();
    CHECK(at_work.jobs[0].finish.ns() == 62 + 40 + 5);
    CHECK(at_work.jobs[0].redone.ns() == 12);
    CHECK(at_work.jobs[0].overhead.ns() == 15);
    // At 47, while it saves: the checkpoint of 25 counts. Two iterations are lost, and 2 ns of saving.
    one.outages = {outage(47, 100, 0)};
    const RunResult saving = one.run();
    CHECK(saving.jobs[0].finish.ns() == 47 + 60 + 2 * 5);
    CHECK(saving.jobs[0].redone.ns() == 20);
    CHECK(saving.jobs[0].overhead.ns() == 5 + 2 + 2 * 5);
    for (const RunResult& each : {at_work, saving})
      CHECK(GpuTime{each.jobs[0].held - each.jobs[0].redone - each.jobs[0].overhead, 1} == each.jobs[0].compute);
  }
}

TEST_CASE("jobs that save at once share the store") {
  // A byte per nanosecond. Alone 30 bytes take 30 ns; two jobs that begin together need 60, and a third that begins 10
  // ns later finds them with 25 bytes each.
  for (const bool timed : {false, true}) {
    CAPTURE(timed);
    SavingJobs jobs{.iterations = {3}, .costs = every(2, 0, 30), .store = StoreRates{ByteRate{kPerNs}}};
    jobs.timed = timed;
    CHECK(jobs.run().jobs[0].finish.ns() == 20 + 30 + 10);
    jobs.iterations = {3, 3};
    CHECK(jobs.run().jobs[1].finish.ns() == 20 + 60 + 10);
    jobs.iterations = {3, 3, 3};
    jobs.submits = {0, 0, 10};
    const RunResult result = jobs.run();
    CHECK(result.jobs[0].finish.ns() == 20 + 10 + 75 + 10);
    CHECK(result.jobs[2].finish.ns() == 30 + 75 + 5 + 10);
    CHECK(result.jobs[2].overhead.ns() == 80);
    // With a limit of half a byte for each job, two don't disturb each other.
    jobs.iterations = {3, 3};
    jobs.submits = {};
    jobs.store->of_job = ByteRate{kPerNs / 2};
    CHECK(jobs.run().jobs[1].finish.ns() == 20 + 60 + 10);
    jobs.iterations = {3};
    CHECK(jobs.run().jobs[0].finish.ns() == 20 + 60 + 10);
  }
}

TEST_CASE("a job that fails while it saves leaves the store to the others") {
  for (const bool timed : {false, true}) {
    CAPTURE(timed);
    SavingJobs jobs{.iterations = {3, 3}, .costs = every(2, 0, 30), .store = StoreRates{ByteRate{kPerNs}}};
    jobs.timed = timed;
    jobs.outages = {outage(40, 1'000, 0)};
    const RunResult result = jobs.run();
    CHECK(result.jobs[1].finish.ns() == 20 + 20 + 20 + 10);
    // The first one begins again on the second server, at 70.
    CHECK(result.jobs[0].finish.ns() == 70 + 20 + 30 + 10);
    CHECK(result.jobs[0].redone.ns() == 20);
  }
}

TEST_CASE("what is written beside the work counts once it is there, and delays the next checkpoint") {
  // A copy of 2 ns, then 30 bytes beside the work; two iterations of 10 ns meanwhile. So the second checkpoint is due
  // at 42, waits until 52 and goes on at 54, and its bytes are there at 84.
  for (const bool timed : {false, true}) {
    CAPTURE(timed);
    SavingJobs one{
        .iterations = {6}, .costs = every(2, 2, 30, true), .store = StoreRates{ByteRate{kPerNs}}, .servers = 2};
    one.timed = timed;
    const RunResult undisturbed = one.run();
    CHECK(undisturbed.jobs[0].finish.ns() == 54 + 20);
    CHECK(undisturbed.jobs[0].overhead.ns() == 2 + 10 + 2);
    for (const std::int64_t at : {51, 53, 60}) {
      CAPTURE(at);
      one.outages = {outage(at, 500, 0)};
      const RunResult result = one.run();
      // At 51 nothing is saved, at 53 and 60 the first two iterations are.
      CHECK(result.jobs[0].finish.ns() == (at == 51 ? 51 + 74 : at + 20 + 2 + 20));
      CHECK(result.jobs[0].redone.ns() == (at == 51 ? 40 : at == 53 ? 20 : 26));
      CHECK(GpuTime{result.jobs[0].held - result.jobs[0].redone - result.jobs[0].overhead, 1} ==
            result.jobs[0].compute);
    }
  }
}

TEST_CASE("CheckFree's list of lost stages costs what lies between each loss and the checkpoint before it") {
  // failure_p_configs/33.json of gensyn-ai/CheckFree, 500 iterations: a stage is lost in each of these. Everybody
  // returns to the last multiple of the period, as in its baselines, which save each 10, 50 or 100 iterations.
  constexpr std::int64_t kLost[] = {39, 128, 148, 176, 395, 481, 482};
  for (const auto& [period, redone] : {std::pair<std::int64_t, std::int64_t>{10, 39}, {50, 249}, {100, 449}}) {
    SavingJobs one{.iterations = {500}, .costs = every(period, 0)};
    std::int64_t before = 0;  // iterations done again
    for (const std::int64_t lost : kLost) {
      const std::int64_t at = (lost + before) * 10 + 5 + 6 * std::ssize(one.outages);  // 5 ns of it are done, 1 ns down
      one.outages.push_back(outage(at, at + 1, 0));
      before += lost % period;
    }
    const RunResult result = one.run();
    CHECK(result.jobs[0].redone.ns() == redone * 10 + 5 * std::ssize(kLost));
    CHECK(result.jobs[0].finish.ns() == (500 + redone) * 10 + 6 * std::ssize(kLost));
  }
}

TEST_CASE("the store serves all GPUs alike") {
  CheckpointStore store{ByteRate{3 * kPerNs}, ByteRate{}};
  store.begin(JobId{0U}, 300, 1, Time{});
  store.begin(JobId{1U}, 300, 2, Time{});
  CHECK(store.next_end().ns() == 150);
  std::vector<JobId> ended;
  store.end_due(Time::nanoseconds(150), ended);
  CHECK(ended == std::vector<JobId>{JobId{1U}});
  CHECK(store.next_end().ns() == 200);  // 150 bytes left at 3
  CHECK(store.is_writing(JobId{0U}));
  store.abandon(JobId{0U}, Time::nanoseconds(160));
  CHECK(store.next_end() == Time::never());
  CHECK_THROWS_AS((CheckpointStore{ByteRate{}, ByteRate{}}), InputError);

  // Nobody has more than 1: the rest goes to those who can use it.
  CheckpointStore limited{ByteRate{3 * kPerNs}, ByteRate{2 * kPerNs}};
  limited.begin(JobId{0U}, 100, 8, Time{});
  limited.begin(JobId{1U}, 100, 1, Time{});
  CHECK(limited.next_end().ns() == 50);
  ended.clear();
  limited.end_due(Time::nanoseconds(50), ended);
  CHECK(ended == std::vector<JobId>{JobId{0U}});
  CHECK(limited.next_end().ns() == 75);  // 50 left at 2
}

TEST_CASE("checkpoints that can't be written are refused") {
  SavingJobs one{.iterations = {3}, .costs = every(2, 0, 30)};
  CHECK_THROWS_WITH(static_cast<void>(one.run(true)), "checkpoints are written to a store that there isn't");
}

TEST_CASE("a job leaps over checkpoints for which it stops, up to a failure") {
  // It goes on after every 10,007 ns.
  SavingJobs one{{1'000'000'000}, every(1000, 7)};
  const RunResult large = one.run(true);
  CHECK(large.jobs[0].finish.ns() == 10 * std::int64_t{1'000'000'000} + 7 * (1'000'000 - 1));
  CHECK(large.jobs[0].overhead.ns() == 7 * (1'000'000 - 1));
  CHECK(large.events < 200);
  // In the 124th interval, after 370 of its iterations.
  one.iterations = {200'000};
  one.servers = 2;
  one.outages = {{Time::nanoseconds(123 * 10'007 + 3'705), Time::nanoseconds(9'000'000), 0, 1}};
  const RunResult struck = one.run();
  CHECK(struck.jobs[0].redone.ns() == 3'705);
  CHECK(struck.jobs[0].finish.ns() == 10 * 200'000 + 7 * (200 - 1) + 3'705);
  const RunResult fast = one.run(true);
  CHECK(fast.events + fast.leapt_events == struck.events);
  CHECK(fast.events < 1'000);
  // Periods of time: 50 of its iterations.
  one.costs.iterations = 0;
  one.costs.checkpoint_interval = Time::nanoseconds(495);
  CHECK(one.run(true).leapt_events > 0.9 * static_cast<double>(one.run().events));
}
