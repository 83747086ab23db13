#include "scenarios/study/study_timeline.hpp"

#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/phases.hpp"
#include "scenarios/study/study_cost.hpp"
#include "scenarios/study/study_iteration.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_places.hpp"
#include "sim/error.hpp"

#include <cstddef>

namespace contend {
namespace {

StudyTimeline timeline_of(const Scenario& scenario) {
  const TimedModel model = study_model(scenario.overlap);
  OverlapProblem problem = study_problem(scenario, model, scenario.overlap.workers.front());
  const auto [method, policy] =
      make_study_policies(scenario, scenario.overlap.compression.front(), scenario.overlap.fusion.front());
  use_method(scenario, method.get(), problem);
  StudyTimeline timeline;
  const IterationGraph all_phases = plan_iteration(*policy, problem).graph;
  timeline.graph = graph_of_phase(all_phases, all_phases.phases().count() - 1);
  const SteadyState settled = settle(scenario, problem, timeline.graph);
  SteadyStateOptions options;
  options.iterations = settled.warm_up + settled.period + 2;
  options.spans = true;
  const SteadyState run = measure_in_engine(timeline.graph, problem.cost, simulated_ranks(problem), options);
  const auto last = static_cast<std::size_t>(settled.warm_up + settled.period);
  const Time begin = run.ends[last - 1];
  timeline.iteration = run.ends[last] - begin;
  for (Span span : run.spans) {
    if (span.end <= begin || span.start >= run.ends[last]) continue;
    span.start -= begin;
    span.end -= begin;
    timeline.spans.push_back(span);
  }
  return timeline;
}

}  // namespace

StudyTimeline study_timeline(const Scenario& scenario) {
  try {
    return timeline_of(scenario);
  } catch (const InputError& error) {
    throw InputError{placed(scenario.overlap, refusing_key(scenario.overlap), error.complaints())};
  }
}

}  // namespace contend
