// The histogram of the gaps between tokens.

#include "sim/token_gaps.hpp"

#include "tests/near.hpp"

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("token gaps: a series is the sum of its steps") {
  for (const int growth : {0, 1, 999, 1000, 70'001}) {
    CAPTURE(growth);
    TokenGaps series, single;
    series.add_series(5'000'123, growth, 3000, 7);
    for (int step = 0; step < 3000; ++step) single.add(5'000'123 + Int128{step} * growth, 7);
    CHECK(series == single);
    CHECK(series.count() == 21'000);
  }
}

TEST_CASE("token gaps: quantiles are known within a class") {
  TokenGaps gaps;
  CHECK(gaps.quantile(0.5) == Time{});
  gaps.add(Int128{5} * 1000, 1);
  CHECK(gaps.quantile(1) == Time::nanoseconds(5));
  // 10 to 30 ms in steps of 1 us: the median is 20 ms, p99 29.8 ms.
  TokenGaps line;
  line.add_series(Int128{10'000'000'000}, 1'000'000, 20'001, 1);
  CHECK(line.quantile(0.5).to_seconds() == near(0.020, 0.016));
  CHECK(line.quantile(0.99).to_seconds() == near(0.0298, 0.016));
  TokenGaps both = line;
  both += gaps;
  CHECK(both.count() == 20'002);
}
