// Tests leaping case by case; tests/policies/leap_property_test.cpp compares it with event-by-event execution on random
// clusters.

#include "tests/sim/test_kit.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {
constexpr std::int64_t kBillion = 1'000'000'000;
}

TEST_CASE("the cost of jobs that share nothing does not depend on their iterations") {
  // A alone in server 0: (36 + 54) n. B over servers 1 and 2: (10 + 20 + 30) n. C: pipeline of two stages over servers
  // 3 and 4, f 5 | message 2 | x 7, the next f after x: 14 n.
  const std::string a = "role w 2 | compute f w 36 | compute b w 54 | all-reduce g w 99 | f -> b | b -> g | g => f";
  const std::string b = "role w 2 | compute f w 10 | compute b w 20 | all-reduce g w 30 | f -> b | b -> g | g => f";
  const std::string c =
      "role s 1 | role t 1 | compute f s 5 | message m s t 2 | compute x t 7 | f -> m | m -> x | x => f";
  const RunResult run =
      simulate_once({5, 2}, {{a, {0, 1}, kBillion}, {b, {2, 4}, kBillion}, {c, {6, 8}, kBillion}}, true);
  CHECK(run.events < 1000);
  CHECK(run.jobs[0].finish.ns() == 90 * kBillion);
  CHECK(run.jobs[1].finish.ns() == 60 * kBillion);
  CHECK(run.jobs[2].finish.ns() == 14 * kBillion);
  CHECK(run.jobs[0].compute.ns() == 2 * 90 * kBillion);
  CHECK(run.jobs[1].communication.ns() == 30 * kBillion);
  CHECK(run.jobs[2].communication.ns() == 2 * kBillion);
  CHECK(run.gpus[1].busy.ns() == 90 * kBillion);
  CHECK(run.gpus[4].busy.ns() == 30 * kBillion);
  CHECK(run.links[1].busy.ns() == 30 * kBillion);
  CHECK(run.links[2].transfers == kBillion);
  CHECK(run.links[4].bytes == Bytes{2 * kBillion});
  // 3 arrivals; per iteration 4 tasks of A, 4 tasks and a transfer of B, 2 tasks and a message of C.
  CHECK(run.events + run.leapt_events == 3 + static_cast<std::uint64_t>(kBillion) * (4 + 5 + 3));
}

TEST_CASE("jobs that share GPUs and interfaces in constant order of keys are leapt together") {
  // A goes first on GPU 0 and in the network. A: f 10, g 30. B fills the gaps of A with tasks of 7 on GPU 0 and
  // exchanges 5 bytes with GPU 3; what A leaves of B's time recurs every few iterations.
  const std::string a = "role w 2 | compute f w 10 | all-reduce g w 30 | f -> g | g => f";
  const std::string b = "role w 2 | compute f w 7 | all-reduce g w 5 | f -> g | g => f";
  Setup setup{2, 2};
  setup.ways = 1;
  const std::vector<TestJob> small{{a, {0, 2}, 300}, {b, {0, 3}, 500}};
  const Run run = simulate(setup, small);  // equal to event by event
  const RunResult large = simulate_once(setup, {{a, {0, 2}, 300'000'000}, {b, {0, 3}, 500'000'000}}, true);
  CHECK(large.events < 5000);
  CHECK(large.leaps >= 2);
  CHECK(large.jobs[0].communication.ns() == 30 * std::int64_t{300'000'000});
  CHECK(run.result.jobs[0].communication.ns() == 30 * 300);
}

TEST_CASE("twenty jobs of one key that take turns in the network are leapt together") {
  // A turn takes 3, so all have had theirs after 60, longer than the 10 of a task.
  Setup setup{2, 20};
  setup.key = [](const JobView&) { return PolicyKey{7}; };
  setup.ways = 1;
  const auto jobs = [](std::int64_t iterations) {
    std::vector<TestJob> all;
    for (std::uint32_t i = 0; i < 20; ++i) {
      all.push_back({"role w 2 | compute f w 10 | all-reduce g w 3 | f -> g | g => f", {i, 20 + i}, iterations});
    }
    return all;
  };
  simulate(setup, jobs(50));
  const RunResult large = simulate_once(setup, jobs(1'000'000), true);
  CHECK(large.leaps >= 1);
  CHECK(large.events < 50'000);
  CHECK(large.end.ns() == 10 + 60 * std::int64_t{1'000'000});
}

TEST_CASE("a leap ends before the keys of two jobs change their order") {
  // Shortest remaining service on one GPU: A 100 x 10, B 90 x 11 + nothing else. B has 990, A 1000: B goes first and
  // stays first; and with 95 x 10.5 it would not. Both orders and the crossing are held against event by event.
  for (const std::int64_t iterations : {80, 90, 91, 92, 100, 200}) {
    Setup setup{2, 1, 100, by_remaining_service};
    simulate(setup, {{"role w 1 | compute a w 10 | a => a", {0}, 100},
                     {"role w 2 | compute b w 11 | all-reduce g w 4 | b -> g | g => b", {0, 1}, iterations}});
  }
}

TEST_CASE("no leap passes an arrival, the end of another job or `until`") {
  const std::string a = "role w 2 | compute f w 10 | all-reduce g w 30 | f -> g | g => f";
  for (const std::int64_t submit : {3999, 4000, 4001, 4039, 4040}) {
    Setup setup{2, 2};
    // B arrives in the middle of a leap of A, on and beside the instants at which an iteration of A ends.
    simulate(setup, {{a, {0, 2}, 1000}, {a, {0, 3}, 100, submit}, {"role w 1 | compute x w 9 | x => x", {1}, 7000}});
    // C queues for the memory of B.
    simulate(setup, {{a, {0, 2}, 1000, 0, 10}, {a, {1, 3}, 100, 0, 60}, {a, {1, 3}, 100, submit, 60}});
    setup.until = Time::nanoseconds(submit);
    const Run cut = simulate(setup, {{a, {0, 2}, 1000}, {"role w 1 | compute x w 9 | x => x", {0}, 7000}});
    CHECK(cut.result.interrupted);
    CHECK(cut.result.end.ns() == submit);
  }
  // A run that is cut short by `until` is leapt to it: a year of iterations in a few events.
  Setup setup{2, 1};
  setup.until = Time::seconds(1);
  const RunResult run = simulate_once(setup, {{a, {0, 1}, kBillion}}, true);
  CHECK(run.events < 1000);
  CHECK(run.jobs[0].iterations_done == kBillion / 40);
  CHECK(run.end == setup.until);
}

TEST_CASE("a dominant job is leapt, and a job that waits behind it goes on at the right instant") {
  // A has the smallest key and never leaves GPU 0; B is stuck beside it, C shares GPU 1 with B.
  Setup setup{1, 2};
  setup.key = [](const JobView& job) { return static_cast<std::int64_t>(job.id.value()); };
  const std::vector<TestJob> jobs{{"role w 1 | compute a w 10 | a => a", {0}, 500},
                                  {"role w 2 | compute b w 7 | all-reduce g w 1 | b -> g | g => b", {0, 1}, 300},
                                  {"role w 1 | compute c w 3 | c => c", {1}, 4000}};
  const Run run = simulate(setup, jobs);
  CHECK(run.finish(0) == 5000);
  // B's first task on GPU 1 is done at 7, that on GPU 0 at 5007. C's tasks on GPU 1 end at 7 + 3 n, so rank 1 goes on
  // at 5008 and is 1 ns late from there on: 299 tasks.
  CHECK(run.finish(1) == 5008 + 299 * 7);
  const RunResult leapt = simulate_once(setup, jobs, true);
  CHECK(leapt.events < 1000);
}

TEST_CASE("an observed run is not leapt over") {
  Recorder recorder;
  const RunResult run = simulate_once({}, {{"role w 1 | compute a w 10 | a => a", {0}, 2000}}, true, &recorder);
  CHECK(run.leaps == 0);
  CHECK(run.leapt_events == 0);
  CHECK(recorder.tasks.size() == 2000);
}
