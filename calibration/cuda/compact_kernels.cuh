#pragma once
// The kernel that compacts selected elements; one file of the CUDA back end includes it.

#include "calibration/cuda/device_code.cuh"
#include "calibration/cuda/selection.hpp"

namespace contend::cuda {

/// The bits of a float without its sign, which have the order of magnitudes.
__device__ inline std::uint32_t magnitude(float value) {
  return __float_as_uint(value) & 0x7fffffffU;
}

/// The sum of the counts of all threads before this one, and of all threads (`total`); every thread of the block calls
/// it.
__device__ inline std::uint32_t count_before(std::uint32_t count, std::uint32_t& total) {
  __shared__ std::uint32_t warps[kThreads / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::uint32_t until = count;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t more = __shfl_up_sync(0xffffffffU, until, distance);
    if (lane >= distance) until += more;
  }
  __syncthreads();  // the counts of a call before this one may still be being read
  if (lane == 31) warps[warp] = until;
  __syncthreads();
  std::uint32_t before = until - count;
  total = 0;
  for (unsigned each = 0; each < kThreads / 32; ++each) {
    if (each < warp) before += warps[each];
    total += warps[each];
  }
  return before;
}

/// Elements that a block looks at together; it adds to each counter once for all of them, and not at all if it selects
/// nothing.
constexpr int kCompacted = 4 * kFours * kThreads;

/// Writes values and indices of the elements above the threshold, and `wanted` of those equal to it (all of them if
/// `all_ties`), in no particular order and at most `room` of them. Blocks have kThreads threads.
__global__ void __launch_bounds__(kThreads)
    compact(const float* __restrict__ x, std::int64_t n, bool all_ties, std::uint32_t room, SelectionState* s,
            float* __restrict__ values, std::uint32_t* __restrict__ indices) {
  __shared__ std::uint32_t first_place, first_tie;
  const std::uint32_t threshold = s->threshold;
  const std::uint32_t most_ties = all_ties ? 0xffffffffU : s->wanted;
  const std::int64_t tiles = (n + kCompacted - 1) / kCompacted;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t first = tile * (kCompacted / 4) + threadIdx.x;
    float4 loaded[kFours];
    CONTEND_UNROLL
    for (int j = 0; j < kFours; ++j) loaded[j] = four_at(x, first + j * kThreads, n);
    // Those above the threshold are counted in the upper half of a word, those equal to it in the lower half; a tile
    // has fewer than 2^15 of either.
    std::uint32_t found = 0;
    CONTEND_UNROLL
    for (int j = 0; j < kFours; ++j) {
      const float v[4] = {loaded[j].x, loaded[j].y, loaded[j].z, loaded[j].w};
      CONTEND_UNROLL
      for (int k = 0; k < 4; ++k) {
        if (4 * (first + j * kThreads) + k >= n) continue;
        const std::uint32_t bits = magnitude(v[k]);
        found += bits > threshold ? 1U << 16 : bits == threshold ? 1U : 0U;
      }
    }
    if (__syncthreads_or(static_cast<int>(found != 0)) == 0) continue;
    std::uint32_t all = 0;
    const std::uint32_t before = count_before(found, all);
    const std::uint32_t all_above = all >> 16, tied = all & 0xffffU;
    if (threadIdx.x == 0) first_tie = tied == 0 ? 0 : atomicAdd(&s->ties, tied);
    __syncthreads();
    const std::uint32_t left = first_tie < most_ties ? most_ties - first_tie : 0;
    const std::uint32_t taken = tied < left ? tied : left;
    if (threadIdx.x == 0) first_place = all_above + taken == 0 ? 0 : atomicAdd(&s->count, all_above + taken);
    __syncthreads();
    std::uint32_t place = first_place + (before >> 16), tie = before & 0xffffU;
    CONTEND_UNROLL
    for (int j = 0; j < kFours; ++j) {
      const float v[4] = {loaded[j].x, loaded[j].y, loaded[j].z, loaded[j].w};
      CONTEND_UNROLL
      for (int k = 0; k < 4; ++k) {
        const std::int64_t at = 4 * (first + j * kThreads) + k;
        if (at >= n) continue;
        const std::uint32_t bits = magnitude(v[k]);
        std::uint32_t to = room;
        if (bits > threshold) {
          to = place++;
        } else if (bits == threshold && tie++ < taken) {
          to = first_place + all_above + tie - 1;
        }
        if (to >= room) continue;
        values[to] = v[k];
        indices[to] = static_cast<std::uint32_t>(at);
      }
    }
  }
}

}  // namespace contend::cuda
