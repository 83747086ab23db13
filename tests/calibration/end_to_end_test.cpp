// From measuring to prediction on the CPU, which every machine has. Times on a shared machine prove nothing, so only
// what must hold for any times is asserted; tests/bench/bench_calibration.cpp compares.

#include "calibration/calibrated_device.hpp"
#include "calibration/calibrator.hpp"
#include "calibration/model_measurement.hpp"
#include "tests/calibration/perceptron.hpp"
#include "tests/skip.hpp"

#include <chrono>
#include <cmath>

#include <doctest/doctest.h>

using namespace contend;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

TEST_CASE("calibrate, predict the layers of a network, measure the same layers") {
  CalibrationRequest request;
  request.mode = CalibrationMode::quick;
  request.groups = {OperatorGroup::memory, OperatorGroup::gemm};
  request.budget_seconds = 5;
  CalibrationHooks hooks;
  hooks.clock = seconds;
  const CalibrationResult result = calibrate(*contend_cpu_backend(), request, hooks);
  REQUIRE(result.end == CalibrationEnd::finished);
  const CalibratedDevice device{result.profile};
  if (!device.faults(DataType::fp32).empty()) {
    skip_case("this machine is too busy to measure anything");
    return;
  }
  const TimedModel predicted = calibrated_times(perceptron(96, 200, 50), device, 32, DataType::fp32);

  ModelMeasurementRequest again;
  again.batch = 32;
  again.budget_seconds = 5;
  again.note = "test";
  ModelMeasurementHooks more;
  more.clock = seconds;
  std::size_t operations = 0;
  more.progress = [&](const CalibrationProgress& progress) { operations = progress.total; };
  const ModelMeasurement measured = measure_model(*contend_cpu_backend(), perceptron(96, 200, 50), again, more);
  // Forward 2 products and a ReLU; backward 1 + 2 products, a sum and the gradients of a bias. None is another's twin.
  CHECK(operations == 8);

  if (!measured.missing.empty()) {
    skip_case("this machine is too busy: " + measured.reasons.front());
    return;
  }
  REQUIRE(measured.model.layers.size() == 3);
  REQUIRE(predicted.layers.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const TimedLayer &guess = predicted.layers[i], &truth = measured.model.layers[i];
    CAPTURE(guess.name);
    CHECK(guess.name == truth.name);
    CHECK(guess.forward > Time{});
    CHECK(guess.backward > Time{});
    CHECK(truth.forward > Time{});
    CHECK(truth.basis->basis == PredictionBasis::measured);
    CHECK(std::isfinite(guess.basis->relative_error));
    CHECK(std::isfinite(truth.basis->relative_error));
    CHECK(truth.origin.find("measured in fp32 within") == 0);
  }
  MESSAGE("forward and backward: predicted "
          << (predicted.forward() + predicted.backward()).to_seconds() * 1e6 << " us, measured "
          << (measured.model.forward() + measured.model.backward()).to_seconds() * 1e6 << " us");
}
