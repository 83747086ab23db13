#pragma once
// How long the layers of a network take on a device: by a roofline, from measured times, or from both. What a roofline
// leaves out, and how far off it is: docs/models/layers.md.

#include "models/devices.hpp"
#include "models/layers.hpp"
#include "sim/units.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// A kernel takes max(flops / (peak x efficiency), bytes / (bandwidth x memory_efficiency)) + launch_overhead.
///
/// Its efficiency rises with its work w: efficiency(w) = e x w / (w + h), where h is the work that the device would do
/// in `ramp` at efficiency e (Hockney's r_infinity and n_1/2; Parallel Computing 17, 1991). Whatever is not known for a
/// device is one of these numbers: a calibration on the device itself replaces them.
struct RooflineOptions {
  DataType type = DataType::fp32;  ///< of matrix products and activations
  /// Fraction of the peak that large products reach. V100, cuBLAS: 83 of 125 TFLOPS on tensor cores and a seventh of
  /// that, of 15.7, on the others (Markidis et al., IPDPSW 2018, abstract). Assumed for every device.
  double matrix_unit_efficiency = 83.0 / 125;
  double vector_efficiency = 83.0 / 7 / 15.7;
  double memory_efficiency = 0.8;                ///< of the peak bandwidth; assumption
  Time ramp = Time::microseconds(5);             ///< assumption
  Time launch_overhead = Time::microseconds(5);  ///< from one kernel to the next; assumption
  std::optional<int> gradient_element_bytes;     ///< default: as wide as an activation
};

/// Fraction of the peak that a kernel of `flops` reaches.
[[nodiscard]] double efficiency(double flops, const Device& device, const RooflineOptions& options);

/// Times by the roofline, for `batch` samples. Each tensor is read or written once a kernel (Layer::input_reads is the
/// exception). Backward: one kernel for the gradient of the input (where something before needs it) and one for that of
/// the weights. Throws InputError with every fault: an unsound table or device, a batch < 1, a type that the device
/// hasn't (int8 trains nothing), an efficiency outside (0, 1], a negative time, a layer that takes longer than a day.
[[nodiscard]] TimedModel roofline_times(const LayerTable& table, const Device& device, int batch,
                                        const RooflineOptions& options = {});

/// One row of a table of measured times, for a whole batch.
struct MeasuredLayer {
  std::string name;                 ///< of a layer of the model
  std::optional<double> forward_s;  ///< seconds, > 0
  std::optional<double> backward_s;
  std::string origin;  ///< such as `times.csv row 12`
};

/// The model with the rows' times in place of its own; the origin of each layer says which. Throws InputError with
/// every fault: a row for a layer that the model doesn't have or that has a row already, a row without times, a time
/// that is zero, negative, not finite or above a day.
[[nodiscard]] TimedModel replace_times(TimedModel model, const std::vector<MeasuredLayer>& rows);

struct TableOptions {
  std::string device;  ///< what was measured on
  int batch = 1;
  int gradient_element_bytes = 4;
  /// Forward time as a fraction of backward where a row has none (0.5 is usual); without it such a row is an error.
  std::optional<double> forward_share;
};

/// Times from measurements alone. A layer without row and without parameters takes no time: it was measured as part of
/// its neighbours. Throws InputError as replace_times() does, and for layers with parameters but no row.
[[nodiscard]] TimedModel table_times(const LayerTable& table, const std::vector<MeasuredLayer>& rows,
                                     const TableOptions& options);

}  // namespace contend
