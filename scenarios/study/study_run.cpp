#include "scenarios/study/study_run.hpp"

#include "models/overlap/bound.hpp"
#include "models/overlap/phases.hpp"
#include "models/overlap/volume.hpp"
#include "scenarios/run/parallel.hpp"
#include "scenarios/study/study_cost.hpp"
#include "scenarios/study/study_iteration.hpp"
#include "scenarios/study/study_model.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace contend {
namespace {

/// Fills in what an iteration takes and sends, as means over its phases.
void measure_iteration(const Scenario& scenario, const OverlapProblem& problem, const FusionPolicy& policy,
                       StudyDetail detail, StudyRow& row) {
  const FusedIteration fused = plan_iteration(policy, problem);
  for (const SharedGraph& each : repeating_graphs(fused.graph)) {
    const SteadyState state = settle(scenario, problem, each.graph);
    row.iteration_s += each.share * state.iteration_ns * 1e-9;
    row.settled = row.settled && state.recurs;
  }
  row.compression_s = mean_compute_s(fused.graph) - problem.compute().to_seconds();
  row.traffic = iteration_traffic(fused.graph.with_ranks(problem.workers), row.per_server);
  if (detail == StudyDetail::figures) return;
  const std::vector<double> shares = fused.graph.phases().shares();
  for (std::size_t phase = 0; phase < shares.size(); ++phase) {
    if (shares[phase] > 0) row.phases.push_back({shares[phase], study_messages(fused, problem, phase)});
  }
}

/// NaN if the study doesn't say.
double iterations_to_target(const IterationStudy& study, const PolicyChoice& compression) {
  if (compression.name == "none") return 1;
  const auto& all = study.iterations_to_target;
  const auto is_this = [&](const IterationsToTarget& each) { return each.is_for(compression); };
  const auto given = std::find_if(all.begin(), all.end(), is_this);
  return given == all.end() ? std::numeric_limits<double>::quiet_NaN() : given->factor;
}

StudyRow measure(const Scenario& scenario, const TimedModel& model, OverlapProblem problem,
                 const PolicyChoice& compression, const PolicyChoice& fusion, StudyDetail detail) {
  StudyRow row;
  row.workers = problem.workers;
  row.per_server = std::min(scenario.overlap.per_server, problem.workers);
  row.compression = policy_title("compression", compression);
  row.policy = policy_title("fusion", fusion);
  const auto [method, policy] = make_study_policies(scenario, compression, fusion);
  row.stale = policy->staleness() > 0;
  row.bound_s = (method ? problem.compute() : iteration_bound(problem, policy->staleness()).value()).to_seconds();
  use_method(scenario, method.get(), problem);
  try {
    measure_iteration(scenario, problem, *policy, detail, row);
  } catch (const InputError& error) {
    row.refused = error.complaints().front().reason;
    return row;
  }
  row.compute_s = problem.compute().to_seconds();
  // Times are whole nanoseconds: less than half of one is rounding.
  const double exposed = row.iteration_s - row.compute_s - row.compression_s;
  row.exposed_s = exposed < 0.5e-9 ? 0 : exposed;
  row.progress_s = row.iteration_s * iterations_to_target(scenario.overlap, compression);
  row.throughput = static_cast<double>(model.batch) * problem.workers / row.iteration_s;
  row.efficiency = row.compute_s / row.iteration_s;
  return row;
}

}  // namespace

std::vector<StudyRow> run_study(const Scenario& scenario, StudyDetail detail) {
  return run_study(scenario, study_model(scenario.overlap), detail);
}

std::size_t study_row_count(const IterationStudy& study) {
  return study.workers.size() * study.compression.size() * study.fusion.size();
}

std::vector<StudyRow> run_study(const Scenario& scenario, const TimedModel& model, StudyDetail detail,
                                const StudyHooks& hooks) {
  const IterationStudy& study = scenario.overlap;
  std::vector<OverlapProblem> problems;
  for (const int workers : study.workers) problems.push_back(study_problem(scenario, model, workers));
  struct Outcome {
    std::optional<StudyRow> row;
    std::exception_ptr error;
  };
  std::vector<Outcome> outcomes(study_row_count(study));
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  const auto run = [&](std::size_t item) {
    const std::size_t rest = item / study.fusion.size();
    const OverlapProblem& problem = problems[rest / study.compression.size()];
    try {
      outcomes[item].row = measure(scenario, model, problem, study.compression[rest % study.compression.size()],
                                   study.fusion[item % study.fusion.size()], detail);
    } catch (...) {
      outcomes[item].error = std::current_exception();
      stopped = true;
      return;
    }
    const std::scoped_lock lock{mutex};
    if (hooks.ended && !hooks.ended()) stopped = true;
  };
  parallel_for(
      hooks.threads, outcomes.size(), [&] { return run; }, [&] { return stopped.load(); });
  std::vector<StudyRow> rows;
  for (Outcome& each : outcomes) {
    // Items are taken in order, so the first error is the same whatever the number of threads.
    if (each.error) std::rethrow_exception(each.error);
    if (!each.row) break;
    rows.push_back(*std::move(each.row));
  }
  return rows;
}

}  // namespace contend
