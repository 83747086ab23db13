// Policies with a period decide once for each of its multiples, whatever the quantum of the passes.

#include "policies/scheduling/decision_times.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;
using namespace contend::test;

TEST_CASE("decisions come in the first pass from each multiple of the period on") {
  for (std::int64_t period = 0; period <= 12; ++period) {
    for (std::int64_t quantum = 0; quantum <= 12; ++quantum) {
      const DecisionTimes times{Time::nanoseconds(period), Time::nanoseconds(quantum)};
      std::set<std::int64_t> decisions;
      for (std::int64_t multiple = 0; multiple < 200; multiple += std::max<std::int64_t>(1, period)) {
        std::int64_t pass = multiple;
        while (quantum > 0 && pass % quantum != 0) ++pass;
        decisions.insert(pass);
      }
      std::string wrong;
      for (std::int64_t t = 0; t < 150; ++t) {
        if ((quantum == 0 || t % quantum == 0) && times.is_decision(Time::nanoseconds(t)) != decisions.contains(t))
          wrong += fmt::format("period {}, quantum {}: a pass at {}; ", period, quantum, t);
        if (times.first_from(Time::nanoseconds(t)).ns() != *decisions.lower_bound(t))
          wrong += fmt::format("period {}, quantum {}: the first from {}; ", period, quantum, t);
      }
      CHECK(wrong == "");
    }
  }
}

TEST_CASE("a policy whose period the quantum doesn't divide decides in each period") {
  // Passes come at multiples of 4 s. The first from 10 s on is at 12 s, and not at 20 s.
  SchedulingRules rules;
  rules.quantum = Time::seconds(4);
  ClusterSpec cluster;
  cluster.gpus_per_server = 2;
  cluster.gpu_memory = Bytes{1};
  for (const char* name : {"afs", "elastic-edf", "elasticflow", "optimus", "pollux"}) {
    INFO(name);
    const Played played = play({name, {{"period_s", 10.0}}}, cluster, {timed_job(1, 1, 5)}, nullptr, rules);
    CHECK(holds(played) == "A1 12-20");
  }
  CHECK(holds(play({"shockwave", {{"round_s", 10.0}}}, cluster, {timed_job(1, 1, 5)}, nullptr, rules)) == "A1 12-20");
}
