// Tests how the time of GPUs is divided among jobs that are on them at once.

#include "sim/kept_time.hpp"

#include "tests/near.hpp"

#include <array>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr JobId kOne{0U}, kOther{1U};
constexpr std::array kTwoGpus{GpuId{0U}, GpuId{1U}};
constexpr std::array kOneGpu{GpuId{0U}};

Time after(std::int64_t seconds) {
  return Time::seconds(seconds);
}

}  // namespace

TEST_CASE("a job alone on its GPUs has their time, less what was spoilt") {
  KeptTime kept{1, 2};
  kept.begin(kOne, kTwoGpus, 0, after(1), after(5));
  CHECK(kept.seconds(kOne, kTwoGpus, 0, after(1), after(10), after(15)) == near(20));
  kept.end(kOne, kTwoGpus, 0, after(3), after(10), after(15));  // 2 s of these 10 were spoilt
  CHECK(kept.seconds(kOne) == near(16));
  kept.begin(kOne, kOneGpu, 1000, after(3), after(20));
  kept.end(kOne, kOneGpu, 1000, after(3), after(4), after(24));
  CHECK(kept.seconds(kOne) == near(20));
  kept.undo(kOne, after(6), after(12));
  CHECK(kept.seconds(kOne) == near(10));
  CHECK_FALSE(KeptTime{}.measures());
}

TEST_CASE("jobs that are on a GPU at once have equal parts of what nobody reserves") {
  KeptTime kept{2, 2};
  kept.begin(kOne, kOneGpu, 0, Time{}, after(0));
  kept.begin(kOther, kOneGpu, 0, Time{}, after(4));
  kept.end(kOther, kOneGpu, 0, after(3), after(6), after(10));  // half of its time was spoilt
  kept.end(kOne, kOneGpu, 0, Time{}, after(12), after(12));
  CHECK(kept.seconds(kOne) == near(4 + 6 / 2.0 + 2));
  CHECK(kept.seconds(kOther) == near(6 / 2.0 / 2));

  KeptTime parts{2, 2};
  parts.begin(kOne, kTwoGpus, 0, Time{}, after(0));
  parts.begin(kOther, kOneGpu, 250, Time{}, after(0));
  parts.end(kOther, kOneGpu, 250, Time{}, after(8), after(8));
  parts.end(kOne, kTwoGpus, 0, Time{}, after(8), after(8));
  CHECK(parts.seconds(kOther) == near(2));
  CHECK(parts.seconds(kOne) == near(6 + 8));
}
