#pragma once
// Accumulates busy time in bins that widen as a run goes on, so that a run of unknown length needs bounded memory.

#include "sim/units.hpp"

#include <vector>

namespace contend {

/// Busy time of several rows, such as GPUs; all rows share one bin width.
class BusyBins {
 public:
  /// Keeps at most `limit` bins (even, >= 2). They start `width` wide; whenever the limit is exceeded, their width
  /// doubles.
  BusyBins(std::size_t rows, std::size_t limit, Time width);

  /// Adds the time from `start` to `end` to a row; start <= end.
  void add(std::size_t row, Time start, Time end);

  /// Makes the bins reach at least to `end`, even if nothing is busy there.
  void cover(Time end);

  [[nodiscard]] Time width() const { return width_; }
  [[nodiscard]] std::size_t rows() const { return busy_.size(); }
  /// The number of bins up to the last one that was covered or in which a row was busy.
  [[nodiscard]] std::size_t size() const { return used_; }
  [[nodiscard]] Time busy(std::size_t row, std::size_t bin) const { return busy_[row][bin]; }

 private:
  void widen();

  std::vector<std::vector<Time>> busy_;
  std::size_t limit_;
  std::size_t used_ = 0;
  Time width_;
};

/// The union of intervals that arrive in the order of their ends.
class IntervalUnion {
 public:
  struct Interval {
    Time start, end;
  };
  /// Adds an interval with start <= end whose end is not before the ends of earlier calls. Appends the parts that no
  /// earlier interval covers to `fresh`.
  void add(Time start, Time end, std::vector<Interval>& fresh);

 private:
  std::vector<Interval> covered_;  ///< disjoint, ascending
};

}  // namespace contend
