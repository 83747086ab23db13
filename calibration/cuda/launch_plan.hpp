#pragma once
// Decisions of timing that need no device. nvcc compiles this file as C++17.

#include <algorithm>
#include <cstdint>

namespace contend::cuda {

/// The most kernels that may wait behind a gate. The driver's queue of a stream has room for about 1024 launches; the
/// host would block on a full one until the gate gives up, after 20 ms.
constexpr int kMostQueued = 500;

/// How many executions of `kernels` kernels each, >= 1, are enqueued behind one gate; at least one.
constexpr int executions_at_once(int launches, int kernels) {
  return std::max(1, std::min(launches, kMostQueued / std::max(1, kernels)));
}

/// The most copies of an operation's operands.
constexpr int kMostCopies = 64;

/// How many copies of operands of `bytes` take turns so that none is still in a cache of `cache` bytes when its turn
/// comes again: together they are twice as large. At least 1, at most kMostCopies, and no more than fit into `free`
/// bytes.
constexpr int copies_beyond_cache(std::int64_t bytes, std::int64_t cache, std::int64_t free) {
  if (bytes <= 0 || bytes >= 2 * cache) return 1;
  const std::int64_t wanted = (2 * cache + bytes - 1) / bytes + 1;
  return static_cast<int>(std::max<std::int64_t>(1, std::min({wanted, std::int64_t{kMostCopies}, free / bytes})));
}

}  // namespace contend::cuda
