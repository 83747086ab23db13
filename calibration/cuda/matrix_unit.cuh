#pragma once
// Products of tiles on tensor cores: one warp computes mma.m16n8k16 of fp16 or bf16 with fp32 sums.
//
// Names follow the operand layout (PTX ISA, "Matrix fragments for mma.m16n8k16"): a thread's `group` is its lane / 4,
// and its `pair` is 2 x (lane % 4). Of a 16 x 8 result the thread holds columns pair and pair + 1 of row group (numbers
// 0, 1) and of row group + 8 (numbers 2, 3). Two such results form a 16 x 16 left operand.

#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

/// Elements of a shared-memory line: 16 bytes more than a row, so that eight rows lie in different banks.
template <int Size>
constexpr int kLine = Size + 8;

__device__ inline unsigned lane_group() {
  return threadIdx.x % 32 / 4;
}
__device__ inline unsigned lane_pair() {
  return threadIdx.x % 4 * 2;
}

template <class T>
__device__ inline std::uint32_t pack(float low, float high) {
  struct alignas(4) Two {
    T low, high;
  };
  const Two two{from_float<T>(low), from_float<T>(high)};
  return *reinterpret_cast<const std::uint32_t*>(&two);
}

template <class T>
__device__ inline std::uint32_t two_at(const T* place) {
  return *reinterpret_cast<const std::uint32_t*>(place);
}

/// c += a b
template <class T>
__device__ inline void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, __half>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
#else
  __trap();  // the host doesn't launch these kernels on such devices
#endif
}

/// Loads the left operand: 16 x 16 numbers of a tile of lines, starting at `row` and `column`.
template <class T, int Size>
__device__ inline void read_left(std::uint32_t (&a)[4], const T* tile, unsigned row, unsigned column) {
  const T* const place = tile + (row + lane_group()) * kLine<Size> + column + lane_pair();
  a[0] = two_at(place);
  a[1] = two_at(place + 8 * kLine<Size>);
  a[2] = two_at(place + 8);
  a[3] = two_at(place + 8 * kLine<Size> + 8);
}

/// Forms a left operand from two neighbouring results.
template <class T>
__device__ inline void make_left(std::uint32_t (&a)[4], const float (&first)[4], const float (&second)[4]) {
  a[0] = pack<T>(first[0], first[1]);
  a[1] = pack<T>(first[2], first[3]);
  a[2] = pack<T>(second[0], second[1]);
  a[3] = pack<T>(second[2], second[3]);
}

/// c += a times the transpose of 8 lines of `tile` starting at `row`; the product runs over 16 columns.
template <class T, int Size>
__device__ inline void multiply_rows(float (&c)[4], const std::uint32_t (&a)[4], const T* tile, unsigned row,
                                     unsigned column) {
  const T* const place = tile + (row + lane_group()) * kLine<Size> + column + lane_pair();
  multiply<T>(c, a, two_at(place), two_at(place + 8));
}

/// c += a times 8 columns of `tile` starting at `column`; the product runs over 16 lines.
template <class T, int Size>
__device__ inline void multiply_columns(float (&c)[4], const std::uint32_t (&a)[4], const T* tile, unsigned row,
                                        unsigned column) {
  const T* const place = tile + (row + threadIdx.x % 16) * kLine<Size> + column;
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(place));
  std::uint32_t b0 = 0, b1 = 0;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(b0), "=r"(b1)
               : "r"(address)
               : "memory");
  multiply<T>(c, a, b0, b1);
}

/// Loads `Rows` rows of a head, starting at `first`, as lines; numbers beyond the sequence or the size become 0.
template <class T, int Size, int Rows>
__device__ inline void load_lines(T* tile, const T* head, int first, int sequence, int size) {
  constexpr int kPieces = Size / 8;
  for (int i = static_cast<int>(threadIdx.x); i < Rows * kPieces; i += static_cast<int>(blockDim.x)) {
    const int row = i / kPieces, column = i % kPieces * 8;
    Group<T, 8> piece;
    for (T& each : piece.at) each = from_float<T>(0);
    if (first + row < sequence && column < size) {
      const T* const from = head + static_cast<std::int64_t>(first + row) * size + column;
      if (size % 8 == 0) {
        piece = *reinterpret_cast<const Group<T, 8>*>(from);
      } else {
        for (int k = 0; k < 8; ++k) {
          if (column + k < size) piece.at[k] = from[k];
        }
      }
    }
    *reinterpret_cast<Group<T, 8>*>(tile + row * kLine<Size> + column) = piece;
  }
}

/// Writes a warp's 16 rows of results; the first is `row` of the head.
template <class T, int Size>
__device__ inline void write_rows(const float (&c)[Size / 8][4], T* head, int row, int sequence, int size,
                                  float scale) {
#pragma unroll
  for (int n = 0; n < Size / 8; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int r = row + static_cast<int>(lane_group()) + e / 2 * 8;
      const int column = 8 * n + static_cast<int>(lane_pair()) + e % 2;
      if (r < sequence && column < size) {
        head[static_cast<std::int64_t>(r) * size + column] = from_float<T>(c[n][e] * scale);
      }
    }
  }
}

/// Reduces over the four threads that hold parts of the same rows.
template <class Join>
__device__ inline float join_row(float value, Join join) {
  value = join(value, __shfl_xor_sync(0xffffffffU, value, 1));
  return join(value, __shfl_xor_sync(0xffffffffU, value, 2));
}

}  // namespace contend::cuda
