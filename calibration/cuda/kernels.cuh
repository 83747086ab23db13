#pragma once
// Building blocks of kernels: conversion to float, 16-byte loads, reductions over blocks, grid sizes.

#include "calibration/cuda/operation.cuh"

namespace contend::cuda {

constexpr int kThreads = 256;

/// The number of blocks for `items` at `per_block` each, from 1 to `most`. Kernels loop over the remaining items.
inline unsigned blocks_for(std::int64_t items, std::int64_t per_block, std::int64_t most) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, std::min(most, (items + per_block - 1) / per_block)));
}
/// The number of blocks that keeps every multiprocessor busy.
inline std::int64_t full(const Session& session) {
  return 16LL * session.multiprocessors;
}

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
struct alignas(Size * sizeof(T)) Group {
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

template <class T, int Count>
struct Tensors {
  T* at[Count];
};

/// Calls f(values) with one value of each of `Count` tensors at a time and writes the first `Writes` back. The first
/// tensor is read only if `ReadsFirst`.
template <class T, int Count, int Writes, bool ReadsFirst, class F>
__global__ void __launch_bounds__(kThreads) each_element(Tensors<T, Count> tensors, std::int64_t n, F f) {
  constexpr int kSize = Pack<T>::kSize;
  constexpr int kFirst = ReadsFirst ? 0 : 1;
  const std::int64_t packs = n / kSize;
  for (std::int64_t i = thread_index(); i < packs; i += thread_count()) {
    Pack<T> packed[Count];
#pragma unroll
    for (int t = kFirst; t < Count; ++t) packed[t] = reinterpret_cast<const Pack<T>*>(tensors.at[t])[i];
#pragma unroll
    for (int lane = 0; lane < kSize; ++lane) {
      float values[Count] = {};
#pragma unroll
      for (int t = kFirst; t < Count; ++t) values[t] = to_float(packed[t].at[lane]);
      f(values);
#pragma unroll
      for (int t = 0; t < Writes; ++t) packed[t].at[lane] = from_float<T>(values[t]);
    }
#pragma unroll
    for (int t = 0; t < Writes; ++t) reinterpret_cast<Pack<T>*>(tensors.at[t])[i] = packed[t];
  }
  const std::int64_t i = packs * kSize + thread_index();
  if (i < n) {
    float values[Count] = {};
    for (int t = kFirst; t < Count; ++t) values[t] = to_float(tensors.at[t][i]);
    f(values);
    for (int t = 0; t < Writes; ++t) tensors.at[t][i] = from_float<T>(values[t]);
  }
}

template <int Writes, bool ReadsFirst, class T, int Count, class F>
void launch_each(const Session& session, cudaStream_t stream, std::int64_t n, Tensors<T, Count> tensors, F f) {
  const unsigned blocks = blocks_for(n, std::int64_t{kThreads} * Pack<T>::kSize, full(session));
  each_element<T, Count, Writes, ReadsFirst><<<blocks, kThreads, 0, stream>>>(tensors, n, f);
}

}  // namespace contend::cuda
