// Measures compression that keeps about `selected` elements of fp32 tensors `x` of normal values. The kept elements are
// in `values` and `indices`, in no particular order. The kernels are our own and copy nothing to the host. Tensors have
// up to 2^32 - 1 elements, because indices have 32 bits.
//
//   top_k         exact, by radix selection (select.cuh), then a pass that writes those above the threshold, and as
//                 many of those equal to it as are wanted. The tensor is read five times.
//   threshold_k   the last pass alone, with a given threshold, here the k-th largest magnitude.
//   gaussian_k    threshold = mean + z deviation, z such that a normal distribution has the wanted share beyond +-z;
//                 then up to three times: count, and if fewer than 2/3 or more than 4/3 of the wanted are above, halve
//                 the threshold or multiply it by 1.5 (Shi et al., "Understanding Top-k Sparsification in Distributed
//                 Deep Learning", 2019). Passes after a successful one end at once.
//   random_k      one element from each of `selected` equal stretches, drawn by a hash, so without replacement.
//   scatter_add   `y` set to zero, then the pairs added to it.
#include "calibration/cuda/select.cuh"

#include <cmath>

namespace contend::cuda {

namespace {

constexpr int kMostBlocks = 512;
constexpr int kRefinements = 3;

/// Sums values and squares, for each block.
__global__ void __launch_bounds__(kThreads) sum_moments(const float* x, std::int64_t n, float2* sums) {
  float sum = 0, squares = 0;
  const auto* const packs = reinterpret_cast<const float4*>(x);
  for (std::int64_t i = thread_index(); i < n / 4; i += thread_count()) {
    const float4 v = packs[i];
    sum += v.x + v.y + v.z + v.w;
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  const std::int64_t last = n / 4 * 4 + thread_index();
  if (last < n) {
    sum += x[last];
    squares += x[last] * x[last];
  }
  sum = reduce_block(sum, Plus{});
  squares = reduce_block(squares, Plus{});
  if (threadIdx.x == 0) sums[blockIdx.x] = {sum, squares};
}

/// Computes the threshold from the moments, by one block.
__global__ void __launch_bounds__(kThreads)
    begin_gaussian(const float2* sums, unsigned blocks, std::int64_t n, float z, SelectionState* s) {
  float sum = 0, squares = 0;
  for (unsigned i = threadIdx.x; i < blocks; i += blockDim.x) {
    sum += sums[i].x;
    squares += sums[i].y;
  }
  const float mean = reduce_block(sum, Plus{}) / static_cast<float>(n);
  const float square = reduce_block(squares, Plus{}) / static_cast<float>(n);
  if (threadIdx.x != 0) return;
  s->threshold = __float_as_uint(fmaxf(0.0F, mean + z * sqrtf(fmaxf(square - mean * mean, 0.0F))));
  s->count = s->ties = s->above = s->settled = 0;
}

__global__ void __launch_bounds__(kThreads) count_above(const float* x, std::int64_t n, SelectionState* s) {
  if (s->settled != 0) return;
  const float threshold = __uint_as_float(s->threshold);
  unsigned count = 0;
  const auto* const packs = reinterpret_cast<const float4*>(x);
  for (std::int64_t i = thread_index(); i < n / 4; i += thread_count()) {
    const float4 v = packs[i];
    count += static_cast<unsigned>(fabsf(v.x) > threshold) + static_cast<unsigned>(fabsf(v.y) > threshold) +
             static_cast<unsigned>(fabsf(v.z) > threshold) + static_cast<unsigned>(fabsf(v.w) > threshold);
  }
  const std::int64_t last = n / 4 * 4 + thread_index();
  if (last < n && fabsf(x[last]) > threshold) ++count;
  for (int distance = 16; distance > 0; distance /= 2) count += __shfl_xor_sync(0xffffffffU, count, distance);
  if (threadIdx.x % 32 == 0 && count != 0) atomicAdd(&s->above, count);
}

__global__ void refine(std::uint32_t wanted, SelectionState* s) {
  if (s->settled != 0) return;
  const float threshold = __uint_as_float(s->threshold);
  if (3ULL * s->above < 2ULL * wanted) {
    s->threshold = __float_as_uint(0.5F * threshold);
  } else if (3ULL * s->above > 4ULL * wanted) {
    s->threshold = __float_as_uint(1.5F * threshold);
  } else {
    s->settled = 1;
  }
  s->above = 0;
}

__global__ void clear_counts(SelectionState* s) {
  s->count = 0;
  s->ties = 0;
}

/// The place drawn from the i-th of k stretches of n elements.
__device__ std::int64_t drawn(std::int64_t i, std::int64_t n, std::int64_t k) {
  const std::int64_t length = n / k;
  std::uint32_t bits = static_cast<std::uint32_t>(i) * 0x9e3779b1U + 0x7f4a7c15U;
  bits = (bits ^ (bits >> 16)) * 0x85ebca6bU;
  bits = (bits ^ (bits >> 13)) * 0xc2b2ae35U;
  bits ^= bits >> 16;
  return i * length +
         static_cast<std::int64_t>(static_cast<std::uint64_t>(bits) * static_cast<std::uint64_t>(length) >> 32);
}

__global__ void __launch_bounds__(kThreads)
    gather_random(const float* x, std::int64_t n, std::int64_t k, float* values, std::uint32_t* indices) {
  for (std::int64_t i = thread_index(); i < k; i += thread_count()) {
    const std::int64_t place = drawn(i, n, k);
    values[i] = x[place];
    indices[i] = static_cast<std::uint32_t>(place);
  }
}

__global__ void __launch_bounds__(kThreads)
    add_pairs(const float* values, const std::uint32_t* indices, std::int64_t k, float* y) {
  for (std::int64_t i = thread_index(); i < k; i += thread_count()) atomicAdd(y + indices[i], values[i]);
}

/// Returns the z > 0 beyond which (+-z) a share of a normal distribution lies, by bisection, because erfc falls.
double two_sided_quantile(double share) {
  double low = 0, high = 40;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) > share ? low : high) = middle;
  }
  return low;
}

struct Sparse {
  Sparse(Operation& operation, const Request& request) : n(request.shape[0]), k(request.shape[1]) {
    only_fp32(request);
    if (k > n) fail(CONTEND_UNSUPPORTED, "more elements are to be selected than there are");
    if (n > 0xffffffff) fail(CONTEND_UNSUPPORTED, "indices of 32 bits end at 2^32 elements");
    // What a threshold selects is not exactly k.
    room = static_cast<std::uint32_t>(std::min(n, 2 * k + 1024));
    x = operation.tensor<float>("x", n, Fill::normal);
    values = operation.tensor<float>("values", room);
    indices = operation.tensor<std::uint32_t>("indices", room);
    selection = reinterpret_cast<SelectionState*>(operation.tensor<std::uint32_t>("selection", kSelectionWords));
  }
  std::uint32_t wanted() const { return static_cast<std::uint32_t>(k); }

  std::int64_t n, k;
  std::uint32_t room;
  const float* x;
  float* values;
  std::uint32_t* indices;
  SelectionState* selection;
};

Operation top_k(Session& session, const Request& request) {
  Operation operation;
  const Sparse s(operation, request);
  operation.execute = [s, &session](cudaStream_t stream) {
    launch_radix_select(session, stream, s.x, s.n, s.wanted(), s.selection);
    launch_compact(session, stream, s.x, s.n, false, s.room, s.selection, s.values, s.indices);
  };
  operation.kernels = 10;
  return operation;
}

Operation threshold_k(Session& session, const Request& request) {
  Operation operation;
  const Sparse s(operation, request);
  launch_radix_select(session, nullptr, s.x, s.n, s.wanted(), s.selection);
  operation.execute = [s, &session](cudaStream_t stream) {
    clear_counts<<<1, 1, 0, stream>>>(s.selection);
    launch_compact(session, stream, s.x, s.n, true, s.room, s.selection, s.values, s.indices);
  };
  operation.kernels = 2;
  return operation;
}

Operation gaussian_k(Session& session, const Request& request) {
  Operation operation;
  const Sparse s(operation, request);
  const unsigned blocks = blocks_for(s.n, 8 * kThreads, std::min<std::int64_t>(kMostBlocks, full(session)));
  auto* const sums = reinterpret_cast<float2*>(operation.tensor<float>("sums", 2 * blocks));
  const auto z = static_cast<float>(two_sided_quantile(static_cast<double>(s.k) / static_cast<double>(s.n)));
  operation.execute = [=, &session](cudaStream_t stream) {
    sum_moments<<<blocks, kThreads, 0, stream>>>(s.x, s.n, sums);
    begin_gaussian<<<1, kThreads, 0, stream>>>(sums, blocks, s.n, z, s.selection);
    for (int i = 0; i < kRefinements; ++i) {
      count_above<<<blocks, kThreads, 0, stream>>>(s.x, s.n, s.selection);
      refine<<<1, 1, 0, stream>>>(s.wanted(), s.selection);
    }
    launch_compact(session, stream, s.x, s.n, true, s.room, s.selection, s.values, s.indices);
  };
  operation.kernels = 3 + 2 * kRefinements;
  return operation;
}

Operation random_k(Session& session, const Request& request) {
  Operation operation;
  const Sparse s(operation, request);
  const unsigned blocks = blocks_for(s.k, kThreads, full(session));
  operation.execute = [=](cudaStream_t stream) {
    gather_random<<<blocks, kThreads, 0, stream>>>(s.x, s.n, s.k, s.values, s.indices);
  };
  return operation;
}

Operation scatter_add(Session& session, const Request& request) {
  Operation operation;
  const Sparse s(operation, request);
  float* const y = operation.tensor<float>("y", s.n);
  const unsigned blocks = blocks_for(s.k, kThreads, full(session));
  gather_random<<<blocks, kThreads>>>(s.x, s.n, s.k, s.values, s.indices);
  check(cudaGetLastError(), "launching a kernel");
  operation.execute = [=](cudaStream_t stream) {
    check(cudaMemsetAsync(y, 0, static_cast<size_t>(s.n) * sizeof(float), stream), "clearing");
    add_pairs<<<blocks, kThreads, 0, stream>>>(s.values, s.indices, s.k, y);
  };
  operation.kernels = 2;
  return operation;
}

}  // namespace

Entries selection_operators() {
  return {{"top_k", 2, top_k, 0, true},
          {"threshold_k", 2, threshold_k, 0, true},
          {"gaussian_k", 2, gaussian_k, 0, true},
          {"random_k", 2, random_k, 0, true},
          {"scatter_add", 2, scatter_add, 0, true}};
}

}  // namespace contend::cuda
