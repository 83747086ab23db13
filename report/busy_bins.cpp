#include "report/busy_bins.hpp"

#include "sim/check.hpp"

#include <algorithm>

namespace contend {

BusyBins::BusyBins(std::size_t rows, std::size_t limit, Time width)
    : busy_(rows, std::vector<Time>(limit)), limit_{limit}, width_{width} {
  CONTEND_CHECK(limit >= 2 && limit % 2 == 0 && width > Time{}, "bins can be merged in pairs");
}

void BusyBins::add(std::size_t row, Time start, Time end) {
  if (start == end) return;
  cover(end);
  const auto last = static_cast<std::size_t>((end.ns() - 1) / width_.ns());
  for (auto bin = static_cast<std::size_t>(start.ns() / width_.ns()); bin <= last; ++bin) {
    const Time from = std::max(start, width_ * static_cast<std::int64_t>(bin));
    const Time to = std::min(end, width_ * static_cast<std::int64_t>(bin + 1));
    busy_[row][bin] += to - from;
  }
}

void BusyBins::cover(Time end) {
  if (end <= Time{}) return;
  while ((end.ns() - 1) / width_.ns() >= static_cast<std::int64_t>(limit_)) widen();
  used_ = std::max(used_, static_cast<std::size_t>((end.ns() - 1) / width_.ns()) + 1);
}

void BusyBins::widen() {
  for (std::vector<Time>& row : busy_) {
    for (std::size_t i = 0; i < limit_ / 2; ++i) row[i] = row[2 * i] + row[2 * i + 1];
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(limit_ / 2), row.end(), Time{});
  }
  width_ = width_ * 2;
  used_ = (used_ + 1) / 2;
}

void IntervalUnion::add(Time start, Time end, std::vector<Interval>& fresh) {
  // All that is covered ends at or before `end`, so only the tail can overlap: it is eaten from behind.
  Time free_until = end;
  Time from = start;
  while (!covered_.empty() && covered_.back().end >= start) {
    const Interval last = covered_.back();
    if (last.end < free_until) fresh.push_back({std::max(last.end, start), free_until});
    free_until = std::max(last.start, start);
    from = std::min(from, last.start);
    covered_.pop_back();
  }
  if (start < free_until) fresh.push_back({start, free_until});
  covered_.push_back({from, end});
}

}  // namespace contend
