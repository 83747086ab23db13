#include "calibration/cuda/select.cuh"

#include "calibration/cuda/compact_kernels.cuh"

namespace contend::cuda {

namespace {

__global__ void begin_selection(SelectionState* s, std::uint32_t wanted) {
  s->digits[threadIdx.x] = 0;
  if (threadIdx.x != 0) return;
  s->threshold = 0;
  s->wanted = wanted;
  s->count = 0;
  s->ties = 0;
}

/// Magnitudes have 31 bits. The first digit is the exponent, which spreads values best over the counters.
struct Digit {
  int shift, width;
};
constexpr Digit kDigits[] = {{23, 8}, {15, 8}, {7, 8}, {0, 7}};

/// Counts a digit of the magnitudes whose higher digits are those found so far for the threshold.
__global__ void __launch_bounds__(kThreads)
    count_digits(const float* x, std::int64_t n, Digit digit, SelectionState* s) {
  __shared__ std::uint32_t counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  const int end = digit.shift + digit.width;
  const std::uint32_t above = s->threshold >> end, mask = (1U << digit.width) - 1;
  const auto look = [&](float value) {
    const std::uint32_t bits = magnitude(value);
    if (bits >> end == above) atomicAdd(counts + (bits >> digit.shift & mask), 1U);
  };
  const auto* const packs = reinterpret_cast<const float4*>(x);
  for (std::int64_t i = thread_index(); i < n / 4; i += thread_count()) {
    const float4 v = packs[i];
    look(v.x);
    look(v.y);
    look(v.z);
    look(v.w);
  }
  const std::int64_t last = n / 4 * 4 + thread_index();
  if (last < n) look(x[last]);
  __syncthreads();
  if (counts[threadIdx.x] != 0) atomicAdd(s->digits + threadIdx.x, counts[threadIdx.x]);
}

/// Fixes a digit, by one block of 256 threads.
__global__ void choose_digit(int shift, SelectionState* s) {
  __shared__ std::uint32_t from_here[256];  // elements of this digit or a higher one
  const unsigned digit = threadIdx.x;
  from_here[digit] = s->digits[digit];
  const std::uint32_t wanted = s->wanted;
  __syncthreads();
  for (unsigned distance = 1; distance < 256; distance *= 2) {
    const std::uint32_t more = digit + distance < 256 ? from_here[digit + distance] : 0;
    __syncthreads();
    from_here[digit] += more;
    __syncthreads();
  }
  const std::uint32_t higher = digit < 255 ? from_here[digit + 1] : 0;
  s->digits[digit] = 0;
  if (higher < wanted && wanted <= from_here[digit]) {
    s->threshold |= digit << shift;
    s->wanted = wanted - higher;
  }
}

}  // namespace

void launch_radix_select(const Session& session, cudaStream_t stream, const float* x, std::int64_t n,
                         std::uint32_t wanted, SelectionState* selection) {
  const unsigned blocks = blocks_for(n, 8 * kThreads, full(session) / 2);
  begin_selection<<<1, 256, 0, stream>>>(selection, wanted);
  for (const Digit& digit : kDigits) {
    count_digits<<<blocks, kThreads, 0, stream>>>(x, n, digit, selection);
    choose_digit<<<1, 256, 0, stream>>>(digit.shift, selection);
  }
}

void launch_compact(const Session& session, cudaStream_t stream, const float* x, std::int64_t n, bool all_ties,
                    std::uint32_t room, SelectionState* selection, float* values, std::uint32_t* indices) {
  const unsigned blocks = blocks_for(n, kCompacted, full(session));
  compact<<<blocks, kThreads, 0, stream>>>(x, n, all_ties, room, selection, values, indices);
}

}  // namespace contend::cuda
