#pragma once
// The cost model gives the times of the layers of a network on a device, from a roofline. docs/models/layers.md says
// what a roofline leaves out and how accurate it is.

#include "models/devices.hpp"
#include "models/layer_work.hpp"
#include "models/layers.hpp"
#include "models/scales.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The parameters of the roofline. A kernel takes max(flops / (peak x efficiency), bytes / (bandwidth x
/// memory_efficiency)) + launch_overhead.
///
/// Its efficiency rises with its work w: efficiency(w) = e x w / (w + h), where h is the work that the device would do
/// in `ramp` at efficiency e (Hockney's r_infinity and n_1/2; Parallel Computing 17, 1991). Data sheets of makers do
/// not give these parameters. With `sheet` a device whose kernels were measured (Device::kernels) has them in place of
/// all constants; a calibration on the device itself replaces both.
struct RooflineOptions {
  bool sheet = false;
  KernelScales scales{};
  /// A generation that is named has the device's figures also without `sheet`.
  AttentionKernel attention = AttentionKernel::flash;
  DataType type = DataType::fp32;  ///< of matrix products and activations
  /// Fraction of the peak that large products reach, on tensor cores and on ordinary cores. On a V100 cuBLAS reached 83
  /// of 125 TFLOPS on tensor cores, and a seventh of those 83 of the 15.7 TFLOPS of the ordinary cores (Markidis et
  /// al., IPDPSW 2018, abstract). Assumed for every device.
  double matrix_unit_efficiency = 83.0 / 125;
  double vector_efficiency = 83.0 / 7 / 15.7;
  /// Fraction of the peak that attention in one kernel reaches; if not given, the device's fraction
  /// (Device::fused_attention), else the fraction of products. Of operators of transformers only
  /// (models/parallel/operators.hpp).
  std::optional<double> attention_efficiency{};
  double memory_efficiency = 0.8;                ///< of the peak bandwidth; assumption
  Time ramp = Time::microseconds(5);             ///< assumption
  Time launch_overhead = Time::microseconds(5);  ///< from one kernel to the next; assumption
  std::optional<int> gradient_element_bytes;     ///< default: as of an activation

  /// Fraction of the peak that large products of `type` reach on the device: one of the two above.
  [[nodiscard]] double& product_efficiency(const Device& device) {
    return device.uses_matrix_unit(type) ? matrix_unit_efficiency : vector_efficiency;
  }
};

/// What a kernel multiplies: `count` products of m x k and k x n; or attention of `count` heads of k numbers, whose m
/// queries see n / 2 keys each. Nothing is known where m is 0.
struct KernelShape {
  std::int64_t count = 1, m = 0, n = 0, k = 0;
  bool attention = false, backward = false;
  /// Rows of the operands in memory have a multiple of so many numbers. They are the n and k of a layer's forward
  /// product, in its gradients, too: m is no row.
  std::int64_t rows_of = 1 << 10;

  /// What attention backward reaches of the forward kernel's share: 0.76 to 0.98, 0.82 in the median of the shapes of
  /// 4,096 and more tokens on an H100 (models/devices/h100-sxm5-80gb-pytorch.yaml).
  static constexpr double kBackwardAttention = .82;
  /// Attention of all heads, forward.
  [[nodiscard]] static KernelShape of_attention(std::int64_t heads, std::int64_t queries, std::int64_t head_size,
                                                double flops);
  /// The products for the gradients of a forward product, or attention backward.
  [[nodiscard]] KernelShape of_inputs() const;
  [[nodiscard]] KernelShape of_weights() const;
};

/// Fraction of the peak that a kernel of `flops` reaches; a product of unknown shape as one of three equal sides.
[[nodiscard]] double efficiency(double flops, const Device& device, const RooflineOptions& options,
                                const KernelShape& shape = {});

/// The cost of a pass by the roofline.
struct RooflineCost {
  double ns = 0;
  bool compute_bound = false;
};
/// The cost of a pass whose kernels share its work evenly, one after the other; 0 without kernels. The device supports
/// the type, and the options are valid.
[[nodiscard]] RooflineCost roofline_cost(const LayerWork& work, const Device& device, const RooflineOptions& options,
                                         const KernelShape& shape = {});
/// Checks a roofline. Throws InputError with every fault: an invalid device, a type that the device does not support or
/// that can't train (int8), an efficiency outside (0, 1], a negative time.
void validate(const RooflineOptions& options, const Device& device);

/// The times by the roofline, for `batch` samples. Each kernel reads or writes each of its tensors once
/// (Layer::input_reads is the exception). The backward pass has one kernel for the gradient of the input, if a layer
/// before needs it, and one for the gradient of the weights. Throws InputError with every fault: an invalid table,
/// device or option, a batch < 1, a layer that takes longer than a day.
[[nodiscard]] TimedModel roofline_times(const LayerTable& table, const Device& device, int batch,
                                        const RooflineOptions& options = {});

}  // namespace contend
