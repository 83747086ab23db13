// EDF for jobs that change: the job with the earliest deadline takes the GPUs that it wants, the next one those that it
// wants of the rest, and so on (Liu, Layland, JACM 20(1), 1973, for each GPU). Jobs without a deadline come last, in
// order of submission. Like `edf` it takes no notice of whether a deadline can still be met. With `fastest: false` it
// is the EDF that ElasticFlow (Gu et al., ASPLOS 2023) is compared with, which gives jobs the largest number also where
// that is slower than a smaller one.

#include "policies/registry.hpp"
#include "policies/scheduling/elastic_policy.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace contend {

namespace {

class ElasticEarliestDeadline final : public ElasticPolicy {
 public:
  ElasticEarliestDeadline(const DecisionTimes& decisions, bool fastest) : ElasticPolicy{decisions}, fastest_{fastest} {}

 protected:
  [[nodiscard]] Division divide(std::span<const ElasticJob> jobs, std::span<const int> gpus, Time) override {
    std::vector<std::size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t j) { return jobs[j].view.deadline.value_or(Time::never()); });
    Division division;
    division.gpus.assign(jobs.size(), 0);
    int left = gpus.front();
    for (const std::size_t j : order) left -= division.gpus[j] = wanted(jobs[j], left);
    return division;
  }

 private:
  /// Of the numbers that are left, the smallest of those with the greatest speed, or the largest.
  [[nodiscard]] int wanted(const ElasticJob& job, int left) const {
    const int largest = job.size_within(left);
    if (!fastest_ || largest == 0) return largest;
    const auto end = std::ranges::upper_bound(job.sizes, largest);
    return *std::max_element(job.sizes.begin(), end, [&](int a, int b) { return job.speed_on(a) < job.speed_on(b); });
  }

  bool fastest_;
};

std::unique_ptr<SchedulingPolicy> make_elastic_edf(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<ElasticEarliestDeadline>(elastic_decisions(parameters, context),
                                                   parameters.get<bool>("fastest"));
}

}  // namespace

PolicyRow<SchedulingPolicy> elastic_edf_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      elastic_period_parameter(0),
      {"fastest", true, 0, 0, "a job wants the number of GPUs on which it is fastest; false: as many as it can have"}};
  return {.name = "elastic-edf",
          .summary = "earliest deadline first, each job on the number of GPUs of the rest on which it is fastest",
          .source = "Liu, Layland, JACM 1973; Gu et al., ASPLOS 2023",
          .parameters = kParameters,
          .make = make_elastic_edf,
          .one_type = true,
          .weighs = Weighs::deadlines};
}

}  // namespace contend
