#include "policies/scheduling/deadline_plan.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

constexpr double kUnreachable = std::numeric_limits<double>::infinity();
constexpr double kDeadlineRounding = 1e-9;  // of a time, or of a sum of times
constexpr std::size_t kNoMachine = DeadlinePlan::kNone;

bool is_late(const PlannedJob& job, double end) {
  return end > job.due + kDeadlineRounding * std::max(1.0, job.due);
}

/// Late jobs count before completion times.
struct PlanCost {
  int late = 0;
  double completions = 0;
  [[nodiscard]] bool is_less(const PlanCost& other) const {
    if (late != other.late) return late < other.late;
    return completions < other.completions - kDeadlineRounding * other.completions;
  }
};

class Search {
 public:
  Search(std::span<const PlannedJob> jobs, std::span<const PlanMachine> machines, std::int64_t nodes)
      : jobs_{jobs}, machines_{machines}, nodes_{nodes}, open_(machines.size(), true) {
    for (const PlanMachine& machine : machines) {
      free_at_.push_back(machine.free_at);
      types_ = std::max(types_, machine.type + 1);
    }
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (shortest(i) < kUnreachable) left_.push_back(i);
    plan_.machine_of.assign(jobs.size(), kNoMachine);
    plan_.starts.assign(jobs.size(), 0);
    same_.resize(types_);
  }

  DeadlinePlan plan() {
    std::vector<std::size_t> order = left_;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return shortest(i); });
    best_ = one_after_the_other(order);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return jobs_[i].due; });
    if (DeadlinePlan other = one_after_the_other(order); cost_of(other).is_less(cost_of(best_)))
      best_ = std::move(other);
    branch({});
    best_.is_best = nodes_ > 0;
    return std::move(best_);
  }

 private:
  static PlanCost cost_of(const DeadlinePlan& plan) { return {plan.late, plan.completions}; }

  [[nodiscard]] double shortest(std::size_t job) const {
    double least = kUnreachable;
    for (const PlanMachine& machine : machines_) least = std::min(least, jobs_[job].takes[machine.type]);
    return least;
  }

  [[nodiscard]] DeadlinePlan one_after_the_other(std::span<const std::size_t> order) const {
    DeadlinePlan plan = plan_;
    std::vector<double> free_at = free_at_;
    for (const std::size_t i : order) {
      std::size_t best = 0;
      for (std::size_t m = 1; m < machines_.size(); ++m)
        if (free_at[m] + jobs_[i].takes[machines_[m].type] < free_at[best] + jobs_[i].takes[machines_[best].type])
          best = m;
      plan.machine_of[i] = best;
      plan.starts[i] = free_at[best];
      free_at[best] += jobs_[i].takes[machines_[best].type];
      plan.late += is_late(jobs_[i], free_at[best]) ? 1 : 0;
      plan.completions += free_at[best];
    }
    return plan;
  }

  /// What the jobs that are left would cost at least.
  [[nodiscard]] PlanCost bound_of_left() const {
    std::vector<double> first(types_, kUnreachable);  // that a machine of the type is free
    for (std::size_t m = 0; m < machines_.size(); ++m)
      if (open_[m]) first[machines_[m].type] = std::min(first[machines_[m].type], free_at_[m]);
    PlanCost bound;
    for (const std::size_t i : left_) {
      double end = kUnreachable;
      for (std::size_t t = 0; t < types_; ++t) end = std::min(end, first[t] + jobs_[i].takes[t]);
      bound.late += is_late(jobs_[i], end) ? 1 : 0;
      bound.completions += end;
    }
    return bound;
  }

  /// What machines of a type that are free at the same time have been given: they are alike, so jobs go to them in
  /// order, and none of them gets a job after one that gets no job any more.
  struct Same {
    double free_at = -1;
    std::size_t job = 0;
    bool is_closed = false;
  };

  struct Child {
    PlanCost bound, cost;
    std::size_t job;  ///< that the machine gets; kNoMachine: none any more
  };

  void branch(PlanCost cost) {
    if (left_.empty()) {
      if (!cost.is_less(cost_of(best_))) return;
      best_ = plan_;
      best_.late = cost.late;
      best_.completions = cost.completions;
      return;
    }
    std::size_t machine = kNoMachine;
    for (std::size_t m = 0; m < machines_.size(); ++m)
      if (open_[m] && (machine == kNoMachine || free_at_[m] < free_at_[machine])) machine = m;
    if (machine == kNoMachine) return;
    const std::size_t type = machines_[machine].type;
    const double start = free_at_[machine];
    const Same before = same_[type];
    const bool is_same = before.free_at == start;
    const std::vector<std::size_t> left = left_;
    const std::vector<Child> children = children_of(machine, cost);
    for (const Child& child : children) {
      if (nodes_ <= 0) return;
      if (!child.bound.is_less(cost_of(best_))) continue;
      if (child.job == kNoMachine) {
        open_[machine] = false;
        same_[type] = {start, is_same ? before.job : 0, true};
      } else {
        plan_.machine_of[child.job] = machine;
        plan_.starts[child.job] = start;
        free_at_[machine] = start + jobs_[child.job].takes[type];
        std::erase(left_, child.job);
        same_[type] = {start, child.job, false};
      }
      branch(child.cost);
      open_[machine] = true;
      free_at_[machine] = start;
      left_ = left;
      same_[type] = before;
    }
  }

  /// The branches of a node, best bound first: the machine that is free first gets one of the jobs that are left, or no
  /// job any more. Those that can't be better than the best plan are left out.
  [[nodiscard]] std::vector<Child> children_of(std::size_t machine, PlanCost cost) {
    const std::size_t type = machines_[machine].type;
    const double start = free_at_[machine];
    const Same before = same_[type];
    const bool is_same = before.free_at == start;
    std::vector<Child> children;
    const std::vector<std::size_t> left = left_;
    for (std::size_t at = 0; at <= left.size() && nodes_ > 0; ++at) {
      const bool closes = at == left.size();
      Child child{.bound = {}, .cost = cost, .job = closes ? kNoMachine : left[at]};
      if (closes) {
        open_[machine] = false;
      } else {
        if (is_same && (before.is_closed || child.job < before.job)) continue;
        const double end = start + jobs_[child.job].takes[type];
        if (end == kUnreachable) continue;
        child.cost.late += is_late(jobs_[child.job], end) ? 1 : 0;
        child.cost.completions += end;
        free_at_[machine] = end;
        left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(at));
      }
      --nodes_;
      child.bound = bound_of_left();
      child.bound.late += child.cost.late;
      child.bound.completions += child.cost.completions;
      if (child.bound.completions < kUnreachable && child.bound.is_less(cost_of(best_))) children.push_back(child);
      open_[machine] = true;
      free_at_[machine] = start;
      left_ = left;
    }
    std::ranges::stable_sort(children, [](const Child& a, const Child& b) {
      return std::pair{a.bound.late, a.bound.completions} < std::pair{b.bound.late, b.bound.completions};
    });
    return children;
  }

  std::span<const PlannedJob> jobs_;
  std::span<const PlanMachine> machines_;
  std::int64_t nodes_;
  std::size_t types_ = 0;
  std::vector<bool> open_;       // by machine
  std::vector<double> free_at_;  // by machine
  std::vector<std::size_t> left_;
  std::vector<Same> same_;  // by type: the last machine that was looked at
  DeadlinePlan plan_, best_;
};

}  // namespace

DeadlinePlan plan_deadlines(std::span<const PlannedJob> jobs, std::span<const PlanMachine> machines,
                            std::int64_t nodes) {
  return Search{jobs, machines, nodes}.plan();
}

}  // namespace contend
