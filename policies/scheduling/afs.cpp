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

#include <algorithm>

namespace contend {

namespace {

class Afs final : public ElasticPolicy {
 public:
  using ElasticPolicy::ElasticPolicy;

 protected:
  [[nodiscard]] Division divide(std::span<const ElasticJob> jobs, int gpus, Time) override {
    Division division;
    division.gpus.assign(jobs.size(), 0);
    while (gpus > 0) {
      std::size_t best = jobs.size();
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!can_grow(jobs[i], division.gpus[i], gpus)) continue;
        if (best == jobs.size() || !is_first_better(jobs[best], division.gpus[best], jobs[i], division.gpus[i]))
          best = i;
      }
      if (best == jobs.size()) break;
      const int next = jobs[best].size_above(division.gpus[best]);
      gpus -= next - division.gpus[best];
      division.gpus[best] = next;
    }
    return division;
  }

 private:
  static bool can_grow(const ElasticJob& job, int has, int left) {
    const int next = job.size_above(has);
    return next > 0 && next - has <= left && job.speed_on(next) > job.speed_on(has);
  }

  static double gain(const ElasticJob& job, int has) {
    const int next = job.size_above(has);
    return (job.speed_on(next) - job.speed_on(has)) / job.speed_on(next) / (next - has);
  }

  /// True if `first`, which was submitted before, wins.
  static bool is_first_better(const ElasticJob& first, int has_first, const ElasticJob& second, int has_second) {
    if (has_first == 0 && has_second == 0)
      return first.left_s / first.speeds.front() < second.left_s / second.speeds.front();
    const double gain_first = gain(first, has_first), gain_second = gain(second, has_second);
    return has_first < has_second ? gain_second <= gain_first : gain_first > gain_second;
  }
};

std::unique_ptr<SchedulingPolicy> make_afs(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Afs>(Time::ceil_nanoseconds(parameters.get<double>("period_s") * 1e9));
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
