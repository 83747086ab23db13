// Normalises over a batch by our own kernels, with sums in fp32.
//
//   batch_norm            `x` as N C P (batch, channel, position), `y`, and by channel `gamma`, `beta`, `mean` and
//                         `deviation` (its inverse). Two kernels, x is read twice: sums of each channel by several
//                         blocks, then scaling by blocks that first add up those sums. Ioffe and Szegedy, ICML 2015.
//   batch_norm_backward   `dx` and by channel `dgamma`, `dbeta` from `x`, `dy`, `gamma`, `mean`, `deviation`. Two
//                         kernels in the same way.
#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

namespace {

constexpr float kEpsilon = 1e-5F;
constexpr int kMostSplits = 32;

/// The part of one channel that a block works on: the groups begin <= i < end, counted over batch and positions. A
/// group has 4 positions if their number is divisible by 4, else 1.
struct Channels {
  std::int64_t channels;
  unsigned positions, per_channel, per_block;

  __device__ unsigned begin() const { return blockIdx.y * per_block; }
  __device__ unsigned end() const { return min(per_channel, begin() + per_block); }
  __device__ std::int64_t place(unsigned i) const {
    return (static_cast<std::int64_t>(i / positions) * channels + blockIdx.x) * positions + i % positions;
  }
};

/// Writes two sums over the part of a channel that this block has.
__device__ void write_sums(float a, float b, float2* sums) {
  a = reduce_block(a, Plus{});
  b = reduce_block(b, Plus{});
  if (threadIdx.x == 0) sums[static_cast<std::int64_t>(blockIdx.x) * gridDim.y + blockIdx.y] = {a, b};
}

/// Returns the means over a channel from its blocks' sums, the same in all threads.
__device__ float2 means(const float2* sums, float count) {
  const float2 part =
      threadIdx.x < gridDim.y ? sums[static_cast<std::int64_t>(blockIdx.x) * gridDim.y + threadIdx.x] : float2{0, 0};
  const float a = reduce_block(part.x, Plus{});
  const float b = reduce_block(part.y, Plus{});
  return {a / count, b / count};
}

template <class T, int Size>
__global__ void __launch_bounds__(kThreads) sum_channels(Channels c, const Group<T, Size>* x, float2* sums) {
  float sum = 0, squares = 0;
  for (unsigned i = c.begin() + threadIdx.x; i < c.end(); i += kThreads) {
    const Group<T, Size> group = x[c.place(i)];
#pragma unroll
    for (const T& each : group.at) {
      const float value = to_float(each);
      sum += value;
      squares += value * value;
    }
  }
  write_sums(sum, squares, sums);
}

template <class T, int Size>
__global__ void __launch_bounds__(kThreads)
    scale_channels(Channels c, const Group<T, Size>* x, Group<T, Size>* y, const float2* sums, const float* gamma,
                   const float* beta, float* mean, float* deviation) {
  const float2 moments = means(sums, static_cast<float>(c.per_channel) * Size);
  const float inverse = rsqrtf(fmaxf(moments.y - moments.x * moments.x, 0.0F) + kEpsilon);
  if (blockIdx.y == 0 && threadIdx.x == 0) {
    mean[blockIdx.x] = moments.x;
    deviation[blockIdx.x] = inverse;
  }
  const float scale = gamma[blockIdx.x] * inverse;
  const float shift = beta[blockIdx.x] - moments.x * scale;
  for (unsigned i = c.begin() + threadIdx.x; i < c.end(); i += kThreads) {
    const std::int64_t place = c.place(i);
    Group<T, Size> group = x[place];
#pragma unroll
    for (T& each : group.at) each = from_float<T>(to_float(each) * scale + shift);
    y[place] = group;
  }
}

template <class T, int Size>
__global__ void __launch_bounds__(kThreads)
    sum_channel_gradients(Channels c, const Group<T, Size>* x, const Group<T, Size>* dy, const float* mean,
                          const float* deviation, float2* sums) {
  const float shift = mean[blockIdx.x], inverse = deviation[blockIdx.x];
  float sum = 0, products = 0;
  for (unsigned i = c.begin() + threadIdx.x; i < c.end(); i += kThreads) {
    const std::int64_t place = c.place(i);
    const Group<T, Size> gradients = dy[place], inputs = x[place];
#pragma unroll
    for (int k = 0; k < Size; ++k) {
      const float gradient = to_float(gradients.at[k]);
      sum += gradient;
      products += gradient * (to_float(inputs.at[k]) - shift) * inverse;
    }
  }
  write_sums(sum, products, sums);
}

template <class T, int Size>
__global__ void __launch_bounds__(kThreads)
    channel_gradients(Channels c, const Group<T, Size>* x, const Group<T, Size>* dy, Group<T, Size>* dx,
                      const float2* sums, const float* gamma, const float* mean, const float* deviation, float* dgamma,
                      float* dbeta) {
  const auto count = static_cast<float>(c.per_channel) * Size;
  const float2 average = means(sums, count);
  if (blockIdx.y == 0 && threadIdx.x == 0) {
    dbeta[blockIdx.x] = average.x * count;
    dgamma[blockIdx.x] = average.y * count;
  }
  const float shift = mean[blockIdx.x], inverse = deviation[blockIdx.x];
  const float scale = gamma[blockIdx.x] * inverse;
  for (unsigned i = c.begin() + threadIdx.x; i < c.end(); i += kThreads) {
    const std::int64_t place = c.place(i);
    Group<T, Size> gradients = dy[place];
    const Group<T, Size> inputs = x[place];
#pragma unroll
    for (int k = 0; k < Size; ++k) {
      const float normal = (to_float(inputs.at[k]) - shift) * inverse;
      gradients.at[k] = from_float<T>(scale * (to_float(gradients.at[k]) - average.x - normal * average.y));
    }
    dx[place] = gradients;
  }
}

struct Split {
  Channels channels;
  dim3 grid;
};

Split split(const Session& session, const Request& request, int group) {
  const std::int64_t batch = request.shape[0], channels = request.shape[1], positions = request.shape[2] / group;
  const std::int64_t per_channel = elements_of({batch, positions});
  if (per_channel >= 0x40000000 || channels > 0x7fffffff) {
    fail(CONTEND_UNSUPPORTED, "channels of 2^30 groups of elements or more have no kernel");
  }
  // There are enough blocks to fill the device, but at least 2 groups for every thread.
  std::int64_t splits = (full(session) + channels - 1) / channels;
  splits = std::max<std::int64_t>(1, std::min({splits, per_channel / (2 * kThreads), std::int64_t{kMostSplits}}));
  const auto per_block = static_cast<unsigned>((per_channel + splits - 1) / splits);
  return {{channels, static_cast<unsigned>(positions), static_cast<unsigned>(per_channel), per_block},
          dim3(static_cast<unsigned>(channels), static_cast<unsigned>(splits))};
}

template <class T, int Size>
Operation batch_norm_of(const Split& s, std::int64_t elements) {
  Operation operation;
  const std::int64_t channels = s.channels.channels;
  const T* const x = operation.tensor<T>("x", elements, Fill::normal);
  T* const y = operation.tensor<T>("y", elements);
  const float* const gamma = operation.tensor<float>("gamma", channels, Fill::normal);
  const float* const beta = operation.tensor<float>("beta", channels, Fill::normal);
  float* const mean = operation.tensor<float>("mean", channels);
  float* const deviation = operation.tensor<float>("deviation", channels);
  auto* const sums = reinterpret_cast<float2*>(operation.tensor<float>("sums", 2 * channels * s.grid.y));
  using Groups = Group<T, Size>;
  operation.execute = [=](cudaStream_t stream) {
    const auto* const in = reinterpret_cast<const Groups*>(x);
    auto* const out = reinterpret_cast<Groups*>(y);
    sum_channels<T, Size><<<s.grid, kThreads, 0, stream>>>(s.channels, in, sums);
    scale_channels<T, Size><<<s.grid, kThreads, 0, stream>>>(s.channels, in, out, sums, gamma, beta, mean, deviation);
  };
  return operation;
}

template <class T, int Size>
Operation batch_norm_backward_of(const Split& s, std::int64_t elements) {
  Operation operation;
  const std::int64_t channels = s.channels.channels;
  const T* const x = operation.tensor<T>("x", elements, Fill::normal);
  const T* const dy = operation.tensor<T>("dy", elements, Fill::normal);
  T* const dx = operation.tensor<T>("dx", elements);
  const float* const gamma = operation.tensor<float>("gamma", channels, Fill::normal);
  const float* const mean = operation.tensor<float>("mean", channels, Fill::normal, 0.1F);
  const float* const deviation = operation.tensor<float>("deviation", channels, Fill::normal);
  float* const dgamma = operation.tensor<float>("dgamma", channels);
  float* const dbeta = operation.tensor<float>("dbeta", channels);
  auto* const sums = reinterpret_cast<float2*>(operation.tensor<float>("sums", 2 * channels * s.grid.y));
  using Groups = Group<T, Size>;
  operation.execute = [=](cudaStream_t stream) {
    const auto* const in = reinterpret_cast<const Groups*>(x);
    const auto* const gradient = reinterpret_cast<const Groups*>(dy);
    auto* const out = reinterpret_cast<Groups*>(dx);
    sum_channel_gradients<T, Size><<<s.grid, kThreads, 0, stream>>>(s.channels, in, gradient, mean, deviation, sums);
    channel_gradients<T, Size>
        <<<s.grid, kThreads, 0, stream>>>(s.channels, in, gradient, out, sums, gamma, mean, deviation, dgamma, dbeta);
  };
  return operation;
}

Operation batch_norm(Session& session, const Request& request) {
  const std::int64_t elements = elements_of({request.shape[0], request.shape[1], request.shape[2]});
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return request.shape[2] % 4 == 0 ? batch_norm_of<T, 4>(split(session, request, 4), elements)
                                     : batch_norm_of<T, 1>(split(session, request, 1), elements);
  });
}

Operation batch_norm_backward(Session& session, const Request& request) {
  const std::int64_t elements = elements_of({request.shape[0], request.shape[1], request.shape[2]});
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return request.shape[2] % 4 == 0 ? batch_norm_backward_of<T, 4>(split(session, request, 4), elements)
                                     : batch_norm_backward_of<T, 1>(split(session, request, 1), elements);
  });
}

}  // namespace

Entries batch_norm_operators() {
  return {{"batch_norm", 3, batch_norm}, {"batch_norm_backward", 3, batch_norm_backward}};
}

}  // namespace contend::cuda
