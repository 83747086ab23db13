#pragma once
// Selects the elements of largest magnitude, entirely on the device.
//
// Magnitudes are compared by the bits of the float without its sign, which have the same order. (NaNs count as the
// largest.)

#include "calibration/cuda/kernels.cuh"
#include "calibration/cuda/selection.hpp"

namespace contend::cuda {

/// Finds the magnitude of rank `wanted` (from 1) by radix selection: for each 8-bit digit, from the highest down, a
/// histogram over the elements that share the digits before, then the digit that contains the rank. Nine kernels, which
/// read all elements four times. Alabi et al., "Fast k-selection algorithms for graphics processing units", JEA 2012.
void launch_radix_select(const Session& session, cudaStream_t stream, const float* x, std::int64_t n,
                         std::uint32_t wanted, SelectionState* selection);

/// Writes values and indices of the elements above the threshold, and `wanted` of those equal to it (all of them if
/// `all_ties`), in no particular order and at most `room` of them.
void launch_compact(const Session& session, cudaStream_t stream, const float* x, std::int64_t n, bool all_ties,
                    std::uint32_t room, SelectionState* selection, float* values, std::uint32_t* indices);

}  // namespace contend::cuda
