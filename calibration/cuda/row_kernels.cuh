#pragma once
// Kernels on rows: normalisations, softmax and the loss of classes, with sums in fp32. A warp takes a row of up to
// kWarpWidth numbers, and a block a longer one. Rows are read from memory once and then from the first-level cache,
// 16 bytes at a time if all rows are aligned to 16 bytes.

#include "calibration/cuda/device_code.cuh"

namespace contend::cuda {

/// The longest row that one warp takes.
constexpr int kWarpWidth = 2048;
constexpr float kEpsilon = 1e-5F;

/// The threads that compute a row together: a warp or a block. All of them call reduce().
template <bool Warp>
struct Team {
  __device__ static std::int64_t first_row() { return Warp ? thread_index() / 32 : blockIdx.x; }
  __device__ static std::int64_t teams() { return Warp ? thread_count() / 32 : gridDim.x; }
  __device__ static unsigned rank() { return Warp ? threadIdx.x % 32 : threadIdx.x; }
  __device__ static unsigned size() { return Warp ? 32 : blockDim.x; }
  template <class Join>
  __device__ static float reduce(float value, Join join) {
    if constexpr (Warp) {
      return reduce_warp(value, join);
    } else {
      return reduce_block(value, join);
    }
  }
};

/// Calls f(column, values...) for every column of this thread's share of one row of some tensors. The groups are passed
/// by value, so that each is one load.
template <int Size, class Team, class F, class... Ts>
__device__ void each_column(std::int64_t width, F f, const Ts*... rows) {
  for (std::int64_t i = Team::rank(); i < width / Size; i += Team::size()) {
    const auto visit = [&](const auto... groups) {
      CONTEND_UNROLL
      for (int k = 0; k < Size; ++k) f(i * Size + k, to_float(groups.at[k])...);
    };
    visit(reinterpret_cast<const Group<Ts, Size>*>(rows)[i]...);
  }
}

/// The same, and writes to `out` what f returns.
template <int Size, class Team, class T, class F, class... Ts>
__device__ void map_columns(std::int64_t width, T* out, F f, const Ts*... rows) {
  for (std::int64_t i = Team::rank(); i < width / Size; i += Team::size()) {
    const auto visit = [&](const auto... groups) {
      Group<T, Size> written;
      CONTEND_UNROLL
      for (int k = 0; k < Size; ++k) written.at[k] = from_float<T>(f(i * Size + k, to_float(groups.at[k])...));
      reinterpret_cast<Group<T, Size>*>(out)[i] = written;
    };
    visit(reinterpret_cast<const Group<Ts, Size>*>(rows)[i]...);
  }
}

/// Layer normalisation (Ba et al., 2016) if `Centred`, else that by the root of the mean square (Zhang and Sennrich,
/// NeurIPS 2019), which has no mean and no `beta`.
template <class T, int Size, bool Warp, bool Centred>
__global__ void __launch_bounds__(kThreads)
    norm_rows(std::int64_t rows, std::int64_t width, const T* x, T* y, const float* gamma, const float* beta,
              float* mean, float* deviation) {
  using Row = Team<Warp>;
  for (std::int64_t row = Row::first_row(); row < rows; row += Row::teams()) {
    const T* const in = x + row * width;
    float sum = 0, squares = 0, average = 0;
    if constexpr (Centred) {
      each_column<Size, Row>(
          width, [&](std::int64_t, float value) { sum += value; }, in);
      average = Row::reduce(sum, Plus{}) / static_cast<float>(width);
    }
    each_column<Size, Row>(
        width, [&](std::int64_t, float v) { squares += (v - average) * (v - average); }, in);
    const float inverse = rsqrtf(Row::reduce(squares, Plus{}) / static_cast<float>(width) + kEpsilon);
    if (Row::rank() == 0) {
      if constexpr (Centred) mean[row] = average;
      deviation[row] = inverse;
    }
    if constexpr (Centred) {
      map_columns<Size, Row>(
          width, y + row * width,
          [&](std::int64_t, float v, float scale, float shift) { return (v - average) * inverse * scale + shift; }, in,
          gamma, beta);
    } else {
      map_columns<Size, Row>(
          width, y + row * width, [&](std::int64_t, float v, float scale) { return v * inverse * scale; }, in, gamma);
    }
  }
}

template <class T, int Size, bool Warp, bool Centred>
__global__ void __launch_bounds__(kThreads)
    norm_gradients(std::int64_t rows, std::int64_t width, const T* x, const T* dy, T* dx, const float* gamma,
                   const float* mean, const float* deviation) {
  using Row = Team<Warp>;
  for (std::int64_t row = Row::first_row(); row < rows; row += Row::teams()) {
    const T* const in = x + row * width;
    const T* const gradient = dy + row * width;
    const float shift = Centred ? mean[row] : 0, inverse = deviation[row];
    float sum = 0, products = 0;
    each_column<Size, Row>(
        width,
        [&](std::int64_t, float v, float g, float scale) {
          if (Centred) sum += g * scale;
          products += g * scale * (v - shift) * inverse;
        },
        in, gradient, gamma);
    if (Centred) sum = Row::reduce(sum, Plus{}) / static_cast<float>(width);
    products = Row::reduce(products, Plus{}) / static_cast<float>(width);
    map_columns<Size, Row>(
        width, dx + row * width,
        [&](std::int64_t, float v, float g, float scale) {
          return inverse * (g * scale - sum - (v - shift) * inverse * products);
        },
        in, gradient, gamma);
  }
}

/// Blocks have 32 x 8 threads: x is the column, and y takes every eighth row of the block's share.
template <class T, bool Centred>
__global__ void __launch_bounds__(256)
    norm_weight_gradients(std::int64_t rows, std::int64_t width, std::int64_t rows_per_block, const T* x, const T* dy,
                          const float* mean, const float* deviation, float* dgamma, float* dbeta) {
  __shared__ float scales[8][33], shifts[8][33];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * 32 + threadIdx.x;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * rows_per_block;
  const std::int64_t end = begin + rows_per_block < rows ? begin + rows_per_block : rows;
  float scale = 0, shift = 0;
  if (column < width) {
    for (std::int64_t row = begin + threadIdx.y; row < end; row += 8) {
      const float gradient = to_float(dy[row * width + column]);
      scale += gradient * (to_float(x[row * width + column]) - (Centred ? mean[row] : 0)) * deviation[row];
      if (Centred) shift += gradient;
    }
  }
  scales[threadIdx.y][threadIdx.x] = scale;
  shifts[threadIdx.y][threadIdx.x] = shift;
  __syncthreads();
  if (threadIdx.y != 0 || column >= width) return;
  for (int y = 1; y < 8; ++y) {
    scale += scales[y][threadIdx.x];
    shift += shifts[y][threadIdx.x];
  }
  atomicAdd(dgamma + column, scale);
  if (Centred) atomicAdd(dbeta + column, shift);
}

/// Adds the sums of a block's share of all rows to `sums`. Blocks have 32 x 8 threads: x takes `Size` columns, y every
/// eighth row of the share.
template <class T, int Size>
__global__ void __launch_bounds__(256)
    sum_columns(std::int64_t rows, std::int64_t width, std::int64_t rows_per_block, const T* x, float* sums) {
  __shared__ float parts[8][32 * Size + 1];
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * 32 + threadIdx.x) * Size;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * rows_per_block;
  const std::int64_t end = begin + rows_per_block < rows ? begin + rows_per_block : rows;
  float sum[Size] = {};
  if (first < width) {
    for (std::int64_t row = begin + threadIdx.y; row < end; row += 8) {
      const auto group = *reinterpret_cast<const Group<T, Size>*>(x + row * width + first);
      CONTEND_UNROLL
      for (int k = 0; k < Size; ++k) sum[k] += to_float(group.at[k]);
    }
  }
  CONTEND_UNROLL
  for (int k = 0; k < Size; ++k) parts[threadIdx.y][threadIdx.x * Size + k] = sum[k];
  __syncthreads();
  if (threadIdx.y != 0 || first >= width) return;
  CONTEND_UNROLL
  for (int k = 0; k < Size; ++k) {
    for (int y = 1; y < 8; ++y) sum[k] += parts[y][threadIdx.x * Size + k];
    atomicAdd(sums + first + k, sum[k]);
  }
}

template <class T, int Size, bool Warp>
__global__ void __launch_bounds__(kThreads) softmax_rows(std::int64_t rows, std::int64_t width, const T* x, T* y) {
  using Row = Team<Warp>;
  for (std::int64_t row = Row::first_row(); row < rows; row += Row::teams()) {
    const T* const in = x + row * width;
    float most = Largest::kNeutral, sum = 0;
    each_column<Size, Row>(
        width, [&](std::int64_t, float value) { most = fmaxf(most, value); }, in);
    most = Row::reduce(most, Largest{});
    each_column<Size, Row>(
        width, [&](std::int64_t, float value) { sum += __expf(value - most); }, in);
    const float scale = 1 / Row::reduce(sum, Plus{});
    map_columns<Size, Row>(
        width, y + row * width, [&](std::int64_t, float value) { return __expf(value - most) * scale; }, in);
  }
}

template <class T, int Size, bool Warp>
__global__ void __launch_bounds__(kThreads)
    softmax_gradients(std::int64_t rows, std::int64_t width, const T* y, const T* dy, T* dx) {
  using Row = Team<Warp>;
  for (std::int64_t row = Row::first_row(); row < rows; row += Row::teams()) {
    const T* const out = y + row * width;
    const T* const gradient = dy + row * width;
    float sum = 0;
    each_column<Size, Row>(
        width, [&](std::int64_t, float v, float g) { sum += v * g; }, out, gradient);
    sum = Row::reduce(sum, Plus{});
    map_columns<Size, Row>(
        width, dx + row * width, [&](std::int64_t, float v, float g) { return v * (g - sum); }, out, gradient);
  }
}

/// The loss -log softmax(x)[label] of each row and its gradient softmax(x) - 1[label], by a block a row in two passes:
/// the largest value and the sum of exponentials together, corrected whenever a larger value is met (Milakov and
/// Gimelshein, arXiv 1805.02867, algorithm 3), then the gradient.
template <class T, int Size>
__global__ void __launch_bounds__(kThreads) cross_entropy_rows(std::int64_t rows, std::int64_t width, const T* x,
                                                               const std::int64_t* labels, T* dx, float* loss) {
  using Row = Team<false>;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* const in = x + row * width;
    float own_most = Largest::kNeutral, own_sum = 0;
    each_column<Size, Row>(
        width,
        [&](std::int64_t, float value) {
          if (value > own_most) {
            own_sum *= __expf(own_most - value);
            own_most = value;
          }
          own_sum += __expf(value - own_most);
        },
        in);
    const float most = reduce_block(own_most, Largest{});
    const float sum = reduce_block(own_sum * __expf(own_most - most), Plus{});
    const std::int64_t label = labels[row];
    if (threadIdx.x == 0) loss[row] = logf(sum) + most - to_float(in[label]);
    const float scale = 1 / sum;
    map_columns<Size, Row>(
        width, dx + row * width,
        [&](std::int64_t column, float value) {
          return __expf(value - most) * scale - (column == label ? 1.0F : 0.0F);
        },
        in);
  }
}

}  // namespace contend::cuda
