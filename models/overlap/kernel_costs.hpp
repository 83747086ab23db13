#pragma once
// What kernels cost that are no layer of the network: those of gradient compression.

#include "models/cost_model.hpp"
#include "models/devices.hpp"
#include "sim/units.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace contend {

/// What a kernel, or a few that follow each other, moves and computes.
struct KernelWork {
  double bytes = 0;  ///< read and written in the memory of the GPU
  double flops = 0;  ///< in fp32; a multiply-add counts as 2
  int launches = 1;  ///< kernels, >= 1
  /// The operator of calibration/operators.hpp that does the same, and its dimensions; empty: there is none.
  std::string_view op{};
  std::array<std::int64_t, 4> shape{};  ///< those that the operator has, then 0
  int times = 1;                        ///< executions of that operator, >= 1
};

/// A device on which kernels were measured (calibration/calibrated_device.hpp).
class KernelTimer {
 public:
  virtual ~KernelTimer() = default;
  /// Seconds in fp32, > 0.
  [[nodiscard]] virtual double seconds(const KernelWork& work) const = 0;
};

/// The roofline of models/cost_model.hpp for such work: max(flops / (peak x efficiency), bytes / (bandwidth x
/// memory_efficiency)) + launches x launch_overhead, never zero. It assumes kernels that are limited by memory and
/// touch each value as rarely as the method allows; the kernels of a framework may be several times slower, which a
/// factor says (docs/models/compression.md).
///
/// On a calibrated device a kernel takes what its operator was measured to take, or, if that isn't in the profile, what
/// its work takes at the measured bandwidth of the memory and rate of fp32 products.
class KernelCosts {
 public:
  /// Throws InputError for an unsound device or a factor that is not > 0.
  KernelCosts(const Device& device, const RooflineOptions& options, double factor = 1);
  /// The profile has a table of copies. Throws InputError for a factor that is not > 0.
  explicit KernelCosts(std::shared_ptr<const KernelTimer> device, double factor = 1);
  [[nodiscard]] Time of(const KernelWork& work) const;

 private:
  [[nodiscard]] Time by_roofline(const KernelWork& work) const;

  Device device_;
  RooflineOptions options_;
  std::shared_ptr<const KernelTimer> measured_;  ///< used instead of both if there is one
  double factor_;
};

}  // namespace contend
