#pragma once
// The kernel that packs signs; one file of the CUDA back end includes it.

#include "calibration/cuda/device_code.cuh"

namespace contend::cuda {

/// The sign bits of x, 32 to a word, the first in the lowest bit; the last word's other bits are 0. A warp takes 512
/// elements at once: four loads of each thread, of which eight neighbours make a word.
__global__ void __launch_bounds__(kThreads)
    pack_signs(const float* __restrict__ x, std::uint32_t* __restrict__ bits, std::int64_t n) {
  const unsigned lane = threadIdx.x % 32;
  const std::int64_t words = (n + 31) / 32, pieces = (n + 4 * kFours * 32 - 1) / (4 * kFours * 32);
  for (std::int64_t piece = thread_index() / 32; piece < pieces; piece += thread_count() / 32) {
    float4 loaded[kFours];
    CONTEND_UNROLL
    for (int j = 0; j < kFours; ++j) loaded[j] = four_at(x, (piece * kFours + j) * 32 + lane, n);
    CONTEND_UNROLL
    for (int j = 0; j < kFours; ++j) {
      const float4 v = loaded[j];
      std::uint32_t word = (__float_as_uint(v.x) >> 31 | __float_as_uint(v.y) >> 31 << 1 |
                            __float_as_uint(v.z) >> 31 << 2 | __float_as_uint(v.w) >> 31 << 3)
                           << (4 * (lane % 8));
      for (unsigned distance = 1; distance < 8; distance *= 2) word |= __shfl_xor_sync(0xffffffffU, word, distance);
      const std::int64_t to = (piece * kFours + j) * 4 + lane / 8;
      if (lane % 8 == 0 && to < words) bits[to] = word;
    }
  }
}

}  // namespace contend::cuda
