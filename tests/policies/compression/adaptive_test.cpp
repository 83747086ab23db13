// These compression methods adapt to the costs of the study: LAGS chooses its densities, lossless compression chooses
// which halves it compresses.
#include "models/overlap/problem.hpp"
#include "tests/devices.hpp"
#include "tests/policies/fusion/random_problem.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Four workers in a ring; in backward order a layer of 400 values, one of 60 in two gradients, and one of 160.
OverlapProblem three_layers(Time alpha, double beta) {
  OverlapProblem problem;
  problem.layers = {{"low", Time::microseconds(10), Time::microseconds(30)},
                    {"middle", Time::microseconds(10), Time::microseconds(100)},
                    {"high", Time::microseconds(10), Time::microseconds(50)}};
  problem.gradients = {{2, Bytes{1600}}, {1, Bytes{200}}, {1, Bytes{40}}, {0, Bytes{640}}};
  problem.workers = 4;
  problem.cost = ExchangeCost::ring(4, {alpha, TimePerByte{beta}, {}});
  problem.kernels.emplace(v100(), RooflineOptions{});
  return problem;
}

/// Returns the collectives and their bytes, such as `all-gather 96, ...`.
std::string sent(const CompressionMethod& method, const OverlapProblem& problem, const GradientGroup& group) {
  std::string text;
  for (const ExchangeStage& stage : method.stages(problem, group)) {
    CHECK((stage.collective || stage.duration > Time{}));
    if (!stage.collective) continue;
    if (!text.empty()) text += ", ";
    text += stage.name + " " + std::to_string(stage.bytes.count());
  }
  return text;
}

}  // namespace

TEST_CASE("LAGS: as dense as the next layer's backward pass hides, by hand") {
  // An all-gather of m bytes takes 3 x 5 us + 3/4 x 10 ns x m. All 400 pairs of 4 workers are 12,800 bytes: 96 us. The
  // next layer computes 100 us, so (100 - 15) / 96 = 0.885 of the values, 355 of 400: 355 x 8 x 4 bytes.
  const OverlapProblem problem = three_layers(Time::microseconds(5), 10);
  const auto lags = compression("lags", {{"min_density", 0.01}});
  CHECK(sent(*lags, problem, {0, 0}) == "all-gather 11360");
  // The 60 of the middle layer have 30 us of the lowest: 50 of them 25, so (25 - 15) / (1600 x 7.5 ns = 12 us) = 5/6;
  // the other 10 have 5 us, which hides nothing: one value.
  CHECK(sent(*lags, problem, {1, 1}) == "all-gather 1344");
  CHECK(sent(*lags, problem, {2, 2}) == "all-gather 32");
  // Sent as one: (30 - 15) / (1920 x 7.5 ns = 14.4 us) > 1: everything could be hidden. Then 5 %, by the paper's code.
  CHECK(sent(*lags, problem, {1, 2}) == "all-gather 96");
  CHECK(sent(*compression("lags", {{"slack_density", 0.5}}), problem, {1, 2}) == "all-gather 960");
  // The two upper layers as one: (30 - 15) / (460 x 32 x 7.5 ns = 110.4 us) = 0.13587: 63 of 460.
  CHECK(sent(*lags, problem, {0, 2}) == "all-gather 2016");
  // Nothing comes after the lowest layer: 2 of 160.
  CHECK(sent(*lags, problem, {3, 3}) == "all-gather 64");
  CHECK(sent(*lags, problem, {0, 3}) == "all-gather 224");
  // The kernels are as in top-k with as many values.
  const auto top_k = compression("top-k", {{"density", 354.5 / 400}});
  CHECK(lags->stages(problem, {0, 0}).front().duration == top_k->stages(problem, {0, 0}).front().duration);
}

TEST_CASE("LAGS where a transfer costs nothing, or only its start") {
  OverlapProblem problem = three_layers(Time{}, 0);
  const auto lags = compression("lags");
  CHECK(sent(*lags, problem, {0, 0}) == "all-gather 640");  // 5 % of 400
  CHECK(sent(*lags, problem, {3, 3}) == "all-gather 32");   // no time, nothing to hide: one value
}

TEST_CASE("lossless: each half is compressed where that is faster, by hand") {
  // 1,000,000 fp32 values, 4 workers, 10 GB/s links, no start-ups: 3/4 x 0.1 ns a byte in either half, 300 us.
  // Compressed to half the size 150 us. Compressing 4 MB at 1000 GB/s takes 4 us, decompressing as long, adding up four
  // chunks of 250,000 values 5 MB / (0.8 x 900 GB/s) = 6.95 us and a launch of 5: 150 + 20 us. To gather, 150 + 1 + 4.
  OverlapProblem problem = three_layers(Time{}, 0.1);
  problem.gradients = {{0, Bytes{4'000'000}}};
  const auto both =
      compression("lossless", {{"ratio", 2.0}, {"compress_gb_per_s", 1000.0}, {"decompress_gb_per_s", 1000.0}});
  CHECK(sent(*both, problem, {0, 0}) == "all-to-all 2000000, all-gather 2000000");
  const std::vector<ExchangeStage> stages = both->stages(problem, {0, 0});
  REQUIRE(stages.size() == 7);
  CHECK(stages[0].duration == Time::microseconds(4));
  CHECK(stages[2].duration == Time::microseconds(4));
  CHECK(stages[3].duration == Time::nanoseconds(6945 + 5000));
  CHECK(stages[4].duration == Time::microseconds(1));
  CHECK(stages[6].duration == Time::microseconds(4));
  // Compressing at 20 GB/s takes 200 us of the whole, which the scatter doesn't win back; of a quarter, 50, the gather
  // does: 50 + 150 + 4 < 300.
  CHECK(sent(*compression("lossless", {{"ratio", 2.0}, {"compress_gb_per_s", 20.0}, {"decompress_gb_per_s", 1000.0}}),
             problem, {0, 0}) == "reduce-scatter 4000000, all-gather 2000000");
  // Neither where decompressing takes 200 us; nothing is gained by a ratio of 1.
  CHECK(sent(*compression("lossless", {{"ratio", 2.0}, {"decompress_gb_per_s", 20.0}}), problem, {0, 0}) ==
        "all-reduce 4000000");
  CHECK(sent(*compression("lossless", {{"ratio", 1.0}}), problem, {0, 0}) == "all-reduce 4000000");
  // Chunks are whole bytes: 5 bytes at 1.5 among 4 are 2 each, compressed 2.
  problem.gradients = {{0, Bytes{4'000'004}}};
  CHECK(sent(*compression("lossless", {{"ratio", 3.0}}), problem, {0, 0}) == "all-to-all 1333336, all-gather 1333336");
}

TEST_CASE("APMSqueeze sends what 1-bit Adam does, and has its own warm-up") {
  OverlapProblem problem = three_layers(Time::microseconds(5), 1);
  const auto apm = compression("apm-squeeze", {{"warm_up", 0.25}}), adam = compression("onebit-adam");
  CHECK(apm->phases().shares() == std::vector<double>{0.25, 0.75});
  for (problem.phase = 0; problem.phase < 2; ++problem.phase)
    CHECK(sent(*apm, problem, {0, 3}) == sent(*adam, problem, {0, 3}));
}
