#include "policies/scheduling/availability.hpp"

#include <iterator>

namespace contend {

std::map<Time, std::int64_t>::iterator Availability::split(Time at) {
  const auto after = free_.upper_bound(at);
  const auto before = std::prev(after);
  return before->first == at ? before : free_.emplace_hint(after, at, before->second);
}

void Availability::take(Time from, Time to, std::int64_t width) {
  if (from >= to) return;
  const auto first = split(from);
  const auto last = to == Time::never() ? free_.end() : split(to);
  for (auto step = first; step != last; ++step) step->second -= width;
  // Two neighbouring steps that have become equal are merged.
  if (first != free_.begin() && std::prev(first)->second == first->second) free_.erase(first);
  if (last != free_.end() && std::prev(last)->second == last->second) free_.erase(last);
}

Time Availability::earliest(Time from, Time length, std::int64_t width) const {
  Time start = from;
  for (auto step = std::prev(free_.upper_bound(from)); step != free_.end(); ++step) {
    const auto next = std::next(step);
    if (step->second < width) {
      if (next == free_.end()) return Time::never();
      start = next->first;
    } else if (next == free_.end() || next->first - start >= length) {
      return start;
    }
  }
  return start;
}

Time Availability::next_change(Time time) const {
  const auto next = free_.upper_bound(time);
  return next == free_.end() ? Time::never() : next->first;
}

void Availability::forget(Time now) {
  const auto current = split(now);
  free_.erase(free_.begin(), current);
}

}  // namespace contend
