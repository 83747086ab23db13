#pragma once
// What the lanes of a job's ranks do beside computing (Lane in sim/graph.hpp). A lane belongs to a job and a rank, so
// other jobs on the GPU have lanes of their own, and policies don't choose between what waits for it. A table of lanes
// stands for all ranks of the job on one cell, because these run equal tasks at equal times.

#include "sim/calendar.hpp"
#include "sim/graph.hpp"
#include "sim/pending_counts.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace contend {

/// A task that waits for its lane, or runs there.
struct LaneTask {
  OpId op;
  Slot slot = 0;
  bool operator==(const LaneTask&) const = default;
};

/// One lane, at most one of whose tasks runs.
struct LaneState {
  bool busy = false;
  LaneTask running;  ///< while it is busy
  Time started, end;
  EventHandle event;  ///< at `end`
  std::vector<LaneTask> ready;

  /// True if both run the same task, or none, and end it at the same time. What is ready follows from the operations
  /// that are pending.
  [[nodiscard]] bool runs_as(const LaneState& other) const {
    if (!busy || !other.busy) return busy == other.busy;
    return running == other.running && started == other.started && end == other.end;
  }
};

/// The lanes of the ranks of a job on a cell, by their index in Plan::lanes. A job without tasks on lanes has none, and
/// then the table is a null pointer. Copying it copies the lanes, but their events stay with the original.
class LaneTable {
 public:
  LaneTable() = default;
  explicit LaneTable(std::size_t lanes) {
    if (lanes > 0) lanes_ = std::make_unique<std::vector<LaneState>>(lanes);
  }
  LaneTable(const LaneTable& other)
      : lanes_{other.lanes_ ? std::make_unique<std::vector<LaneState>>(*other.lanes_) : nullptr} {}
  LaneTable(LaneTable&&) noexcept = default;
  LaneTable& operator=(LaneTable other) noexcept {
    lanes_ = std::move(other.lanes_);
    return *this;
  }
  ~LaneTable() = default;

  [[nodiscard]] bool empty() const { return !lanes_; }
  [[nodiscard]] std::size_t size() const { return lanes_ ? lanes_->size() : 0; }
  LaneState& operator[](std::size_t lane) { return (*lanes_)[lane]; }
  const LaneState& operator[](std::size_t lane) const { return (*lanes_)[lane]; }
  [[nodiscard]] bool any_busy() const {
    return lanes_ && std::any_of(lanes_->begin(), lanes_->end(), [](const LaneState& lane) { return lane.busy; });
  }
  /// True if all lanes of both run equal tasks (LaneState::runs_as).
  [[nodiscard]] bool runs_as(const LaneTable& other) const {
    if (!lanes_ || !other.lanes_) return !lanes_ && !other.lanes_;
    return std::equal(lanes_->begin(), lanes_->end(), other.lanes_->begin(), other.lanes_->end(),
                      [](const LaneState& a, const LaneState& b) { return a.runs_as(b); });
  }

 private:
  std::unique_ptr<std::vector<LaneState>> lanes_;
};

}  // namespace contend
