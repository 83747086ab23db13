// Measures compression that keeps every element, by our own kernels on fp32 tensors.
//
//   sign_pack      one bit for each element, which is its sign bit; eight threads of a warp join 32 of them (`bits`).
//   sign_unpack    from bits to -1 and 1.
//   quantize8      `levels` = round((x - least) / step), step = (largest - least) / 255; `range` holds the least value
//                  and the step. Two passes: least and largest of every block, then the levels, for which every block
//                  first goes over what the blocks have found.
//   quantize4      the same with 15 steps, two levels a byte, the first in the lower bits.
//   dequantize8, dequantize4   `x` = least + step x level.
#include "calibration/cuda/kernels.cuh"
#include "calibration/cuda/sign_kernels.cuh"

namespace contend::cuda {

namespace {

constexpr unsigned kMostBlocks = 1024;

__global__ void __launch_bounds__(kThreads) unpack_signs(const std::uint32_t* bits, float* x, std::int64_t n) {
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) {
    x[i] = (bits[i / 32] >> (i % 32) & 1U) != 0 ? -1.0F : 1.0F;
  }
}

__global__ void __launch_bounds__(kThreads) find_range(const float* x, float2* found, std::int64_t n) {
  float least = Least::kNeutral, most = Largest::kNeutral;
  const auto* const packs = reinterpret_cast<const float4*>(x);
  for (std::int64_t i = thread_index(); i < n / 4; i += thread_count()) {
    const float4 v = packs[i];
    least = fminf(least, fminf(fminf(v.x, v.y), fminf(v.z, v.w)));
    most = fmaxf(most, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
  const std::int64_t last = n / 4 * 4 + thread_index();
  if (last < n) {
    least = fminf(least, x[last]);
    most = fmaxf(most, x[last]);
  }
  least = reduce_block(least, Least{});
  most = reduce_block(most, Largest{});
  if (threadIdx.x == 0) found[blockIdx.x] = {least, most};
}

/// Returns the least value and the step over all blocks of find_range() to all threads of the block.
__device__ float2 join_ranges(const float2* found, unsigned blocks, float steps) {
  float least = Least::kNeutral, most = Largest::kNeutral;
  for (unsigned i = threadIdx.x; i < blocks; i += blockDim.x) {
    least = fminf(least, found[i].x);
    most = fmaxf(most, found[i].y);
  }
  least = reduce_block(least, Least{});
  most = reduce_block(most, Largest{});
  return {least, (most - least) / steps};
}

__device__ unsigned level(float value, float2 range, float most) {
  if (range.y == 0) return 0;
  return static_cast<unsigned>(fminf(fmaxf(rintf((value - range.x) / range.y), 0.0F), most));
}

/// Eight bits a level.
struct Bytes {
  static constexpr float kSteps = 255;
  static constexpr int kValues = 1;
};
/// Four bits a level.
struct Nibbles {
  static constexpr float kSteps = 15;
  static constexpr int kValues = 2;
};

/// Quantises. Each thread writes four bytes of levels by one store.
template <class Format>
__global__ void __launch_bounds__(kThreads) quantize(const float* x, const float2* found, unsigned found_blocks,
                                                     float* range, std::uint32_t* levels, std::int64_t n) {
  constexpr int kValues = Format::kValues;
  constexpr int kBits = 8 / kValues;
  const float2 r = join_ranges(found, found_blocks, Format::kSteps);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    range[0] = r.x;
    range[1] = r.y;
  }
  const std::int64_t words = (n + 4 * kValues - 1) / (4 * kValues);
  for (std::int64_t word = thread_index(); word < words; word += thread_count()) {
    const std::int64_t first = word * 4 * kValues;
    unsigned packed = 0;
    if (first + 4 * kValues <= n) {
#pragma unroll
      for (int quad = 0; quad < kValues; ++quad) {
        const float4 v = reinterpret_cast<const float4*>(x)[word * kValues + quad];
        packed |= level(v.x, r, Format::kSteps) << (kBits * (4 * quad));
        packed |= level(v.y, r, Format::kSteps) << (kBits * (4 * quad + 1));
        packed |= level(v.z, r, Format::kSteps) << (kBits * (4 * quad + 2));
        packed |= level(v.w, r, Format::kSteps) << (kBits * (4 * quad + 3));
      }
    } else {
      for (std::int64_t i = first; i < n; ++i) packed |= level(x[i], r, Format::kSteps) << (kBits * (i - first));
    }
    levels[word] = packed;
  }
}

template <class Format>
__global__ void __launch_bounds__(kThreads)
    dequantize(const std::uint32_t* levels, const float* range, float* x, std::int64_t n) {
  constexpr int kValues = Format::kValues;
  constexpr unsigned kBits = 8 / kValues, kMask = (1U << kBits) - 1;
  const float least = range[0], step = range[1];
  const std::int64_t words = (n + 4 * kValues - 1) / (4 * kValues);
  for (std::int64_t word = thread_index(); word < words; word += thread_count()) {
    const std::int64_t first = word * 4 * kValues;
    unsigned packed = levels[word];
    const auto next = [&] {
      const float value = least + step * static_cast<float>(packed & kMask);
      packed >>= kBits;
      return value;
    };
    if (first + 4 * kValues <= n) {
#pragma unroll
      for (int quad = 0; quad < kValues; ++quad) {
        float4 v;
        v.x = next();
        v.y = next();
        v.z = next();
        v.w = next();
        reinterpret_cast<float4*>(x)[word * kValues + quad] = v;
      }
    } else {
      for (std::int64_t i = first; i < n; ++i) x[i] = next();
    }
  }
}

Operation sign_pack(Session& session, const Request& request) {
  only_fp32(request);
  Operation operation;
  const std::int64_t n = request.shape[0];
  const float* const x = operation.tensor<float>("x", n, Fill::normal);
  auto* const bits = operation.tensor<std::uint32_t>("bits", (n + 31) / 32);
  const unsigned blocks = blocks_for(n, 4 * kFours * kThreads, full(session));
  operation.execute = [=](cudaStream_t stream) { pack_signs<<<blocks, kThreads, 0, stream>>>(x, bits, n); };
  return operation;
}

Operation sign_unpack(Session& session, const Request& request) {
  only_fp32(request);
  Operation operation;
  const std::int64_t n = request.shape[0];
  const auto* const bits = operation.tensor<std::uint32_t>("bits", (n + 31) / 32);
  float* const x = operation.tensor<float>("x", n);
  const unsigned blocks = blocks_for(n, 4 * kThreads, full(session));
  operation.execute = [=](cudaStream_t stream) { unpack_signs<<<blocks, kThreads, 0, stream>>>(bits, x, n); };
  return operation;
}

/// The number of 32-bit words that the levels of n values take.
template <class Format>
std::int64_t words_of(std::int64_t n) {
  return (n + 4 * Format::kValues - 1) / (4 * Format::kValues);
}

template <class Format>
Operation to_levels(Session& session, const Request& request) {
  only_fp32(request);
  Operation operation;
  const std::int64_t n = request.shape[0];
  const unsigned searching = blocks_for(n, 8 * kThreads, std::min<std::int64_t>(kMostBlocks, full(session)));
  const unsigned blocks = blocks_for(words_of<Format>(n), kThreads, full(session));
  const float* const x = operation.tensor<float>("x", n, Fill::normal);
  auto* const found = reinterpret_cast<float2*>(operation.tensor<float>("found", 2 * searching));
  float* const range = operation.tensor<float>("range", 2);
  auto* const levels = operation.tensor<std::uint32_t>("levels", words_of<Format>(n));
  operation.execute = [=](cudaStream_t stream) {
    find_range<<<searching, kThreads, 0, stream>>>(x, found, n);
    quantize<Format><<<blocks, kThreads, 0, stream>>>(x, found, searching, range, levels, n);
  };
  operation.kernels = 2;
  return operation;
}

template <class Format>
Operation from_levels(Session& session, const Request& request) {
  only_fp32(request);
  Operation operation;
  const std::int64_t n = request.shape[0];
  const unsigned blocks = blocks_for(words_of<Format>(n), kThreads, full(session));
  const auto* const levels = operation.tensor<std::uint32_t>("levels", words_of<Format>(n));
  const float* const range = operation.tensor<float>("range", 2, Fill::normal);
  float* const x = operation.tensor<float>("x", n);
  operation.execute = [=](cudaStream_t stream) {
    dequantize<Format><<<blocks, kThreads, 0, stream>>>(levels, range, x, n);
  };
  return operation;
}

}  // namespace

Entries quantization_operators() {
  return {{"sign_pack", 1, sign_pack, 0, true},          {"sign_unpack", 1, sign_unpack, 0, true},
          {"quantize8", 1, to_levels<Bytes>, 0, true},   {"dequantize8", 1, from_levels<Bytes>, 0, true},
          {"quantize4", 1, to_levels<Nibbles>, 0, true}, {"dequantize4", 1, from_levels<Nibbles>, 0, true}};
}

}  // namespace contend::cuda
