#pragma once
// Building blocks of kernels that need no header of CUDA: conversion to float, wide loads, reductions over a warp or a
// block. Kernels that include nothing else (*_kernels.cuh) also compile for the host, where tests run them with an
// emulated GPU (tests/calibration/emulated_gpu.hpp).

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define CONTEND_UNROLL _Pragma("unroll")
#else
#define CONTEND_UNROLL
#endif

#include <cstddef>
#include <cstdint>

namespace contend::cuda {

constexpr int kThreads = 256;

template <class T>
__device__ inline float to_float(T value) {
  return static_cast<float>(value);
}
template <class T>
__device__ inline T from_float(float value) {
  return static_cast<T>(value);
}

__device__ inline std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t thread_count() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

/// The values of one 16-byte load or store.
template <class T>
struct alignas(16) Pack {
  static constexpr int kSize = 16 / static_cast<int>(sizeof(T));
  T at[kSize];
};

/// The values of one load of `Size` numbers.
template <class T, int Size>
struct alignas(static_cast<std::size_t>(Size) * sizeof(T)) Group {
  T at[Size];
};

struct Plus {
  static constexpr float kNeutral = 0;
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Largest {
  static constexpr float kNeutral = -3.402823466e38F;
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Least {
  static constexpr float kNeutral = 3.402823466e38F;
  __device__ float operator()(float a, float b) const { return fminf(a, b); }
};

template <class Join>
__device__ inline float reduce_warp(float value, Join join) {
  for (int distance = 16; distance > 0; distance /= 2) {
    value = join(value, __shfl_xor_sync(0xffffffffU, value, distance));
  }
  return value;
}

/// Reduces over all threads of the block; every thread calls it and gets the result. The block has a multiple of 32
/// threads.
template <class Join>
__device__ inline float reduce_block(float value, Join join) {
  __shared__ float partial[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = reduce_warp(value, join);
  __syncthreads();  // the result of a reduction before this one may still be being read
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  return reduce_warp(lane < blockDim.x / 32 ? partial[lane] : Join::kNeutral, join);
}

/// Four numbers from place 4 * i; zeros beyond the n-th.
__device__ inline float4 four_at(const float* __restrict__ x, std::int64_t i, std::int64_t n) {
  if (4 * i + 3 < n) return reinterpret_cast<const float4*>(x)[i];
  float4 v{0, 0, 0, 0};
  if (4 * i < n) v.x = x[4 * i];
  if (4 * i + 1 < n) v.y = x[4 * i + 1];
  if (4 * i + 2 < n) v.z = x[4 * i + 2];
  return v;
}

/// Loads of four numbers that a thread has in flight at once.
constexpr int kFours = 4;

}  // namespace contend::cuda
