#pragma once
// EndTimes holds an instant for each of a set of flows and knows the earliest. It is a tree of minima with 16 children
// a node. The instants of many flows change at once when rates do, so setting one only marks its node; a query brings
// the marked nodes up to date. That costs less than moving as many entries of a heap.

#include "sim/check.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

class EndTimes {
 public:
  /// Sets the instant of flow `i`; Time::never() takes it out.
  void set(std::size_t i, Time time) {
    if (i >= tiers_.front().values.size()) grow(i + 1);
    Time& value = tiers_.front().values[i];
    if (value == time) return;
    value = time;
    mark(0, i / kChildren);
  }

  /// The earliest of all instants; Time::never() if there is none.
  [[nodiscard]] Time earliest() {
    refresh();
    const std::vector<Time>& top = tiers_.back().values;
    return top.empty() ? Time::never() : *std::min_element(top.begin(), top.end());
  }

  /// Calls `each(i)` for the flows with instants up to `now`, in order of i.
  template <class Each>
  void until(Time now, const Each& each) {
    refresh();
    const std::size_t top = tiers_.size() - 1;
    for (std::size_t i = 0; i < tiers_[top].values.size(); ++i) visit(top, i, now, each);
  }

 private:
  static constexpr std::size_t kChildren = 16;

  struct Tier {
    std::vector<Time> values;             // whole groups of kChildren, except on top; upper tiers have minima
    std::vector<std::uint8_t> is_marked;  // by group
    std::vector<std::size_t> marked;      // groups whose minimum may be out of date
  };

  void mark(std::size_t tier, std::size_t group) {
    Tier& it = tiers_[tier];
    if (it.is_marked[group] != 0) return;
    it.is_marked[group] = 1;
    it.marked.push_back(group);
  }

  void grow(std::size_t size) {
    for (std::size_t t = 0;; ++t) {
      const std::size_t groups = (size + kChildren - 1) / kChildren;
      tiers_[t].values.resize(groups * kChildren, Time::never());
      tiers_[t].is_marked.resize(groups, 0);
      for (std::size_t g = 0; g < groups; ++g) mark(t, g);
      if (groups <= 1) {
        tiers_.resize(t + 1);
        return;
      }
      size = groups;
      if (tiers_.size() == t + 1) tiers_.emplace_back();
    }
  }

  void refresh() {
    for (std::size_t t = 0; t + 1 < tiers_.size(); ++t) {
      for (const std::size_t group : tiers_[t].marked) {
        tiers_[t].is_marked[group] = 0;
        const Time* const first = tiers_[t].values.data() + group * kChildren;
        Time least = first[0];
        for (std::size_t i = 1; i < kChildren; ++i) least = std::min(least, first[i]);
        if (tiers_[t + 1].values[group] == least) continue;
        tiers_[t + 1].values[group] = least;
        mark(t + 1, group / kChildren);
      }
      tiers_[t].marked.clear();
    }
  }

  template <class Each>
  void visit(std::size_t tier, std::size_t i, Time now, const Each& each) const {
    if (tiers_[tier].values[i] > now || tiers_[tier].values[i] == Time::never()) return;
    if (tier == 0) return each(i);
    for (std::size_t child = i * kChildren; child < (i + 1) * kChildren; ++child) visit(tier - 1, child, now, each);
  }

  std::vector<Tier> tiers_ = std::vector<Tier>(1);
};

}  // namespace contend
