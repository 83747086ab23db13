#include "calibration/calibrated_device.hpp"

#include "models/catalogue/builder.hpp"
#include "models/catalogue/catalogue.hpp"
#include "models/overlap/kernel_costs.hpp"
#include "sim/error.hpp"
#include "tests/calibration/perceptron.hpp"
#include "tests/calibration/synthetic_profile.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <optional>

using namespace contend;

namespace {

double us(Time time) {
  return time.to_seconds() * 1e6;
}

}  // namespace

TEST_CASE("layers take what their operators are predicted to take") {
  const CalibratedDevice device{synthetic_profile()};
  const TimedModel model = calibrated_times(perceptron(200, 500, 128), device, 128, DataType::fp32);
  CHECK(model.device == "synthetic");
  CHECK(model.batch == 128);
  CHECK(model.gradient_element_bytes == 4);
  REQUIRE(model.layers.size() == 3);
  const auto gemm = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return 1e6 * synthetic_seconds("gemm", DataType::fp32, {1, m, n, k});
  };
  // fc1: one product; backward the gradient of the weights, 500 x 200 x 128, and the sum of 128 x 500 gradients into
  // the bias, which takes as long as a copy of 128'000 bytes: 4 us + 256'000 / 5e11.
  CHECK(us(model.layers[0].forward) == near(gemm(128, 500, 200), 0.001));
  CHECK(us(model.layers[0].backward) == near(gemm(500, 200, 128) + 4.512, 0.001));
  // relu: 64'000 elements read and written; backward two read, one written.
  CHECK(us(model.layers[1].forward) == near(4 + 64'000 * 8 / 5e5, 0.005));
  CHECK(us(model.layers[1].backward) == near(4 + 64'000 * 12 / 5e5, 0.005));
  CHECK(us(model.layers[2].backward) == near(gemm(128, 500, 128) + gemm(128, 500, 128), 0.001));
  for (const TimedLayer& layer : model.layers) {
    CHECK(layer.basis->basis == PredictionBasis::interpolated);
    CHECK(layer.basis->relative_error >= 0);  // the synthetic sum follows its bytes exactly
    CHECK(layer.basis->relative_error < 0.1);
  }
  const BasisSummary summary = summarise_basis(model);
  CHECK(summary.known);
  CHECK(summary.layers[1] == 3);
  CHECK(summary.seconds[1] == near((model.forward() + model.backward()).to_seconds()));
  CHECK(summary.independent < summary.together);
}

TEST_CASE("a layer stands on the weakest of its operators") {
  // All three of fc2's products are as measured if all its sizes are.
  NetworkBuilder net{"one", "", "vector"};
  net.linear("fc", {128, 1, 1, true}, 1024, Bias::no);
  const LayerTable table = net.take();
  const CalibratedDevice device{with_gradients(synthetic_profile())};
  const auto basis = [&](int batch) {
    return calibrated_times(table, device, batch, DataType::fp16).layers[0].basis.value();
  };
  CHECK(basis(16).basis == PredictionBasis::measured);
  CHECK(basis(16).relative_error == near(0.002));
  CHECK(basis(100).basis == PredictionBasis::extrapolated);  // 100 is no multiple of 8, unlike all that was measured
  CHECK(basis(104).basis == PredictionBasis::interpolated);
  CHECK(basis(100'000).basis == PredictionBasis::extrapolated);
}

TEST_CASE("what has no table is its work at the measured rates, and extrapolated") {
  const CalibratedDevice device{synthetic_profile()};
  const OperatorShape shape{8, 64, 28, 28, 128, 3, 3, 1, 1, 1};
  const Prediction convolution = device.operation("convolution", DataType::fp32, shape);
  CHECK(convolution.basis == PredictionBasis::extrapolated);
  CHECK(convolution.relative_error == 1);
  // Bound by its flops: 0.925 GFLOP at 10 TFLOPS.
  CHECK(convolution.seconds == near(2.0 * 8 * 128 * 784 * 64 * 9 / 1e13));
  // Three kernels of 1 MB each: bound by memory.
  const Prediction work = device.work({1e3, 3e6, 3}, DataType::fp32);
  CHECK(work.seconds == near(3 * (4e-6 + 1e6 / 5e11), 0.005));
}

TEST_CASE("every network of the catalogue can be timed") {
  const CalibratedDevice device{synthetic_profile()};
  for (std::size_t i = 0; i < catalogue().size(); i += kSanitized ? 4 : 1) {
    const CatalogueEntry& entry = catalogue()[i];
    CAPTURE(std::string{entry.name});
    const TimedModel model = calibrated_times(build_model(entry), device, 2, DataType::fp16);
    CHECK(model.forward() > Time{});
    for (const TimedLayer& layer : model.layers) {
      CHECK(layer.forward > Time{});
      CHECK(layer.basis.has_value());
    }
  }
}

TEST_CASE("a number format that wasn't measured is an error that names those that were") {
  const CalibratedDevice device{synthetic_profile()};
  CHECK(device.faults(DataType::fp32).empty());
  REQUIRE(device.faults(DataType::bf16).size() == 1);
  CHECK(device.faults(DataType::bf16)[0].text == "the profile `synthetic` has no products in bf16; it has fp32, fp16");
  CHECK_THROWS_AS(static_cast<void>(calibrated_times(perceptron(200, 500, 128), device, 1, DataType::bf16)),
                  InputError);
  CHECK_THROWS_AS(static_cast<void>(calibrated_times(perceptron(200, 500, 128), device, 0, DataType::fp32)),
                  InputError);
  const CalibratedDevice empty{CalibrationProfile{}};
  CHECK(empty.faults(DataType::fp32).size() == 2);
}

TEST_CASE("kernels of compression take what was measured, times the factor") {
  CalibrationProfile profile = synthetic_profile();
  profile.tables.push_back(synthetic_table("top_k", DataType::fp32, {{1'000'000, 1'000}, {4'000'000, 4'000}}));
  profile.tables.back().samples[0].seconds = 123.4e-6;
  const auto device = std::make_shared<const CalibratedDevice>(std::move(profile));
  KernelWork select;
  select.bytes = 2e7;
  select.launches = 9;
  select.op = "top_k";
  select.shape = {1'000'000, 1'000};
  CHECK(KernelCosts{device}.of(select) == Time::nanoseconds(123'400));
  CHECK(KernelCosts{device, 2.5}.of(select) == Time::nanoseconds(308'500));
  select.times = 3;
  CHECK(KernelCosts{device}.of(select) == Time::nanoseconds(370'200));
  // Without an operator, or a table of it: 9 kernels of 2e7 / 9 bytes.
  for (const char* op : {"", "gaussian_k"}) {
    select.op = op;
    CHECK(us(KernelCosts{device}.of(select)) == near(9 * 4 + 2e7 / 5e5, 0.01));
  }
  CHECK_THROWS_AS((KernelCosts{device, 0}), InputError);
}

TEST_CASE("what a model's times stand on: seconds and layers by basis, and the error of their sum") {
  const auto layer = [](double forward, double backward, std::optional<TimeBasis> basis) {
    TimedLayer made;
    made.forward = Time::ceil_nanoseconds(forward * 1e9);
    made.backward = Time::ceil_nanoseconds(backward * 1e9);
    made.basis = basis;
    return made;
  };
  TimedModel model;
  model.layers = {layer(1, 2, TimeBasis{PredictionBasis::measured, 0.1}),
                  layer(0.5, 0.5, TimeBasis{PredictionBasis::extrapolated, 0.4}),
                  layer(2, 3, TimeBasis{PredictionBasis::extrapolated, -1}),  // an error that nobody knows
                  layer(0, 0, TimeBasis{PredictionBasis::measured, 0.5}), layer(7, 7, std::nullopt)};
  const BasisSummary summary = summarise_basis(model);
  CHECK(summary.known);
  const auto of = [](const auto& all, PredictionBasis basis) { return all[static_cast<std::size_t>(basis)]; };
  CHECK(of(summary.seconds, PredictionBasis::measured) == near(3));
  CHECK(of(summary.seconds, PredictionBasis::interpolated) == 0);
  CHECK(of(summary.seconds, PredictionBasis::extrapolated) == near(6));
  CHECK(of(summary.layers, PredictionBasis::measured) == 1);
  CHECK(of(summary.layers, PredictionBasis::extrapolated) == 2);
  // Of 4 s with a known error 0.3 s and 0.4 s.
  CHECK(summary.together == near(0.7 / 4));
  CHECK(summary.independent == near(0.5 / 4));
  CHECK_FALSE(summarise_basis(TimedModel{}).known);
}

TEST_CASE("products take as much longer than measured as they do after seconds of products") {
  CalibrationProfile profile = synthetic_profile();
  const CalibratedDevice cool{profile};
  OperatorTable hot = synthetic_table("gemm_sustained", DataType::fp16, {{1, 128, 128, 128}, {1, 4096, 4096, 4096}});
  hot.samples[0].seconds *= 3;  // of a small product, which draws less power
  hot.samples[1].seconds *= 1.25;
  profile.tables.push_back(hot);
  const CalibratedDevice device{profile};
  CHECK(cool.slowdown(DataType::fp16) == 1);
  CHECK(device.slowdown(DataType::fp16) == near(1.25, 1e-9));
  CHECK(device.slowdown(DataType::fp32) == 1);
  const LayerTable network = perceptron(200, 500, 128);
  const auto total = [&](const CalibratedDevice& on, DataType type) {
    const TimedModel model = calibrated_times(network, on, 128, type);
    return us(model.layers[2].forward + model.layers[2].backward);
  };
  CHECK(total(device, DataType::fp16) == near(1.25 * total(cool, DataType::fp16), 1e-3));
  CHECK(total(device, DataType::fp32) == total(cool, DataType::fp32));
}

TEST_CASE("a pass takes no less than the host needs to launch its kernels") {
  CalibrationProfile profile = synthetic_profile();
  const LayerTable network = perceptron(200, 500, 128);
  const TimedModel free = calibrated_times(network, CalibratedDevice{profile}, 128, DataType::fp32);
  // 100 launches in 5 ms; that the single one takes longer does not matter.
  OperatorTable launches;
  launches.name = "launch";
  launches.samples = {{{1}, 4e-4, 0.01, 10}, {{100}, 5e-3, 0.01, 10}};
  profile.tables.push_back(launches);
  const CalibratedDevice device{profile};
  CHECK(device.launch_seconds() == near(5e-5, 1e-9));
  const TimedModel bound = calibrated_times(network, device, 128, DataType::fp32);
  // Forward one product, backward one and the sum for the bias: 50 and 100 us, where the kernels take less.
  REQUIRE(us(free.layers[0].forward) < 50);
  CHECK(us(bound.layers[0].forward) == near(50, 1e-6));
  CHECK(us(bound.layers[0].backward) == near(100, 1e-6));
}

TEST_CASE("an operator without a table takes the table of a similar one, in proportion to the work") {
  CalibrationProfile profile = synthetic_profile();
  std::vector<OperatorShape> shapes;
  for (const std::int64_t rows : {128, 1024, 8192})
    for (const std::int64_t width : {256, 1024, 4096}) shapes.push_back({rows, width});
  profile.tables.push_back(synthetic_table("layer_norm", DataType::fp16, shapes));
  const CalibratedDevice device{profile};
  const OperatorShape shape{1024, 1024};
  const Prediction norm = device.operation("layer_norm", DataType::fp16, shape);
  const Prediction rms = device.operation("rms_norm", DataType::fp16, shape);
  CHECK(norm.basis == PredictionBasis::measured);
  CHECK(rms.seconds == norm.seconds);  // both move two tensors
  CHECK(rms.basis == PredictionBasis::interpolated);
  CHECK(device.operation("swiglu", DataType::fp16, shape).basis == PredictionBasis::extrapolated);
  for (const OperatorInfo& each : operators()) {
    if (each.like.empty()) continue;
    CAPTURE(std::string{each.name});
    const OperatorInfo* const like = find_operator(each.like);
    REQUIRE(like != nullptr);
    CHECK(like->dimensions.size() == each.dimensions.size());
  }
}
