#pragma once
// Grid sizes, and elementwise kernels over several tensors.

#include "calibration/cuda/device_code.cuh"
#include "calibration/cuda/operation.cuh"

namespace contend::cuda {

/// The number of blocks for `items` at `per_block` each, from 1 to `most`. Kernels loop over the remaining items.
inline unsigned blocks_for(std::int64_t items, std::int64_t per_block, std::int64_t most) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, std::min(most, (items + per_block - 1) / per_block)));
}
/// The number of blocks that keeps every multiprocessor busy.
inline std::int64_t full(const Session& session) {
  return 16LL * session.multiprocessors;
}

template <class T, int Count>
struct Tensors {
  T* at[Count];
};

/// Calls f(values) with one value of each of `Count` tensors at a time and writes the first `Writes` back. Those are
/// read only if `ReadsFirst`.
template <class T, int Count, int Writes, bool ReadsFirst, class F>
__global__ void __launch_bounds__(kThreads) each_element(Tensors<T, Count> tensors, std::int64_t n, F f) {
  constexpr int kSize = Pack<T>::kSize;
  constexpr int kFirst = ReadsFirst ? 0 : Writes;
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
