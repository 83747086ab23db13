#include "scenarios/study/study_run.hpp"

#include "calibration/calibrated_device.hpp"
#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/iteration.hpp"
#include "models/overlap/link_cost.hpp"
#include "models/overlap/volume.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_check.hpp"
#include "scenarios/study/study_places.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "traces/link_matrix_csv.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr int kSimulatedRanks = 2;

template <class Port>
std::unique_ptr<Port> make(std::span<const PolicyRow<Port>> table, const Scenario& scenario,
                           const PolicyChoice& choice) {
  const AlphaBeta network = network_cost(scenario.network);
  return make_policy(table, choice, {scenario.seed, network.beta, network.eta});
}

/// The name, with the parameters that are not the usual ones.
std::string title(std::string_view kind, const PolicyChoice& choice) {
  const auto usual = default_policy(policy_kind(kind), choice.name).parameters.values();
  std::string text = choice.name;
  const auto& values = choice.parameters.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].second != usual[i].second)
      text += fmt::format(" {}={}", values[i].first, print_parameter(values[i].second));
  }
  return text;
}

void use_method(const Scenario& scenario, const CompressionMethod* method, OverlapProblem& problem) {
  problem.method = method;
  problem.collective = scenario.overlap.collective;
  if (method == nullptr) return;
  if (scenario.overlap.links && problem.workers > 1)
    problem.cost = overlap_cost(scenario, problem.workers, method->peers());
  const DeviceChoice& choice = scenario.overlap.device;
  if (choice.calibrated) {
    problem.kernels.emplace(choice.calibrated, scenario.overlap.kernel_factor);
    return;
  }
  const Device* device = find_device(choice.name);
  CONTEND_CHECK(device != nullptr, "a scenario names devices that there are");
  problem.kernels.emplace(*device, RooflineOptions{}, scenario.overlap.kernel_factor);
}

/// A worker alone exchanges nothing.
FusedIteration plan(const FusionPolicy& policy, const OverlapProblem& problem) {
  return problem.workers > 1 ? policy.plan(problem) : IterationBuilder{problem}.take();
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

/// Adds one phase, `share` of all iterations, to the means of a row.
void add_phase(const Scenario& scenario, const OverlapProblem& problem, const FusionPolicy& policy, double share,
               StudyDetail detail, StudyRow& row) {
  const FusedIteration fused = plan(policy, problem);
  const IterationGraph& graph = fused.graph;
  const SteadyState state = execute(scenario, problem, graph);
  row.iteration_s += share * state.iteration_ns * 1e-9;
  const Time kernels = graph.compute_per_rank(RoleId{0U}) - problem.compute();
  row.compression_s += share * kernels.to_seconds();
  row.messages = std::max(row.messages, message_count(graph));
  for (const Op& op : graph.ops()) {
    if (op.kind != OpKind::collective) continue;
    const SentVolume sent = sent_volume(op.collective, op.scope, op.bytes, problem.workers, row.per_server);
    row.sent_bytes += share * sent.by_worker;
    row.interface_bytes += share * sent.by_interface;
  }
  row.settled = row.settled && state.recurs;
  if (detail == StudyDetail::messages) row.phases.push_back({share, overlap_messages(fused, problem)});
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
  row.compression = title("compression", compression);
  row.policy = title("fusion", fusion);
  const auto method = make(compression_policies(), scenario, compression);
  const auto policy = make(fusion_policies(), scenario, fusion);
  row.stale = policy->staleness() > 0;
  row.bound_s = (method ? problem.compute() : iteration_bound(problem, policy->staleness()).value()).to_seconds();
  use_method(scenario, method.get(), problem);
  const std::vector<double> phases = method && problem.workers > 1 ? method->phases() : std::vector<double>{1.0};
  try {
    for (std::size_t i = 0; i < phases.size(); ++i) {
      problem.phase = static_cast<int>(i);
      if (phases[i] > 0) add_phase(scenario, problem, *policy, phases[i], detail, row);
    }
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

ExchangeCost cost_on_links(const Scenario& scenario, int workers, const PeerRule& peers) {
  constexpr double kFairSharing = 2;
  const IterationStudy& study = scenario.overlap;
  const LinkMatrix links = read_link_matrix(*study.links).first(static_cast<std::size_t>(workers));
  ExchangeCost cost = link_cost(links, study.gamma, peers, scenario.seed);
  cost.penalty = study.two_at_once.value_or(kFairSharing) - 2;
  return cost;
}

}  // namespace

ExchangeCost overlap_cost(const Scenario& scenario, int workers, const PeerRule& peers) {
  const IterationStudy& study = scenario.overlap;
  if (study.links && workers > 1) return cost_on_links(scenario, workers, peers);
  const AlphaBeta network = network_cost(scenario.network);
  const ChannelCost link{network.alpha, network.beta, study.gamma};
  const bool server = study.exchange == ExchangeKind::parameter_server;
  std::vector<Complaint> complaints = overlap_complaints(scenario);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  ExchangeCost cost;
  if (server) {
    const int servers = study.servers.value_or(workers);
    cost = ExchangeCost::parameter_server(workers, servers, study.colocated, link);
  } else if (study.formula == ExchangeFormula::measured) {
    const LinearCost all_reduce{network.alpha, network.beta};
    cost = workers > 1 ? ExchangeCost::measured(all_reduce, workers) : ExchangeCost::measured(all_reduce);
  } else if (study.per_server > 1) {
    const IterationStudy::Inside& inside = study.inside;
    const TimePerByte beta = inside.beta ? *inside.beta : TimePerByte{1e9 / inside.bandwidth->bytes_per_second()};
    const int per_server = std::min(study.per_server, workers);
    cost = ExchangeCost::two_level(workers / per_server, per_server, {study.inside.alpha, beta, study.gamma}, link);
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

std::vector<StudyRow> run_overlap(const Scenario& scenario, StudyDetail detail) {
  return run_overlap(scenario, overlap_model(scenario.overlap), detail);
}

std::size_t overlap_rows(const IterationStudy& study) {
  return study.workers.size() * study.compression.size() * study.fusion.size();
}

std::vector<StudyRow> run_overlap(const Scenario& scenario, const TimedModel& model, StudyDetail detail,
                                  const std::function<bool()>& ended) {
  std::vector<StudyRow> rows;
  for (const int workers : scenario.overlap.workers) {
    const OverlapProblem problem = overlap_problem(scenario, model, workers);
    for (const PolicyChoice& compression : scenario.overlap.compression) {
      for (const PolicyChoice& fusion : scenario.overlap.fusion) {
        rows.push_back(measure(scenario, model, problem, compression, fusion, detail));
        if (ended && !ended()) return rows;
      }
    }
  }
  return rows;
}

namespace {

StudyTimeline timeline_of(const Scenario& scenario) {
  const TimedModel model = overlap_model(scenario.overlap);
  OverlapProblem problem = overlap_problem(scenario, model, scenario.overlap.workers.front());
  const auto method = make(compression_policies(), scenario, scenario.overlap.compression.front());
  use_method(scenario, method.get(), problem);
  if (method) problem.phase = static_cast<int>(method->phases().size()) - 1;
  const auto policy = make(fusion_policies(), scenario, scenario.overlap.fusion.front());
  StudyTimeline timeline;
  timeline.graph = plan(*policy, problem).graph;
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

}  // namespace

StudyTimeline overlap_timeline(const Scenario& scenario) {
  try {
    return timeline_of(scenario);
  } catch (const InputError& error) {
    throw InputError{placed(scenario.overlap, refusing_key(scenario.overlap), error.complaints())};
  }
}

}  // namespace contend
