#include "calibration/cuda/select.cuh"

namespace contend::cuda {

namespace {

__device__ std::uint32_t magnitude(float value) {
  return __float_as_uint(value) & 0x7fffffffU;
}

__global__ void begin_selection(Selection* s, std::uint32_t wanted) {
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
__global__ void __launch_bounds__(kThreads) count_digits(const float* x, std::int64_t n, Digit digit, Selection* s) {
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
__global__ void choose_digit(int shift, Selection* s) {
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

/// Returns the place of this thread's element, if it has one, among those that `counter` has counted. A warp adds to
/// the counter once.
__device__ std::uint32_t take_place(bool has, std::uint32_t* counter) {
  const unsigned with = __ballot_sync(0xffffffffU, has);
  if (with == 0) return 0;
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t first = 0;
  if (lane == 0) first = atomicAdd(counter, static_cast<unsigned>(__popc(with)));
  first = __shfl_sync(0xffffffffU, first, 0);
  return first + static_cast<unsigned>(__popc(with & ((1U << lane) - 1)));
}

__global__ void __launch_bounds__(kThreads) compact(const float* x, std::int64_t n, bool all_ties, std::uint32_t room,
                                                    Selection* s, float* values, std::uint32_t* indices) {
  const std::uint32_t threshold = s->threshold;
  const std::uint32_t ties = all_ties ? 0xffffffffU : s->wanted;
  const std::int64_t end = ((n + 3) / 4 + 31) / 32 * 32;  // whole warps loop
  for (std::int64_t i = thread_index(); i < end; i += thread_count()) {
    float value[4] = {};
    if (4 * i + 3 < n) {
      const float4 v = reinterpret_cast<const float4*>(x)[i];
      value[0] = v.x;
      value[1] = v.y;
      value[2] = v.z;
      value[3] = v.w;
    } else {
      for (int k = 0; 4 * i + k < n; ++k) value[k] = x[4 * i + k];
    }
    bool any = false;
#pragma unroll
    for (int k = 0; k < 4; ++k) any = any || magnitude(value[k]) >= threshold;
    if (__ballot_sync(0xffffffffU, any) == 0) continue;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t bits = magnitude(value[k]);
      const bool inside = 4 * i + k < n, tie = inside && bits == threshold;
      const std::uint32_t tie_place = take_place(tie, &s->ties);
      const bool selected = inside && (bits > threshold || (tie && tie_place < ties));
      const std::uint32_t place = take_place(selected, &s->count);
      if (selected && place < room) {
        values[place] = value[k];
        indices[place] = static_cast<std::uint32_t>(4 * i + k);
      }
    }
  }
}

}  // namespace

void launch_radix_select(const Session& session, cudaStream_t stream, const float* x, std::int64_t n,
                         std::uint32_t wanted, Selection* selection) {
  const unsigned blocks = blocks_for(n, 8 * kThreads, full(session) / 2);
  begin_selection<<<1, 256, 0, stream>>>(selection, wanted);
  for (const Digit& digit : kDigits) {
    count_digits<<<blocks, kThreads, 0, stream>>>(x, n, digit, selection);
    choose_digit<<<1, 256, 0, stream>>>(digit.shift, selection);
  }
}

void launch_compact(const Session& session, cudaStream_t stream, const float* x, std::int64_t n, bool all_ties,
                    std::uint32_t room, Selection* selection, float* values, std::uint32_t* indices) {
  const unsigned blocks = blocks_for(n, 4 * kThreads, full(session));
  compact<<<blocks, kThreads, 0, stream>>>(x, n, all_ties, room, selection, values, indices);
}

}  // namespace contend::cuda
