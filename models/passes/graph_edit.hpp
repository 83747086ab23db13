#pragma once
// Changes a finished graph. Operations are only added, behind those that are there, so that their ids do not change.

#include "sim/graph.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace contend {

class GraphEdit {
 public:
  explicit GraphEdit(const IterationGraph& graph)
      : frame_{graph.without_operations()}, ops_{graph.ops()}, dependencies_{graph.dependencies()} {
    frame_.set_phases(graph.phases());
  }

  [[nodiscard]] const std::vector<Op>& ops() const { return ops_; }
  [[nodiscard]] const std::vector<Dependency>& dependencies() const { return dependencies_; }
  OpId add(Op op) {
    ops_.push_back(std::move(op));
    return OpId{ops_.size() - 1};
  }
  void lengthen(OpId op, Time by) { ops_[op.index()].duration += by; }
  void depend(OpId before, OpId after, int lag = 0) { dependencies_.push_back({before, after, lag}); }
  /// Changes each dependency in place, but not those that are added meanwhile.
  void for_each(const std::function<void(Dependency&)>& change) {
    const std::size_t count = dependencies_.size();
    for (std::size_t i = 0; i < count; ++i) {
      Dependency each = dependencies_[i];
      change(each);
      dependencies_[i] = each;
    }
  }
  [[nodiscard]] bool computes(OpId op) const { return ops_[op.index()].kind == OpKind::compute; }
  /// True if both are tasks of one role, of which the second waits for the first within an iteration.
  [[nodiscard]] bool is_next_task(const Dependency& each) const {
    return each.lag == 0 && computes(each.before) && computes(each.after) &&
           ops_[each.before.index()].role == ops_[each.after.index()].role;
  }
  [[nodiscard]] IterationGraph take() {
    for (Op& op : ops_) frame_.add(std::move(op));
    for (const Dependency& each : dependencies_) frame_.add_dependency(each.before, each.after, each.lag);
    return std::move(frame_);
  }

 private:
  IterationGraph frame_;  // roles, channels and phases
  std::vector<Op> ops_;
  std::vector<Dependency> dependencies_;
};

}  // namespace contend
