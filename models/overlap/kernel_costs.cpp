#include "models/overlap/kernel_costs.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace contend {

KernelCosts::KernelCosts(const Device& device, const RooflineOptions& options, double factor)
    : device_{device}, options_{options}, factor_{factor} {
  validate(device);
  if (!(factor > 0) || !std::isfinite(factor))
    throw InputError{fmt::format("a factor on the time of kernels is > 0, not {}", factor)};
  options_.type = DataType::fp32;  // gradients are worked on in full precision, whatever the layers use
}

Time KernelCosts::of(const KernelWork& work) const {
  CONTEND_CHECK(work.launches >= 1 && work.bytes >= 0 && work.flops >= 0, "a kernel is launched and does something");
  const double compute_s =
      work.flops > 0 ? work.flops / (device_.peak(options_.type) * efficiency(work.flops, device_, options_)) : 0;
  const double memory_s = work.bytes / (device_.memory_bandwidth.bytes_per_second() * options_.memory_efficiency);
  return Time::ceil_nanoseconds(std::max(compute_s, memory_s) * factor_ * 1e9) +
         options_.launch_overhead * work.launches;
}

}  // namespace contend
