#include "calibration/calibrated_device.hpp"

#include "calibration/layer_operators.hpp"
#include "calibration/pass_time.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr double kDay_s = 86'400;

/// Computing rather than memory limits these operators.
bool computes(const OperatorInfo& info) {
  return info.group == OperatorGroup::gemm || info.group == OperatorGroup::convolution ||
         info.group == OperatorGroup::attention;
}

/// The seconds of a launch among the most that were measured one after the other.
double launch_seconds_of(const CalibrationProfile& profile) {
  const OperatorTable* const table = profile.table("launch", DataType::fp32);
  if (table == nullptr || table->samples.empty()) return 0;
  const auto most = std::max_element(table->samples.begin(), table->samples.end(),
                                     [](const auto& a, const auto& b) { return a.shape < b.shape; });
  return most->seconds / static_cast<double>(most->shape.front());
}

}  // namespace

CalibratedDevice::CalibratedDevice(CalibrationProfile profile)
    : profile_{std::move(profile)}, predictor_{profile_}, launch_seconds_{launch_seconds_of(profile_)} {}

std::vector<CalibratedDevice::Fault> CalibratedDevice::faults(DataType type) const {
  std::vector<Fault> found;
  if (!profile_.has_samples("gemm", type)) {
    std::vector<std::string_view> types;
    for (const DataType each : kDataTypes) {
      if (profile_.has_samples("gemm", each)) types.push_back(to_string(each));
    }
    found.push_back(
        {Fault::type,
         fmt::format("the profile `{}` has no products in {}; {}", profile_.name, to_string(type),
                     types.empty() ? "it has none at all" : fmt::format("it has {}", fmt::join(types, ", ")))});
  }
  if (!profile_.has_samples("copy", DataType::fp32))
    found.push_back({Fault::memory, fmt::format("the profile `{}` has no copies in memory", profile_.name)});
  return found;
}

double CalibratedDevice::slowdown(DataType type) const {
  const OperatorTable* const sustained = profile_.table("gemm_sustained", type);
  const OperatorTable* const burst = profile_.table("gemm", type);
  if (sustained == nullptr || burst == nullptr) return 1;
  double flops = 0, ratio = 1;
  for (const OperatorSample& hot : sustained->samples) {
    for (const OperatorSample& cool : burst->samples) {
      const double work = find_operator("gemm")->work(hot.shape, type).flops;
      if (cool.shape != hot.shape || work <= flops) continue;
      flops = work;
      ratio = std::max(1.0, hot.seconds / cool.seconds);
    }
  }
  return ratio;
}

Prediction CalibratedDevice::operation(std::string_view op, DataType type, std::span<const std::int64_t> shape) const {
  const OperatorInfo* const info = find_operator(op);
  CONTEND_CHECK(info != nullptr, "an operation has an operator");
  if (auto prediction = by_table(op, type, shape)) {
    if (computes(*info)) prediction->seconds *= slowdown(type);
    return *prediction;
  }
  const OperatorWork least = info->work(shape, type);
  if (const OperatorInfo* const like = find_operator(info->like);
      like != nullptr && profile_.has_samples(like->name, type)) {
    const OperatorWork other = like->work(shape, type);
    Prediction one = operation(like->name, type, shape);
    one.seconds *= computes(*info) ? least.flops / other.flops : least.bytes / other.bytes;
    one.basis = std::max(one.basis, PredictionBasis::interpolated);
    return one;
  }
  return {work({least.flops, least.bytes, 1}, type).seconds, kUnknownError, PredictionBasis::extrapolated};
}

Prediction CalibratedDevice::work(const LayerWork& work, DataType type) const {
  CONTEND_CHECK(work.kernels >= 1, "work is done by kernels");
  // A copy of n bytes moves 2 n.
  const std::int64_t copied = std::max<std::int64_t>(1, std::llround(work.bytes / work.kernels / 2));
  const std::optional<Prediction> copy = predictor_.predict("copy", DataType::fp32, std::span{&copied, 1});
  CONTEND_CHECK(copy.has_value(), "a profile that is used has copies");
  Prediction one = *copy;
  if (const auto products = predictor_.roofline("gemm", type); products && work.flops > 0)
    one.seconds = std::max(one.seconds, products->seconds_per_flop * work.flops / work.kernels);
  one.seconds *= work.kernels;
  return one;
}

double CalibratedDevice::seconds(const KernelWork& kernel) const {
  if (const OperatorInfo* info = find_operator(kernel.op); info != nullptr) {
    const auto shape = std::span{kernel.shape}.first(info->dimensions.size());
    if (const auto one = by_table(kernel.op, DataType::fp32, shape)) return one->seconds * kernel.times;
  }
  return work({kernel.flops, kernel.bytes, kernel.launches}, DataType::fp32).seconds;
}

TimedModel calibrated_times(const LayerTable& table, const CalibratedDevice& device, int batch, DataType type) {
  validate(table);
  std::vector<Complaint> found;
  const auto complain = [&](std::string key, std::string reason) {
    Complaint complaint;
    complaint.key = std::move(key);
    complaint.reason = std::move(reason);
    found.push_back(std::move(complaint));
  };
  for (CalibratedDevice::Fault& fault : device.faults(type)) complain("type", std::move(fault.text));
  if (batch < 1) complain("batch", fmt::format("expected at least 1, got {}", batch));
  if (!found.empty()) throw InputError{std::move(found)};

  const auto time_of = [&](const Layer& layer, const PassTime& pass) {
    const double seconds = pass.seconds(device);
    if (seconds <= kDay_s) return Time::ceil_nanoseconds(seconds * 1e9);
    complain(fmt::format("layer `{}`", layer.name),
             fmt::format("a pass would take {:.3g} s, more than a day", seconds));
    return Time{};
  };
  TimedModel model;
  model.name = table.name;
  model.device = device.profile().name;
  model.batch = batch;
  model.gradient_element_bytes = activation_bytes(type);
  for (const Layer& layer : table.layers) {
    const LayerOperators operators = layer_operators(layer, batch, type);
    PassTime forward, backward;
    forward.add(operators.forward, device, type);
    backward.add(operators.backward, device, type);
    PredictionSum both = forward.sum();
    both.add(backward.sum());
    TimedLayer timed;
    timed.name = layer.name;
    timed.tensors = layer.parameters;
    timed.forward = time_of(layer, forward);
    timed.backward = time_of(layer, backward);
    timed.basis = both.basis();
    timed.origin = fmt::format("calibration {} {}", device.profile().name, to_string(type));
    model.layers.push_back(std::move(timed));
  }
  if (!found.empty()) throw InputError{std::move(found)};
  validate(model);
  return model;
}

BasisSummary summarise_basis(const TimedModel& model) {
  BasisSummary summary;
  double total = 0, errors = 0, squares = 0;
  for (const TimedLayer& layer : model.layers) {
    const double seconds = (layer.forward + layer.backward).to_seconds();
    if (!layer.basis || seconds <= 0) continue;
    summary.known = true;
    const auto index = static_cast<std::size_t>(layer.basis->basis);
    summary.seconds[index] += seconds;
    ++summary.layers[index];
    if (layer.basis->relative_error < 0) continue;
    const double error = seconds * layer.basis->relative_error;
    total += seconds;
    errors += error;
    squares += error * error;
  }
  if (total > 0) {
    summary.together = errors / total;
    summary.independent = std::sqrt(squares) / total;
  }
  return summary;
}

}  // namespace contend
