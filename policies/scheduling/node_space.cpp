#include "policies/scheduling/node_space.hpp"

#include <algorithm>

namespace contend {

NodeSpace::Usable NodeSpace::usable(const ServerSet& servers, Time from, Time to) const {
  Usable found{servers, {}};
  const auto ends_by_then = [&](const Interval& interval) { return interval.end <= from; };
  const auto first = std::partition_point(intervals_.begin(), intervals_.end(), ends_by_then);
  for (auto at = first; at != intervals_.end(); ++at) {
    const auto next = std::next(at);
    if (next != intervals_.end() && !found.later && servers.any_new(next->free, at->free, found.servers))
      found.later = at->end;
    if (at->begin > to) break;
    found.servers &= at->free;
  }
  return found;
}

bool NodeSpace::is_held(const ServerSet& servers, Time from, Time to) const {
  const auto ends_by_then = [&](const Interval& interval) { return interval.end <= from; };
  const auto first = std::partition_point(intervals_.begin(), intervals_.end(), ends_by_then);
  for (auto at = first; at != intervals_.end() && at->begin < to; ++at)
    if (!servers.is_within(at->free)) return true;
  return false;
}

void NodeSpace::hold(const ServerSet& servers, Time from, Time to) {
  const auto insert = [&](std::size_t at, Time begin) {  // behind the interval `at`, which ends there
    intervals_.insert(intervals_.begin() + static_cast<std::ptrdiff_t>(at + 1),
                      {begin, intervals_[at].end, intervals_[at].free});
    intervals_[at].end = begin;
    ++records_;
  };
  std::size_t first = 0, before = 0;  // the interval that ends at `from`, and the one before it
  for (; first < intervals_.size() && intervals_[first].end < from; ++first) before = first;
  if (first == intervals_.size()) return;
  if (intervals_[first].end > from) insert(first, from);
  std::size_t behind = first + 1;
  for (bool is_last = false; !is_last && behind < intervals_.size(); ++behind) {
    if (to < intervals_[behind].end) insert(behind, to);
    intervals_[behind].free -= servers;
    is_last = intervals_[behind].end == to;
  }
  for (std::size_t i = before; i < behind && i + 1 < intervals_.size(); ++i) {
    if (intervals_[i].free != intervals_[i + 1].free) continue;
    intervals_[i].end = intervals_[i + 1].end;
    intervals_.erase(intervals_.begin() + static_cast<std::ptrdiff_t>(i + 1));
    return;
  }
}

}  // namespace contend
