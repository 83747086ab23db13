#include "scenarios/sweep/expected.hpp"

#include "scenarios/sweep/store_query.hpp"

#include <map>

namespace contend {

std::vector<PointOutcome> judge_points(const SweepPlan& plan, std::span<const StoreRun> runs) {
  std::vector<PointOutcome> judged;
  if (!plan.expects()) return judged;
  const Draws draws = draws_of(plan.info());
  std::map<std::int64_t, std::vector<const StoreRun*>> of_point;
  for (const StoreRun& run : runs) {
    if (run.status == RunStatus::done) of_point[run.point].push_back(&run);
  }
  for (const auto& [point, done] : of_point) {
    PointOutcome outcome{point, {}};
    for (const Expectation& each : plan.expectations(point)) {
      const auto index = metric_index(metric(each.metric));
      std::vector<double> values;
      for (const StoreRun* run : done) values.push_back(run->metrics[index]);
      outcome.outcomes.push_back(judge_expectation(each, values, draws));
    }
    if (!outcome.outcomes.empty()) judged.push_back(std::move(outcome));
  }
  return judged;
}

}  // namespace contend
