// EDF starts the job with the earliest deadline first (Liu, Layland, JACM 20(1), 1973). Jobs without a deadline come
// last, in order of submission. It takes no notice of whether a deadline can still be met.

#include "policies/registry.hpp"
#include "policies/scheduling/in_order.hpp"

namespace contend {

namespace {

class EarliestDeadline final : public InOrder {
 public:
  using InOrder::InOrder;

  [[nodiscard]] PolicyKey key(const JobView& job) const override {
    if (job.deadline) return job.deadline->ns();
    return PolicyKey{Time::never().ns()} + job.submit.ns();
  }
};

std::unique_ptr<SchedulingPolicy> make_edf(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<EarliestDeadline>(
      InOrder::Rules{parameters.get<bool>("strict"), parameters.get<bool>("preemptive")});
}

}  // namespace

PolicyRow<SchedulingPolicy> edf_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      strict_parameter(false),
      {"preemptive", false, 0, 0, "a queued job may preempt running jobs with later deadlines"}};
  return {.name = "edf",
          .summary = "earliest deadline first; jobs without a deadline last",
          .source = "Liu, Layland, JACM 1973",
          .parameters = kParameters,
          .make = make_edf,
          .weighs = Weighs::deadlines};
}

}  // namespace contend
