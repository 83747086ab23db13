#pragma once
// Kernels of training beside products and rows: rotary positions, Adam with weights of 16 bits, casts with transposes,
// and the sum of two tensors by a given number of blocks. One file of the CUDA back end includes it.

#include "calibration/cuda/device_code.cuh"

namespace contend::cuda {

/// Numbers of a head that rotary positions turn.
constexpr int kTurned = 128;

/// Turns neighbouring numbers of each head by the angle of their row and place (Su et al., arXiv 2104.09864, equation
/// 34). `turns` has cosine and sine of kTurned / 2 angles for each row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    turn_positions(std::int64_t rows, std::int64_t width, const T* x, const float* turns, T* y) {
  constexpr int kSize = Pack<T>::kSize;
  const std::int64_t row_packs = width / kSize;
  for (std::int64_t i = thread_index(); i < rows * row_packs; i += thread_count()) {
    const std::int64_t row = i / row_packs;
    const int first = static_cast<int>((i - row * row_packs) * kSize % kTurned);
    const Pack<T> in = reinterpret_cast<const Pack<T>*>(x)[i];
    const Group<float, kSize> turn = *reinterpret_cast<const Group<float, kSize>*>(turns + row * kTurned + first);
    Pack<T> out;
    CONTEND_UNROLL
    for (int k = 0; k < kSize; k += 2) {
      const float a = to_float(in.at[k]), b = to_float(in.at[k + 1]), c = turn.at[k], s = turn.at[k + 1];
      out.at[k] = from_float<T>(a * c - b * s);
      out.at[k + 1] = from_float<T>(a * s + b * c);
    }
    reinterpret_cast<Pack<T>*>(y)[i] = out;
  }
}

struct MixedAdam {
  float beta1, beta2, epsilon;
  float step;        ///< rate / (1 - beta1^t)
  float root_scale;  ///< 1 / sqrt(1 - beta2^t)
};

/// Adam (Kingma and Ba, ICLR 2015) as networks of 16 bits are trained (Micikevicius et al., ICLR 2018): gradients of 16
/// bits, weights and moments of 32, and a copy of the weights in 16. Four elements a thread.
template <class T>
__global__ void __launch_bounds__(kThreads)
    step_mixed_adam(std::int64_t n, const T* g, float* p, float* m, float* v, T* w, MixedAdam c) {
  for (std::int64_t i = thread_index(); i < n / 4; i += thread_count()) {
    const Group<T, 4> gradient = reinterpret_cast<const Group<T, 4>*>(g)[i];
    Group<float, 4> weights = reinterpret_cast<Group<float, 4>*>(p)[i];
    Group<float, 4> means = reinterpret_cast<Group<float, 4>*>(m)[i];
    Group<float, 4> squares = reinterpret_cast<Group<float, 4>*>(v)[i];
    Group<T, 4> written;
    CONTEND_UNROLL
    for (int k = 0; k < 4; ++k) {
      const float each = to_float(gradient.at[k]);
      means.at[k] += (1 - c.beta1) * (each - means.at[k]);
      squares.at[k] = c.beta2 * squares.at[k] + (1 - c.beta2) * each * each;
      weights.at[k] -= c.step * means.at[k] / (sqrtf(squares.at[k]) * c.root_scale + c.epsilon);
      written.at[k] = from_float<T>(weights.at[k]);
    }
    reinterpret_cast<Group<float, 4>*>(p)[i] = weights;
    reinterpret_cast<Group<float, 4>*>(m)[i] = means;
    reinterpret_cast<Group<float, 4>*>(v)[i] = squares;
    reinterpret_cast<Group<T, 4>*>(w)[i] = written;
  }
}

/// Rows and columns of a tile that a block casts.
constexpr int kCastTile = 64;

/// Casts `x` to numbers of one byte, both as it is and transposed, and raises `most` to the largest magnitude, which
/// the scale of the next step follows from. Rows and columns are multiples of kCastTile; a block has kThreads threads.
template <class T, class Small>
__global__ void __launch_bounds__(kThreads) cast_both_ways(std::int64_t rows, std::int64_t columns, const T* x,
                                                           float scale, Small* y, Small* transposed, unsigned* most) {
  __shared__ Small tile[kCastTile][kCastTile + 4];
  const int lane = static_cast<int>(threadIdx.x) % 16 * 4, line = static_cast<int>(threadIdx.x) / 16;
  const std::int64_t across = columns / kCastTile, tiles = across * (rows / kCastTile);
  float own_most = 0;
  for (std::int64_t each = blockIdx.x; each < tiles; each += gridDim.x) {
    const std::int64_t top = each / across * kCastTile, left = each % across * kCastTile;
    __syncthreads();  // the tile before may still be being read
    for (int row = line; row < kCastTile; row += kThreads / 16) {
      const std::int64_t at = (top + row) * columns + left + lane;
      const Group<T, 4> in = *reinterpret_cast<const Group<T, 4>*>(x + at);
      Group<Small, 4> out;
      CONTEND_UNROLL
      for (int k = 0; k < 4; ++k) {
        const float value = to_float(in.at[k]);
        own_most = fmaxf(own_most, fabsf(value));
        out.at[k] = from_float<Small>(value * scale);
        tile[row][lane + k] = out.at[k];
      }
      *reinterpret_cast<Group<Small, 4>*>(y + at) = out;
    }
    __syncthreads();
    for (int column = line; column < kCastTile; column += kThreads / 16) {
      Group<Small, 4> out;
      CONTEND_UNROLL
      for (int k = 0; k < 4; ++k) out.at[k] = tile[lane + k][column];
      *reinterpret_cast<Group<Small, 4>*>(transposed + (left + column) * rows + top + lane) = out;
    }
  }
  own_most = reduce_block(own_most, Largest{});
  if (threadIdx.x == 0) atomicMax(most, __float_as_uint(own_most));
}

/// Threads of a block of reduce_two().
constexpr int kReduceThreads = 512;

/// `out` = `a` + `b`, as the kernels of a communication library add what arrives to what is there. The number of blocks
/// is chosen from outside, and each has four loads in flight.
template <class Four>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_two(std::int64_t fours, const Four* a, const Four* b, Four* out) {
  const std::int64_t stride = thread_count();
  for (std::int64_t i = thread_index(); i < fours; i += 2 * stride) {
    const bool second = i + stride < fours;
    const Four first_a = a[i], first_b = b[i], second_a = a[second ? i + stride : i],
               second_b = b[second ? i + stride : i];
    out[i] = {first_a.x + first_b.x, first_a.y + first_b.y, first_a.z + first_b.z, first_a.w + first_b.w};
    if (!second) continue;
    out[i + stride] = {second_a.x + second_b.x, second_a.y + second_b.y, second_a.z + second_b.z,
                       second_a.w + second_b.w};
  }
}

}  // namespace contend::cuda
