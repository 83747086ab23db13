// RL post-training of the program beside plain loops, and what holds for every run.

#include "validate/rl/rl_suite.hpp"

#include "tests/effort.hpp"
#include "validate/verdict.hpp"

#include <cstdint>
#include <cstdio>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("rl: random runs equal plain loops, phases add up, staleness has its bound, tokens are kept") {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{500}); ++seed) {
    CAPTURE(seed);
    CHECK(rl_difference(random_rl_case(seed)) == "");
  }
}

TEST_CASE("rl: in order of completion single answers pass the bound") {
  int beyond = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const RlCase each = random_rl_case(seed);
    if (each.mode != RlCase::Mode::asynchronous || each.in_order) continue;
    RlLoop loop = rl_loop_of(each);
    static_cast<void>(run_to_end(loop));
    beyond += static_cast<double>(loop.totals().staleness_max) > each.eta + 0.75 ? 1 : 0;
  }
  CHECK(beyond > 0);
}

TEST_CASE("rl: the suite holds, with the public data or without them") {
  std::FILE* const out = std::tmpfile();
  REQUIRE(out != nullptr);
  CHECK(validate_rl(out) == kSuiteHeld);
  static_cast<void>(std::fclose(out));
}
