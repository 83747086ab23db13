// What a profile says of collectives and of interference.

#include "calibration/measured_communication.hpp"

#include "calibration/network_fit.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace contend;

namespace {

OperatorTable table(std::string name, DataType type, std::vector<std::pair<OperatorShape, double>> times) {
  OperatorTable out;
  out.name = std::move(name);
  out.type = type;
  for (auto& [shape, seconds] : times) out.samples.push_back({std::move(shape), seconds, 0.01, 10});
  return out;
}

/// A product of 10 ms alone, 12 and 15 beside 8 and 32 blocks; a reduction of 1 ms and 0.5 ms alone, 1.1 and 1 beside
/// it.
CalibrationProfile lab() {
  const OperatorShape one{1, 64, 64, 64};
  const auto with = [&](std::int64_t blocks) {
    OperatorShape shape = one;
    shape.push_back(blocks);
    return shape;
  };
  CalibrationProfile profile;
  profile.name = "lab";
  profile.tables = {
      table("gemm", DataType::fp16, {{one, 0.010}}),
      table("reduce", DataType::fp32, {{{8}, 0.001}, {{32}, 0.0005}}),
      table("gemm_beside_reduce", DataType::fp16, {{with(8), 0.012}, {with(32), 0.015}}),
      table("reduce_beside_gemm", DataType::fp16, {{with(8), 0.0011}, {with(32), 0.001}}),
  };
  return profile;
}

}  // namespace

TEST_CASE("interference is the time beside over the time alone, for a number of blocks") {
  const MeasuredInterference few = measured_interference(lab(), 8);
  CHECK(few.compute == near(0.2, 1e-9));
  CHECK(few.network == near(0.1, 1e-9));
  REQUIRE(few.pairs.size() == 1);
  CHECK(few.pairs[0].op == "gemm");
  CHECK(few.pairs[0].shape == OperatorShape{1, 64, 64, 64});
  const MeasuredInterference many = measured_interference(lab(), 32);
  CHECK(many.compute == near(0.5, 1e-9));
  CHECK(many.network == near(1.0, 1e-9));
  CHECK_THROWS_WITH_AS(static_cast<void>(measured_interference(lab(), 16)),
                       "the profile `lab` has no operation beside reductions of 16 blocks; it has those of 8, 32",
                       InputError);
}

TEST_CASE("a pair of which one was not measured alone counts for nothing") {
  for (const std::size_t lacking : {0U, 1U, 3U}) {
    CalibrationProfile profile = lab();
    profile.tables.erase(profile.tables.begin() + static_cast<std::ptrdiff_t>(lacking));
    CHECK_FALSE(has_interference(profile));
    CHECK_THROWS_AS(static_cast<void>(measured_interference(profile, 8)), InputError);
  }
  CHECK(has_interference(lab()));
}

TEST_CASE("times beside that are shorter than alone are no interference, and of several pairs the median counts") {
  CalibrationProfile profile = lab();
  const OperatorShape rows{100, 64}, beside{100, 64, 8}, heads{1, 2, 2, 64, 8}, beside_heads{1, 2, 2, 64, 8, 8};
  profile.tables.push_back(table("layer_norm", DataType::fp32, {{rows, 0.002}}));
  profile.tables.push_back(table("layer_norm_beside_reduce", DataType::fp32, {{beside, 0.0019}}));
  profile.tables.push_back(table("reduce_beside_layer_norm", DataType::fp32, {{beside, 0.002}}));
  profile.tables.push_back(table("attention", DataType::fp32, {{heads, 0.002}}));
  profile.tables.push_back(table("attention_beside_reduce", DataType::fp32, {{beside_heads, 0.0026}}));
  profile.tables.push_back(table("reduce_beside_attention", DataType::fp32, {{beside_heads, 0.00105}}));
  const MeasuredInterference all = measured_interference(profile, 8);
  REQUIRE(all.pairs.size() == 3);
  CHECK(all.pairs[1].compute == 0);  // in the order gemm, layer_norm, attention
  CHECK(all.compute == near(0.2, 1e-9));
  CHECK(all.network == near(0.1, 1e-9));
}

TEST_CASE("collectives of a profile are fitted like the collectives of a benchmark") {
  CalibrationProfile profile;
  std::vector<std::pair<OperatorShape, double>> times;
  // A ring of 4 with 5 us a step and 0.01 ns a byte: 6 steps, 2 x 3 / 4 of the bytes.
  for (std::int64_t bytes = 1 << 12; bytes <= 1 << 28; bytes *= 4)
    times.push_back({{bytes, 4}, 6 * 5e-6 + 1.5 * 1e-11 * static_cast<double>(bytes)});
  profile.tables = {table("nccl_all_reduce", DataType::fp32, times),
                    table("peer_copy", DataType::fp32, {{{1 << 20}, 1e-4}})};
  const std::vector<CollectiveSample> samples = measured_collectives(profile);
  REQUIRE(samples.size() == times.size() + 1);
  CHECK(samples[0].exchange == TimedExchange::message);
  CHECK(samples[0].ranks == 2);
  CHECK(samples[0].time == Time::microseconds(100));
  CHECK(samples[1].ranks == 4);
  CHECK(samples[1].size == Bytes{1 << 12});
  const NetworkCalibration fit = calibrate_network(samples, {});
  const auto ring = std::find_if(fit.series.begin(), fit.series.end(),
                                 [](const SeriesFit& each) { return each.exchange == TimedExchange::all_reduce; });
  REQUIRE(ring != fit.series.end());
  CHECK(ring->regions.back().alpha.value == near(30e3, 0.01));
  CHECK(ring->regions.back().beta.value == near(0.015, 0.01));
  CHECK(measured_collectives(CalibrationProfile{}).empty());
}
