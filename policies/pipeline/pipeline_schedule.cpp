#include "policies/pipeline/pipeline_schedule.hpp"

#include <algorithm>
#include <cstdint>

namespace contend {

PipelinePlan plan_of_rounds(const PipelineSchedule& schedule, PipelineShape shape, int kept) {
  constexpr int kOfEnds = 6;  // micro-batches for each rank: no schedule has as many on their way
  // States recur after one round, or as many as ranks wait for each other in turn.
  constexpr std::int64_t kFew = 100, kMany = 1000;                                        // rounds kept
  constexpr std::int64_t kOfFew = 12, kOfMany = 840, kOfMost = 5040;                      // with many divisors
  const std::int64_t together = kept < kFew ? kOfFew : kept < kMany ? kOfMany : kOfMost;  // rounds
  const int round = schedule.round(shape);
  std::int64_t left_out = 0;
  if (kept > 0 && round > 0) {
    const std::int64_t most = std::int64_t{kOfEnds} * shape.ranks + std::int64_t{kept} * round;
    left_out = std::max<std::int64_t>(0, (shape.micro_batches - most) / (together * round) * together);
    shape.micro_batches -= static_cast<int>(left_out * round);
  }
  PipelinePlan plan = schedule.plan(shape);
  plan.round = round;
  plan.left_out = left_out;
  return plan;
}

}  // namespace contend
