#pragma once
// The progress line of a long run on stderr: runs, ended jobs, simulated time, events per second.

#include "sim/simulation.hpp"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace contend {

/// `automatic` shows the line only on a terminal.
enum class ProgressMode { automatic, always, never };

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
  [[nodiscard]] std::string text(Time now, Clock::time_point at) const;

  bool enabled_;
  std::mutex mutex_;
  std::vector<Progress> runs_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
  bool visible_ = false;
};

}  // namespace contend
