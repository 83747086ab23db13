// Tests the timeline of one job, worked out by hand to the nanosecond.

#include "sim/simulation.hpp"

#include "sim/error.hpp"
#include "tests/sim/test_kit.hpp"
#include "tests/text_checks.hpp"

#include <string>
#include <utility>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

std::string error_of(const Setup& setup, const std::vector<TestJob>& jobs) {
  try {
    simulate_once(setup, jobs, true);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("one job on one GPU repeats forward and backward") {
  const Run run = simulate({}, {{"role w 1 | compute f w 36 | compute b w 54 | f -> b | b => f", {0}, 3, 10}});
  CHECK(run.seen.gpu(0) ==
        "A.f#0 10-46 | A.b#0 46-100 | A.f#1 100-136 | A.b#1 136-190 | A.f#2 190-226 | A.b#2 226-280");
  const JobResult& job = run.result.jobs[0];
  CHECK(job.state == JobState::finished);
  CHECK(job.start.ns() == 10);
  CHECK(job.finish.ns() == 280);
  CHECK(job.jct().ns() == 270);
  CHECK(job.queueing().ns() == 0);
  CHECK(job.compute.ns() == 270);
  CHECK(job.iterations_done == 3);
  CHECK(job.servers == 1);
  CHECK(run.result.gpus[0].busy.ns() == 270);
  CHECK(run.result.gpus[0].jobs == 1);
  CHECK(run.result.end.ns() == 280);
  CHECK(run.result.events == 1 + 6);  // an arrival and six tasks
  CHECK_FALSE(run.result.interrupted);
}

TEST_CASE("a collective is a barrier: the slowest rank decides, and inside one server it takes no time") {
  // Rank 0 of A shares GPU 0 with B, which goes first: A's ranks run at 5-15 and 0-10, both go on at 15.
  const Run run = simulate({1, 2, 100, [](const JobView& job) { return job.id.value() == 1 ? 0 : 1; }},
                           {{"role w 2 | compute f w 10 | all-reduce g w 1000 | f -> g | g => f", {0, 1}, 2},
                            {"role w 1 | compute x w 5", {0}}});
  CHECK(run.seen.gpu(0) == "B.x#0 0-5 | A.f#0 5-15 | A.f#1 15-25");
  CHECK(run.seen.gpu(1) == "A.f#0 0-10 | A.f#1 15-25");
  CHECK(run.seen.network() == "");
  CHECK(run.result.jobs[0].communication.ns() == 0);
  CHECK(run.finish(0) == 25);
}

TEST_CASE("an all-reduce between servers takes bytes x 1 ns; its usage counts for the job and the interfaces") {
  const Run run =
      simulate({3, 2}, {{"role w 3 | compute f w 10 | all-reduce g w 100 | f -> g | g => f", {0, 1, 2}, 2}});
  CHECK(run.seen.gpu(2) == "A.f#0 0-10 | A.f#1 110-120");
  CHECK(run.seen.network() == "A.g#0 10-110 | A.g#1 120-220");
  CHECK(run.result.jobs[0].servers == 2);
  CHECK(run.result.jobs[0].communication.ns() == 200);
  CHECK(run.result.jobs[0].communication_wait.ns() == 0);
  for (const std::size_t server : {0U, 1U}) {
    CHECK(run.result.links[server].busy.ns() == 200);
    CHECK(run.result.links[server].contended.ns() == 0);
    CHECK(run.result.links[server].transfers == 2);
    CHECK(run.result.links[server].bytes == Bytes{200});
  }
  CHECK(run.result.links[2].transfers == 0);
  CHECK(run.result.links[1].name == "server1/nic");
}

TEST_CASE("lag 1: two iterations overlap where the graph allows it") {
  // Layer-wise exchange. The second half `b` of the forward pass needs `g` of the last iteration, its first half `a`
  // needs `h`, which comes first and is short.
  //   0-10 a, 10-20 b, 20-30 backward of b -> h? No: x exchanges h (5 bytes) for a, y exchanges g (30 bytes) for b.
  //   x 20-30, y 30-40; h 30-35, g 40-70. The next a starts at 40 (its h came at 35, the GPU is free at 40), and runs
  //   40-50 beside g; b waits for g: 70-80. x 80-90, y 90-100; h 90-95, g 100-130.
  const Run run = simulate({2, 1}, {{"role w 2 | compute a w 10 | compute b w 10 | compute x w 10 | compute y w 10\n"
                                     "all-reduce h w 5 | all-reduce g w 30\n"
                                     "a -> b | b -> x | x -> y | x -> h | y -> g | h => a | g => b",
                                     {0, 1},
                                     2}});
  CHECK(
      run.seen.gpu(0) ==
      "A.a#0 0-10 | A.b#0 10-20 | A.x#0 20-30 | A.y#0 30-40 | A.a#1 40-50 | A.b#1 70-80 | A.x#1 80-90 | A.y#1 90-100");
  CHECK(run.seen.network() == "A.h#0 30-35 | A.g#0 40-70 | A.h#1 90-95 | A.g#1 100-130");
  CHECK(run.finish(0) == 130);
}

TEST_CASE("at most two iterations are in flight") {
  // The all-reduce delays no operation, but the third iteration may start only when the first is complete.
  //   f: 0-10, 10-20, then at 110 (g of the first ends), f 110-120. g: 10-110, 20-120, 120-220 (two at once is
  //   allowed).
  const Run run = simulate({2, 1}, {{"role w 2 | compute f w 10 | all-reduce g w 100 | f -> g | f => f", {0, 1}, 3}});
  CHECK(run.seen.gpu(1) == "A.f#0 0-10 | A.f#1 10-20 | A.f#2 110-120");
  CHECK(run.seen.network() == "A.g#0 10-110 | A.g#1 20-120 | A.g#2 120-220");
  CHECK(run.finish(0) == 220);
}

TEST_CASE("of two iterations whose messages wait the older one goes first, as on a GPU") {
  // One transfer at a time, two iterations in flight: f 0-10 and 10-20. At 10 g#0 and h#0 are ready: g#0 10-110. Since
  // 20 g#1 and h#1 wait too; at 110 h#0 of the older iteration goes first, 110-160. Iteration 2 opens then.
  const Run run = simulate(
      {2, 1, 100, by_submit, false, false, 1},
      {{"role w 2 | compute f w 10 | all-reduce g w 100 | all-reduce h w 50 | f -> g | f -> h | f => f", {0, 1}, 3}});
  CHECK(run.seen.network() ==
        "A.g#0 10-110 | A.h#0 110-160 | A.g#1 160-260 | A.h#1 260-310 | A.g#2 310-410 | A.h#2 410-460");
}

TEST_CASE("messages of one rank keep the order of their iterations") {
  // Both stages run ahead as far as two iterations in flight allow; one transfer at a time.
  const Run run =
      simulate({2, 1, 100, by_submit, false, false, 1},
               {{"role s 1 | role t 1 | compute f s 7 | compute m t 5 | compute b s 2 | message act s t 20\n"
                 "message grad t s 5 | f -> act | act -> m | m -> grad | grad -> b | f => f | m => m | b => b",
                 {0, 1},
                 40}});
  for (const char* op : {"A.act#", "A.grad#"}) {
    int next = 0;
    for (const Recorder::Span& span : run.seen.transfers) {
      if (span.text.starts_with(op)) CHECK_MESSAGE(span.text.starts_with(fmt::format("{}{} ", op, next++)), span.text);
    }
    CHECK(next == 40);
  }
}

TEST_CASE("messages: a pipeline of two stages on two servers") {
  // f 0-10 on GPU 0, activations 10-15, m 15-35 on GPU 1, gradients 35-40, b 40-50 on GPU 0; then again.
  const std::string graph =
      "role s 1 | role t 1 | compute f s 10 | compute m t 20 | compute b s 10\n"
      "message act s t 5 | message grad t s 5\n"
      "f -> act | act -> m | m -> grad | grad -> b | b => f";
  const Run apart = simulate({2, 1}, {{graph, {0, 1}, 2}});
  CHECK(apart.seen.gpu(0) == "A.f#0 0-10 | A.b#0 40-50 | A.f#1 50-60 | A.b#1 90-100");
  CHECK(apart.seen.gpu(1) == "A.m#0 15-35 | A.m#1 65-85");
  CHECK(apart.seen.network() == "A.act#0 10-15 | A.grad#0 35-40 | A.act#1 60-65 | A.grad#1 85-90");
  CHECK(apart.result.links[0].bytes == Bytes{20});

  // On one server the messages take no time: 40 an iteration.
  const Run together = simulate({1, 2}, {{graph, {0, 1}, 2}});
  CHECK(together.finish(0) == 80);
  CHECK(together.seen.network() == "");
}

TEST_CASE("messages: rank i of a role sends to rank i of its peer, independently of the other ranks") {
  // Pairs (GPU 0, GPU 1) in server 0 and (GPU 2, GPU 4) in servers 1 and 2: the first is free, the second takes 5.
  const Run run = simulate(
      {3, 2},
      {{"role s 2 | role t 2 | compute f s 10 | message m s t 5 | compute x t 1 | f -> m | m -> x", {0, 2, 1, 4}}});
  CHECK(run.seen.gpu(1) == "A.x#0 10-11");
  CHECK(run.seen.gpu(4) == "A.x#0 15-16");
  CHECK(run.seen.network() == "A.m#0 10-15");
  CHECK(run.result.links[0].transfers == 0);
  CHECK(run.result.links[1].transfers == 1);
  CHECK(run.result.links[2].transfers == 1);
}

TEST_CASE("a collective may depend on ranks of another role") {
  // y of role t starts when the broadcast to t, which waits for both ranks of s, has ended.
  const Run run = simulate(
      {2, 2},
      {{"role s 2 | role t 2 | compute x s 10 | broadcast c t 7 | compute y t 3 | x -> c | c -> y", {0, 1, 2, 3}}});
  CHECK(run.seen.network() == "");  // both ranks of t sit in server 1
  CHECK(run.seen.gpu(3) == "A.y#0 10-13");
  const Run apart = simulate(
      {2, 2},
      {{"role s 2 | role t 2 | compute x s 10 | broadcast c t 7 | compute y t 3 | x -> c | c -> y", {0, 2, 1, 3}}});
  CHECK(apart.seen.network() == "A.c#0 10-17");
  CHECK(apart.finish(0) == 20);
}

TEST_CASE("operations without duration or bytes take no time") {
  const Run run = simulate({2, 1}, {{"role w 2 | compute f w 10 | compute z w 0 | all-reduce g w 0 | compute b w 5\n"
                                     "f -> z | z -> g | g -> b | b => f",
                                     {0, 1},
                                     2}});
  CHECK(run.finish(0) == 30);
  CHECK(run.result.links[0].transfers == 2);
  CHECK(run.result.links[0].busy.ns() == 0);

  // Nothing but zeros: many iterations at one instant, and another job is not disturbed.
  const Run zeros = simulate({2, 2}, {{"role w 2 | compute f w 0 | all-reduce g w 0 | f -> g | g => f", {0, 2}, 100},
                                      {"role w 1 | compute x w 7", {1}, 2}});
  CHECK(zeros.finish(0) == 0);
  CHECK(zeros.finish(1) == 14);
  const Run alone = simulate({}, {{"role w 1 | compute f w 0", {0}, 50, 3}});
  CHECK(alone.finish(0) == 3);
}

TEST_CASE("`until` stops the run at that instant, and the results have the work done until then") {
  // a 0-10, g 10-110, second a 110-120, ...; stopped at 115: half of the second a, all of g.
  Setup setup{2, 1};
  setup.until = Time::nanoseconds(115);
  const std::vector<TestJob> jobs{{"role w 2 | compute a w 10 | all-reduce g w 100 | a -> g | g => a", {0, 1}, 5},
                                  {"role w 1 | compute x w 1", {0}, 1, 500}};
  const Run run = simulate(setup, jobs);
  CHECK(run.result.interrupted);
  CHECK(run.result.end.ns() == 115);
  CHECK(run.result.jobs[0].state == JobState::running);
  CHECK(run.result.jobs[0].finish == Time::never());
  CHECK(run.result.jobs[0].iterations_done == 1);
  CHECK(run.result.jobs[0].compute.ns() == 20);  // completed tasks
  CHECK(run.result.gpus[0].busy.ns() == 15);     // and the one under way
  CHECK(run.result.jobs[1].state == JobState::submitted);
  CHECK(run.result.jobs[1].start == Time::never());

  setup.until = Time::nanoseconds(60);  // in the middle of a transfer
  CHECK(simulate(setup, jobs).result.jobs[0].communication.ns() == 50);

  // The last event falls on `until`: complete, not interrupted.
  setup.until = Time::nanoseconds(10);
  CHECK_FALSE(simulate(setup, {{"role w 1 | compute x w 10", {0}}}).result.interrupted);
}

TEST_CASE("`until` counts what a timed job has done, held and waited for until then") {
  // Two GPUs. A takes both 2-12, B comes at 5 and waits.
  JobSpec a, b;
  a.name = "A", b.name = "B";
  a.gpus = b.gpus = 2;
  a.duration = b.duration = Time::nanoseconds(10);
  a.submit = Time::nanoseconds(2), b.submit = Time::nanoseconds(5);
  a.memory_per_gpu = b.memory_per_gpu = Bytes{1};
  Workload workload;
  workload.jobs = {a, b};
  const auto jobs_until = [&](std::int64_t until) {
    SimulationOptions options;
    options.until = Time::nanoseconds(until);
    Simulation simulation{{1, 2, Bytes{100}},
                          workload,
                          policies_of({}, {TestJob{"", {0, 1}}, TestJob{"", {0, 1}}}),
                          std::make_unique<FixedNetwork>(1, 1, 2),
                          std::move(options)};
    return simulation.run().jobs;
  };
  const auto check = [](const JobResult& job, std::int64_t compute, std::int64_t held, std::int64_t waited) {
    CHECK(job.compute.ns() == compute);
    CHECK(job.held.ns() == held);
    CHECK(job.waited.ns() == waited);
  };
  const auto early = jobs_until(8);
  check(early[0], 2 * 6, 6, 0);
  check(early[1], 0, 0, 3);
  const auto later = jobs_until(16);
  check(later[0], 2 * 10, 10, 0);
  check(later[1], 2 * 4, 4, 7);
  const auto all = jobs_until(100);
  check(all[1], 2 * 10, 10, 7);
}

TEST_CASE("attempts that have begun are counted, and not one that waits") {
  // One GPU. A fails after 4 and after 5 more, queues again 2 later each time, and then takes 6. B takes 4 at 1.
  // A 0-4, B 4-8, A again in the queue from 6 on, 8-13, 15-21.
  const auto attempts_at = [](std::int64_t until) {
    JobSpec a, b;
    a.name = "A", b.name = "B";
    a.attempts = {Time::nanoseconds(4), Time::nanoseconds(5)};
    a.duration = Time::nanoseconds(6), b.duration = Time::nanoseconds(4);
    a.memory_per_gpu = b.memory_per_gpu = Bytes{1};
    b.submit = Time::nanoseconds(1);
    Workload workload;
    workload.jobs = {a, b};
    SimulationOptions options;
    options.until = Time::nanoseconds(until);
    options.rules.failures.delay = Time::nanoseconds(2);
    Simulation simulation{{1, 1, Bytes{100}},
                          std::move(workload),
                          policies_of({}, {TestJob{}, TestJob{}}),
                          std::make_unique<FixedNetwork>(1, 1, 2),
                          std::move(options)};
    const RunResult result = simulation.run();
    return std::pair{result.jobs[0].attempts, result.jobs[1].attempts};
  };
  CHECK(attempts_at(3) == std::pair{1, 0});
  CHECK(attempts_at(5) == std::pair{1, 1});  // A waits for its retry
  CHECK(attempts_at(7) == std::pair{1, 1});  // A is queued behind B
  CHECK(attempts_at(9) == std::pair{2, 1});
  CHECK(attempts_at(14) == std::pair{2, 1});
  CHECK(attempts_at(16) == std::pair{3, 1});
  CHECK(attempts_at(100) == std::pair{3, 1});
}

TEST_CASE("a monitor that returns false interrupts, and the results add up") {
  const std::vector<TestJob> jobs{{"role w 1 | compute x w 10", {0}, 1'000'000}};
  for (const bool leap : {false, true}) {
    SimulationOptions options;
    options.leap = leap;
    std::uint64_t calls = 0;
    options.monitor = [&](const Progress& progress) {
      CHECK(progress.jobs == 1);
      return ++calls < 100;
    };
    Simulation simulation{{1, 1, Bytes{100}},
                          workload_of(jobs),
                          policies_of({}, jobs),
                          std::make_unique<FixedNetwork>(1, 1, 1),
                          std::move(options)};
    const RunResult result = simulation.run();
    CHECK(result.interrupted == !leap);  // the lone job is leapt to its end before anybody asks
    CHECK(result.gpus[0].busy <= result.end);
    CHECK(result.jobs[0].compute <= GpuTime{result.end, 1});
  }
}

TEST_CASE("an invalid workload is refused with the name of the job") {
  const auto refuse = [](auto change) {
    Workload workload = workload_of({{"role w 1 | compute x w 1"}, {"role w 1 | compute x w 1"}});
    change(workload);
    try {
      const Simulation simulation{
          {1, 1, Bytes{100}}, std::move(workload), policies_of({}, {}), std::make_unique<FixedNetwork>(1, 1, 2), {}};
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(refuse([](Workload&) {}) == "");
  CHECK(contains(refuse([](Workload& w) { w.jobs[1].name = "A"; }), "`A`: the name is used twice"));
  CHECK(contains(refuse([](Workload& w) { w.jobs[1].graph = 2; }), "`B`: it has no iteration graph"));  // two: 0 and 1
  CHECK(contains(refuse([](Workload& w) { w.jobs[1].submit = Time::nanoseconds(-1); }), "before time 0"));
  CHECK(contains(refuse([](Workload& w) { w.jobs[1].iterations = 0; }), "at least one iteration"));
  CHECK(contains(refuse([](Workload& w) { w.jobs[1].memory_per_gpu = Bytes{-1}; }), "memory is negative"));
  CHECK(contains(refuse([](Workload& w) { w.jobs[1].gpus = 2; }),
                 "the number of ranks in its graph differs from its GPUs"));
  CHECK(contains(error_of({0, 1}, {}), "a cluster needs at least one server"));
  CHECK(contains(error_of({1, 0}, {}), "a cluster needs at least one server"));
}

TEST_CASE("no jobs: an empty result") {
  const RunResult result = simulate({2, 2}, {}).result;
  CHECK(result.jobs.empty());
  CHECK(result.gpus.size() == 4);
  CHECK(result.end.ns() == 0);
  CHECK_FALSE(result.interrupted);
}
