// A calibration of a real machine, as it was written: its tables are read, and predict.

#include "calibration/calibrated_device.hpp"
#include "calibration/median.hpp"
#include "scenarios/study/profile_reader.hpp"
#include "text/atomic_file.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a recorded calibration of a CPU") {
  const std::string path = "tests/calibration/data/recorded_cpu.yaml";
  const CalibrationProfile profile = read_profile(path);
  CHECK(read_file(path).ends_with(to_yaml(profile)));
  // Profiles of earlier versions lack two lines, which say that something is unknown.
  std::string earlier = read_file(path);
  for (const std::string line : {"power_limited_s: -1\n", "visited_twice: 0\n"}) {
    REQUIRE(earlier.find(line) != std::string::npos);
    earlier.erase(earlier.find(line), line.size());
  }
  CHECK(to_yaml(parse_profile(earlier, "earlier")) == to_yaml(profile));
  CHECK(profile.complete);
  CHECK(profile.warnings.size() == 1);
  const OperatorTable* const products = profile.table("gemm", DataType::fp32);
  REQUIRE(products != nullptr);
  CHECK(products->samples.size() == 33);
  // The machine was disturbed, and 33 products of very different shapes are few. The surface is still what brings them
  // to where they are: the roofline alone, though fitted to them all, misses them by more.
  OperatorTable fitted = *products;
  OperatorPredictor::fit(fitted, {});
  const double error = fitted.cross_validation;
  const RooflineFit roofline = OperatorPredictor{profile}.roofline("gemm", DataType::fp32).value();
  std::vector<double> misses;
  for (const OperatorSample& sample : products->samples) {
    const OperatorWork work = find_operator("gemm")->work(sample.shape, DataType::fp32);
    misses.push_back(std::abs(roofline.seconds(work.bytes, work.flops) / sample.seconds - 1));
  }
  const double alone = median_interval(misses).median;
  MESSAGE("median error of leaving one out: " << error << ", of the roofline alone: " << alone);
  CHECK(error < 0.35);
  CHECK(error < alone);

  const CalibratedDevice device{profile};
  CHECK(device.faults(DataType::fp32).empty());
  for (const OperatorSample& sample : products->samples)
    CHECK(device.operation("gemm", DataType::fp32, sample.shape).seconds == sample.seconds);
  const Prediction between = device.operation("gemm", DataType::fp32, OperatorShape{1, 128, 128, 512});
  CHECK(between.basis == PredictionBasis::interpolated);
  // Between the products with k = 128 and 1024, which took 0.21 and 3.05 ms.
  CHECK(between.seconds > 0.21e-3);
  CHECK(between.seconds < 3.05e-3);
}
