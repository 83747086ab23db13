#pragma once
// Computes attention by multiply-adds. `Parts` neighbouring threads keep a row in registers, 32 numbers each, and
// combine it with the rows of the other side one after the other, which pass through shared memory 16 at a time. Thread
// r of a row has the 16-byte pieces whose number is r modulo `Parts`, so that the threads of a warp read different
// banks.

#include "calibration/cuda/attention_tensors.hpp"

namespace contend::cuda::plain {

constexpr int kBlock = 128;
constexpr int kTile = 16;
constexpr int kPieces = 8;

__device__ inline int least(int a, int b) {
  return a < b ? a : b;
}

/// A thread's part of a row.
struct Part {
  float4 at[kPieces];
};

__device__ inline float dot(const Part& part, const float4* row, int r, int parts) {
  float sum = 0;
  CONTEND_UNROLL
  for (int i = 0; i < kPieces; ++i) {
    const float4 a = part.at[i], b = row[i * parts + r];
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  return sum;
}

__device__ inline void add(Part& part, float scale, const float4* row, int r, int parts) {
  CONTEND_UNROLL
  for (int i = 0; i < kPieces; ++i) {
    const float4 b = row[i * parts + r];
    part.at[i].x += scale * b.x;
    part.at[i].y += scale * b.y;
    part.at[i].z += scale * b.z;
    part.at[i].w += scale * b.w;
  }
}

__device__ inline void scale(Part& part, float by) {
  CONTEND_UNROLL
  for (int i = 0; i < kPieces; ++i) {
    part.at[i].x *= by;
    part.at[i].y *= by;
    part.at[i].z *= by;
    part.at[i].w *= by;
  }
}

/// Returns four numbers of a row from `column` on. Numbers beyond its end, and those of a null row, are 0.
template <class T>
__device__ float4 read_piece(const T* row, int column, int size) {
  const auto at = [&](int i) { return row != nullptr && column + i < size ? to_float(row[column + i]) : 0.0F; };
  return {at(0), at(1), at(2), at(3)};
}

template <class T>
__device__ Part read_part(const T* row, int r, int parts, int size) {
  Part part;
  CONTEND_UNROLL
  for (int i = 0; i < kPieces; ++i) part.at[i] = read_piece(row, 4 * (i * parts + r), size);
  return part;
}

template <class T>
__device__ void write_part(const Part& part, T* row, int r, int parts, int size) {
  CONTEND_UNROLL
  for (int i = 0; i < kPieces; ++i) {
    const int column = 4 * (i * parts + r);
    if (column < size) row[column] = from_float<T>(part.at[i].x);
    if (column + 1 < size) row[column + 1] = from_float<T>(part.at[i].y);
    if (column + 2 < size) row[column + 2] = from_float<T>(part.at[i].z);
    if (column + 3 < size) row[column + 3] = from_float<T>(part.at[i].w);
  }
}

/// The head, the row and the part of it that this thread works on.
template <int Parts>
struct Place {
  __device__ explicit Place(int sequence) {
    constexpr int kRows = kBlock / Parts;
    const unsigned tiles = static_cast<unsigned>((sequence + kRows - 1) / kRows);
    head = blockIdx.x / tiles;
    first = static_cast<int>(blockIdx.x % tiles) * kRows;
    end = first + kRows;
    row = first + static_cast<int>(threadIdx.x) / Parts;
    part = static_cast<int>(threadIdx.x) % Parts;
  }
  std::int64_t head;
  int row, part;
  int first, end;  ///< rows of the block
};

/// Loads rows first to first + kTile of one head into shared memory. Rows beyond the sequence are 0.
template <class T, int Parts>
__device__ void load_tile(float4 (&tile)[kTile][kPieces * Parts], const T* head, int first, int sequence, int size) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kPieces * Parts; i += kBlock) {
    const int row = i / (kPieces * Parts), piece = i % (kPieces * Parts);
    const T* const from = first + row < sequence ? head + static_cast<std::int64_t>(first + row) * size : nullptr;
    tile[row][piece] = read_piece(from, 4 * piece, size);
  }
}

/// Returns the sum over the threads of a row to all of them.
template <int Parts>
__device__ float join(float sum) {
  for (int distance = Parts / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, distance);
  return sum;
}

template <class T, int Parts>
__global__ void __launch_bounds__(kBlock) attend(AttentionTensors<T> t) {
  __shared__ float4 keys[kTile][kPieces * Parts], values[kTile][kPieces * Parts];
  const Place<Parts> own(t.sequence);
  const std::int64_t head = own.head * t.sequence * t.size, key_head = own.head / t.group * t.sequence * t.size;
  const std::int64_t row = head + static_cast<std::int64_t>(own.row) * t.size;
  const bool inside = own.row < t.sequence;
  const int end = t.keys_until(own.end);
  const Part query = read_part(inside ? t.q + row : nullptr, own.part, Parts, t.size);
  Part sum = {};
  float most = Largest::kNeutral, total = 0;
  for (int first = 0; first < end; first += kTile) {
    __syncthreads();
    load_tile<T, Parts>(keys, t.k + key_head, first, t.sequence, t.size);
    load_tile<T, Parts>(values, t.v + key_head, first, t.sequence, t.size);
    __syncthreads();
    const int count = least(kTile, end - first);
    for (int j = 0; j < count; ++j) {
      const float product = t.scale * join<Parts>(dot(query, keys[j], own.part, Parts));
      const float score = t.sees(own.row, first + j) ? product : Largest::kNeutral;
      if (score > most) {
        const float correction = __expf(most - score);
        scale(sum, correction);
        total *= correction;
        most = score;
      }
      const float weight = __expf(score - most);
      total += weight;
      add(sum, weight, values[j], own.part, Parts);
    }
  }
  if (!inside) return;
  scale(sum, 1 / total);
  write_part(sum, t.o + row, own.part, Parts, t.size);
  if (own.part == 0) t.lse[own.head * t.sequence + own.row] = most + __logf(total);
}

/// Computes dK and dV of one key with all queries of the heads that share it (`Keys`), or dQ of one query with all
/// keys.
template <class T, int Parts, bool Keys>
__global__ void __launch_bounds__(kBlock) attention_gradients(AttentionTensors<T> t) {
  __shared__ float4 first_tile[kTile][kPieces * Parts], second_tile[kTile][kPieces * Parts];
  const Place<Parts> own(t.sequence);
  const std::int64_t row = (own.head * t.sequence + own.row) * t.size;
  const bool inside = own.row < t.sequence;
  const T* const own_first = Keys ? t.k : t.q;
  const T* const own_second = Keys ? t.v : t.d_o;
  const Part one = read_part(inside ? own_first + row : nullptr, own.part, Parts, t.size);
  const Part two = read_part(inside ? own_second + row : nullptr, own.part, Parts, t.size);
  Part gradient = {}, value_gradient = {};
  // Queries before their keys see none of them.
  const int begin = Keys && t.causal ? own.first : 0, end = Keys ? t.sequence : t.keys_until(own.end);
  for (int sharer = 0; sharer < (Keys ? t.group : 1); ++sharer) {
    const std::int64_t other_head = Keys ? own.head * t.group + sharer : own.head / t.group;
    const std::int64_t head = other_head * t.sequence * t.size;
    const std::int64_t query_rows = (Keys ? other_head : own.head) * t.sequence;
    for (int first = begin; first < end; first += kTile) {
      __syncthreads();
      load_tile<T, Parts>(first_tile, (Keys ? t.q : t.k) + head, first, t.sequence, t.size);
      load_tile<T, Parts>(second_tile, (Keys ? t.d_o : t.v) + head, first, t.sequence, t.size);
      __syncthreads();
      const int count = least(kTile, end - first);
      for (int j = 0; j < count; ++j) {
        const float score = t.scale * join<Parts>(dot(one, first_tile[j], own.part, Parts));
        const float product = join<Parts>(dot(two, second_tile[j], own.part, Parts));
        const int query = Keys ? first + j : least(own.row, t.sequence - 1), key = Keys ? own.row : first + j;
        const float weight = t.sees(query, key) ? __expf(score - t.lse[query_rows + query]) : 0;
        const float d_score = weight * (product - t.delta[query_rows + query]);
        add(gradient, t.scale * d_score, first_tile[j], own.part, Parts);
        if (Keys) add(value_gradient, weight, second_tile[j], own.part, Parts);
      }
    }
  }
  if (!inside) return;
  write_part(gradient, (Keys ? t.dk : t.dq) + row, own.part, Parts, t.size);
  if (Keys) write_part(value_gradient, t.dv + row, own.part, Parts, t.size);
}

}  // namespace contend::cuda::plain
