// SJF, SRTF and SRSF start the shortest job first. SJF measures the compute time of one rank at submission, SRTF what
// remains of it, and SRSF (Wang et al., arXiv 2002.10105) the remaining service, which is compute time summed over all
// GPUs of the job.

#include "policies/registry.hpp"
#include "policies/scheduling/in_order.hpp"
#include "policies/scheduling/remaining_first.hpp"
#include "sim/error.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

enum class Measure { time, service };

class ShortestFirst final : public InOrder {
 public:
  ShortestFirst(Measure measure, bool remaining, const Parameters& parameters)
      : InOrder{{parameters.get<bool>("strict"), remaining && parameters.get<bool>("preemptive")}},
        measure_{measure},
        remaining_{remaining} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override {
    const GpuTime service = remaining_ ? job.remaining_service : job.total_service;
    return measure_ == Measure::service ? service.ns() : service.ns() / job.gpus;
  }

 private:
  Measure measure_;
  bool remaining_;
};

constexpr ParameterInfo kRemainingParameters[] = {
    strict_parameter(false),
    {"preemptive", false, 0, 0,
     "a queued job may preempt running jobs with larger keys; they lose the iteration in flight"},
    {"rewalk", false, 0, 0,
     "at every event the GPUs go to the first of all jobs, running and waiting, as many as fit; replaces preemptive"},
    {"list_order", false, 0, 0,
     "with rewalk, jobs with equal keys keep the order of the last event, as in Tiresias' simulator"},
    {"migrate", false, 0, 0,
     "with rewalk, in each pass in which jobs wait, place all jobs again in the order of the policy, as Tiresias' "
     "simulator does; a running job that gets other GPUs is moved, which costs what a preemption costs"}};

std::unique_ptr<SchedulingPolicy> make_by_remaining(const Parameters& parameters, Measure measure, Remaining what) {
  const RemainingFirstOptions options{parameters.get<bool>("list_order"), parameters.get<bool>("migrate")};
  if (parameters.get<bool>("rewalk")) return make_remaining_first(what, options);
  for (const char* name : {"list_order", "migrate"}) {
    if (!parameters.get<bool>(name)) continue;
    throw InputError{Complaint{.key = fmt::format("policies.scheduling.{}", name),
                               .reason = "it has an effect only with `rewalk: true`"}};
  }
  return std::make_unique<ShortestFirst>(measure, true, parameters);
}

std::unique_ptr<SchedulingPolicy> make_sjf(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<ShortestFirst>(Measure::time, false, parameters);
}

std::unique_ptr<SchedulingPolicy> make_srtf(const Parameters& parameters, const PolicyContext&) {
  return make_by_remaining(parameters, Measure::time, Remaining::time);
}

std::unique_ptr<SchedulingPolicy> make_srsf(const Parameters& parameters, const PolicyContext&) {
  return make_by_remaining(parameters, Measure::service, Remaining::service);
}

}  // namespace

PolicyRow<SchedulingPolicy> sjf_scheduling() {
  static constexpr ParameterInfo kParameters[] = {strict_parameter(false)};
  return {.name = "sjf",
          .summary = "smallest total compute time first",
          .source = "textbook",
          .parameters = kParameters,
          .make = make_sjf};
}

PolicyRow<SchedulingPolicy> srtf_scheduling() {
  return {.name = "srtf",
          .summary = "smallest remaining compute time first",
          .source = "textbook",
          .parameters = kRemainingParameters,
          .make = make_srtf};
}

PolicyRow<SchedulingPolicy> srsf_scheduling() {
  return {.name = "srsf",
          .summary = "smallest remaining service (compute time x GPUs) first",
          .source = "Wang et al., arXiv 2002.10105",
          .parameters = kRemainingParameters,
          .make = make_srsf};
}

}  // namespace contend
