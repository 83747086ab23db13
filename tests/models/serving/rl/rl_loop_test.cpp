// RL post-training by hand, to the nanosecond: cases R1 to R15 of docs/models/rl.md, in which a token takes 1,000 ns
// and nothing else takes time in the pool unless said.

#include "models/serving/rl/rl_loop.hpp"

#include "sim/error.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

using Lengths = std::vector<std::vector<std::int64_t>>;

Time ns(std::int64_t time) {
  return Time::nanoseconds(time);
}

std::function<AnswerGroup(GroupNumber)> groups_of(Lengths answers, std::vector<bool> kept = {}) {
  return [answers = std::move(answers), kept = std::move(kept)](GroupNumber number) {
    const auto n = static_cast<std::size_t>(number);
    return AnswerGroup{1, answers.at(n), kept.empty() || kept.at(n)};
  };
}

FleetSpec pool_of(int replicas = 1, std::int64_t batch = 1000, std::int64_t token_ps = 0) {
  ReplicaSpec replica;
  replica.law.weights = 1'000'000;
  replica.law.token = token_ps;
  replica.tokens = 4096;
  replica.batch = batch;
  FleetSpec pool;
  pool.replicas = replicas;
  pool.replica = replica;
  return pool;
}

struct Expected {
  std::int64_t ready, begin, end;  // ready -1: not looked at
  std::vector<GroupNumber> groups;
  std::vector<std::int64_t> staleness;
};

/// Runs the loop and compares its trainings and its end.
RlTotals expect(RlSpec spec, FleetSpec pool, const std::vector<Expected>& expected, std::int64_t end) {
  RlLoop loop{std::move(spec), std::move(pool)};
  Time now;
  while (!loop.is_over()) {
    now = loop.next();
    REQUIRE(now < Time::never());
    loop.advance(now);
  }
  CHECK(now == ns(end));
  REQUIRE(loop.steps().size() == expected.size());
  for (std::size_t s = 0; s < expected.size(); ++s) {
    const RlStep& step = loop.steps()[s];
    CAPTURE(s);
    if (expected[s].ready >= 0) CHECK(step.ready == ns(expected[s].ready));
    CHECK(step.begin == ns(expected[s].begin));
    CHECK(step.end == ns(expected[s].end));
    REQUIRE(step.groups.size() == expected[s].groups.size());
    for (std::size_t g = 0; g < step.groups.size(); ++g) {
      CHECK(step.groups[g].group == expected[s].groups[g]);
      CHECK(step.groups[g].staleness == expected[s].staleness[g]);
    }
  }
  return loop.totals();
}

/// Two groups of two answers a training, twice.
RlSpec in_turn(std::int64_t trainings = 2) {
  RlSpec spec;
  spec.trainings = trainings;
  spec.bound.groups = 2;
  spec.reward = ns(500);
  spec.training = TrainingLaw{ns(4000), 0};
  spec.weights = ns(1000);
  spec.group = groups_of({{5, 3}, {4, 8}, {2, 2}, {6, 1}});
  return spec;
}

RlSpec one_off(std::int64_t train, const Lengths& answers) {
  RlSpec spec;
  spec.mode = RlMode::one_step_off;
  spec.trainings = std::ssize(answers);
  spec.training = TrainingLaw{ns(train), 0};
  spec.weights = ns(1000);
  spec.group = groups_of(answers);
  return spec;
}

RlSpec side_by_side(BatchOrder order, double eta = 1) {
  RlSpec spec;
  spec.mode = RlMode::asynchronous;
  spec.trainings = 5;
  spec.bound = {.groups = 2, .every = 1, .eta = eta};
  spec.concurrent = 3;
  spec.order = order;
  spec.training = TrainingLaw{ns(4000), 0};
  spec.weights = ns(1000);
  spec.group = groups_of({{4}, {9}, {3}, {5}, {20}, {2}, {4}, {6}, {3}, {7}, {5}, {4}});
  return spec;
}

RlSpec overtaken(BatchOrder order) {
  RlSpec spec = side_by_side(order);
  spec.trainings = 6;
  spec.bound.groups = 1;
  spec.concurrent = 2;
  spec.training = TrainingLaw{ns(1000), 0};
  spec.weights = Time{};
  spec.group = groups_of({{9}, {2}, {2}, {2}, {2}, {2}, {2}, {2}, {2}, {2}});
  return spec;
}

}  // namespace

TEST_CASE("rl: R1, generation and training in turn") {
  const RlTotals totals = expect(
      in_turn(), pool_of(), {{8500, 8500, 12'500, {0, 1}, {0, 0}}, {20'000, 20'000, 24'000, {2, 3}, {0, 0}}}, 25'000);
  CHECK(totals.spent(RlPhase::waiting) == ns(8500 + 6500));
  CHECK(totals.spent(RlPhase::training) == ns(8000));
  CHECK(totals.spent(RlPhase::weights) == ns(2000));
  CHECK(totals.pool_stands == ns(500 + 4000 + 1000 + 500 + 4000 + 1000));
  CHECK(totals.groups_ran == ns(5500 + 8500 + 2500 + 6500));
  CHECK(totals.tokens_asked == 31);
  CHECK(totals.tokens_answered == 31);
  CHECK(totals.tokens_trained == 31 + 8);
}

TEST_CASE("rl: R2, the same GPUs change sides") {
  RlSpec spec = in_turn();
  spec.change = ns(700);
  expect(spec, pool_of(), {{8500, 9200, 13'200, {0, 1}, {0, 0}}, {21'400, 22'100, 26'100, {2, 3}, {0, 0}}}, 27'800);
}

TEST_CASE("rl: R3, two replicas of one sequence each") {
  RlSpec spec = in_turn(1);
  spec.reward = Time{};
  expect(spec, pool_of(2, 1), {{11'000, 11'000, 15'000, {0, 1}, {0, 0}}}, 16'000);
}

TEST_CASE("rl: R4 and R5, one step off, with generation longer and shorter than training") {
  expect(one_off(3000, {{10}, {8}, {9}, {7}}), pool_of(),
         {{10'000, 10'000, 13'000, {0}, {0}},
          {18'000, 19'000, 22'000, {1}, {1}},
          {28'000, 29'000, 32'000, {2}, {1}},
          {36'000, 37'000, 40'000, {3}, {1}}},
         41'000);
  expect(one_off(9000, {{4}, {3}, {5}, {2}}), pool_of(),
         {{4000, 4000, 13'000, {0}, {0}},
          {7000, 14'000, 23'000, {1}, {1}},
          {19'000, 24'000, 33'000, {2}, {1}},
          {26'000, 34'000, 43'000, {3}, {1}}},
         44'000);
}

TEST_CASE("rl: R6, groups that a filter drops are replaced by a second wave") {
  RlSpec spec = in_turn(1);
  spec.group = groups_of({{5, 3}, {4, 8}, {2, 2}, {6, 1}}, {true, false, true, false});
  const RlTotals totals = expect(spec, pool_of(), {{15'000, 15'000, 19'000, {0, 2}, {0, 0}}}, 20'000);
  CHECK(totals.groups_dropped == 2);
}

TEST_CASE("rl: R7 and R8, side by side, in order of submission and as groups finish") {
  expect(side_by_side(BatchOrder::submitted), pool_of(),
         {{-1, 9000, 13'000, {0, 1}, {0, 0}},
          {-1, 14'000, 18'000, {2, 3}, {1, 1}},
          {-1, 35'000, 39'000, {4, 5}, {1, 1}},
          {-1, 40'000, 44'000, {6, 7}, {1, 1}},
          {-1, 48'000, 52'000, {8, 9}, {1, 1}}},
         53'000);
  expect(side_by_side(BatchOrder::finished), pool_of(),
         {{-1, 4000, 8000, {2, 0}, {0, 0}},
          {-1, 10'000, 14'000, {3, 1}, {1, 1}},
          {-1, 19'000, 23'000, {5, 6}, {1, 0}},
          {-1, 27'000, 31'000, {7, 8}, {1, 0}},
          {-1, 32'000, 36'000, {4, 9}, {3, 1}}},
         37'000);
}

TEST_CASE("rl: R9, running answers end before weights move") {
  RlSpec spec = side_by_side(BatchOrder::finished);
  spec.partial = false;
  const RlTotals totals = expect(spec, pool_of(),
                                 {{-1, 4000, 8000, {2, 0}, {0, 0}},
                                  {-1, 10'000, 14'000, {3, 1}, {1, 1}},
                                  {-1, 31'000, 35'000, {5, 4}, {1, 1}},
                                  {-1, 38'000, 42'000, {6, 7}, {1, 1}},
                                  {-1, 46'000, 50'000, {8, 9}, {1, 1}}},
                                 51'000);
  CHECK(totals.spent(RlPhase::draining) == ns(1000 + 16'000 + 2000 + 3000));
}

TEST_CASE("rl: R10, no staleness is one batch a version") {
  expect(side_by_side(BatchOrder::finished, 0), pool_of(),
         {{-1, 9000, 13'000, {0, 1}, {0, 0}},
          {-1, 19'000, 23'000, {2, 3}, {0, 0}},
          {-1, 44'000, 48'000, {5, 4}, {0, 0}},
          {-1, 55'000, 59'000, {6, 7}, {0, 0}},
          {-1, 67'000, 71'000, {8, 9}, {0, 0}}},
         72'000);
}

TEST_CASE("rl: R11, caches are computed again with the new weights") {
  RlSpec spec = side_by_side(BatchOrder::finished);
  spec.recompute = true;
  expect(spec, pool_of(1, 1000, 100'000),
         {{-1, 4000, 8000, {2, 0}, {0, 0}},
          {-1, 10'100, 14'100, {3, 1}, {1, 1}},
          {-1, 19'100, 23'100, {5, 6}, {1, 0}},
          {-1, 27'700, 31'700, {7, 8}, {1, 0}},
          {-1, 32'700, 36'700, {4, 9}, {3, 1}}},
         37'700);
}

TEST_CASE("rl: R12, weights move every second training") {
  RlSpec spec = side_by_side(BatchOrder::finished, 0);
  spec.bound.every = 2;
  spec.trainings = 4;
  expect(spec, pool_of(),
         {{-1, 4000, 8000, {2, 0}, {0, 0}},
          {-1, 9000, 13'000, {3, 1}, {0, 0}},
          {-1, 18'000, 22'000, {5, 6}, {0, 0}},
          {-1, 34'000, 38'000, {7, 4}, {0, 0}}},
         39'000);
}

TEST_CASE("rl: R13, a training takes a time and more for each token") {
  RlSpec spec = in_turn(1);
  spec.reward = spec.weights = Time{};
  spec.training = TrainingLaw{ns(1000), 200'000};
  expect(spec, pool_of(), {{8000, 8000, 13'800, {0, 1}, {0, 0}}}, 13'800);
}

TEST_CASE("rl: R14 and R15, a long answer passes the bound as groups finish, and never in order of submission") {
  expect(overtaken(BatchOrder::finished), pool_of(),
         {{-1, 2000, 3000, {1}, {0}},
          {-1, 5000, 6000, {2}, {0}},
          {-1, 8000, 9000, {3}, {0}},
          {-1, 9000, 10'000, {0}, {3}},
          {-1, 11'000, 12'000, {4}, {1}},
          {-1, 12'000, 13'000, {5}, {1}}},
         13'000);
  const RlTotals totals = expect(overtaken(BatchOrder::submitted), pool_of(),
                                 {{-1, 9000, 10'000, {0}, {0}},
                                  {-1, 10'000, 11'000, {1}, {1}},
                                  {-1, 12'000, 13'000, {2}, {1}},
                                  {-1, 13'000, 14'000, {3}, {1}},
                                  {-1, 15'000, 16'000, {4}, {1}},
                                  {-1, 16'000, 17'000, {5}, {1}}},
                                 17'000);
  CHECK(totals.staleness_max == 1);
}

TEST_CASE("rl: a failure loses caches and the training in progress, not what was answered or scored") {
  RlLoop loop{in_turn(1), pool_of()};
  loop.advance(ns(0));
  loop.advance(ns(1000));
  loop.advance(ns(2500));  // each answer has two tokens
  loop.lose(ns(2500));
  loop.resume(ns(3200));
  while (loop.steps().empty()) loop.advance(loop.next());
  CHECK(loop.steps()[0].begin == ns(3200 + 6000 + 500));  // the answer of 8 tokens goes on from its third
  loop.advance(ns(11'000));
  loop.lose(ns(11'000));
  loop.resume(ns(20'000));
  while (!loop.is_over()) loop.advance(loop.next());
  CHECK(loop.steps()[0].end == ns(24'000));
  CHECK(loop.totals().spent(RlPhase::training) == ns(1300 + 4000));
}

TEST_CASE("rl: specifications that can't work are refused with the reason") {
  const auto refuses = [](RlSpec spec) { CHECK_THROWS_AS((RlLoop{std::move(spec), pool_of()}), InputError); };
  RlSpec spec = in_turn();
  spec.bound.groups = 0;
  refuses(spec);
  spec = in_turn();
  spec.trainings = 0;
  refuses(spec);
  spec = side_by_side(BatchOrder::finished);
  spec.concurrent = 0;
  refuses(spec);
  spec = side_by_side(BatchOrder::finished, -1);
  refuses(spec);
  spec = side_by_side(BatchOrder::finished);
  spec.change = ns(1);
  refuses(spec);
}
