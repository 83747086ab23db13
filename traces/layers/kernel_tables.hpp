#pragma once
// Makes a calibration profile from tables of kernels that others have measured and published, so that a device is
// calibrated without having it. A table is a CSV file with times (time_us, or _ns, _ms, _s) and
//   products     dtype, m, n, k                        aiconfigurator's tables of linear layers
//   attention    dtype, batch, tokens, heads, key_value_heads, head_dim; and where it tells kv_cache_dtype,
//                window_tokens, prefix_tokens          forward, with a causal mask
//   collectives  collective, gpus, message_bytes; and where it tells nccl_version, dtype     inside one server
// in any order; a column `kernel` isn't read.

#include "calibration/profile.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace contend {

struct ImportedKernels {
  CalibrationProfile profile;
  /// The rows that the profile doesn't hold because it has enough, as a profile: nothing is fitted to them.
  CalibrationProfile rest;
  std::map<std::string, int> left_out;  ///< rows that a profile can't have, by the reason
};

/// Reads the tables, plain or compressed. The profile has at most `most` samples of each table, spread evenly over
/// their work; of rows of the same shape the median, of several versions of NCCL the newest. What the tables lack is by
/// the sheet of the device where it has Device::kernels (copies; backward attention from forward, products under the
/// power limit), which warnings say. Throws InputError with every fault: a row that can't be read, a table of another
/// form, a device without figures of kernels, no row that a profile can have.
[[nodiscard]] ImportedKernels import_kernels(std::span<const std::string> files, const Device& device,
                                             std::size_t most);

}  // namespace contend
