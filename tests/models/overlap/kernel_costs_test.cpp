#include "models/overlap/kernel_costs.hpp"

#include "sim/error.hpp"

#include <limits>
#include <memory>

#include <doctest/doctest.h>

using namespace contend;

namespace {

class FixedTimer final : public KernelTimer {
 public:
  [[nodiscard]] double seconds(const KernelWork& work) const override { return 1e-6 * work.times; }
};

/// 1 TFLOPS in fp32, 100 GB/s.
Device round_figures() {
  Device device;
  device.name = "round";
  device.tflops[static_cast<std::size_t>(DataType::fp32)] = 1;
  device.memory_bandwidth = ByteRate{100e9};
  device.memory = Bytes::mebibytes(1024);
  return device;
}

RooflineOptions half_of_each_peak() {
  RooflineOptions options;
  options.vector_efficiency = options.memory_efficiency = 0.5;
  options.ramp = Time{};
  options.launch_overhead = Time::microseconds(7);
  return options;
}

KernelWork work_of(double bytes, double flops, int launches) {
  KernelWork work;
  work.bytes = bytes;
  work.flops = flops;
  work.launches = launches;
  return work;
}

}  // namespace

TEST_CASE("a kernel takes the longer of its flops and its bytes, times the factor, and its launches") {
  const KernelCosts once{round_figures(), half_of_each_peak()}, twice{round_figures(), half_of_each_peak(), 2};
  // 2e6 flops at 0.5 TFLOPS: 4 us; 1e6 bytes at 50 GB/s: 20 us.
  CHECK(once.of(work_of(1000, 2e6, 3)) == Time::microseconds(4 + 3 * 7));
  CHECK(twice.of(work_of(1000, 2e6, 3)) == Time::microseconds(2 * 4 + 3 * 7));
  CHECK(once.of(work_of(1e6, 2e6, 1)) == Time::microseconds(20 + 7));
  CHECK(twice.of(work_of(1e6, 0, 1)) == Time::microseconds(2 * 20 + 7));
  CHECK(once.of(work_of(0, 0, 1)) == Time::microseconds(7));
}

TEST_CASE("a measured kernel takes its time, times the factor") {
  KernelWork work;
  work.times = 3;
  CHECK(KernelCosts{std::make_shared<FixedTimer>()}.of(work) == Time::microseconds(3));
  CHECK(KernelCosts{std::make_shared<FixedTimer>(), 4}.of(work) == Time::microseconds(12));
}

TEST_CASE("a factor on kernels is a finite number above 0") {
  for (const double wrong :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_WITH_AS(KernelCosts(round_figures(), half_of_each_peak(), wrong),
                         doctest::Contains("a factor on the time of kernels must be > 0"), InputError);
    CHECK_THROWS_AS(KernelCosts(std::make_shared<FixedTimer>(), wrong), InputError);
  }
}
