#include "validate/elastic/elastic_suite.hpp"

#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/skip.hpp"

#include <cstdio>
#include <filesystem>

#include <doctest/doctest.h>

using namespace contend;

// ElasticFlow's trace takes a minute under sanitizers; tests/policies runs its policies there.
TEST_CASE("elastic: the suite holds, or says what it skipped" * doctest::skip(kSanitized)) {
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
