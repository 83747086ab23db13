#pragma once
// GpuPlan is a number of GPUs over time, as a step function from now on, in seconds: what is free, or what is planned
// for a job. The plans of ElasticFlow (Gu et al., ASPLOS 2023, section 4.1) are made of it.

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
  void add(const GpuPlan& other) { add(other, 1); }
  void subtract(const GpuPlan& other) { add(other, -1); }
  /// The sum of two other plans.
  void assign_sum(const GpuPlan& a, const GpuPlan& b) { combine(a, b, 1, steps_); }
  /// GPU time; of plans that end.
  [[nodiscard]] double gpu_seconds() const;
  /// The work that the job does with these GPUs in that time. Each number is a size of the job or 0.
  [[nodiscard]] double work(const ElasticJob& job, double from, double to) const;

 private:
  using Steps = std::vector<std::pair<double, int>>;
  void add(const GpuPlan& other, int sign);
  static void combine(const GpuPlan& a, const GpuPlan& b, int sign, Steps& made);
  std::vector<std::pair<double, int>> steps_;
};

/// The minimum satisfactory share of the job, with so much work left, on what is free from then on. Returns false if it
/// can't be done by the deadline.
[[nodiscard]] bool least_plan(const ElasticJob& job, double left_s, const GpuPlan& free, double from_s,
                              double deadline_s, GpuPlan& plan);
/// The job gets the largest size that fits at every time from then on, until the work is done.
[[nodiscard]] GpuPlan most_plan(const ElasticJob& job, double left_s, const GpuPlan& free, double from_s);

}  // namespace contend
