#pragma once
// The functions below return the memory traffic and the arithmetic of the kernels of compression methods, for d
// gradients of 4 bytes in the memory of a GPU. A kernel reads and writes each value as rarely as its method allows. A
// value at a random address costs a sector of 32 bytes.

#include "models/overlap/kernel_costs.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace contend::kernels {

inline constexpr double kFloat = 4;
inline constexpr double kIndex = 4;
inline constexpr double kSector = 32;

/// Adds the residual of the last step to d values: two reads and one write each.
[[nodiscard]] inline KernelWork add_residual(std::int64_t d) {
  const auto n = static_cast<double>(d);
  return {3 * kFloat * n, n, 1, "add_residual", {d}};
}

/// Writes what encoding leaves of each value, beside the code.
[[nodiscard]] inline KernelWork keep_residual(std::int64_t d) {
  const auto n = static_cast<double>(d);
  return {kFloat * n, n, 1, "write", {4 * d}};
}

/// Selects exactly the k largest of d values of `width` bytes by magnitude, with a radix select of keys of that width,
/// 8 bits a pass (Alabi et al., ACM Journal of Experimental Algorithmics 17, 2012). Each pass is a histogram and a
/// scan; a last pass writes the selection.
[[nodiscard]] inline KernelWork radix_select(std::int64_t d, std::int64_t k, int width = 4) {
  const std::string_view op = width == 4 ? "top_k" : "";
  return {(width + 1) * width * static_cast<double>(d) + (width + kIndex) * static_cast<double>(k),
          0,
          2 * width + 1,
          op,
          {d, k}};
}

/// Selects the k of d values above a known threshold: one read, k pairs written, and a scan for their places.
[[nodiscard]] inline KernelWork compact(std::int64_t d, std::int64_t k) {
  return {kFloat * static_cast<double>(d) + (kFloat + kIndex) * static_cast<double>(k),
          static_cast<double>(d),
          2,
          "threshold_k",
          {d, k}};
}

/// Reduces d values, `passes` times, for example to a mean, a deviation, a maximum or a count above a threshold.
[[nodiscard]] inline KernelWork reduction(std::int64_t d, int passes = 1) {
  const double n = static_cast<double>(d) * passes;
  return {kFloat * n, 2 * n, 2 * passes, "read", {4 * d}, passes};
}

/// Selects as GaussianK does: mean, deviation, a count for each refinement of the threshold, and the values above it.
[[nodiscard]] inline KernelWork gaussian_select(std::int64_t d, std::int64_t k, int refinements) {
  const KernelWork counts = reduction(d, 2 + refinements), out = compact(d, k);
  return {counts.bytes + out.bytes, counts.flops + out.flops, counts.launches + out.launches, "gaussian_k", {d, k}};
}

/// Reads k values at random places. The kernel draws the indices itself.
[[nodiscard]] inline KernelWork gather(std::int64_t d, std::int64_t k) {
  return {(kSector + kFloat) * static_cast<double>(k), static_cast<double>(k), 1, "random_k", {d, k}};
}

/// Averages k received values with the values at the same random places.
[[nodiscard]] inline KernelWork average_picked(std::int64_t k) {
  const auto n = static_cast<double>(k);
  return {(2 * kSector + kFloat) * n, 2 * n, 1};
}

/// Adds `count` pairs of index and value to d zeros.
[[nodiscard]] inline KernelWork scatter_add(std::int64_t d, std::int64_t count) {
  const auto pairs = static_cast<double>(count);
  return {
      kFloat * static_cast<double>(d) + (kFloat + kIndex + 2 * kSector) * pairs, pairs, 2, "scatter_add", {d, count}};
}

/// Writes `count` values of `width` bytes, each to its place among d zeros.
[[nodiscard]] inline KernelWork scatter(std::int64_t d, std::int64_t count, int width) {
  return {width * static_cast<double>(d) + (width + kIndex + kSector) * static_cast<double>(count), 0, 2};
}

/// Encodes d values with `bits` bits each, for a known range.
[[nodiscard]] inline KernelWork encode(std::int64_t d, std::int64_t bits) {
  const auto n = static_cast<double>(d);
  const std::string_view op = bits == 1 ? "sign_pack" : "";
  return {(kFloat + static_cast<double>(bits) / 8) * n, n, 1, op, {d}};
}

/// Encodes d values with `bits` bits each, for a range or scale that it computes from them first.
[[nodiscard]] inline KernelWork quantize(std::int64_t d, std::int64_t bits) {
  const KernelWork range = reduction(d), code = encode(d, bits);
  const std::string_view op = bits == 8 ? "quantize8" : bits == 4 ? "quantize4" : "";
  return {range.bytes + code.bytes, range.flops + code.flops, range.launches + code.launches, op, {d}};
}

/// Decodes `vectors` messages of d values with `bits` bits each and adds them up.
[[nodiscard]] inline KernelWork decode_sum(std::int64_t d, std::int64_t bits, int vectors) {
  const auto n = static_cast<double>(d);
  const std::string_view op = bits == 1 ? "sign_unpack" : bits == 4 ? "dequantize4" : bits == 8 ? "dequantize8" : "";
  return {(kFloat + static_cast<double>(bits) / 8 * vectors) * n, 2 * n * vectors, 1, op, {d}, vectors};
}

/// Decodes d values of `bits` bits each.
[[nodiscard]] inline KernelWork decode(std::int64_t d, std::int64_t bits) {
  KernelWork work = decode_sum(d, bits, 1);
  work.flops = static_cast<double>(d);
  return work;
}

/// The three functions below are chains of elementwise kernels, each of which goes through memory, as DeepSpeed runs
/// them for 1-bit Adam. Bytes and launches were counted in its code (deepspeed/runtime/comm/nccl.py). Their `slices`
/// are the messages that the code is cut into, one for each worker.
///
/// Adds the residual to d values and encodes them as signs: the sum, its norm, signs and what they leave out, and bits
/// packed from floats (add, norm, sign, +1, bool, float, -0.5, x 2, scale, subtract, sign, +1, bool, pack).
[[nodiscard]] inline KernelWork signs_of_deepspeed(std::int64_t d, int slices) {
  return {100 * static_cast<double>(d), 0, 14 + slices};
}
/// Unpacks `slices` messages of d signs into floats, scales them, and adds them up.
[[nodiscard]] inline KernelWork sum_of_deepspeed(std::int64_t d, int slices) {
  return {34 * static_cast<double>(d) * slices, 0, 6};
}
/// Unpacks d signs into floats, scales them and copies them into the momentum.
[[nodiscard]] inline KernelWork unpack_of_deepspeed(std::int64_t d) {
  return {38 * static_cast<double>(d), 0, 6};
}

/// Multiplies an m x k by a k x n matrix.
[[nodiscard]] inline KernelWork product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto [a, b, c] = std::array{static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)};
  return {kFloat * (a * c + c * b + a * b), 2 * a * b * c, 1, "gemm", {1, m, n, k}};
}

/// Computes the factor P = M Q of rank r of a matrix M of rows x columns.
[[nodiscard]] inline KernelWork make_p(std::int64_t rows, std::int64_t columns, std::int64_t r) {
  KernelWork work = product(rows, r, columns);
  work.op = "low_rank_p";
  work.shape = {rows, columns, r};
  return work;
}

/// Computes the factor Q = M^T P of rank r of a matrix M of rows x columns.
[[nodiscard]] inline KernelWork make_q(std::int64_t rows, std::int64_t columns, std::int64_t r) {
  KernelWork work = product(columns, r, rows);
  work.op = "low_rank_q";
  work.shape = {rows, columns, r};
  return work;
}

/// Orthogonalises the r columns of an m x r matrix by Gram-Schmidt. Each column takes a kernel, which projects the
/// columns after it.
[[nodiscard]] inline KernelWork orthogonalise(std::int64_t m, std::int64_t r) {
  const auto [rows, columns] = std::array{static_cast<double>(m), static_cast<double>(r)};
  return {kFloat * rows * columns * (columns + 1),
          2 * rows * columns * columns,
          static_cast<int>(r),
          "orthogonalize",
          {m, r}};
}

/// Writes a weighted sum of `vectors` vectors of d values over one of them.
[[nodiscard]] inline KernelWork mix(std::int64_t d, int vectors) {
  const auto n = static_cast<double>(d);
  return {kFloat * n * (vectors + 1), 2 * n * vectors, 1, vectors == 2 ? "add_residual" : "", {d}};
}

/// Decodes `vectors` messages of d values with `bits` bits each, and adds each message to a vector of its own.
[[nodiscard]] inline KernelWork decode_into(std::int64_t d, std::int64_t bits, int vectors) {
  const double n = static_cast<double>(d) * vectors;
  return {(2 * kFloat + static_cast<double>(bits) / 8) * n, 2 * n, vectors};
}

/// A step with Nesterov momentum over d values: reads the averaged change, momentum and weights, and writes the last
/// two.
[[nodiscard]] inline KernelWork outer_step(std::int64_t d) {
  const auto n = static_cast<double>(d);
  return {5 * kFloat * n, 6 * n, 1};
}

/// Copies d values.
[[nodiscard]] inline KernelWork copy(std::int64_t d) {
  return {2 * kFloat * static_cast<double>(d), 0, 1, "copy", {4 * d}};
}

}  // namespace contend::kernels
