// Shortest job or shortest service first. Length is compute time of one rank, service is that summed over all GPUs of
// the job; either as it was at submission or as it remains now.

#include "policies/factories.hpp"
#include "policies/scheduling/in_order.hpp"
#include "policies/scheduling/remaining_first.hpp"

namespace contend {

namespace {

enum class Measure { time, service };

class ShortestFirst final : public InOrder {
 public:
  ShortestFirst(Measure measure, bool remaining, const Parameters& parameters)
      : InOrder{{parameters.get<bool>("strict"), remaining && parameters.get<bool>("preemptive")}},
        measure_{measure},
        remaining_{remaining} {}

  [[nodiscard]] std::int64_t key(const JobView& job) const override {
    const Time service = remaining_ ? job.remaining_service : job.total_service;
    return measure_ == Measure::service ? service.ns() : service.ns() / job.gpus;
  }

 private:
  Measure measure_;
  bool remaining_;
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_sjf(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<ShortestFirst>(Measure::time, false, parameters);
}

std::unique_ptr<SchedulingPolicy> make_srtf(const Parameters& parameters, const PolicyContext&) {
  if (parameters.get<bool>("rewalk")) return make_remaining_first(Remaining::time, parameters.get<bool>("list_order"));
  return std::make_unique<ShortestFirst>(Measure::time, true, parameters);
}

std::unique_ptr<SchedulingPolicy> make_srsf(const Parameters& parameters, const PolicyContext&) {
  if (parameters.get<bool>("rewalk"))
    return make_remaining_first(Remaining::service, parameters.get<bool>("list_order"));
  return std::make_unique<ShortestFirst>(Measure::service, true, parameters);
}

}  // namespace contend
