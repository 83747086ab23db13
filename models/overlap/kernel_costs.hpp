#pragma once
// KernelCosts gives the times of kernels that are not part of a layer: the kernels of gradient compression.

#include "models/cost_model.hpp"
#include "models/devices.hpp"
#include "sim/units.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace contend {

/// The work of a kernel, or of a few consecutive kernels.
struct KernelWork {
  double bytes = 0;  ///< read and written in the memory of the GPU
  double flops = 0;  ///< in fp32; a multiply-add counts as 2
  int launches = 1;  ///< kernels, >= 1
  /// The operator of calibration/operators.hpp that does equal work; empty if there is none.
  std::string_view op{};
  std::array<std::int64_t, 4> shape{};  ///< the dimensions of the operator, then 0
  int times = 1;                        ///< executions of that operator, >= 1
};

/// A device on which kernels were measured (calibration/calibrated_device.hpp).
class KernelTimer {
 public:
  virtual ~KernelTimer() = default;
  /// The time of the work in fp32, in seconds, > 0.
  [[nodiscard]] virtual double seconds(const KernelWork& work) const = 0;
};

/// The times of kernels by the roofline of models/cost_model.hpp: max(flops / (peak x efficiency), bytes / (bandwidth x
/// memory_efficiency)) + launches x launch_overhead, never zero. It assumes kernels that are limited by memory and
/// access each value as rarely as the method allows. The kernels of a framework may be several times slower; a factor
/// accounts for that (docs/models/compression.md).
///
/// On a calibrated device a kernel takes the measured time of its operator. If the profile does not have it, it takes
/// the time of its work at the measured memory bandwidth and rate of fp32 products.
class KernelCosts {
 public:
  /// Costs by the roofline. Throws InputError for an invalid device or a factor that is not > 0.
  KernelCosts(const Device& device, const RooflineOptions& options, double factor = 1);
  /// Costs by a profile, which must have a table of copies. Throws InputError for a factor that is not > 0.
  explicit KernelCosts(std::shared_ptr<const KernelTimer> device, double factor = 1);
  [[nodiscard]] Time of(const KernelWork& work) const;

 private:
  [[nodiscard]] Time by_roofline(const KernelWork& work) const;

  Device device_;
  RooflineOptions options_;
  std::shared_ptr<const KernelTimer> measured_;  ///< if not null, used instead of device_ and options_
  double factor_;
};

}  // namespace contend
