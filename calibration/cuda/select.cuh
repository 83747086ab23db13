#pragma once
// Picking the elements of largest magnitude, on the device from beginning to end.
//
// Magnitudes are compared as the bits of the float without its sign, which are in the same order. (Not-a-numbers come
// out as the largest.)

#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

/// What a selection finds out on the way; one of it, in device memory. 32-bit words, for tests.
struct Selection {
  std::uint32_t threshold;  ///< bits of the least magnitude that is selected
  std::uint32_t wanted;     ///< how many are still to be found below the digits that are settled
  std::uint32_t count;      ///< how many were written
  std::uint32_t ties;       ///< how many of exactly the threshold were met
  std::uint32_t above;      ///< how many a threshold was found to select
  std::uint32_t settled;    ///< the search for a threshold has ended
  std::uint32_t digits[256];
};
constexpr std::int64_t kSelectionWords = sizeof(Selection) / sizeof(std::uint32_t);

/// Finds the magnitude of rank `wanted` (from 1): radix selection by digits of 8 bits from the highest down, of each
/// a histogram over those that share the digits before, then the digit in which the rank lies. Nine kernels that read
/// all elements four times. Alabi et al., "Fast k-selection algorithms for graphics processing units", JEA 2012.
void launch_radix_select(const Session& session, cudaStream_t stream, const float* x, std::int64_t n,
                         std::uint32_t wanted, Selection* selection);

/// Writes value and index of all magnitudes above the threshold, and `wanted` of those equal to it (all of them if
/// `all_ties`), in no particular order, and no more than `room`.
void launch_compact(const Session& session, cudaStream_t stream, const float* x, std::int64_t n, bool all_ties,
                    std::uint32_t room, Selection* selection, float* values, std::uint32_t* indices);

}  // namespace contend::cuda
