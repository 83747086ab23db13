#pragma once
// Selects the elements of largest magnitude, entirely on the device.
//
// Magnitudes are compared by the bits of the float without its sign, which have the same order. (NaNs count as the
// largest.)

#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

/// The working state of a selection, one object in device memory. Its members are 32-bit words, so that tests can read
/// them.
struct Selection {
  std::uint32_t threshold;  ///< bits of the least magnitude selected
  std::uint32_t wanted;     ///< elements still to be found below the digits already fixed
  std::uint32_t count;      ///< elements written
  std::uint32_t ties;       ///< elements met that equal the threshold
  std::uint32_t above;      ///< elements that a tried threshold would select
  std::uint32_t settled;    ///< 1 once the search for a threshold has ended
  std::uint32_t digits[256];
};
constexpr std::int64_t kSelectionWords = sizeof(Selection) / sizeof(std::uint32_t);

/// Finds the magnitude of rank `wanted` (from 1) by radix selection: for each 8-bit digit, from the highest down, a
/// histogram over the elements that share the digits before, then the digit that contains the rank. Nine kernels, which
/// read all elements four times. Alabi et al., "Fast k-selection algorithms for graphics processing units", JEA 2012.
void launch_radix_select(const Session& session, cudaStream_t stream, const float* x, std::int64_t n,
                         std::uint32_t wanted, Selection* selection);

/// Writes values and indices of the elements above the threshold, and `wanted` of those equal to it (all of them if
/// `all_ties`), in no particular order and at most `room` of them.
void launch_compact(const Session& session, cudaStream_t stream, const float* x, std::int64_t n, bool all_ties,
                    std::uint32_t room, Selection* selection, float* values, std::uint32_t* indices);

}  // namespace contend::cuda
