// Calibrates this machine's CPU and holds predictions against measurements: products that were not in the calibration,
// and the layers of a small network. Everything within one run, because a shared machine is not the same an hour later.
//
//   bench_calibration [SECONDS]      for the calibration; 60

#include "calibration/calibrated_device.hpp"
#include "calibration/calibrator.hpp"
#include "calibration/median.hpp"
#include "calibration/model_measurement.hpp"
#include "models/catalogue/builder.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

using namespace contend;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

CalibrationProfile calibrate_cpu(double budget) {
  CalibrationRequest request;
  request.mode = CalibrationMode::quick;
  request.groups = {OperatorGroup::memory, OperatorGroup::gemm, OperatorGroup::elementwise};
  request.budget_seconds = budget;
  CalibrationHooks hooks;
  hooks.clock = seconds;
  return calibrate(*contend_cpu_backend(), request, hooks).profile;
}

void print_tables(const CalibrationProfile& profile) {
  fmt::print("{:24} {:>6} {:>8} {:>18}\n", "operator", "type", "samples", "cross-validation");
  for (const OperatorTable& table : profile.tables)
    fmt::print("{:24} {:>6} {:>8} {:>18}\n", table.name, to_string(table.type), table.samples.size(),
               table.cross_validation < 0 ? "-" : fmt::format("{:.1f}%", 100 * table.cross_validation));
}

/// Draws sizes from within what was measured.
void held_out_products(const CalibratedDevice& device, int count) {
  RandomStream random{1, "held-out products"};
  const OperatorInfo& gemm = *find_operator("gemm");
  contend_device_info info{};
  char message[256] = {};
  if (contend_cpu_backend()->open(0, &info, message, sizeof message) != CONTEND_OK) return;
  const auto size = [&] { return static_cast<std::int64_t>(std::exp2(random.uniform(5, 10))); };
  std::vector<double> errors, expected;
  fmt::print("\n{:>22} {:>12} {:>12} {:>8} {:>9}  {}\n", "product", "predicted us", "measured us", "error", "expected",
             "basis");
  for (int i = 0; i < count; ++i) {
    const OperatorShape shape{1, size(), size(), size()};
    const Prediction guess = device.operation("gemm", DataType::fp32, shape);
    const MeasuredOperation truth =
        measure(*contend_cpu_backend(), gemm, DataType::fp32, shape, RepetitionRules{}, seconds);
    if (!truth.sample) continue;
    errors.push_back(std::abs(guess.seconds / truth.sample->seconds - 1));
    expected.push_back(guess.relative_error);
    fmt::print("{:>22} {:>12.1f} {:>12.1f} {:>7.1f}% {:>8.1f}%  {}\n", fmt::format("{}", fmt::join(shape, " ")),
               guess.seconds * 1e6, truth.sample->seconds * 1e6, 100 * errors.back(), 100 * expected.back(),
               to_string(guess.basis));
  }
  contend_cpu_backend()->close();
  fmt::print("held-out products: median error {:.1f}%, expected {:.1f}%\n", 100 * median_interval(errors).median,
             100 * median_interval(expected).median);
}

void network(const CalibratedDevice& device) {
  NetworkBuilder net{"mlp", "", "vector"};
  Feature x{784, 1, 1, false};
  for (const int width : {700, 500, 300}) {
    x = net.linear(fmt::format("fc{}", width), x, width, Bias::yes);
    x = net.activation(fmt::format("relu{}", width), x);
  }
  net.linear("out", x, 10, Bias::yes);
  const LayerTable table = net.take();
  const TimedModel guess = calibrated_times(table, device, 128, DataType::fp32);
  ModelMeasurementRequest request;
  request.batch = 128;
  request.budget_seconds = 30;
  ModelMeasurementHooks hooks;
  hooks.clock = seconds;
  const TimedModel truth = measure_model(*contend_cpu_backend(), table, request, hooks).model;
  fmt::print("\n{:10} {:>14} {:>14} {:>8}  {}\n", "layer", "predicted us", "measured us", "error", "basis");
  double guessed = 0, measured = 0;
  for (std::size_t i = 0; i < truth.layers.size(); ++i) {
    const double a = (guess.layers[i].forward + guess.layers[i].backward).to_seconds();
    const double b = (truth.layers[i].forward + truth.layers[i].backward).to_seconds();
    guessed += a;
    measured += b;
    fmt::print("{:10} {:>14.1f} {:>14.1f} {:>7.1f}%  {}\n", guess.layers[i].name, a * 1e6, b * 1e6, 100 * (a / b - 1),
               to_string(guess.layers[i].basis->basis));
  }
  fmt::print("sum of layers: predicted {:.1f} us, measured {:.1f} us, {:+.1f}%; expected {:.1f}%\n", guessed * 1e6,
             measured * 1e6, 100 * (guessed / measured - 1), 100 * summarise_basis(guess).together);
}

void speed(const CalibratedDevice& device) {
  RandomStream random{2, "look-ups"};
  constexpr int kLookUps = 2000;
  double sum = 0;
  const double begin = seconds();
  for (int i = 0; i < kLookUps; ++i) {
    const OperatorShape shape{1, random.uniform_integer(33, 1000), random.uniform_integer(33, 1000), 777};
    sum += device.operation("gemm", DataType::fp32, shape).seconds;
  }
  fmt::print("\na prediction takes {:.1f} us (mean product {:.1f} us)\n", (seconds() - begin) / kLookUps * 1e6,
             sum / kLookUps * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  const double budget = argc > 1 ? std::atof(argv[1]) : 60;
  if (!(budget > 0)) {
    fmt::print(stderr, "expected seconds > 0\n");
    return 2;
  }
  CalibrationProfile profile = calibrate_cpu(budget);
  print_tables(profile);
  const CalibratedDevice device{std::move(profile)};
  if (!device.faults(DataType::fp32).empty()) {
    fmt::print("too little time to measure products and copies\n");
    return 1;
  }
  held_out_products(device, 40);
  network(device);
  speed(device);
  return 0;
}
