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
  void add(const GpuPlan& other) { combine(other, 1); }
  void subtract(const GpuPlan& other) { combine(other, -1); }
  /// Nothing is free until then.
  void block_until(double time) { set(0, time, 0); }
  /// GPU time; of plans that end.
  [[nodiscard]] double gpu_seconds() const;
  /// The work that the job does with these GPUs in that time. Each number is a size of the job or 0.
  [[nodiscard]] double work(const ElasticJob& job, double from, double to) const;

 private:
  void combine(const GpuPlan& other, int sign);
  std::vector<std::pair<double, int>> steps_;
};

/// The minimum satisfactory share of the job on what is free. Returns false if it can't be done by the deadline.
[[nodiscard]] bool least_plan(const ElasticJob& job, const GpuPlan& free, double deadline_s, GpuPlan& plan);
/// The job gets the largest size that fits at every time, until it is done.
[[nodiscard]] GpuPlan most_plan(const ElasticJob& job, const GpuPlan& free);

}  // namespace contend
