#pragma once
// GpuPlan is a number of GPUs over time, as a step function from now on, in seconds: what is free, or what is planned
// for a job. The plans of ElasticFlow (Gu et al., ASPLOS 2023, section 4.1) are made of it.

#include "policies/scheduling/decision_times.hpp"
#include "policies/scheduling/elastic_policy.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace contend {

class GpuPlan {
 public:
  static constexpr double kForever = std::numeric_limits<double>::infinity();

  /// So many GPUs at all times.
  explicit GpuPlan(int gpus) : steps_{{0, gpus}} {}
  [[nodiscard]] int gpus_at(double time) const;
  /// The first time after `time` at which the number changes; kForever if it doesn't.
  [[nodiscard]] double change_after(double time) const;
  /// The steps: from when on how many.
  [[nodiscard]] const std::vector<std::pair<double, int>>& steps() const { return steps_; }
  void set(double from, double to, int gpus);
  /// As set(), of a plan that has no GPUs from then on.
  void append(double from, double to, int gpus);
  /// No GPUs at any time.
  void clear() { steps_.assign(1, {0, 0}); }
  void add(const GpuPlan& other) { add(other, 1); }
  void subtract(const GpuPlan& other) { add(other, -1); }
  /// The first time at which the sum of the two plans changes; kForever if it doesn't.
  [[nodiscard]] static double sum_changes(const GpuPlan& a, const GpuPlan& b);
  /// GPU time; of plans that end.
  [[nodiscard]] double gpu_seconds() const;
  /// The work that the job does with these GPUs in that time. Each number is a size of the job or 0.
  [[nodiscard]] double work(const ElasticJob& job, double from, double to) const;

 private:
  using Steps = std::vector<std::pair<double, int>>;
  void add(const GpuPlan& other, int sign);
  std::vector<std::pair<double, int>> steps_;
};

/// The instants of plans that begin at an instant `now`, if GPUs change hands at decisions only.
class PlanTimes {
 public:
  explicit PlanTimes(const DecisionTimes& decisions, Time now = {}) : decisions_{decisions}, now_{now} {}
  [[nodiscard]] Time now() const { return now_; }
  /// True if GPUs may change hands at any instant.
  [[nodiscard]] bool are_anywhere() const { return decisions_.are_anywhere(); }
  /// When others can have the GPUs of a job that gets them at `from_s` and is done at `end_s`, both seconds from now.
  /// A job without work left has its GPUs until the next decision, too.
  [[nodiscard]] double hands_over(double from_s, double end_s) const;
  /// The instant at which a plan has a step so many seconds from now.
  [[nodiscard]] Time instant(double step_s) const;

 private:
  DecisionTimes decisions_;
  Time now_;
};

/// Makes plans of jobs, one after the other: it keeps its memory.
class PlanMaker {
 public:
  explicit PlanMaker(const DecisionTimes& decisions = DecisionTimes{}) : decisions_{decisions}, times_{decisions} {}
  /// Plans begin at that instant, one at which the policy decides.
  void begin_at(Time now) { times_ = PlanTimes{decisions_, now}; }
  [[nodiscard]] const PlanTimes& times() const { return times_; }
  /// What the plans to come may use: what is free and, beside that, the plan of the job up to now, between these times.
  /// `job` has to outlive the plans.
  void look_at(const ElasticJob& job, const GpuPlan& free, const GpuPlan& own, double from_s, double until_s);
  void look_at(const ElasticJob& job, const GpuPlan& free, double from_s, double until_s) {
    look_at(job, free, nothing_, from_s, until_s);
  }
  /// Appends to the plan the minimum satisfactory share of the job, with so much work left. Returns false if it can't
  /// be done in that time; then it appends nothing.
  [[nodiscard]] bool least(double left_s, GpuPlan& plan);
  /// Appends to the plan the largest size of the job that fits at every time, until the work is done.
  void most(double left_s, GpuPlan& plan);

 private:
  struct Room {
    double from = 0, to = 0;
    std::size_t sizes = 0;  ///< so many of the job's sizes fit, the smallest ones
  };
  [[nodiscard]] bool may_suffice(std::size_t most, double needed);
  template <class SizesAt>
  void until_done(double left_s, const SizesAt& sizes_at, GpuPlan& plan) const;

  [[nodiscard]] double rounding(double left_s) const;

  DecisionTimes decisions_;
  PlanTimes times_;
  const ElasticJob* job_ = nullptr;
  std::vector<Room> room_;
  std::vector<double> time_;  // by number of sizes that fit
  double wide_s_ = 0;         // time for which more sizes fit than those asked about so far
  double narrow_ = 0;         // work in the other time
  const GpuPlan nothing_{0};
};

}  // namespace contend
