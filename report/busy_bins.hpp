#pragma once
// Busy time over time in bins that widen as a run goes on: bounded memory for a run of unknown length.

#include "sim/units.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// One row a thing that can be busy; all rows share the width of the bins.
class BusyBins {
 public:
  /// At most `limit` bins (even, >= 2); they are `width` wide until the limit is passed, then twice, four times, ...
  BusyBins(std::size_t rows, std::size_t limit, Time width);

  /// Adds the time from `start` to `end` to the bins of a row. Needs start <= end.
  void add(std::size_t row, Time start, Time end);

  /// Has bins up to `end`, though nothing may be busy there.
  void cover(Time end);

  [[nodiscard]] Time width() const { return width_; }
  [[nodiscard]] std::size_t rows() const { return busy_.size(); }
  /// Bins up to the last that was covered or in which any row was busy.
  [[nodiscard]] std::size_t size() const { return used_; }
  [[nodiscard]] Time busy(std::size_t row, std::size_t bin) const { return busy_[row][bin]; }

 private:
  void widen();

  std::vector<std::vector<Time>> busy_;
  std::size_t limit_;
  std::size_t used_ = 0;
  Time width_;
};

/// The union of intervals that come in order of their ends.
class IntervalUnion {
 public:
  struct Interval {
    Time start, end;
  };
  /// Needs start <= end, and end not before those of earlier calls. The parts that no earlier interval covered are
  /// appended to `fresh`.
  void add(Time start, Time end, std::vector<Interval>& fresh);

 private:
  std::vector<Interval> covered_;  ///< disjoint, ascending
};

}  // namespace contend
