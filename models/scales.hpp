#pragma once
// Factors by which parts of an iteration take longer than models say. They are 1, but where an interval asks what an
// error of a part would change (scenarios/training/prediction_interval.hpp). No key of a scenario sets them.

#include "sim/units.hpp"

#include <cmath>
#include <cstdint>

namespace contend {

/// Of kernels: attention in one kernel, other kernels bound by arithmetic, and kernels bound by memory. A calibration
/// profile has one error for all kernels, so its kernels have the factor of products.
struct KernelScales {
  double products = 1, attention = 1, memory = 1;

  bool operator==(const KernelScales&) const = default;
};

/// Of transfers: those that stay inside a server, and all others.
struct TransferScales {
  double inside = 1, between = 1;
};

/// So many times as long, rounded to nanoseconds.
[[nodiscard]] inline Time scaled(Time time, double factor) {
  return Time::nanoseconds(std::llround(static_cast<double>(time.ns()) * factor));
}

}  // namespace contend
