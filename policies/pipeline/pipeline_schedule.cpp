#include "policies/pipeline/pipeline_schedule.hpp"

#include <algorithm>
#include <cstdint>

namespace contend {

PipelinePlan plan_of_rounds(const PipelineSchedule& schedule, PipelineShape shape, int kept) {
  constexpr int kOfEnds = 6;     // micro-batches for each rank: no schedule has as many on their way
  constexpr int kTogether = 12;  // rounds
  const int round = schedule.round(shape);
  std::int64_t left_out = 0;
  if (kept > 0 && round > 0) {
    const std::int64_t most = std::int64_t{kOfEnds} * shape.ranks + std::int64_t{kept} * round;
    left_out = std::max<std::int64_t>(0, (shape.micro_batches - most) / (kTogether * round) * kTogether);
    shape.micro_batches -= static_cast<int>(left_out * round);
  }
  PipelinePlan plan = schedule.plan(shape);
  plan.round = round;
  plan.left_out = left_out;
  return plan;
}

}  // namespace contend
