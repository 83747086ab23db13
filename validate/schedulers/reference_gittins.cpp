#include "validate/schedulers/reference.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/core.h>

namespace contend {

namespace {

double rounded(double value, int decimals) {
  return std::stod(fmt::format("{:.{}f}", value, decimals));
}

std::size_t first_larger(std::span<const std::int64_t> sizes, std::int64_t than) {
  return static_cast<std::size_t>(std::ranges::upper_bound(sizes, than) - sizes.begin());
}

/// The rank of a job that has attained one unit less than the sample `size`.
double rank_before(std::span<const std::int64_t> sizes, std::int64_t delta, std::int64_t size) {
  const std::size_t from = first_larger(sizes, size - 1);
  const bool beyond = size - 1 + delta > sizes.back() - 1;
  const std::size_t to = beyond ? sizes.size() - 1 : first_larger(sizes, size - 1 + delta);
  const auto larger = static_cast<double>(sizes.size() - from);
  const double ending = rounded(static_cast<double>(to - from) / larger, 5);
  const std::int64_t served = std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(from),
                                              sizes.begin() + static_cast<std::ptrdiff_t>(to), std::int64_t{0}) +
                              delta * static_cast<std::int64_t>(sizes.size() - to);
  return rounded(ending * 1e6 / rounded(static_cast<double>(served) / larger, 5), 4);
}

}  // namespace

double reference_gittins_rank(std::span<const std::int64_t> sizes, std::int64_t delta, std::int64_t attained) {
  // Jobs get the rank that belongs to the next larger sample; beyond the largest they have none.
  const std::size_t next = first_larger(sizes, attained);
  return next == sizes.size() ? 0 : rank_before(sizes, delta, sizes[next]);
}

}  // namespace contend
