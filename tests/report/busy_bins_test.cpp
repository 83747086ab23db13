#include "report/busy_bins.hpp"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

using namespace contend;

namespace {
Time ms(std::int64_t value) {
  return Time::milliseconds(value);
}
}  // namespace

TEST_CASE("bins share an interval out and widen when it goes beyond them") {
  // Four bins of 10 ms. [5, 25) fills 5 of the first, all of the second, 5 of the third.
  BusyBins bins{2, 4, ms(10)};
  bins.add(0, ms(5), ms(25));
  CHECK(bins.width() == ms(10));
  CHECK(bins.size() == 3);
  CHECK(bins.busy(0, 0) == ms(5));
  CHECK(bins.busy(0, 1) == ms(10));
  CHECK(bins.busy(0, 2) == ms(5));
  CHECK(bins.busy(1, 1) == Time{});

  // An end at 40 still fits; one at 41 doubles the width, and pairs are added up.
  bins.add(1, ms(30), ms(40));
  CHECK(bins.width() == ms(10));
  bins.add(1, ms(40), ms(41));
  CHECK(bins.width() == ms(20));
  CHECK(bins.size() == 3);
  CHECK(bins.busy(0, 0) == ms(15));
  CHECK(bins.busy(0, 1) == ms(5));
  CHECK(bins.busy(1, 1) == ms(10));
  CHECK(bins.busy(1, 2) == ms(1));

  bins.cover(ms(80));  // idle until then: still four bins of 20 ms
  CHECK(bins.width() == ms(20));
  CHECK(bins.size() == 4);
  CHECK(bins.busy(0, 3) == Time{});

  bins.add(0, ms(7), ms(7));  // nothing
  CHECK(bins.busy(0, 0) == ms(15));
}

TEST_CASE("property: the union of intervals is what a marked line says") {
  std::mt19937 random{7};  // portable: only its raw output is used
  for (int round = 0; round < 200; ++round) {
    constexpr std::int64_t kLength = 60;
    std::vector<IntervalUnion::Interval> all;
    for (int i = 0; i < 12; ++i) {
      const auto a = static_cast<std::int64_t>(random() % kLength), b = static_cast<std::int64_t>(random() % kLength);
      all.push_back({Time::nanoseconds(std::min(a, b)), Time::nanoseconds(std::max(a, b))});
    }
    std::ranges::stable_sort(all, {}, &IntervalUnion::Interval::end);
    IntervalUnion covered;
    std::vector<int> fast(kLength), slow(kLength);
    for (const auto& each : all) {
      std::vector<IntervalUnion::Interval> fresh;
      covered.add(each.start, each.end, fresh);
      for (const auto& part : fresh)
        for (std::int64_t t = part.start.ns(); t < part.end.ns(); ++t) ++fast[static_cast<std::size_t>(t)];
      for (std::int64_t t = each.start.ns(); t < each.end.ns(); ++t) slow[static_cast<std::size_t>(t)] = 1;
    }
    REQUIRE(fast == slow);  // each instant once, and no other
  }
}
