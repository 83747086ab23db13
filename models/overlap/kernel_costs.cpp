#include "models/overlap/kernel_costs.hpp"

#include "models/calibration/calibrated_device.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

void check_factor(double factor) {
  if (!(factor > 0) || !std::isfinite(factor))
    throw InputError{fmt::format("a factor on the time of kernels is > 0, not {}", factor)};
}

}  // namespace

KernelCosts::KernelCosts(const Device& device, const RooflineOptions& options, double factor)
    : device_{device}, options_{options}, factor_{factor} {
  validate(device);
  check_factor(factor);
  options_.type = DataType::fp32;  // gradients are worked on in full precision, whatever the layers use
}

KernelCosts::KernelCosts(std::shared_ptr<const CalibratedDevice> device, double factor)
    : calibrated_{std::move(device)}, factor_{factor} {
  CONTEND_CHECK(calibrated_ != nullptr, "there is a calibrated device");
  check_factor(factor);
}

Time KernelCosts::of(const KernelWork& work) const {
  CONTEND_CHECK(work.launches >= 1 && work.bytes >= 0 && work.flops >= 0, "a kernel is launched and does something");
  return calibrated_ ? by_calibration(work) : by_roofline(work);
}

Time KernelCosts::by_roofline(const KernelWork& work) const {
  const double compute_s =
      work.flops > 0 ? work.flops / (device_.peak(options_.type) * efficiency(work.flops, device_, options_)) : 0;
  const double memory_s = work.bytes / (device_.memory_bandwidth.bytes_per_second() * options_.memory_efficiency);
  return Time::ceil_nanoseconds(std::max(compute_s, memory_s) * factor_ * 1e9) +
         options_.launch_overhead * work.launches;
}

Time KernelCosts::by_calibration(const KernelWork& work) const {
  if (const OperatorInfo* info = find_operator(work.op); info != nullptr) {
    const auto shape = std::span{work.shape}.first(info->dimensions.size());
    if (const auto one = calibrated_->by_table(work.op, DataType::fp32, shape))
      return Time::ceil_nanoseconds(one->seconds * work.times * factor_ * 1e9);
  }
  const Prediction whole = calibrated_->work({work.flops, work.bytes, work.launches}, DataType::fp32);
  return Time::ceil_nanoseconds(whole.seconds * factor_ * 1e9);
}

}  // namespace contend
