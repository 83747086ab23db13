// Computes attention on tensor cores. A block has 64 rows of one side, and a warp has 16 of them. The rows of the other
// side pass through shared memory. Scores stay in registers: the result of one product is the left operand of the next.
#include "calibration/cuda/attention.cuh"
#include "calibration/cuda/matrix_unit.cuh"

namespace contend::cuda {

namespace {

constexpr int kBlock = 128;
constexpr int kOwnRows = 64;
constexpr int kForwardTile = 64;
constexpr int kBackwardTile = 32;
constexpr float kLog2E = 1.44269504F;
constexpr float kLn2 = 0.69314718F;

template <class T, int Size>
__global__ void __launch_bounds__(kBlock) attend(AttentionTensors<T> t) {
  __shared__ alignas(16) T keys[kForwardTile * kLine<Size>], values[kForwardTile * kLine<Size>];
  const unsigned tiles = static_cast<unsigned>((t.sequence + kOwnRows - 1) / kOwnRows), warp = threadIdx.x / 32;
  const std::int64_t head = static_cast<std::int64_t>(blockIdx.x / tiles) * t.sequence;
  const std::int64_t key_head = static_cast<std::int64_t>(blockIdx.x / tiles) / t.group * t.sequence;
  const int own = static_cast<int>(blockIdx.x % tiles) * kOwnRows;
  const int end = t.keys_until(own + kOwnRows);
  const float scale = t.scale * kLog2E;  // weights are powers of 2

  std::uint32_t query[Size / 16][4];
  load_lines<T, Size, kOwnRows>(keys, t.q + head * t.size, own, t.sequence, t.size);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < Size / 16; ++k) read_left<T, Size>(query[k], keys, 16 * warp, 16 * k);

  float sum[Size / 8][4] = {};
  float most[2] = {Largest::kNeutral, Largest::kNeutral}, total[2] = {};
  for (int first = 0; first < end; first += kForwardTile) {
    __syncthreads();
    load_lines<T, Size, kForwardTile>(keys, t.k + key_head * t.size, first, t.sequence, t.size);
    load_lines<T, Size, kForwardTile>(values, t.v + key_head * t.size, first, t.sequence, t.size);
    __syncthreads();

    float scores[kForwardTile / 8][4] = {};
#pragma unroll
    for (int k = 0; k < Size / 16; ++k) {
#pragma unroll
      for (int n = 0; n < kForwardTile / 8; ++n) multiply_rows<T, Size>(scores[n], query[k], keys, 8 * n, 16 * k);
    }
    float tile_most[2] = {Largest::kNeutral, Largest::kNeutral};
#pragma unroll
    for (int n = 0; n < kForwardTile / 8; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int column = first + 8 * n + static_cast<int>(lane_pair()) + e % 2;
        const int query = own + static_cast<int>(16 * warp + lane_group()) + 8 * (e / 2);
        const bool seen = column < t.sequence && t.sees(query, column);
        scores[n][e] = seen ? scores[n][e] * scale : Largest::kNeutral;
        tile_most[e / 2] = fmaxf(tile_most[e / 2], scores[n][e]);
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float higher = fmaxf(most[h], join_row(tile_most[h], Largest{}));
      const float correction = exp2f(most[h] - higher);
      most[h] = higher;
      total[h] *= correction;
#pragma unroll
      for (int n = 0; n < Size / 8; ++n) {
        sum[n][2 * h] *= correction;
        sum[n][2 * h + 1] *= correction;
      }
    }
#pragma unroll
    for (int n = 0; n < kForwardTile / 8; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        scores[n][e] = exp2f(scores[n][e] - most[e / 2]);
        total[e / 2] += scores[n][e];
      }
    }
#pragma unroll
    for (int k = 0; k < kForwardTile / 16; ++k) {
      std::uint32_t weights[4];
      make_left<T>(weights, scores[2 * k], scores[2 * k + 1]);
#pragma unroll
      for (int n = 0; n < Size / 8; ++n) multiply_columns<T, Size>(sum[n], weights, values, 16 * k, 8 * n);
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    total[h] = join_row(total[h], Plus{});
    const int row = own + static_cast<int>(16 * warp + lane_group()) + 8 * h;
    if (lane_pair() == 0 && row < t.sequence) t.lse[head + row] = (most[h] + log2f(total[h])) * kLn2;
#pragma unroll
    for (int n = 0; n < Size / 8; ++n) {
      sum[n][2 * h] /= total[h];
      sum[n][2 * h + 1] /= total[h];
    }
  }
  write_rows<T, Size>(sum, t.o + head * t.size, own + static_cast<int>(16 * warp), t.sequence, t.size, 1);
}

template <class T, int Size>
constexpr size_t kGradientBytes = sizeof(T) * (2 * kOwnRows + 2 * kBackwardTile) * kLine<Size> +
                                  sizeof(float) * 2 * kBackwardTile;

/// Computes dK and dV of 64 keys with all queries of the heads that share them (`Keys`), or dQ of 64 queries with all
/// keys. The rows of the scores are keys in the first case and queries in the second. What a causal mask hides is left
/// out by whole tiles where it can be.
template <class T, int Size, bool Keys>
__global__ void __launch_bounds__(kBlock) attention_gradients(AttentionTensors<T> t) {
  extern __shared__ uint4 shared[];
  T* const own_one = reinterpret_cast<T*>(shared);
  T* const own_two = own_one + kOwnRows * kLine<Size>;
  T* const one = own_two + kOwnRows * kLine<Size>;
  T* const two = one + kBackwardTile * kLine<Size>;
  float* const tile_lse = reinterpret_cast<float*>(two + kBackwardTile * kLine<Size>);
  float* const tile_delta = tile_lse + kBackwardTile;

  const unsigned tiles = static_cast<unsigned>((t.sequence + kOwnRows - 1) / kOwnRows), warp = threadIdx.x / 32;
  const std::int64_t own_head = blockIdx.x / tiles, head = own_head * t.sequence;
  const int own = static_cast<int>(blockIdx.x % tiles) * kOwnRows;
  load_lines<T, Size, kOwnRows>(own_one, (Keys ? t.k : t.q) + head * t.size, own, t.sequence, t.size);
  load_lines<T, Size, kOwnRows>(own_two, (Keys ? t.v : t.d_o) + head * t.size, own, t.sequence, t.size);

  float row_lse[2], row_delta[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = min(own + static_cast<int>(16 * warp + lane_group()) + 8 * h, t.sequence - 1);
    row_lse[h] = Keys ? 0 : t.lse[head + row] * kLog2E;
    row_delta[h] = Keys ? 0 : t.delta[head + row];
  }

  float gradient[Size / 8][4] = {}, value_gradient[Size / 8][4] = {};
  // Queries before their keys see none of them.
  const int begin = Keys && t.causal ? own : 0, end = Keys ? t.sequence : t.keys_until(own + kOwnRows);
  for (int sharer = 0; sharer < (Keys ? t.group : 1); ++sharer) {
    const std::int64_t other_head = (Keys ? own_head * t.group + sharer : own_head / t.group) * t.sequence;
    for (int first = begin; first < end; first += kBackwardTile) {
      __syncthreads();
      load_lines<T, Size, kBackwardTile>(one, (Keys ? t.q : t.k) + other_head * t.size, first, t.sequence, t.size);
      load_lines<T, Size, kBackwardTile>(two, (Keys ? t.d_o : t.v) + other_head * t.size, first, t.sequence, t.size);
      if (Keys && threadIdx.x < kBackwardTile) {
        const int row = min(first + static_cast<int>(threadIdx.x), t.sequence - 1);
        tile_lse[threadIdx.x] = t.lse[other_head + row] * kLog2E;
        tile_delta[threadIdx.x] = t.delta[other_head + row];
      }
      __syncthreads();

      float weights[kBackwardTile / 8][4] = {}, d_scores[kBackwardTile / 8][4] = {};
#pragma unroll
      for (int k = 0; k < Size / 16; ++k) {
        std::uint32_t left_one[4], left_two[4];
        read_left<T, Size>(left_one, own_one, 16 * warp, 16 * k);
        read_left<T, Size>(left_two, own_two, 16 * warp, 16 * k);
#pragma unroll
        for (int n = 0; n < kBackwardTile / 8; ++n) {
          multiply_rows<T, Size>(weights[n], left_one, one, 8 * n, 16 * k);
          multiply_rows<T, Size>(d_scores[n], left_two, two, 8 * n, 16 * k);
        }
      }
#pragma unroll
      for (int n = 0; n < kBackwardTile / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int column = 8 * n + static_cast<int>(lane_pair()) + e % 2;
          const float lse = Keys ? tile_lse[column] : row_lse[e / 2];
          const float delta = Keys ? tile_delta[column] : row_delta[e / 2];
          const int own_row = own + static_cast<int>(16 * warp + lane_group()) + 8 * (e / 2),
                    other_row = first + column;
          const bool seen = other_row < t.sequence && (Keys ? t.sees(other_row, own_row) : t.sees(own_row, other_row));
          const float weight = seen ? exp2f(weights[n][e] * t.scale * kLog2E - lse) : 0;
          weights[n][e] = weight;
          d_scores[n][e] = weight * (d_scores[n][e] - delta);
        }
      }
#pragma unroll
      for (int k = 0; k < kBackwardTile / 16; ++k) {
        std::uint32_t left[4];
        make_left<T>(left, d_scores[2 * k], d_scores[2 * k + 1]);
#pragma unroll
        for (int n = 0; n < Size / 8; ++n) multiply_columns<T, Size>(gradient[n], left, one, 16 * k, 8 * n);
        if (!Keys) continue;
        make_left<T>(left, weights[2 * k], weights[2 * k + 1]);
#pragma unroll
        for (int n = 0; n < Size / 8; ++n) multiply_columns<T, Size>(value_gradient[n], left, two, 16 * k, 8 * n);
      }
    }
  }
  const int row = own + static_cast<int>(16 * warp);
  write_rows<T, Size>(gradient, (Keys ? t.dk : t.dq) + head * t.size, row, t.sequence, t.size, t.scale);
  if (Keys) write_rows<T, Size>(value_gradient, t.dv + head * t.size, row, t.sequence, t.size, 1);
}

template <class T>
unsigned blocks(const AttentionTensors<T>& t, std::int64_t heads) {
  return static_cast<unsigned>(heads * ((t.sequence + kOwnRows - 1) / kOwnRows));
}

template <class T, int Size>
void launch_gradients(const AttentionTensors<T>& t, cudaStream_t stream) {
  attention_gradients<T, Size, true><<<blocks(t, t.heads / t.group), kBlock, kGradientBytes<T, Size>, stream>>>(t);
  attention_gradients<T, Size, false><<<blocks(t, t.heads), kBlock, kGradientBytes<T, Size>, stream>>>(t);
}

template <class T, int Size, bool Keys>
void allow() {
  check(cudaFuncSetAttribute(attention_gradients<T, Size, Keys>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(kGradientBytes<T, Size>)),
        "asking for shared memory");
}

}  // namespace

template <class T>
void launch_matrix_attention(const AttentionTensors<T>& t, cudaStream_t stream) {
  if (t.size <= 64) {
    attend<T, 64><<<blocks(t, t.heads), kBlock, 0, stream>>>(t);
  } else {
    attend<T, 128><<<blocks(t, t.heads), kBlock, 0, stream>>>(t);
  }
}

template <class T>
void launch_matrix_attention_gradients(const AttentionTensors<T>& t, cudaStream_t stream) {
  if (t.size <= 64) {
    launch_gradients<T, 64>(t, stream);
  } else {
    launch_gradients<T, 128>(t, stream);
  }
}

template <class T>
void allow_matrix_attention() {
  allow<T, 64, true>();
  allow<T, 64, false>();
  allow<T, 128, true>();
  allow<T, 128, false>();
}

template void launch_matrix_attention(const AttentionTensors<__half>&, cudaStream_t);
template void launch_matrix_attention(const AttentionTensors<__nv_bfloat16>&, cudaStream_t);
template void launch_matrix_attention_gradients(const AttentionTensors<__half>&, cudaStream_t);
template void launch_matrix_attention_gradients(const AttentionTensors<__nv_bfloat16>&, cudaStream_t);
template void allow_matrix_attention<__half>();
template void allow_matrix_attention<__nv_bfloat16>();

}  // namespace contend::cuda
