// A sample of the suite `one-job`, which takes 11 minutes as a whole.

#include "validate/one_job/one_job.hpp"

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Draws cases and compares them. Returns how many of them could be compared.
int compare_some(const std::vector<OneJobCase>& cases, int wanted) {
  RandomStream stream{7, "one-job"};
  int compared = 0;
  for (int i = 0; i < wanted; ++i) {
    const OneJobCase& each =
        cases[static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(cases.size()) - 1))];
    INFO(each.title());
    const OneJobOutcome outcome = compare_one_job(each);
    CHECK(outcome.difference == "");
    if (outcome.refusal.empty()) ++compared;
  }
  return compared;
}

}  // namespace

TEST_CASE("a job alone in a cluster ends its iterations at the nanoseconds of the study") {
  const std::vector<OneJobCase> cases = one_job_cases();
  REQUIRE(cases.size() > 5000);
  const int wanted = effort(100);
  CHECK(3 * compare_some(cases, wanted) > wanted);
}

TEST_CASE("so does a job with Horovod's cycles, and one with parameter servers") {
  const std::vector<OneJobCase> all = one_job_cases();
  const auto some = [&](const auto& is_wanted) {
    std::vector<OneJobCase> cases;
    std::ranges::copy_if(all, std::back_inserter(cases), [&](const OneJobCase& each) {
      return each.model == "resnet50" && each.servers > 1 && is_wanted(each);
    });
    const int wanted = effort(15);
    return 4 * compare_some(cases, wanted) > wanted;
  };
  CHECK(some([](const OneJobCase& each) { return each.fusion == "horovod" && each.exchange.empty(); }));
  CHECK(some([](const OneJobCase& each) { return !each.exchange.empty(); }));
}

TEST_CASE("so does a job with many equally good ways to merge its messages") {
  const OneJobOutcome outcome = compare_one_job({"densenet121", "omgs", "lossless", "contention", 1, 4});
  CHECK(outcome.refusal == "");
  CHECK(outcome.difference == "");
}

TEST_CASE("so does a job whose planner chooses other channels in each phase of its method") {
  for (const char* compression : {"onebit-adam", "apm-squeeze"}) {
    const OneJobOutcome outcome = compare_one_job({"resnet50", "search", compression, "contention", 4, 4});
    CHECK(outcome.refusal == "");
    CHECK(outcome.difference == "");
  }
}
