// Optimus (Peng et al., EuroSys 2018, section 4.1, as in the simulator of Pollux' artifact) gives each job its smallest
// number of GPUs in order of submission, and then one GPU after the other to the job whose time left falls most by it,
// the first of several, as long as any falls.
//
// Here a job that can't use every number of GPUs takes the next larger number that it can, and what it saves counts for
// each GPU of the step.

#include "policies/registry.hpp"
#include "policies/scheduling/elastic_policy.hpp"

namespace contend {

namespace {

class Optimus final : public ElasticPolicy {
 public:
  using ElasticPolicy::ElasticPolicy;

 protected:
  [[nodiscard]] Division divide(std::span<const ElasticJob> jobs, int gpus, Time) override {
    Division division;
    division.gpus.assign(jobs.size(), 0);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].sizes.empty() || jobs[i].sizes.front() > gpus) continue;
      division.gpus[i] = jobs[i].sizes.front();
      gpus -= division.gpus[i];
    }
    while (gpus > 0) {
      std::size_t best = jobs.size();
      double most = 0;
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        const int has = division.gpus[i], next = jobs[i].size_above(has);
        if (has == 0 || next == 0 || next - has > gpus) continue;
        const double saved_s =
            (jobs[i].left_s / jobs[i].speed_on(has) - jobs[i].left_s / jobs[i].speed_on(next)) / (next - has);
        if (saved_s <= most) continue;
        most = saved_s;
        best = i;
      }
      if (best == jobs.size()) break;
      const int next = jobs[best].size_above(division.gpus[best]);
      gpus -= next - division.gpus[best];
      division.gpus[best] = next;
    }
    return division;
  }
};

std::unique_ptr<SchedulingPolicy> make_optimus(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Optimus>(Time::ceil_nanoseconds(parameters.get<double>("period_s") * 1e9));
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
