#include "models/overlap/iteration.hpp"
#include "policies/fusion/bayesian_tuner.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/policies/fusion/random_problem.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// One layer with this backward time, in one worker pair.
OverlapProblem one_layer(Time backward) {
  OverlapProblem problem;
  problem.workers = 2;
  problem.gradient_element_bytes = 1;
  problem.layers = {{"a", Time::microseconds(1), backward}};
  problem.gradients = {{0, Bytes{100}}};
  problem.cost = ExchangeCost::measured({Time::nanoseconds(10), TimePerByte{0.2}});
  return problem;
}

}  // namespace

TEST_CASE("the tuner calls its objective as often as it may, the first time at the first trial, and keeps the best") {
  TunerOptions options;
  options.low = 10;
  options.high = 30;
  options.first = 15;
  options.trials = 4;
  std::vector<double> trials;
  const auto at_most = [&](double x) {
    trials.push_back(x);
    return -std::abs(x - 30);
  };
  const double best = maximise(at_most, options);
  REQUIRE(trials.size() == 4);
  CHECK(trials.front() == near(15));
  for (const double each : trials) {
    CHECK(each >= 10);
    CHECK(each <= 30);
  }
  CHECK(best == *std::max_element(trials.begin(), trials.end()));
  options.trials = 1;
  trials.clear();
  CHECK(maximise(at_most, options) == near(15));
  CHECK(trials.size() == 1);
}

TEST_CASE("of equal trials the tuner keeps the first, and a first trial beyond the range becomes its end") {
  TunerOptions options;
  options.low = 2;
  options.high = 4;
  options.first = 3;
  options.trials = 5;
  const auto constant = [](double) { return 1.0; };
  CHECK(maximise(constant, options) == near(3));
  options.first = 9;
  CHECK(maximise(constant, options) == near(4));
  options.first = -9;
  CHECK(maximise(constant, options) == near(2));
  options.high = options.low;  // a range of one number
  options.first = 2;
  int trials = 0;
  const auto only_two = [&](double x) {
    CHECK(x == near(2));
    return static_cast<double>(++trials);  // the last is the best, so that its number is the answer
  };
  CHECK(maximise(only_two, options) == near(2));
  CHECK(trials == 5);
}

TEST_CASE("horovod: as many cycles as the backward pass needs, numbered from 1, at most 100,000") {
  const auto cycles = [](Time backward) {
    const FusedIteration plan = fusion("horovod", {{"cycle_ms", 0.001}})->plan(one_layer(backward));
    std::string last;
    int count = 0;
    for (const Op& op : plan.graph.ops()) {
      if (!op.name.starts_with("cycle ")) continue;
      ++count;
      last = op.name;
    }
    return std::to_string(count) + ", the last is " + last;
  };
  CHECK(cycles(Time::microseconds(3)) == "3, the last is cycle 3");
  CHECK(cycles(Time::nanoseconds(3001)) == "4, the last is cycle 4");
  CHECK(cycles(Time::microseconds(100'000)) == "100000, the last is cycle 100000");
  CHECK_THROWS_WITH_AS(cycles(Time::nanoseconds(100'000'001)),
                       "horovod: 100001 cycles in a backward pass; a longer cycle_ms is needed", InputError);
}
