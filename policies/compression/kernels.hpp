#pragma once
// What the kernels of compression methods move and compute, for d gradients of 4 bytes in the memory of a GPU. Each
// value is read or written as rarely as the method allows; a value at a random place costs a sector of 32 bytes.

#include "models/overlap/kernel_costs.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace contend::kernels {

inline constexpr double kFloat = 4;
inline constexpr double kIndex = 4;
inline constexpr double kSector = 32;

/// Adding the residual of the last step: two reads, one write.
[[nodiscard]] inline KernelWork add_residual(std::int64_t d) {
  const auto n = static_cast<double>(d);
  return {3 * kFloat * n, n, 1, "add_residual", {d}};
}

/// What is left of each value after encoding, written beside the code.
[[nodiscard]] inline KernelWork keep_residual(std::int64_t d) {
  const auto n = static_cast<double>(d);
  return {kFloat * n, n, 1, "write", {4 * d}};
}

/// The k largest by magnitude, exactly: radix select of 32-bit keys, 8 bits a pass (Alabi et al., ACM Journal of
/// Experimental Algorithmics 17, 2012): a histogram and a scan for each of four passes, then one that writes out.
[[nodiscard]] inline KernelWork radix_select(std::int64_t d, std::int64_t k) {
  return {5 * kFloat * static_cast<double>(d) + (kFloat + kIndex) * static_cast<double>(k), 0, 9, "top_k", {d, k}};
}

/// Everything above a known threshold: one read, k pairs written, a scan for their places.
[[nodiscard]] inline KernelWork compact(std::int64_t d, std::int64_t k) {
  return {kFloat * static_cast<double>(d) + (kFloat + kIndex) * static_cast<double>(k),
          static_cast<double>(d),
          2,
          "threshold_k",
          {d, k}};
}

/// A reduction over all values, `passes` times: a mean, a deviation, a largest value, a count above a threshold.
[[nodiscard]] inline KernelWork reduction(std::int64_t d, int passes = 1) {
  const double n = static_cast<double>(d) * passes;
  return {kFloat * n, 2 * n, 2 * passes, "read", {4 * d}, passes};
}

/// GaussianK's selection: mean, deviation, a count for each refinement of the threshold, everything above it.
[[nodiscard]] inline KernelWork gaussian_select(std::int64_t d, std::int64_t k, int refinements) {
  const KernelWork counts = reduction(d, 2 + refinements), out = compact(d, k);
  return {counts.bytes + out.bytes, counts.flops + out.flops, counts.launches + out.launches, "gaussian_k", {d, k}};
}

/// k values at random places; indices are drawn where they are used.
[[nodiscard]] inline KernelWork gather(std::int64_t d, std::int64_t k) {
  return {(kSector + kFloat) * static_cast<double>(k), static_cast<double>(k), 1, "random_k", {d, k}};
}

/// k values that have arrived, averaged with those at random places.
[[nodiscard]] inline KernelWork average_picked(std::int64_t k) {
  const auto n = static_cast<double>(k);
  return {(2 * kSector + kFloat) * n, 2 * n, 1};
}

/// `count` pairs of index and value added into d zeros.
[[nodiscard]] inline KernelWork scatter_add(std::int64_t d, std::int64_t count) {
  const auto pairs = static_cast<double>(count);
  return {
      kFloat * static_cast<double>(d) + (kFloat + kIndex + 2 * kSector) * pairs, pairs, 2, "scatter_add", {d, count}};
}

/// d values to `bits` each by a range that is known.
[[nodiscard]] inline KernelWork encode(std::int64_t d, std::int64_t bits) {
  const auto n = static_cast<double>(d);
  const std::string_view op = bits == 1 ? "sign_pack" : "";
  return {(kFloat + static_cast<double>(bits) / 8) * n, n, 1, op, {d}};
}

/// d values to `bits` each by their own range or scale.
[[nodiscard]] inline KernelWork quantize(std::int64_t d, std::int64_t bits) {
  const KernelWork range = reduction(d), code = encode(d, bits);
  const std::string_view op = bits == 8 ? "quantize8" : bits == 4 ? "quantize4" : "";
  return {range.bytes + code.bytes, range.flops + code.flops, range.launches + code.launches, op, {d}};
}

/// `vectors` messages of d values with `bits` each, decoded and added up.
[[nodiscard]] inline KernelWork decode_sum(std::int64_t d, std::int64_t bits, int vectors) {
  const auto n = static_cast<double>(d);
  const std::string_view op = bits == 1 ? "sign_unpack" : bits == 4 ? "dequantize4" : bits == 8 ? "dequantize8" : "";
  return {(kFloat + static_cast<double>(bits) / 8 * vectors) * n, 2 * n * vectors, 1, op, {d}, vectors};
}

/// d values of `bits` each, back.
[[nodiscard]] inline KernelWork decode(std::int64_t d, std::int64_t bits) {
  KernelWork work = decode_sum(d, bits, 1);
  work.flops = static_cast<double>(d);
  return work;
}

/// A product of an m x k and a k x n matrix.
[[nodiscard]] inline KernelWork product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto [a, b, c] = std::array{static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)};
  return {kFloat * (a * c + c * b + a * b), 2 * a * b * c, 1, "gemm", {1, m, n, k}};
}

/// P = M Q, of a matrix of rows x columns to rank r.
[[nodiscard]] inline KernelWork make_p(std::int64_t rows, std::int64_t columns, std::int64_t r) {
  KernelWork work = product(rows, r, columns);
  work.op = "low_rank_p";
  work.shape = {rows, columns, r};
  return work;
}

/// Q = M^T P.
[[nodiscard]] inline KernelWork make_q(std::int64_t rows, std::int64_t columns, std::int64_t r) {
  KernelWork work = product(columns, r, rows);
  work.op = "low_rank_q";
  work.shape = {rows, columns, r};
  return work;
}

/// Gram-Schmidt on the r columns of an m x r matrix: a kernel a column, which projects those after it.
[[nodiscard]] inline KernelWork orthogonalise(std::int64_t m, std::int64_t r) {
  const auto [rows, columns] = std::array{static_cast<double>(m), static_cast<double>(r)};
  return {kFloat * rows * columns * (columns + 1),
          2 * rows * columns * columns,
          static_cast<int>(r),
          "orthogonalize",
          {m, r}};
}

/// A weighted sum of `vectors` vectors of d values, written over one of them.
[[nodiscard]] inline KernelWork mix(std::int64_t d, int vectors) {
  const auto n = static_cast<double>(d);
  return {kFloat * n * (vectors + 1), 2 * n * vectors, 1, vectors == 2 ? "add_residual" : "", {d}};
}

/// `vectors` messages of d values with `bits` each, each decoded and added to a vector of its own.
[[nodiscard]] inline KernelWork decode_into(std::int64_t d, std::int64_t bits, int vectors) {
  const double n = static_cast<double>(d) * vectors;
  return {(2 * kFloat + static_cast<double>(bits) / 8) * n, 2 * n, vectors};
}

/// d values put aside.
[[nodiscard]] inline KernelWork copy(std::int64_t d) {
  return {2 * kFloat * static_cast<double>(d), 0, 1, "copy", {4 * d}};
}

}  // namespace contend::kernels
