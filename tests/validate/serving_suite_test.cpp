#include "validate/serving/serving_suite.hpp"

#include "tests/effort.hpp"
#include "tests/skip.hpp"
#include "validate/serving/plain_serving.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("serving suite: random cases are equal by leaps, step by step and by plain loops") {
  // validate/serving has 200 such cases; other ones here.
  const int cases = (kSanitized ? 100 : 1000) * effort_factor();
  std::int64_t evictions = 0, scaled = 0, apart = 0, stopped = 0;
  for (int number = 0; number < cases; ++number) {
    CAPTURE(number);
    const ServingCase drawn = random_serving_case(1000 + static_cast<std::uint64_t>(number));
    const ServingAnswer plain = serve_plainly(drawn);
    CHECK(plain == serve_by_fleet(drawn, true));
    CHECK(plain == serve_by_fleet(drawn, false));
    CHECK(leaps_are_exact(drawn, false, 1));
    CHECK(leaps_are_exact(drawn, true, static_cast<std::uint64_t>(number)));
    // Every token that was asked for is given, and every token is computed once, but for hits, drafts and lost caches.
    std::int64_t asked = 0, needed = plain.recomputed;
    for (const auto& [arrival, prompt, answer, prefix, hits] : drawn.requests) {
      asked += answer;
      needed += prompt + answer - 1 - std::min(hits, prompt - 1);
    }
    CHECK(plain.given == asked);
    if (drawn.drafts == 0) CHECK(plain.computed == needed);
    for (const std::int64_t count : plain.evictions) evictions += count;
    scaled += static_cast<std::int64_t>(plain.scaled.size());
    apart += drawn.decode > 0 ? 1 : 0;
    stopped += drawn.acts.empty() ? 0 : 1;
  }
  CHECK(evictions > 0);
  CHECK(scaled > 0);
  CHECK(apart > 0);
  CHECK(stopped > 0);
}

TEST_CASE("serving suite: a law that is wrong by a nanosecond is seen") {
  ServingCase drawn = random_serving_case(1);
  const ServingAnswer plain = serve_plainly(drawn);
  ++drawn.weights;
  drawn.token = 0;
  CHECK_FALSE(plain == serve_by_fleet(drawn, true));
}

TEST_CASE("serving suite: cases by hand, half hours and the recorded run hold" * doctest::skip(kSanitized)) {
  if (!std::filesystem::exists(serving_folder())) return skip_case("there is no " + serving_folder());
  for (const CheckedTable& table : {serving_exact(), serving_recorded()}) {
    CAPTURE(table.title);
    CHECK(holds(table));
    CHECK(table.checks.size() > 4);
  }
}
