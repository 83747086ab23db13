#include "calibration/model_measurement.hpp"

#include "tests/calibration/fake_backend.hpp"
#include "tests/calibration/perceptron.hpp"
#include "tests/near.hpp"
#include "tests/text_checks.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

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

TEST_CASE("the time of a layer is the time of its operators, each as often as the layer runs it") {
  // Every operator takes another time, so that sums tell which there were, in microseconds.
  FakeDevice device;
  device.now = 50;
  device.time = [](const contend_operation& operation, int) {
    constexpr std::pair<std::string_view, int> kUnits[] = {{"gemm", 1},    {"gemm_nn", 10},      {"gemm_tn", 100},
                                                           {"sum", 1000},  {"activation", 3000}, {"column_sum", 2000},
                                                           {"copy", 10000}};
    for (const auto& [name, units] : kUnits)
      if (name == operation.name) return units * 1e-6;
    return 1e-2;
  };
  LayerTable table = perceptron(96, 200, 50);
  Layer sizes;  // reads and writes 3000 numbers of 4 bytes
  sizes.name = "sizes";
  sizes.kind = LayerKind::activation;
  sizes.input_elements = sizes.output_elements = 1000;
  table.layers.push_back(sizes);
  ModelMeasurementRequest request;
  request.batch = 3;
  request.budget_seconds = 1000;
  request.note = "today";
  ModelMeasurementHooks hooks;
  hooks.clock = [&] { return device.now; };
  std::vector<std::size_t> done;
  std::size_t total = 0;
  double least_left = 1000;
  hooks.progress = [&](const auto& at) {
    done.push_back(at.done);
    total = at.total;
    CHECK(at.seconds_left == near(1000 - (device.now - 50)));
    least_left = std::min(least_left, at.seconds_left);
  };
  const ModelMeasurement found = measure_model(device.backend(), table, request, hooks);
  CHECK(found.missing.empty());
  REQUIRE(found.model.layers.size() == 4);
  const auto units = [&](std::size_t i) {
    const TimedLayer& layer = found.model.layers[i];
    return std::pair{std::llround(static_cast<double>(layer.forward.ns()) / 1e3),
                     std::llround(static_cast<double>(layer.backward.ns()) / 1e3)};
  };
  CHECK(units(0) == std::pair{1LL, 2100LL});  // the first layer has no gradient of its input
  CHECK(units(1) == std::pair{3000LL, 1000LL});
  CHECK(units(2) == std::pair{1LL, 110LL});
  CHECK(units(3) == std::pair{10000LL, 10000LL});
  // A copy of so many bytes reads and writes them. Forward 2 x 12,000 bytes move, backward 3 x 12,000.
  CHECK(std::ranges::count(device.log, "copy fp32 12000") >= 1);
  CHECK(std::ranges::count(device.log, "copy fp32 18000") >= 1);
  CHECK(done.size() == total);
  for (std::size_t i = 0; i < done.size(); ++i) CHECK(done[i] == i);
  CHECK(least_left < 1000);
}

TEST_CASE("the error of a layer is the error of its operators, by their times") {
  // Products take 1 and 3 by turns, all else the same time always.
  FakeDevice device;
  device.time = [](const contend_operation& operation, int count) {
    return std::string_view{operation.name}.starts_with("gemm") ? (count % 2 == 0 ? 1e-3 : 3e-3) : 1e-3;
  };
  const ModelMeasurement found = measured(device, false, 1000);
  REQUIRE(found.model.layers.size() == 3);
  const auto error_of = [&](std::size_t i) { return found.model.layers[i].basis->relative_error; };
  CHECK(error_of(1) == near_absolute(0, 1e-9));
  // Products alone have twice 1 ms to 2 ms, and the sum over columns 1 ms without any error.
  CHECK(error_of(2) > 0.01);
  CHECK(error_of(2) < 1);
  const double products = static_cast<double>(found.model.layers[0].forward.ns()) * 2;
  CHECK(error_of(0) == near(error_of(2) * products / (products + 1e6), 1e-5));
  for (const TimedLayer& layer : found.model.layers)
    CHECK(layer.origin == fmt::format("measured in fp32 within {:.1f}%, ", 100 * layer.basis->relative_error));
}

TEST_CASE("nothing more is measured when the device is lost, and other failures cost their operation only") {
  for (const contend_status status : {CONTEND_BROKEN, CONTEND_NO_DEVICE, CONTEND_OUT_OF_MEMORY}) {
    FakeDevice device;
    device.run = [&](const contend_operation& operation, int) {
      return std::string_view{operation.name} == "gemm" ? status : CONTEND_OK;
    };
    const ModelMeasurement found = measured(device, true);
    const bool is_lost = status != CONTEND_OUT_OF_MEMORY;
    CAPTURE(status);
    REQUIRE_FALSE(found.reasons.empty());
    CHECK(found.reasons.back().starts_with("the device is lost: ") == is_lost);
    CHECK(found.reasons.size() == 2);  // both products of the forward pass, or one and its consequence
    CHECK(found.model.layers.size() == (is_lost ? 0 : 1));
    CHECK(found.missing.size() == (is_lost ? 3 : 2));
  }
}
