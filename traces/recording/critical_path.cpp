#include "traces/recording/critical_path.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace contend {
namespace {

using Ended = std::pair<Time, std::uint32_t>;  ///< the end of a task, and its index

class PathWalk {
 public:
  explicit PathWalk(const RecordedRank& rank)
      : rank_{rank},
        lanes_(rank.lanes.size()),
        syncs_(rank.lanes.size()),
        outermost_(rank.lanes.size()),
        walked_(rank.tasks.size()) {
    for (std::uint32_t i = 0; i < rank.tasks.size(); ++i) {
      const RecordedTask& task = rank.tasks[i];
      lanes_[task.lane].emplace_back(end_of(i), i);
      if (on_device(task.kind)) device_.emplace_back(end_of(i), i);
      if (task.kind == RecordedKind::launch && rank.name_of(task).ends_with("Synchronize"))
        syncs_[task.lane].emplace_back(end_of(i), i);
    }
    for (std::vector<Ended>& lane : lanes_) std::ranges::sort(lane);
    for (std::vector<Ended>& lane : syncs_) std::ranges::sort(lane);
    std::ranges::sort(device_);
    find_outermost();
  }

  CriticalPath walk() {
    CriticalPath path;
    if (device_.empty()) return path;
    path.end = now_ = device_.back().first;
    std::optional<std::uint32_t> task = device_.back().second;
    while (task) {
      const RecordedTask& at = rank_.tasks[*task];
      walked_[*task] = true;
      spend(rank_.name_of(at), false, at.start);
      task = before(*task);
    }
    path.begin = now_;
    for (auto& [key, part] : parts_) path.parts.push_back(std::move(part));
    std::ranges::stable_sort(path.parts, std::greater{}, &PathPart::time);
    return path;
  }

 private:
  [[nodiscard]] Time end_of(std::uint32_t task) const { return rank_.tasks[task].start + rank_.tasks[task].duration; }

  /// The time from `since` to now belongs to this part.
  void spend(const std::string& what, bool between, Time since) {
    PathPart& part = parts_[{between, what}];
    part.what = what;
    part.between = between;
    ++part.tasks;
    part.time += now_ - since;
    now_ = since;
  }

  /// The last of these to end by then that hasn't been walked: tasks that take no time may wait for each other.
  [[nodiscard]] std::optional<Ended> last_by(const std::vector<Ended>& ended, Time by) const {
    auto after = std::ranges::upper_bound(ended, Ended{by, kNoTask});
    while (after != ended.begin())
      if (!walked_[(--after)->second]) return *after;
    return std::nullopt;
  }

  [[nodiscard]] bool infers(const RecordedTask& task) const {
    return !rank_.replayed && task.needs == 0 && on_device(task.kind);
  }

  /// What a task waited for, if anything did before it; spends the time between.
  std::optional<std::uint32_t> before(std::uint32_t index) {
    const RecordedTask& task = rank_.tasks[index];
    std::optional<Ended> last = last_by(infers(task) ? device_ : lanes_[task.lane], task.start);
    for (std::uint32_t n = 0; n < task.needs; ++n) {
      const std::uint32_t needed = rank_.needs[task.first_need + n];
      if (const Ended end{end_of(needed), needed};
          end.first <= task.start && (!last || end > *last) && !walked_[needed])
        last = end;
    }
    if (task.launch != kNoTask && (!last || rank_.tasks[task.launch].start > last->first)) return on_host(task.launch);
    if (!last) return std::nullopt;
    if (last->first < now_) spend("waiting", true, last->first);
    return last->second;
  }

  /// Back from a launch to the task of the device that its thread had waited for.
  std::optional<std::uint32_t> on_host(std::uint32_t launch) {
    const RecordedTask& call = rank_.tasks[launch];
    if (call.start < now_) spend("launching", true, call.start);
    const std::vector<Ended>& syncs = syncs_[call.lane];
    auto after = std::ranges::upper_bound(syncs, Ended{now_, kNoTask});
    while (after != syncs.begin()) {
      const auto& [end, sync] = *--after;
      const std::optional<Ended> waited = last_by(device_, end);
      if (!waited || waited->first <= rank_.tasks[sync].start) continue;
      spend_host(call.lane, end);
      if (waited->first < now_) spend("synchronising", true, waited->first);
      return waited->second;
    }
    spend_host(call.lane, outermost_[call.lane].empty() ? now_ : outermost_[call.lane].front().first);
    return std::nullopt;
  }

  /// Back to `since` on a thread, through its outermost operations.
  void spend_host(std::uint32_t lane, Time since) {
    const std::vector<Ended>& ops = outermost_[lane];
    auto after = std::ranges::lower_bound(ops, Ended{now_, 0});
    while (after != ops.begin() && now_ > since) {
      const auto& [start, op] = *--after;
      const Time end = std::max(end_of(op), since);
      if (end < now_) spend("host", true, end);
      if (start < now_ && since < now_) spend(rank_.name_of(rank_.tasks[op]), false, std::max(start, since));
    }
    if (since < now_) spend("host", true, since);
  }

  void find_outermost() {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (rank_.lanes[lane].device) continue;
      std::vector<std::uint32_t> order;
      for (const auto& [end, task] : lanes_[lane]) order.push_back(task);
      std::ranges::sort(order, {}, [&](std::uint32_t task) {
        return std::tuple{rank_.tasks[task].start, Time{} - rank_.tasks[task].duration, task};
      });
      for (const std::uint32_t task : order)
        if (outermost_[lane].empty() || rank_.tasks[task].start >= end_of(outermost_[lane].back().second))
          outermost_[lane].emplace_back(rank_.tasks[task].start, task);
    }
  }

  const RecordedRank& rank_;
  std::vector<std::vector<Ended>> lanes_, syncs_;  ///< of lanes, by end
  std::vector<std::vector<Ended>> outermost_;      ///< of threads: operations that lie in no other, with their starts
  std::vector<Ended> device_;                      ///< by end
  std::vector<bool> walked_;                       ///< tasks that are on the path
  std::map<std::pair<bool, std::string>, PathPart> parts_;
  Time now_;  ///< the path is known from here on
};

}  // namespace

CriticalPath critical_path(const RecordedRank& rank) {
  return PathWalk{rank}.walk();
}

}  // namespace contend
