#pragma once
// The progress line of a long run on stderr: runs, ended jobs, simulated time, events per second.

#include "sim/simulation.hpp"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// `automatic` shows the line only on a terminal.
enum class ProgressMode { automatic, always, never };

/// What the line says after so many seconds: of a single run its jobs, of several how many have ended and the mean
/// share of their jobs that have; a run that has not begun has 0 jobs.
[[nodiscard]] std::string progress_text(std::span<const Progress> runs, Time now, double seconds);

/// A progress line that the threads of a batch share.
class ProgressLine {
 public:
  ProgressLine(ProgressMode mode, std::size_t runs);
  /// Erases the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(std::size_t run, const Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  std::mutex mutex_;
  std::vector<Progress> runs_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
  bool visible_ = false;
};

}  // namespace contend
