// Measures operators on rows, each of which one block computes: layer normalisation (Ba et al., 2016) and softmax,
// forward and backward, by our own kernels with sums in fp32. A block reads a row from memory once and then from the
// first-level cache, 16 bytes at a time if all rows are aligned to 16 bytes.
//
//   layer_norm            `y` from `x`, `gamma`, `beta`; writes `mean` and `deviation` (its inverse) of each row.
//   layer_norm_backward   `dx`, then `dgamma` and `dbeta` by columns, which reads both tensors a second time.
//   softmax               `y` from `x`: largest value, sum of exponentials, quotient.
//   softmax_backward      `dx` = y (dy - sum of y dy).
#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

namespace {

constexpr float kEpsilon = 1e-5F;

/// Calls f(column, values...) for every column of this thread's share of one row of some tensors.
template <int Size, class F, class... Ts>
__device__ void each_column(std::int64_t width, F f, const Ts*... rows) {
  for (std::int64_t i = threadIdx.x; i < width / Size; i += blockDim.x) {
    const auto visit = [&](const auto&... groups) {
#pragma unroll
      for (int k = 0; k < Size; ++k) f(i * Size + k, to_float(groups.at[k])...);
    };
    visit(reinterpret_cast<const Group<Ts, Size>*>(rows)[i]...);
  }
}

/// The same, and writes to `out` what f returns.
template <int Size, class T, class F, class... Ts>
__device__ void map_columns(std::int64_t width, T* out, F f, const Ts*... rows) {
  for (std::int64_t i = threadIdx.x; i < width / Size; i += blockDim.x) {
    const auto visit = [&](const auto&... groups) {
      Group<T, Size> written;
#pragma unroll
      for (int k = 0; k < Size; ++k) written.at[k] = from_float<T>(f(i * Size + k, to_float(groups.at[k])...));
      reinterpret_cast<Group<T, Size>*>(out)[i] = written;
    };
    visit(reinterpret_cast<const Group<Ts, Size>*>(rows)[i]...);
  }
}

template <class T, int Size>
__global__ void __launch_bounds__(kThreads)
    layer_norm_rows(std::int64_t rows, std::int64_t width, const T* x, T* y, const float* gamma, const float* beta,
                    float* mean, float* deviation) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* const in = x + row * width;
    float sum = 0, squares = 0;
    each_column<Size>(
        width, [&](std::int64_t, float value) { sum += value; }, in);
    const float average = reduce_block(sum, Plus{}) / static_cast<float>(width);
    each_column<Size>(
        width, [&](std::int64_t, float v) { squares += (v - average) * (v - average); }, in);
    const float inverse = rsqrtf(reduce_block(squares, Plus{}) / static_cast<float>(width) + kEpsilon);
    if (threadIdx.x == 0) {
      mean[row] = average;
      deviation[row] = inverse;
    }
    map_columns<Size>(
        width, y + row * width,
        [&](std::int64_t, float v, float scale, float shift) { return (v - average) * inverse * scale + shift; }, in,
        gamma, beta);
  }
}

template <class T, int Size>
__global__ void __launch_bounds__(kThreads)
    layer_norm_gradients(std::int64_t rows, std::int64_t width, const T* x, const T* dy, T* dx, const float* gamma,
                         const float* mean, const float* deviation) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* const in = x + row * width;
    const T* const gradient = dy + row * width;
    const float shift = mean[row], inverse = deviation[row];
    float sum = 0, products = 0;
    each_column<Size>(
        width,
        [&](std::int64_t, float v, float g, float scale) {
          sum += g * scale;
          products += g * scale * (v - shift) * inverse;
        },
        in, gradient, gamma);
    sum = reduce_block(sum, Plus{}) / static_cast<float>(width);
    products = reduce_block(products, Plus{}) / static_cast<float>(width);
    map_columns<Size>(
        width, dx + row * width,
        [&](std::int64_t, float v, float g, float scale) {
          return inverse * (g * scale - sum - (v - shift) * inverse * products);
        },
        in, gradient, gamma);
  }
}

/// Blocks have 32 x 8 threads: x is the column, and y takes every eighth row of the block's share.
template <class T>
__global__ void __launch_bounds__(256)
    layer_norm_weight_gradients(std::int64_t rows, std::int64_t width, std::int64_t rows_per_block, const T* x,
                                const T* dy, const float* mean, const float* deviation, float* dgamma, float* dbeta) {
  __shared__ float scales[8][33], shifts[8][33];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * 32 + threadIdx.x;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * rows_per_block;
  const std::int64_t end = min(rows, begin + rows_per_block);
  float scale = 0, shift = 0;
  if (column < width) {
    for (std::int64_t row = begin + threadIdx.y; row < end; row += 8) {
      const float gradient = to_float(dy[row * width + column]);
      scale += gradient * (to_float(x[row * width + column]) - mean[row]) * deviation[row];
      shift += gradient;
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
  atomicAdd(dbeta + column, shift);
}

template <class T, int Size>
__global__ void __launch_bounds__(kThreads) softmax_rows(std::int64_t rows, std::int64_t width, const T* x, T* y) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* const in = x + row * width;
    float most = Largest::kNeutral, sum = 0;
    each_column<Size>(
        width, [&](std::int64_t, float value) { most = fmaxf(most, value); }, in);
    most = reduce_block(most, Largest{});
    each_column<Size>(
        width, [&](std::int64_t, float value) { sum += __expf(value - most); }, in);
    const float scale = 1 / reduce_block(sum, Plus{});
    map_columns<Size>(
        width, y + row * width, [&](std::int64_t, float value) { return __expf(value - most) * scale; }, in);
  }
}

template <class T, int Size>
__global__ void __launch_bounds__(kThreads)
    softmax_gradients(std::int64_t rows, std::int64_t width, const T* y, const T* dy, T* dx) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* const out = y + row * width;
    const T* const gradient = dy + row * width;
    float sum = 0;
    each_column<Size>(
        width, [&](std::int64_t, float v, float g) { sum += v * g; }, out, gradient);
    sum = reduce_block(sum, Plus{});
    map_columns<Size>(
        width, dx + row * width, [&](std::int64_t, float v, float g) { return v * (g - sum); }, out, gradient);
  }
}

struct Rows {
  Rows(const Session& session, const Request& request)
      : rows(request.shape[0]),
        width(request.shape[1]),
        elements(elements_of({rows, width})),
        blocks(blocks_for(rows, 1, 4 * full(session))) {
    // There are as many threads as have something to load, in whole warps.
    threads = static_cast<unsigned>(std::clamp<std::int64_t>((width / 4 + 31) / 32 * 32, 32, kThreads));
  }
  std::int64_t rows, width, elements;
  unsigned blocks, threads;
};

/// Calls make(Tag<T>{}, Size) with the number's type, and with how many of them a thread loads at once.
template <class Make>
Operation by_row(const Request& request, Make make) {
  return by_type(request, [&](auto tag) {
    return request.shape[1] % 4 == 0 ? make(tag, std::integral_constant<int, 4>{})
                                     : make(tag, std::integral_constant<int, 1>{});
  });
}

Operation layer_norm(Session& session, const Request& request) {
  const Rows r(session, request);
  return by_row(request, [&](auto tag, auto size) {
    using T = typename decltype(tag)::type;
    constexpr int kSize = decltype(size)::value;
    Operation operation;
    const T* const x = operation.tensor<T>("x", r.elements, Fill::normal);
    T* const y = operation.tensor<T>("y", r.elements);
    const float* const gamma = operation.tensor<float>("gamma", r.width, Fill::normal);
    const float* const beta = operation.tensor<float>("beta", r.width, Fill::normal);
    float* const mean = operation.tensor<float>("mean", r.rows);
    float* const deviation = operation.tensor<float>("deviation", r.rows);
    operation.execute = [=](cudaStream_t stream) {
      layer_norm_rows<T, kSize>
          <<<r.blocks, r.threads, 0, stream>>>(r.rows, r.width, x, y, gamma, beta, mean, deviation);
    };
    return operation;
  });
}

Operation layer_norm_backward(Session& session, const Request& request) {
  const Rows r(session, request);
  const std::int64_t columns = (r.width + 31) / 32;
  // There are enough shares of rows to fill the device, of at least 64 rows each.
  const std::int64_t shares =
      std::max<std::int64_t>(1, std::min({full(session) / columns, (r.rows + 63) / 64, std::int64_t{1024}}));
  const std::int64_t share = (r.rows + shares - 1) / shares;
  const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(shares));
  return by_row(request, [&](auto tag, auto size) {
    using T = typename decltype(tag)::type;
    constexpr int kSize = decltype(size)::value;
    Operation operation;
    const T* const x = operation.tensor<T>("x", r.elements, Fill::normal);
    const T* const dy = operation.tensor<T>("dy", r.elements, Fill::normal);
    T* const dx = operation.tensor<T>("dx", r.elements);
    const float* const gamma = operation.tensor<float>("gamma", r.width, Fill::normal);
    const float* const mean = operation.tensor<float>("mean", r.rows, Fill::normal, 0.1F);
    const float* const deviation = operation.tensor<float>("deviation", r.rows, Fill::normal);
    float* const dgamma = operation.tensor<float>("dgamma", r.width);
    float* const dbeta = operation.tensor<float>("dbeta", r.width);
    const auto bytes = static_cast<size_t>(r.width) * sizeof(float);
    operation.execute = [=](cudaStream_t stream) {
      layer_norm_gradients<T, kSize>
          <<<r.blocks, r.threads, 0, stream>>>(r.rows, r.width, x, dy, dx, gamma, mean, deviation);
      check(cudaMemsetAsync(dgamma, 0, bytes, stream), "clearing");
      check(cudaMemsetAsync(dbeta, 0, bytes, stream), "clearing");
      layer_norm_weight_gradients<T>
          <<<grid, dim3(32, 8), 0, stream>>>(r.rows, r.width, share, x, dy, mean, deviation, dgamma, dbeta);
    };
    return operation;
  });
}

Operation softmax(Session& session, const Request& request) {
  const Rows r(session, request);
  return by_row(request, [&](auto tag, auto size) {
    using T = typename decltype(tag)::type;
    constexpr int kSize = decltype(size)::value;
    Operation operation;
    const T* const x = operation.tensor<T>("x", r.elements, Fill::normal);
    T* const y = operation.tensor<T>("y", r.elements);
    operation.execute = [=](cudaStream_t stream) {
      softmax_rows<T, kSize><<<r.blocks, r.threads, 0, stream>>>(r.rows, r.width, x, y);
    };
    return operation;
  });
}

Operation softmax_backward(Session& session, const Request& request) {
  const Rows r(session, request);
  return by_row(request, [&](auto tag, auto size) {
    using T = typename decltype(tag)::type;
    constexpr int kSize = decltype(size)::value;
    Operation operation;
    const T* const y = operation.tensor<T>("y", r.elements, Fill::normal);
    const T* const dy = operation.tensor<T>("dy", r.elements, Fill::normal);
    T* const dx = operation.tensor<T>("dx", r.elements);
    operation.execute = [=](cudaStream_t stream) {
      softmax_gradients<T, kSize><<<r.blocks, r.threads, 0, stream>>>(r.rows, r.width, y, dy, dx);
    };
    return operation;
  });
}

}  // namespace

Entries row_operators() {
  return {{"layer_norm", 2, layer_norm},
          {"layer_norm_backward", 2, layer_norm_backward},
          {"softmax", 2, softmax},
          {"softmax_backward", 2, softmax_backward}};
}

}  // namespace contend::cuda
