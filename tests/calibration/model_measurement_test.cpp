#include "calibration/model_measurement.hpp"

#include "tests/calibration/fake_backend.hpp"
#include "tests/calibration/perceptron.hpp"
#include "tests/text_checks.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace contend;

namespace {

ModelMeasurement measured(FakeDevice& device, bool partial, double budget_seconds = 10) {
  ModelMeasurementRequest request;
  request.batch = 4;
  request.budget_seconds = budget_seconds;
  request.partial = partial;
  ModelMeasurementHooks hooks;
  hooks.clock = [&] { return device.now; };
  return measure_model(device.backend(), perceptron(96, 200, 50), request, hooks);
}

contend_status no_sums(const contend_operation& operation) {
  return std::string_view{operation.name} == "sum" ? CONTEND_UNSUPPORTED : CONTEND_OK;
}

}  // namespace

TEST_CASE("operators that the device lacks are found before anything is measured") {
  FakeDevice device;
  device.prepare = no_sums;
  const ModelMeasurement found = measured(device, false);
  CHECK(found.refused);
  CHECK(device.executions == 0);
  CHECK(device.prepared == device.released);
  CHECK(found.model.layers.empty());
  // ReLU goes back as a sum.
  CHECK(found.missing == std::vector<std::string>{"relu"});
  CHECK(found.reasons == std::vector<std::string>{"sum fp32: fake answer " + std::to_string(CONTEND_UNSUPPORTED)});
  // Of 6 operators, 8 shapes, one each was tried: the smallest product is fc2's, 4 x 50 x 200.
  CHECK(device.log.size() == 6);
  CHECK(std::ranges::count(device.log, "gemm fp32 1 4 50 200") == 1);
}

TEST_CASE("the other layers are measured if that is wanted") {
  FakeDevice device;
  device.prepare = no_sums;
  const ModelMeasurement found = measured(device, true);
  CHECK_FALSE(found.refused);
  CHECK(device.executions > 0);
  REQUIRE(found.model.layers.size() == 2);
  CHECK(found.model.layers[0].name == "fc1");
  CHECK(found.missing == std::vector<std::string>{"relu"});
  CHECK(found.reasons.size() == 1);
}

TEST_CASE("too little memory for a shape is no lack of an operator") {
  FakeDevice device;
  device.prepare = [](const contend_operation& operation) {
    return std::string_view{operation.name} == "sum" ? CONTEND_OUT_OF_MEMORY : CONTEND_OK;
  };
  const ModelMeasurement found = measured(device, false);
  CHECK_FALSE(found.refused);
  CHECK(found.model.layers.size() == 2);
  CHECK(found.missing == std::vector<std::string>{"relu"});
}

TEST_CASE("an operator that the device lacks is not reported as a lack of time") {
  FakeDevice device;
  device.prepare = no_sums;
  const ModelMeasurement result = measured(device, true, 0.001);
  REQUIRE_FALSE(result.reasons.empty());
  int lacking = 0, late = 0;
  for (const std::string& reason : result.reasons) {
    const bool is_sum = reason.starts_with("sum ");
    CHECK(contains(reason, is_sum ? "fake answer" : "no time left of 0.001 s"));
    ++(is_sum ? lacking : late);
  }
  CHECK(lacking > 0);
  CHECK(late > 0);
}
