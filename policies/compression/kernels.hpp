#pragma once
// What the kernels of compression methods move and compute, for d gradients of 4 bytes in the memory of a GPU. Each
// value is read or written as rarely as the method allows; a value at a random place costs a sector of 32 bytes.

#include "models/overlap/kernel_costs.hpp"

#include <array>
#include <cstdint>

namespace contend::kernels {

inline constexpr double kFloat = 4;
inline constexpr double kIndex = 4;
inline constexpr double kSector = 32;

/// Adding the residual of the last step: two reads, one write.
[[nodiscard]] inline KernelWork add_residual(std::int64_t d) {
  const auto n = static_cast<double>(d);
  return {3 * kFloat * n, n, 1};
}

/// The k largest by magnitude, exactly: radix select of 32-bit keys, 8 bits a pass (Alabi et al., ACM Journal of
/// Experimental Algorithmics 17, 2012): a histogram and a scan for each of four passes, then one that writes out.
[[nodiscard]] inline KernelWork radix_select(std::int64_t d, std::int64_t k) {
  return {5 * kFloat * static_cast<double>(d) + (kFloat + kIndex) * static_cast<double>(k), 0, 9};
}

/// Everything above a known threshold: one read, k pairs written, a scan for their places.
[[nodiscard]] inline KernelWork compact(std::int64_t d, std::int64_t k) {
  return {kFloat * static_cast<double>(d) + (kFloat + kIndex) * static_cast<double>(k), static_cast<double>(d), 2};
}

/// A reduction over all values: a mean, a deviation, a largest value, a count above a threshold.
[[nodiscard]] inline KernelWork reduction(std::int64_t d) {
  const auto n = static_cast<double>(d);
  return {kFloat * n, 2 * n, 2};
}

/// `count` pairs of index and value added into d zeros.
[[nodiscard]] inline KernelWork scatter_add(std::int64_t d, std::int64_t count) {
  const auto pairs = static_cast<double>(count);
  return {kFloat * static_cast<double>(d) + (kFloat + kIndex + 2 * kSector) * pairs, pairs, 2};
}

/// d values to `bits` each, or back.
[[nodiscard]] inline KernelWork convert(std::int64_t d, double bits) {
  const auto n = static_cast<double>(d);
  return {(kFloat + bits / 8) * n, n, 1};
}

/// `vectors` messages of d values with `bits` each, decoded and added up.
[[nodiscard]] inline KernelWork decode_sum(std::int64_t d, double bits, int vectors) {
  const auto n = static_cast<double>(d);
  return {(kFloat + bits / 8 * vectors) * n, 2 * n * vectors, 1};
}

/// A product of an m x k and a k x n matrix.
[[nodiscard]] inline KernelWork product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto [a, b, c] = std::array{static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)};
  return {kFloat * (a * c + c * b + a * b), 2 * a * b * c, 1};
}

/// Gram-Schmidt on the r columns of an m x r matrix: a kernel a column, which projects those after it.
[[nodiscard]] inline KernelWork orthogonalise(std::int64_t m, std::int64_t r) {
  const auto [rows, columns] = std::array{static_cast<double>(m), static_cast<double>(r)};
  return {kFloat * rows * columns * (columns + 1), 2 * rows * columns * columns, static_cast<int>(r)};
}

}  // namespace contend::kernels
