// Counters: posts and awaits between ranks of a job and between jobs, and graphs with more than two iterations in
// flight. Random graphs with both are in tests/sim/lanes_test.cpp.

#include "sim/error.hpp"
#include "tests/sim/test_kit.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Ranks of `a` post after 10 ns, the ranks of `b` wait for that, `bound` iterations behind or not, and take 3 ns.
std::string followed(int bound) {
  return fmt::format(
      "role a 1 | role b 1 | counter c | compute x a 10 | post p a c 1 | await q b c 1 {} | compute y b 3 | "
      "x -> p | q -> y",
      bound);
}

const std::string kProducer = "role w 1 | shared-counter d | compute x w 10 | post p w d 1 | x -> p";
const std::string kConsumer = "role w 1 | shared-counter d | await q w d 1 0 | compute y w 3 | q -> y";

}  // namespace

TEST_CASE("an iteration waits for what is posted for it, or for an earlier one") {
  const Setup setup{1, 2};
  CHECK(simulate(setup, {{followed(0), {0, 1}, 3}}).seen.gpu(1) == "A.y#0 10-13 | A.y#1 20-23 | A.y#2 30-33");
  CHECK(simulate(setup, {{followed(1), {0, 1}, 3}}).seen.gpu(1) == "A.y#0 0-3 | A.y#1 10-13 | A.y#2 20-23");
  // Two iterations ahead it never waits for the counter, but for the iterations in flight: y#2 begins when x#0 has
  // ended.
  CHECK(simulate(setup, {{followed(2), {0, 1}, 4}}).seen.gpu(1) == "A.y#0 0-3 | A.y#1 3-6 | A.y#2 10-13 | A.y#3 20-23");
  CHECK(simulate(setup, {{followed(3), {0, 1}, 4}}).seen.gpu(1) == "A.y#0 0-3 | A.y#1 3-6 | A.y#2 10-13 | A.y#3 20-23");
  CHECK(simulate(setup, {{followed(2) + " | in-flight 3", {0, 1}, 4}}).seen.gpu(1) ==
        "A.y#0 0-3 | A.y#1 3-6 | A.y#2 10-13 | A.y#3 20-23");
  CHECK(simulate(setup, {{followed(3) + " | in-flight 4", {0, 1}, 5}}).seen.gpu(1) ==
        "A.y#0 0-3 | A.y#1 3-6 | A.y#2 6-9 | A.y#3 10-13 | A.y#4 20-23");
}

TEST_CASE("graphs that say so have more iterations in flight") {
  const std::string graph = "role w 1 | task h w 1 host | compute k w 10 | h -> k";
  const auto host = [&](const std::string& depth) {
    return simulate({}, {{graph + depth, {0}, 5}}).seen.lane(0, Lane::host);
  };
  CHECK(host("") == "A.h#0 0-1 | A.h#1 1-2 | A.h#2 11-12 | A.h#3 21-22 | A.h#4 31-32");
  CHECK(host(" | in-flight 3") == "A.h#0 0-1 | A.h#1 1-2 | A.h#2 2-3 | A.h#3 11-12 | A.h#4 21-22");
  CHECK(host(" | in-flight 4") == "A.h#0 0-1 | A.h#1 1-2 | A.h#2 2-3 | A.h#3 3-4 | A.h#4 11-12");
  CHECK_THROWS_WITH(host(" | in-flight 5"), doctest::Contains("5 iterations in flight are not 2 to 4"));
}

TEST_CASE("a long job with counters of its own leaps") {
  const std::vector<TestJob> jobs{{followed(1) + " | in-flight 3", {0, 1}, 50'000'000}};
  const RunResult run = simulate_once({1, 2}, jobs, true);
  CHECK(run.leaps > 0);
  CHECK(run.events < 1000);
  CHECK(run.jobs[0].finish.ns() == std::int64_t{50'000'000} * 10);
}

TEST_CASE("jobs wait for what others post") {
  const Run run = simulate({1, 2}, {{kProducer, {0}, 3}, {kConsumer, {1}, 3}});
  CHECK(run.seen.gpu(1) == "B.y#0 10-13 | B.y#1 20-23 | B.y#2 30-33");
  // A pool of two: each iteration waits for two posts, from whichever.
  const std::string two = "role w 1 | shared-counter d | await q w d 2 0 | compute y w 3 | q -> y";
  const std::string slow = "role w 1 | shared-counter d | compute x w 15 | post p w d 1 | x -> p";
  const Run pool = simulate({1, 3}, {{kProducer, {0}, 3}, {slow, {1}, 3}, {two, {2}, 3}});
  // Posts at 10, 15, 20, 30, 30, 45.
  CHECK(pool.seen.gpu(2) == "C.y#0 15-18 | C.y#1 30-33 | C.y#2 45-48");
}

TEST_CASE("jobs that wait for each other take turns") {
  // The one that produces may be an iteration ahead of the one that consumes.
  const std::string ahead =
      "role w 1 | shared-counter d | shared-counter e | await r w e 1 1 | compute x w 10 | post p w d 1 | r -> x | x "
      "-> p";
  const std::string behind =
      "role w 1 | shared-counter d | shared-counter e | await q w d 1 0 | compute y w 25 | post s w e 1 | q -> y | y "
      "-> s";
  const Run run = simulate({1, 2}, {{ahead, {0}, 3}, {behind, {1}, 3}});
  CHECK(run.seen.gpu(0) == "A.x#0 0-10 | A.x#1 35-45 | A.x#2 70-80");
  CHECK(run.seen.gpu(1) == "B.y#0 10-35 | B.y#1 45-70 | B.y#2 80-105");
}

TEST_CASE("a job that comes later finds what has been posted") {
  const Run run = simulate({1, 2}, {{kProducer, {0}, 3}, {kConsumer, {1}, 3, 25}});
  CHECK(run.seen.gpu(1) == "B.y#0 25-28 | B.y#1 28-31 | B.y#2 31-34");
}

TEST_CASE("an iteration that is lost and run again doesn't post a second time") {
  Setup setup{.gpus_per_server = 2, .gpu_memory = 1, .key = by_remaining_service, .preemptive = true};
  // A posts at 10. C takes its GPU from 15 to 20, so A begins its first iteration again and ends it at 40; it posts for
  // the second one at 50.
  const std::string producer =
      "role w 1 | shared-counter d | compute x w 10 | post p w d 1 | compute z w 10 | x -> p | x -> z";
  const Run run = simulate(setup, {{producer, {0}, 2}, {kConsumer, {1}, 2}, {"role w 1 | compute c w 5", {0}, 1, 15}});
  CHECK(run.seen.gpu(0) == "A.x#0 0-10 | C.c#0 15-20 | A.x#0 20-30 | A.z#0 30-40 | A.x#1 40-50 | A.z#1 50-60");
  CHECK(run.seen.gpu(1) == "B.y#0 10-13 | B.y#1 50-53");
}

TEST_CASE("jobs that share a counter are executed event by event beside others that leap") {
  const std::string alone = "role w 2 | compute f w 36 | all-reduce g w 9 | f -> g | g => f";
  const std::vector<TestJob> jobs{{kProducer, {0}, 500}, {kConsumer, {1}, 500}, {alone, {2, 4}, 5000}};
  const Run run = simulate({3, 2}, jobs);
  CHECK(run.finish(1) == 500 * 10 + 3);
  const RunResult fast = simulate_once({3, 2}, jobs, true);
  CHECK(fast.leaps > 0);
  CHECK(fast.jobs[2].finish.ns() == 5000 * 45);
}

TEST_CASE("a job that waits for ever is named") {
  CHECK_THROWS_WITH(simulate_once({1, 2}, {{kProducer, {0}, 3}, {kConsumer, {1}, 4}}, true),
                    "job `B` waits for ever in `q`: counter `d` has reached 3 of 4, and no job that runs will post");
  CHECK_THROWS_WITH(simulate_once({1, 1}, {{kConsumer, {0}, 3}}, true),
                    "a job waits for counter `d`, to which no job of the run posts");
}

TEST_CASE("graphs whose counters can't work are refused") {
  const auto refuses = [](const std::string& graph, const char* why) {
    CHECK_THROWS_WITH(graph_from_text("role w 1 | " + graph), doctest::Contains(why));
  };
  refuses("counter c | post p w c 1", "nobody posts to counter `c`, or nobody waits for it");
  refuses("counter c | await q w c 1 1", "nobody posts");
  refuses("counter c | post p w c 0 | await q w c 1 1", "counts by less than 1");
  refuses("counter c | post p w c 1 | await q w c 2 1", "rises by 1 in an iteration, and an operation waits for 2");
  refuses("counter c | post p w c 1 | await q w c 1 -1", "counts by less than 1");
  refuses("counter c | post p w c 1 | await q w c 1 0 | q -> p", "a cycle runs through or before");
  refuses("counter c | post p w c 1 | post r w c 1 | await q w c 1 1", "two operations post");
  refuses("counter c | counter c | post p w c 1 | await q w c 1 1", "names of their own");
  refuses("counter c | post p w c 1 | await q w c 1 1 | cycle 1 1 | phase 1 p", "every iteration has to post");
  IterationGraph unordered;
  Op post;
  post.name = "p";
  post.kind = OpKind::post;
  post.role = unordered.add_role("w", 1);
  post.counter = unordered.add_counter("c", true);
  const OpId id = unordered.add(post);
  CHECK_THROWS_WITH(unordered.validate(), doctest::Contains("iterations have to post in order"));
  unordered.add_dependency(id, id, 1);
  CHECK_NOTHROW(unordered.validate());
  CHECK_NOTHROW(graph_from_text("role w 1 | counter c | post p w c 1 | await q w c 1 1 | q -> p"));
  CHECK_NOTHROW(graph_from_text("role w 1 | shared-counter c | await q w c 1 0"));
}
