#include "models/overlap/kernel_costs.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

void check_factor(double factor) {
  if (!(factor > 0) || !std::isfinite(factor))
    throw InputError{fmt::format("a factor on the time of kernels must be > 0, got {}", factor)};
}

}  // namespace

KernelCosts::KernelCosts(const Device& device, const RooflineOptions& options, double factor)
    : device_{device}, options_{options}, factor_{factor} {
  validate(device);
  check_factor(factor);
  // Gradients are processed in full precision, whatever the layers use, or in the widest format that there is.
  options_.type = device.supports(DataType::fp32)
                      ? DataType::fp32
                      : *std::ranges::find_if(kDataTypes, [&](DataType type) { return device.supports(type); });
}

KernelCosts::KernelCosts(std::shared_ptr<const KernelTimer> device, double factor)
    : measured_{std::move(device)}, factor_{factor} {
  CONTEND_CHECK(measured_ != nullptr, "there is a measured device");
  check_factor(factor);
}

Time KernelCosts::of(const KernelWork& work) const {
  CONTEND_CHECK(work.launches >= 1 && work.bytes >= 0 && work.flops >= 0, "a kernel is launched and does something");
  return measured_ ? Time::ceil_nanoseconds(measured_->seconds(work) * factor_ * 1e9) : by_roofline(work);
}

Time KernelCosts::by_roofline(const KernelWork& work) const {
  const double compute_s =
      work.flops > 0 ? work.flops / (device_.peak(options_.type) * efficiency(work.flops, device_, options_)) : 0;
  const double memory_s = work.bytes / (device_.memory_bandwidth.bytes_per_second() * options_.memory_efficiency);
  return Time::ceil_nanoseconds(std::max(compute_s, memory_s) * factor_ * 1e9) +
         options_.launch_overhead * work.launches;
}

}  // namespace contend
