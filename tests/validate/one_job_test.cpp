// A sample of the suite `one-job`, which takes 20 minutes as a whole.

#include "validate/one_job/one_job.hpp"

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"

#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a job alone in a cluster ends its iterations at the nanoseconds of the study") {
  const std::vector<OneJobCase> cases = one_job_cases();
  REQUIRE(cases.size() > 5000);
  RandomStream stream{7, "one-job"};
  int compared = 0;
  const int wanted = effort(100);
  for (int i = 0; i < wanted; ++i) {
    const OneJobCase& each =
        cases[static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(cases.size()) - 1))];
    INFO(each.title());
    const OneJobOutcome outcome = compare_one_job(each);
    CHECK(outcome.difference == "");
    if (outcome.refusal.empty()) ++compared;
  }
  CHECK(3 * compared > wanted);
}
