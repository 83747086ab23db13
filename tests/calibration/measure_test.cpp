// One operation on a device that does as told.

#include "calibration/measure.hpp"
#include "sim/random_stream.hpp"
#include "tests/calibration/fake_backend.hpp"
#include "tests/near.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace contend;

namespace {

MeasuredOperation measured(FakeDevice& device, const RepetitionRules& rules = {}) {
  return measure(device.backend(), *find_operator("copy"), DataType::fp32, {4096}, rules,
                 [&device] { return device.now; });
}

}  // namespace

TEST_CASE("a device that always takes 100 us") {
  FakeDevice device;
  const MeasuredOperation found = measured(device);
  REQUIRE(found.sample.has_value());
  CHECK(found.sample->seconds == near(1e-4));
  CHECK(found.sample->half_width < 1e-9);
  CHECK(found.sample->shape == OperatorShape{4096});
  CHECK(found.sample->repetitions == 10);  // the least: there is nothing to wait for
  CHECK(found.launches >= 10);             // 1 ms a sample
  CHECK(found.launches <= 20);
  CHECK(found.outliers == 0);
  CHECK_FALSE(found.drifted);
  CHECK(device.prepared == 1);
  CHECK(device.released == 1);
}

TEST_CASE("the faster the operation, the more executions a sample") {
  FakeDevice device;
  device.time = [](const contend_operation&, int) { return 1e-8; };
  const MeasuredOperation found = measured(device);
  REQUIRE(found.sample.has_value());
  CHECK(found.sample->seconds == near(1e-8, 1e-9));
  CHECK(found.launches >= 100'000);
  device.time = [](const contend_operation&, int) { return 0.01; };
  const MeasuredOperation slow = measured(device);
  CHECK(slow.launches == 1);
  CHECK(slow.sample->seconds == near(0.01));
}

TEST_CASE("a sample takes no more than a twentieth of the limit, so that there are enough of them") {
  FakeDevice device;
  const MeasuredOperation found = measured(device, {.sample_seconds = 10, .limit_seconds = 1});
  REQUIRE(found.sample.has_value());
  CHECK(found.launches >= 500);
  CHECK(found.launches <= 601);
  CHECK(found.sample->repetitions >= 6);
}

TEST_CASE("an execution that takes exactly as long as a sample is one") {
  FakeDevice device;
  device.time = [](const contend_operation&, int) { return 1e-3; };
  CHECK(measured(device, {.sample_seconds = 1e-3}).launches == 1);
  CHECK(measured(device, {.sample_seconds = 1.001e-3}).launches == 2);
}

TEST_CASE("noise: repeated until the interval is narrow, and the interval is sound") {
  int inside = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    FakeDevice device;
    RandomStream stream{seed, "measure_test"};
    device.time = [&](const contend_operation&, int) { return 2e-3 * (1 + 0.2 * stream.uniform(-1, 1)); };
    const MeasuredOperation found = measured(device, {.half_width = 0.03, .limit_seconds = 10});
    REQUIRE(found.sample.has_value());
    CHECK(found.launches == 1);
    CHECK(found.sample->half_width <= 0.03);
    CHECK(found.sample->repetitions > 10);
    inside += std::abs(found.sample->seconds / 2e-3 - 1) <= found.sample->half_width ? 1 : 0;
  }
  // Stopping as soon as it looks narrow costs a little of the 95%; 32 of 40 is four deviations below 0.95.
  CHECK(inside > 32);
}

TEST_CASE("too little time for a narrow interval: an honest wide one") {
  FakeDevice device;
  RandomStream stream{1, "measure_test"};
  device.time = [&](const contend_operation&, int) { return 1e-2 * (1 + 0.5 * stream.uniform(-1, 1)); };
  const MeasuredOperation found = measured(device, {.half_width = 0.001, .limit_seconds = 0.2});
  REQUIRE(found.sample.has_value());
  CHECK(found.sample->half_width > 0.001);
  CHECK(device.now <= 0.2 + 1.5e-2);
}

TEST_CASE("the last sample is over before the limit, if all take as long as the samples of the warm-up") {
  FakeDevice device;
  RandomStream stream{1, "measure_test"};
  device.time = [&](const contend_operation&, int) { return 1e-2 * (1 + 1e-4 * stream.uniform(-1, 1)); };
  REQUIRE(measured(device, {.half_width = 1e-9, .limit_seconds = 0.205}).sample.has_value());
  CHECK(device.now < 0.205);
  CHECK(device.now > 0.19);
}

TEST_CASE("a device that warms up: the start is dropped") {
  FakeDevice device;
  // From 2 ms down to 1 ms within 60 executions.
  device.time = [](const contend_operation&, int count) { return 1e-3 * (count < 60 ? 2 - count / 60.0 : 1); };
  const MeasuredOperation found = measured(device, {.limit_seconds = 2});
  REQUIRE(found.sample.has_value());
  CHECK(found.sample->seconds == near(1e-3, 1e-9));
  CHECK_FALSE(found.drifted);
}

TEST_CASE("a device that slows down for ever is said to") {
  FakeDevice device;
  device.time = [](const contend_operation&, int count) { return 1e-3 * std::pow(1.02, count); };
  const MeasuredOperation found = measured(device, {.limit_seconds = 1});
  REQUIRE(found.sample.has_value());
  CHECK(found.drifted);
}

TEST_CASE("an interrupt now and then is an outlier, not the time") {
  FakeDevice device;
  device.time = [](const contend_operation&, int count) { return count % 7 == 3 ? 5e-3 : 1e-3; };
  const MeasuredOperation found = measured(device, {.sample_seconds = 5e-4, .least_samples = 30});
  REQUIRE(found.sample.has_value());
  CHECK(found.sample->seconds == near(1e-3));
  CHECK(found.outliers >= 3);
}

TEST_CASE("what takes too long for its limit says so, without hanging") {
  FakeDevice device;
  device.time = [](const contend_operation&, int) { return 0.1; };
  const MeasuredOperation found = measured(device, {.limit_seconds = 0.3});
  CHECK_FALSE(found.sample.has_value());
  CHECK(found.status == CONTEND_OK);
  CHECK(found.reason == "too slow: 0.1 s each, and 0.3 s for 6 of them");
  CHECK(device.executions == 2);
  device.time = [](const contend_operation&, int) { return 50.0; };
  CHECK_FALSE(measured(device).sample.has_value());
  CHECK(device.executions == 3);  // hopeless after the first
  // A first execution that loads something is forgiven.
  device.executions = 0;
  device.time = [](const contend_operation&, int count) { return count == 0 ? 0.2 : 1e-3; };
  CHECK(measured(device).sample.has_value());
}

TEST_CASE("with patience a slow operation gets the fewest samples, a quick noisy one no more than its limit") {
  FakeDevice device;
  RandomStream stream{1, "measure_test"};
  device.time = [&](const contend_operation&, int) { return 0.1 * (1 + 0.1 * stream.uniform(-1, 1)); };
  const MeasuredOperation slow = measured(device, {.limit_seconds = 0.3, .patience_seconds = 1});
  REQUIRE(slow.sample.has_value());
  CHECK(slow.sample->repetitions == 6);
  device.now = 0;
  device.time = [&](const contend_operation&, int) { return 0.001 * (1 + 0.9 * stream.uniform(-1, 1)); };
  CHECK(measured(device, {.limit_seconds = 0.1, .patience_seconds = 1}).sample.has_value());
  CHECK(device.now < 0.11);
}

TEST_CASE("answers of the back end are passed on, and what was prepared is released") {
  FakeDevice device;
  device.prepare = [](const contend_operation&) { return CONTEND_OUT_OF_MEMORY; };
  MeasuredOperation found = measured(device);
  CHECK(found.status == CONTEND_OUT_OF_MEMORY);
  CHECK(found.reason == "fake answer 5");
  CHECK(device.released == 0);
  device.prepare = [](const contend_operation&) { return CONTEND_OK; };
  device.run = [](const contend_operation&, int count) { return count < 50 ? CONTEND_OK : CONTEND_FAILED; };
  found = measured(device);
  CHECK(found.status == CONTEND_FAILED);
  CHECK_FALSE(found.sample.has_value());
  CHECK(device.prepared == 1);
  CHECK(device.released == 1);
}

TEST_CASE("a clock that shows nothing, or nonsense, is a failure") {
  FakeDevice device;
  device.time = [](const contend_operation&, int) { return 0.0; };
  CHECK(measured(device).reason == "the device's clock does not advance");
  device.time = [](const contend_operation&, int) { return -1.0; };
  CHECK(measured(device).status == CONTEND_FAILED);
}
