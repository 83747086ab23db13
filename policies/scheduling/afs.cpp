// AFS-L (Hwang et al., "Elastic Resource Sharing for Distributed Deep Learning", NSDI 2021, section 4.1, algorithm 1)
// gives GPUs out one after the other. Each goes to the winner of a tournament over the jobs in order of submission. Of
// two jobs without GPUs, the one that would be done sooner on one GPU wins, the later on a tie. Else let a have fewer
// GPUs (the later job if both have as many): b wins if its relative gain is larger, that is the part of its speed on
// one GPU more which that GPU adds.
//
// Here a job that can't use every number of GPUs takes the next larger number that it can, and its gain counts for each
// GPU of the step. A step that makes a job no faster, or for which too few GPUs are left, is not taken.

#include "policies/registry.hpp"
#include "policies/scheduling/elastic_policy.hpp"

namespace contend {

namespace {

class Afs final : public ElasticPolicy {
 public:
  using ElasticPolicy::ElasticPolicy;

 protected:
  [[nodiscard]] Division divide(std::span<const ElasticJob> jobs, std::span<const int> types, Time) override {
    Division division;
    division.gpus.assign(jobs.size(), 0);
    const auto is_faster = [](const GpuStep& step) {
      return step.job.speed_on(step.to) > step.job.speed_on(step.from);
    };
    give_by_steps(jobs, types.front(), division.gpus, is_faster,
                  [](const GpuStep& first, const GpuStep& second) { return !is_first_better(first, second); });
    return division;
  }

 private:
  static double gain(const GpuStep& step) {
    const double faster = step.job.speed_on(step.to);
    return (faster - step.job.speed_on(step.from)) / faster / (step.to - step.from);
  }

  /// True if `first`, which was submitted before, wins.
  static bool is_first_better(const GpuStep& first, const GpuStep& second) {
    if (first.from == 0 && second.from == 0)
      return first.job.left_s / first.job.speeds.front() < second.job.left_s / second.job.speeds.front();
    return first.from < second.from ? gain(second) <= gain(first) : gain(first) > gain(second);
  }
};

std::unique_ptr<SchedulingPolicy> make_afs(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<Afs>(elastic_decisions(parameters, context));
}

}  // namespace

PolicyRow<SchedulingPolicy> afs_scheduling() {
  static constexpr ParameterInfo kParameters[] = {elastic_period_parameter(0)};
  return {.name = "afs",
          .summary = "AFS-L: each GPU to the job that gains most by it, short jobs first; jobs grow and shrink",
          .source = "Hwang et al., NSDI 2021",
          .parameters = kParameters,
          .make = make_afs,
          .one_type = true};
}

}  // namespace contend
