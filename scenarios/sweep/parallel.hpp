#pragma once
// A loop on several threads.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace contend {

/// Calls `make()` once a thread, and what it returns with every index in 0..count-1, each once, in ascending order as
/// seen by one thread. Ends early when `stop()` says so. The first exception, in time, ends the loop and is thrown.
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
