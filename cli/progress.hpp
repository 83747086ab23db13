#pragma once
// The line on stderr that shows a long run is alive: runs, jobs ended, simulated time, events a second.

#include "sim/simulation.hpp"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace contend {

/// `automatic` shows the line on a terminal only.
enum class ProgressMode { automatic, always, never };

/// Shared by the threads of a batch.
class ProgressLine {
 public:
  ProgressLine(ProgressMode mode, std::size_t runs);
  /// Wipes the line.
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
