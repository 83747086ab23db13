// Tests how the time of GPUs is divided among jobs that are on them at once.

#include "sim/kept_time.hpp"

#include "tests/near.hpp"

#include <array>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr JobId kA{0U}, kB{1U};
constexpr std::array kBoth{GpuId{0U}, GpuId{1U}};
constexpr std::array kFirst{GpuId{0U}};

Time after(std::int64_t seconds) {
  return Time::seconds(seconds);
}

}  // namespace

TEST_CASE("a job alone on its GPUs has their time, less what was spoilt") {
  KeptTime kept{1, 2};
  kept.begin(kA, kBoth, 0, after(1), after(5));
  CHECK(kept.seconds(kA, kBoth, 0, after(1), after(10), after(15)) == near(20));
  kept.end(kA, kBoth, 0, after(3), after(10), after(15));  // 2 s of these 10 were spoilt
  CHECK(kept.seconds(kA) == near(16));
  kept.begin(kA, kFirst, 1000, after(3), after(20));
  kept.end(kA, kFirst, 1000, after(3), after(4), after(24));
  CHECK(kept.seconds(kA) == near(20));
  kept.undo(kA, after(6), after(12));
  CHECK(kept.seconds(kA) == near(10));
  CHECK_FALSE(KeptTime{}.measures());
}

TEST_CASE("jobs that are on a GPU at once have equal parts of what nobody reserves") {
  KeptTime kept{2, 2};
  kept.begin(kA, kFirst, 0, Time{}, after(0));
  kept.begin(kB, kFirst, 0, Time{}, after(4));
  kept.end(kB, kFirst, 0, after(3), after(6), after(10));  // half of its time was spoilt
  kept.end(kA, kFirst, 0, Time{}, after(12), after(12));
  CHECK(kept.seconds(kA) == near(4 + 6 / 2.0 + 2));
  CHECK(kept.seconds(kB) == near(6 / 2.0 / 2));

  KeptTime parts{2, 2};
  parts.begin(kA, kBoth, 0, Time{}, after(0));
  parts.begin(kB, kFirst, 250, Time{}, after(0));
  parts.end(kB, kFirst, 250, Time{}, after(8), after(8));
  parts.end(kA, kBoth, 0, Time{}, after(8), after(8));
  CHECK(parts.seconds(kB) == near(2));
  CHECK(parts.seconds(kA) == near(6 + 8));
}
