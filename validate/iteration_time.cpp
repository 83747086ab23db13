#include "validate/iteration_time.hpp"

#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/phases.hpp"
#include "models/overlap/steady_state.hpp"
#include "policies/registry.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/check.hpp"

#include <map>
#include <memory>
#include <span>

#include <fmt/format.h>

namespace contend {

namespace {

/// The study that the scenario reader makes of these policies.
IterationStudy study_of(const std::string& fusion, const std::string& compression) {
  return parse_scenario(
             fmt::format(
                 "schema_version: 1\ntraining: {{it: {{model: resnet50}}}}\noverlap: {{training: it, fusion: [{}], "
                 "compression: [{}]}}\n",
                 fusion, compression),
             "validation")
      .overlap;
}

template <class Port>
std::unique_ptr<Port> make(std::span<const PolicyRow<Port>> table, const PolicyChoice& choice) {
  for (const PolicyRow<Port>& row : table) {
    if (row.name == choice.name) return row.make(choice.parameters, {});
  }
  check_failed(__FILE__, __LINE__, "the policy is in the table", choice.name);
}

/// Fits ask for the same few policies thousands of times, and reading one takes longer than an iteration.
const FusionPolicy& fusion_named(const std::string& fusion) {
  static thread_local std::map<std::string, std::unique_ptr<FusionPolicy>> known;
  std::unique_ptr<FusionPolicy>& policy = known[fusion];
  if (!policy) policy = make(fusion_policies(), study_of(fusion, "none").fusion.front());
  return *policy;
}

double settled_s(const IterationGraph& graph, const ExchangeCost& cost) {
  const SteadyState fast = steady_state(graph, cost);
  SteadyStateOptions options;
  options.iterations = fast.warm_up + fast.period;
  const SteadyState engine = measure_in_engine(graph, cost, 2, options);
  CONTEND_CHECK(engine.ends == fast.ends, "the fast executor is the engine");
  return fast.iteration_ns * 1e-9;
}

}  // namespace

double iteration_s(const OverlapProblem& problem, const std::string& fusion) {
  return settled_s(fusion_named(fusion).plan(problem).graph, problem.cost);
}

double quick_iteration_s(const OverlapProblem& problem, const std::string& fusion) {
  return steady_state(fusion_named(fusion).plan(problem).graph, problem.cost).iteration_ns * 1e-9;
}

CompressedIteration compressed_iteration(OverlapProblem problem, const std::string& fusion,
                                         const std::string& compression, const std::string& device, double kernels) {
  const IterationStudy study = study_of(fusion, compression);
  const auto policy = make(fusion_policies(), study.fusion.front());
  const auto method = make(compression_policies(), study.compression.front());
  const Device* const found = find_device(device);
  CONTEND_CHECK(found != nullptr, "a device of the table");
  problem.method = method.get();
  problem.kernels.emplace(*found, RooflineOptions{}, kernels);
  const IterationGraph graph = plan_iteration(*policy, problem).graph;
  CompressedIteration mean;
  for (const SharedGraph& each : repeating_graphs(graph))
    mean.seconds += each.share * settled_s(each.graph, problem.cost);
  mean.kernels_s = mean_compute_s(graph) - problem.compute().to_seconds();
  return mean;
}

TimedModel scaled_model(const std::string& model, const std::string& device, int batch, int sequence,
                        double iteration_s) {
  TrainingSetup setup;
  setup.model = model;
  setup.device.name = device;
  setup.batch = batch;
  if (sequence > 0) setup.sequence = sequence;
  setup.single_worker = Time::ceil_nanoseconds(iteration_s * 1e9);
  return trained_model(setup);
}

}  // namespace contend
