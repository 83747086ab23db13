#pragma once
// A parallel loop over indices.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace contend {

/// Each thread calls `make()` once and then the returned body for the indices that it takes; every index of 0..count-1
/// is taken once, in ascending order within a thread. The loop ends early when `stop()` returns true. The first
/// exception, in time, ends the loop and is rethrown.
template <class Make, class Stop>
void parallel_for(unsigned threads, std::size_t count, const Make& make, const Stop& stop) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::mutex mutex;
  const auto work = [&] {
    try {
      auto body = make();
      for (std::size_t index; !failed && !stop() && (index = next++) < count;) body(index);
    } catch (...) {
      const std::scoped_lock lock{mutex};
      if (!error) error = std::current_exception();
      failed = true;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min<std::size_t>(std::max(1U, threads), count); ++i) helpers.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace contend
