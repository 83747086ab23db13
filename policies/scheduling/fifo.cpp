// FIFO (first in, first out) starts jobs in order of submission.

#include "policies/registry.hpp"
#include "policies/scheduling/in_order.hpp"

namespace contend {

namespace {

class Fifo final : public InOrder {
 public:
  explicit Fifo(bool strict) : InOrder{{strict, false}} {}
  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }
};

std::unique_ptr<SchedulingPolicy> make_fifo(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Fifo>(parameters.get<bool>("strict"));
}

}  // namespace

PolicyRow<SchedulingPolicy> fifo_scheduling() {
  static constexpr ParameterInfo kParameters[] = {strict_parameter(true)};
  return {.name = "fifo",
          .summary = "jobs in order of submission",
          .source = "textbook",
          .parameters = kParameters,
          .make = make_fifo};
}

}  // namespace contend
