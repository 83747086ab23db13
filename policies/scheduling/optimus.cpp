// Optimus (Peng et al., EuroSys 2018, section 4.1, as in the simulator of Pollux' artifact) gives each job its smallest
// number of GPUs in order of submission, and then one GPU after the other to the job whose time left falls most by it,
// the first of several, as long as any falls.
//
// Here a job that can't use every number of GPUs takes the next larger number that it can, and its gain counts for
// each GPU of the step.

#include "policies/registry.hpp"
#include "policies/scheduling/elastic_policy.hpp"

namespace contend {

namespace {

class Optimus final : public ElasticPolicy {
 public:
  using ElasticPolicy::ElasticPolicy;

 protected:
  [[nodiscard]] Division divide(std::span<const ElasticJob> jobs, std::span<const int> types, Time) override {
    int gpus = types.front();
    Division division;
    division.gpus.assign(jobs.size(), 0);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].sizes.empty() || jobs[i].sizes.front() > gpus) continue;
      division.gpus[i] = jobs[i].sizes.front();
      gpus -= division.gpus[i];
    }
    give_by_steps(
        jobs, gpus, division.gpus, [](const GpuStep& step) { return step.from > 0 && saved_s(step) > 0; },
        [](const GpuStep& best, const GpuStep& other) { return saved_s(other) > saved_s(best); });
    return division;
  }

 private:
  /// How much earlier the job would be done, for each GPU of the step.
  static double saved_s(const GpuStep& step) {
    const double before_s = step.job.left_s / step.job.speed_on(step.from);
    const double after_s = step.job.left_s / step.job.speed_on(step.to);
    return (before_s - after_s) / (step.to - step.from);
  }
};

std::unique_ptr<SchedulingPolicy> make_optimus(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<Optimus>(elastic_decisions(parameters, context));
}

}  // namespace

PolicyRow<SchedulingPolicy> optimus_scheduling() {
  static constexpr ParameterInfo kParameters[] = {elastic_period_parameter(60)};
  return {.name = "optimus",
          .summary = "each GPU to the job whose time left falls most by it; jobs grow and shrink",
          .source = "Peng et al., EuroSys 2018",
          .parameters = kParameters,
          .make = make_optimus,
          .one_type = true};
}

}  // namespace contend
