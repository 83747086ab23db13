#include "validate/elastic/elastic_suite.hpp"

#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/skip.hpp"
#include "validate/elastic/released_simulators.hpp"

#include <cstdio>
#include <filesystem>

#include <doctest/doctest.h>

using namespace contend;

// ElasticFlow's trace takes a minute under sanitizers; tests/policies runs its policies there.
TEST_CASE("elastic: the suite holds, or names the skipped parts" * doctest::skip(kSanitized)) {
  std::FILE* const out = std::tmpfile();
  REQUIRE(out != nullptr);
  CHECK(validate_elastic(out) == 0);
  std::fclose(out);
}

TEST_CASE("elastic: the optima of Gavel's traces hold in every objective, and a wrong one is seen") {
  for (const GavelOptima& optima : gavel_optima()) {
    const auto cluster = read_gavel_trace(optima);
    if (!cluster) return skip_case("there are no traces of Gavel in " + gavel_folder());
    CAPTURE(optima.trace);
    CHECK(max_min_shares(*cluster, false, false).value == near(optima.max_min, 2e-9));
    CHECK(makespan_shares(*cluster).value == near(optima.makespan_s, 4e-9));
    CHECK(finish_time_fair_shares(*cluster).value == near(optima.rho, 2e-9));
    TypedCluster smaller = *cluster;
    smaller.capacity[2] -= 1;
    CHECK_FALSE(max_min_shares(smaller, false, false).value == near(optima.max_min, 1e-6));
  }
}

TEST_CASE("elastic: loops over the rules of released simulators give their averages, each rule its own") {
  const auto shortest = run_muri_trace(MuriOrder::remaining), smallest = run_muri_trace(MuriOrder::remaining_service);
  const auto least = run_muri_trace(MuriOrder::attained_service);
  const auto allox = run_gavel_allox_trace();
  if (!shortest || !smallest || !least || !allox) return skip_case("there are no traces beside " + gavel_folder());
  CHECK(shortest->jct_s == near(193081.796, 1e-8));
  CHECK(smallest->jct_s == near(185021.880, 1e-8));
  CHECK(least->jct_s == near(347213.248, 1e-8));
  CHECK(allox->jct_s == near(59770.441018, 1e-11));
  CHECK(allox->utilisation == near(.121262, 5e-6));
  // Of equally many preemptions these would be one rule.
  CHECK(smallest->preemptions < shortest->preemptions);
  CHECK(shortest->preemptions < least->preemptions);
}

TEST_CASE("elastic: Pollux' simulator by its rules ends each job at the released second, under the rule it is told") {
  const auto tiresias = run_pollux_workload(PolluxRule::tiresias, 4),
             optimus = run_pollux_workload(PolluxRule::optimus, 4);
  if (!tiresias || !optimus) return skip_case("there are no traces beside " + gavel_folder());
  CHECK(tiresias->jobs == 160);
  CHECK(tiresias->exact == 160);
  CHECK(tiresias->jct_s == near(3280.2625, 1e-12));
  CHECK(optimus->released_jct_s == near(5967.75, 1e-12));
  CHECK(optimus->jct_s == near(5967.75, 0.02));
  CHECK(optimus->exact > 80);  // by other rules hardly any
}
