#pragma once
// What the operators of both back ends have in common beside their names. nvcc compiles this file as C++17.

#include <cstdint>

namespace contend {

/// Bytes of each of the three tensors of the operator `reduce`: beyond the caches of today's devices.
constexpr std::int64_t kReducedBytes = std::int64_t{64} << 20U;

/// The rows of product `i` of `groups` >= 1 in a grouped product with `mean` >= 1 rows in the mean: from half the mean
/// to one and a half in even steps, as tokens are spread unevenly over experts. At least 1.
constexpr std::int64_t rows_of_group(std::int64_t i, std::int64_t groups, std::int64_t mean) {
  if (groups == 1) return mean;
  const std::int64_t rows = mean / 2 + mean * i / (groups - 1);
  return rows < 1 ? 1 : rows;
}

}  // namespace contend
