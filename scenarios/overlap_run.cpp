#include "scenarios/overlap_run.hpp"

#include "models/overlap/iteration.hpp"
#include "models/overlap/measure.hpp"
#include "scenarios/overlap_check.hpp"
#include "scenarios/policy_codec.hpp"
#include "scenarios/run.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr int kSimulatedRanks = 2;

std::unique_ptr<FusionPolicy> make_fusion(const PolicyChoice& choice, std::uint64_t seed, const AlphaBeta& network) {
  for (const PolicyRow<FusionPolicy>& row : fusion_policies()) {
    if (row.name == choice.name) return row.make(choice.parameters, {seed, network.beta, network.eta});
  }
  check_failed(__FILE__, __LINE__, "a scenario names policies of the table", choice.name);
}

/// The name, with the parameters that are not the usual ones.
std::string title(const PolicyChoice& choice) {
  const auto usual = default_policy(policy_kind("fusion"), choice.name).parameters.values();
  std::string text = choice.name;
  const auto& values = choice.parameters.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].second != usual[i].second)
      text += fmt::format(" {}={}", values[i].first, print_parameter(values[i].second));
  }
  return text;
}

/// A worker alone exchanges nothing.
IterationGraph plan(const FusionPolicy& policy, const OverlapProblem& problem) {
  return problem.workers > 1 ? policy.plan(problem) : IterationBuilder{problem}.graph;
}

SteadyState execute(const Scenario& scenario, const OverlapProblem& problem, const IterationGraph& graph) {
  SteadyState fast = steady_state(graph, problem.cost);
  if (scenario.overlap.fast) return fast;
  // The engine measures over the iterations in which, as the fast executor says, the job has settled.
  SteadyStateOptions options;
  options.iterations = fast.warm_up + fast.period;
  const SteadyState engine =
      measure_in_engine(graph, problem.cost, std::min(problem.workers, kSimulatedRanks), options);
  const auto end = [&](std::int64_t count) { return engine.ends[static_cast<std::size_t>(count - 1)]; };
  fast.iteration_ns =
      static_cast<double>((end(options.iterations) - end(fast.warm_up)).ns()) / static_cast<double>(fast.period);
  return fast;
}

OverlapRow measure(const Scenario& scenario, const TimedModel& model, const OverlapProblem& problem,
                   const PolicyChoice& choice) {
  OverlapRow row;
  row.workers = problem.workers;
  row.policy = title(choice);
  const auto policy = make_fusion(choice, scenario.seed, network_cost(scenario.network));
  row.stale = policy->staleness() > 0;
  row.bound_s = iteration_bound(problem, policy->staleness()).value().to_seconds();
  IterationGraph graph;
  try {
    graph = plan(*policy, problem);
  } catch (const InputError& error) {
    row.refused = error.diagnostics().front().reason;
    return row;
  }
  const SteadyState state = execute(scenario, problem, graph);
  const double compute_s = problem.compute().to_seconds();
  row.iteration_s = state.iteration_ns * 1e-9;
  row.exposed_s = std::max(0.0, row.iteration_s - compute_s);
  row.throughput = static_cast<double>(model.batch) * problem.workers / row.iteration_s;
  row.efficiency = compute_s / row.iteration_s;
  row.messages = message_count(graph);
  row.settled = state.recurs;
  return row;
}

}  // namespace

ExchangeCost overlap_cost(const Scenario& scenario, int workers) {
  const OverlapStudy& study = scenario.overlap;
  const AlphaBeta network = network_cost(scenario.network);
  const ChannelCost link{network.alpha, network.beta, study.gamma};
  const bool server = study.exchange == ExchangeKind::parameter_server;
  std::vector<Diagnostic> complaints = overlap_complaints(scenario);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  ExchangeCost cost;
  if (server) {
    const int servers = study.servers.value_or(workers);
    cost = ExchangeCost::parameter_server(workers, servers, study.colocated, link);
  } else if (study.formula == ExchangeFormula::measured) {
    cost = ExchangeCost::measured({network.alpha, network.beta});
  } else {
    cost = study.formula == ExchangeFormula::ring ? ExchangeCost::ring(workers, link)
                                                  : ExchangeCost::halving_doubling(workers, link);
  }
  const bool shares = scenario.network.fidelity == Fidelity::contention;
  const double penalty = shares ? network.eta.ns_per_byte() / network.beta.ns_per_byte() : -1;
  cost.penalty = study.two_at_once ? *study.two_at_once - 2 : penalty;
  return cost;
}

OverlapProblem overlap_problem(const Scenario& scenario, const TimedModel& model, int workers) {
  return overlap_problem(model, workers, overlap_cost(scenario, workers), scenario.overlap.granularity);
}

std::vector<OverlapRow> run_overlap(const Scenario& scenario) {
  const TimedModel model = overlap_model(scenario.overlap);
  std::vector<OverlapRow> rows;
  for (const int workers : scenario.overlap.workers) {
    const OverlapProblem problem = overlap_problem(scenario, model, workers);
    for (const PolicyChoice& choice : scenario.overlap.fusion)
      rows.push_back(measure(scenario, model, problem, choice));
  }
  return rows;
}

OverlapTimeline overlap_timeline(const Scenario& scenario) {
  const TimedModel model = overlap_model(scenario.overlap);
  const OverlapProblem problem = overlap_problem(scenario, model, scenario.overlap.workers.front());
  const auto policy = make_fusion(scenario.overlap.fusion.front(), scenario.seed, network_cost(scenario.network));
  OverlapTimeline timeline;
  timeline.graph = plan(*policy, problem);
  const SteadyState settled = steady_state(timeline.graph, problem.cost);
  SteadyStateOptions options;
  options.iterations = settled.warm_up + settled.period + 2;
  options.spans = true;
  const SteadyState run =
      measure_in_engine(timeline.graph, problem.cost, std::min(problem.workers, kSimulatedRanks), options);
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

}  // namespace contend
