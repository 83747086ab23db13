#pragma once
// The progress line of a sweep on stderr: ended runs, their rate, the time left.

#include "cli/progress.hpp"

#include <chrono>
#include <cstdint>

namespace contend {

class SweepProgress {
 public:
  SweepProgress(ProgressMode mode, std::int64_t runs);
  /// Erases the line.
  ~SweepProgress();
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

  /// Call after each run, from one thread at a time.
  void recorded(bool failed);

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  std::int64_t runs_;
  std::int64_t ended_ = 0, failed_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
  bool visible_ = false;
};

/// A duration in words: `2 h 5 min`, `3 min 20 s`, `12 s`, `0.3 s`.
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace contend
