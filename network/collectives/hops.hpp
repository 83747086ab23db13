#pragma once
// Start-up times around a ring whose ranks wait for their own data only.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace contend {

/// The largest sum of `steps` consecutive hops around a ring; hop i leads from rank i to its successor. In a ring each
/// rank sends the data that it has just received, so `steps` steps with start-up times alone take that long. (With 0 <
/// a <= b for hops inside and between s servers of g ranks, an all-reduce of 2(n-1) steps has k b + (2(n-1) - k) a, k =
/// 2s - max(0, 3 - g), not 2(n-1) b.)
[[nodiscard]] inline double longest_run(std::span<const double> hops, std::int64_t steps) {
  double all = 0;
  for (const double hop : hops) all += hop;
  const auto n = static_cast<std::int64_t>(hops.size());
  const auto rest = static_cast<std::size_t>(steps % n);
  double run = 0;
  for (std::size_t i = 0; i < rest; ++i) run += hops[i];
  double longest = run;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    run = run - hops[i] + hops[(i + rest) % hops.size()];
    longest = std::max(longest, run);
  }
  return all * static_cast<double>(steps / n) + longest;
}

}  // namespace contend
