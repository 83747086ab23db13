#pragma once
// Makes pipeline schedules by name and random costs for their plans.

#include "policies/registry.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/models/parallel/equal_costs.hpp"
#include "tests/policies/random_cluster.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace contend::test {

inline std::unique_ptr<PipelineSchedule> pipeline(const Choice& choice) {
  return make_policy(pipeline_schedules(), choice, {});
}

/// The plan, once it has passed validate().
inline PipelinePlan valid_plan(const Choice& choice, const PipelineShape& shape) {
  PipelinePlan plan = pipeline(choice)->plan(shape);
  validate(plan);
  return plan;
}

inline PipelineTimes times_of(const PipelinePlan& plan, std::int64_t forward, std::int64_t input, std::int64_t weight,
                              std::int64_t latency = 0) {
  return evaluate(plan, test::equal_costs(plan, Time::nanoseconds(forward), Time::nanoseconds(input),
                                          Time::nanoseconds(weight), Time::nanoseconds(latency)));
}

/// A shape that the schedule takes, if it takes any with so many ranks.
inline PipelineShape random_shape(std::string_view schedule, RandomStream& random, int most_ranks) {
  PipelineShape shape;
  shape.ranks = static_cast<int>(random.uniform_integer(1, most_ranks));
  shape.micro_batches = static_cast<int>(random.uniform_integer(1, 3 * most_ranks));
  if (schedule == "interleaved") {
    shape.chunks = static_cast<int>(random.uniform_integer(1, 4));
    shape.micro_batches = shape.ranks * static_cast<int>(random.uniform_integer(1, 4));
  }
  if (schedule == "dualpipe") shape.ranks += shape.ranks % 2;
  if (schedule.starts_with("dualpipe"))
    shape.micro_batches = 2 * shape.ranks + 2 * static_cast<int>(random.uniform_integer(0, most_ranks));
  return shape;
}

}  // namespace contend::test
