#include "calibration/transformer_times.hpp"

#include "models/parallel/transformer_catalogue.hpp"
#include "sim/error.hpp"
#include "tests/calibration/synthetic_profile.hpp"
#include "tests/near.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

// A layer whose products have sizes between the sizes of the synthetic profile.
TransformerModel small_transformer() {
  TransformerModel model = *find_transformer("llama-3-8b");
  model.layers = 2;
  model.hidden = 1024;
  model.heads = model.key_value_heads = 8;
  model.head_size = 128;
  model.feed_forward = 2000;
  model.vocabulary = 4096;
  return model;
}

MicroBatch half_batch(bool skip_masked) {
  MicroBatch work;
  work.sequence = 1024;
  work.type = work.router_type = DataType::fp16;
  work.skip_masked = skip_masked;
  return work;
}

CalibrationProfile profile_with_attention() {
  CalibrationProfile profile = synthetic_profile();
  std::vector<OperatorShape> shapes;
  for (const std::int64_t heads : {4, 8, 16})
    for (const std::int64_t tokens : {512, 1024, 2048}) shapes.push_back({1, heads, heads, tokens, 128});
  profile.tables.push_back(synthetic_table("attention", DataType::fp16, shapes));
  profile.tables.push_back(synthetic_table("attention_backward", DataType::fp16, shapes));
  return profile;
}

std::vector<TransformerOperator> only(const MicroBatch& work, std::string_view name) {
  std::vector<TransformerOperator> found;
  for (const TransformerOperator& each : transformer_operators(small_transformer(), 0, work)) {
    if (each.name == name) found.push_back(each);
  }
  REQUIRE(found.size() == 1);
  return found;
}

double microseconds_of(Time time) {
  return time.to_seconds() * 1e6;
}

}  // namespace

TEST_CASE("products take what their three shapes are predicted to take") {
  const CalibratedDevice device{with_gradients(synthetic_profile())};
  const auto gemm = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return 1e6 * synthetic_seconds("gemm", DataType::fp16, {1, m, n, k});
  };
  const CalibratedOperatorTimes up = calibrated_operator_times(only(half_batch(true), "up"), device);
  CHECK(microseconds_of(up.times.forward) == near(gemm(1024, 4000, 1024), 0.005));
  CHECK(microseconds_of(up.times.input_gradient) == near(gemm(1024, 1024, 4000), 0.005));
  CHECK(microseconds_of(up.times.weight_gradient) == near(gemm(4000, 1024, 1024), 0.005));
  CHECK(up.basis.basis == PredictionBasis::interpolated);
  const CalibratedOperatorTimes output = calibrated_operator_times(only(half_batch(true), "output"), device);
  CHECK(microseconds_of(output.times.forward) == near(gemm(1024, 1024, 1024), 0.005));
  CHECK(output.basis.basis == PredictionBasis::measured);
  // Without tables of the gradients' layouts, their times are the times of the other layout, and not measured.
  const CalibratedOperatorTimes same =
      calibrated_operator_times(only(half_batch(true), "output"), CalibratedDevice{synthetic_profile()});
  CHECK(same.times.weight_gradient == output.times.weight_gradient);
  CHECK(same.basis.basis == PredictionBasis::interpolated);
  // Elementwise work takes as long as copies: 3 x 1024 x 1024 x 2 bytes.
  const CalibratedOperatorTimes sum = calibrated_operator_times(only(half_batch(true), "attention_sum"), device);
  CHECK(microseconds_of(sum.times.forward) == near(4 + 3 * 2 * 1024.0 * 1024 / 5e5, 0.02));
  CHECK(sum.times.weight_gradient == Time{});
}

TEST_CASE("attention takes its share of the measured kernel's time") {
  const CalibratedDevice device{profile_with_attention()};
  const double whole = 1e6 * synthetic_seconds("attention", DataType::fp16, {1, 8, 8, 1024, 128});
  const double back = 1e6 * synthetic_seconds("attention_backward", DataType::fp16, {1, 8, 8, 1024, 128});
  const CalibratedOperatorTimes all = calibrated_operator_times(only(half_batch(false), "attention"), device);
  CHECK(microseconds_of(all.times.forward) == near(whole, 0.002));
  CHECK(microseconds_of(all.times.input_gradient) == near(back, 0.002));
  CHECK(all.basis.basis == PredictionBasis::measured);
  const CalibratedOperatorTimes half = calibrated_operator_times(only(half_batch(true), "attention"), device);
  CHECK(microseconds_of(half.times.forward) == near(whole / 2, 0.002));
  CHECK(half.basis.basis == PredictionBasis::interpolated);
  // A context rank has a quarter of the queries and all keys.
  MicroBatch part = half_batch(false);
  part.split.context = 4;
  CHECK(microseconds_of(calibrated_operator_times(only(part, "attention"), device).times.forward) ==
        near(whole / 4, 0.002));
  // Without a table it is the kernel's least work at the measured rates.
  const CalibratedDevice without{synthetic_profile()};
  const CalibratedOperatorTimes least = calibrated_operator_times(only(half_batch(true), "attention"), without);
  CHECK(microseconds_of(least.times.forward) == near(2.0 * 8 * 1024 * 1024 * 128 / 2e7, 0.005));
  CHECK(least.basis.basis == PredictionBasis::extrapolated);
}

TEST_CASE("operators one after the other take the sum of their times, with every kind of them") {
  const CalibratedDevice device{profile_with_attention()};
  TransformerModel model = small_transformer();
  model.mixture = MixtureOfExperts{.experts = 4, .top_k = 2, .expert_feed_forward = 512, .shared_feed_forward = 512};
  for (const bool flash : {true, false}) {
    MicroBatch work = half_batch(true);
    work.flash_attention = flash;
    const auto operators = stage_operators(model, {0, 2, true, true}, work);
    double forward = 0, backward = 0;
    for (const TransformerOperator& each : operators) {
      const OperatorTimes one = calibrated_operator_times({&each, 1}, device).times;
      forward += one.forward.to_seconds();
      backward += one.backward().to_seconds();
      CHECK(one.forward > Time{});
      CHECK(one.backward() > Time{});
    }
    const CalibratedOperatorTimes all = calibrated_operator_times(operators, device);
    CHECK(all.times.forward.to_seconds() == near(forward, 1e-4));
    CHECK(all.times.backward().to_seconds() == near(backward, 1e-4));
    CHECK(all.basis.relative_error > 0);
  }
}

TEST_CASE("a type without measured products is refused") {
  MicroBatch work = half_batch(true);
  work.type = DataType::bf16;
  const CalibratedDevice device{synthetic_profile()};
  CHECK_THROWS_WITH_AS(static_cast<void>(calibrated_operator_times(only(work, "up"), device)),
                       doctest::Contains("no products in bf16; it has fp32, fp16"), InputError);
  CHECK_THROWS_WITH_AS(static_cast<void>(calibrated_operator_times(only(half_batch(true), "up"),
                                                                   CalibratedDevice{CalibrationProfile{}})),
                       doctest::Contains("no copies in memory"), InputError);
}

TEST_CASE("operators of a transformer have tables of their own") {
  // A table of each at three times what its work takes otherwise; where it is read, the time is three times as long.
  CalibrationProfile profile = profile_with_attention();
  std::vector<OperatorShape> rows, heads;
  for (const std::int64_t count : {256, 1024, 4096})
    for (const std::int64_t width : {1024, 2048, 4096}) rows.push_back({count, width});
  for (const std::int64_t tokens : {512, 1024, 2048}) heads.push_back({1, 8, 8, tokens, 128});
  const auto slow = [&](const std::string& name, const std::vector<OperatorShape>& shapes) {
    OperatorTable table = synthetic_table(name, DataType::fp16, shapes);
    for (OperatorSample& each : table.samples) each.seconds *= 3;
    profile.tables.push_back(table);
  };
  for (const char* name : {"rms_norm", "rms_norm_backward", "swiglu", "swiglu_backward", "rope", "cross_entropy"})
    slow(name, rows);
  for (const char* name : {"causal_attention", "causal_attention_backward"}) slow(name, heads);
  const CalibratedDevice before{profile_with_attention()}, device{profile};
  const auto expected = [](const std::string& op, const OperatorShape& shape) {
    return 3e6 * synthetic_seconds(op, DataType::fp16, shape);
  };
  const auto of = [&](std::string_view name) {
    return calibrated_operator_times(only(half_batch(true), name), device).times;
  };
  CHECK(microseconds_of(of("attention_norm").forward) == near(expected("rms_norm", {1024, 1024}), 0.01));
  CHECK(microseconds_of(of("attention_norm").input_gradient) ==
        near(expected("rms_norm_backward", {1024, 1024}), 0.01));
  // Eight heads of queries and eight of keys, of 128 numbers.
  CHECK(microseconds_of(of("rotary").forward) == near(expected("rope", {1024, 2048}), 0.01));
  CHECK(of("rotary").input_gradient == of("rotary").forward);
  CHECK(microseconds_of(of("activation").forward) == near(expected("swiglu", {1024, 2000}), 0.02));
  CHECK(microseconds_of(of("activation").input_gradient) == near(expected("swiglu_backward", {1024, 2000}), 0.02));
  CHECK(microseconds_of(of("attention").forward) == near(expected("causal_attention", {1, 8, 8, 1024, 128}), 0.01));
  const auto head = head_operators(small_transformer(), half_batch(true));
  for (const TransformerOperator& each : head) {
    if (each.name != "loss") continue;
    const OperatorTimes loss = calibrated_operator_times({&each, 1}, device).times;
    CHECK(microseconds_of(loss.forward) == near(expected("cross_entropy", {1024, 4096}), 0.01));
    CHECK(loss.backward() == Time{});  // the kernel has written the gradient
  }
}
