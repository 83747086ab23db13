#include "scenarios/training/stage_exchange.hpp"

#include "models/parallel/planned_exchange.hpp"
#include "models/passes/graph_passes.hpp"
#include "policies/fusion/fusion_policy.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/training/trained_model.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// True if gradients can be compressed, whatever the default entry says (member_rules.cpp).
bool may_compress(const TrainingEntry& entry) {
  return entry.parallel->zero < 2;
}
/// True if the entry says how gradients are fused or compressed. With zero: 3 layers reduce their gradients by
/// themselves, whatever the default entry says.
bool plans_exchange(const TrainingEntry& entry) {
  if (entry.parallel->zero == 3) return false;
  return entry.says("fusion") || (may_compress(entry) && entry.says("compression"));
}

/// What a fusion policy plans for: the gradients of a stage's dense weights, all of a unit at once.
OverlapProblem exchange_problem(const std::vector<ModelUnit>& units, PassKind backward, const TrainingIteration& job) {
  OverlapProblem problem;
  for (const ModelUnit& unit : units)
    problem.layers.push_back(
        {fmt::format("unit {}", problem.layers.size()), unit.of(PassKind::forward), unit.of(backward)});
  for (std::size_t u = units.size(); u-- > 0;) {
    OverlapProblem::Gradient gradient;
    gradient.layer = u;
    gradient.size = Bytes{units[u].dense_elements * job.gradient_bytes};
    if (gradient.size > Bytes{}) problem.gradients.push_back(gradient);
  }
  problem.workers = job.planned_groups().size;
  problem.gradient_element_bytes = job.gradient_bytes;
  return problem;
}

bool needs_servers(const Op& op) {
  return op.kind == OpKind::collective && op.scope != CollectiveScope::all;
}

/// Passes that a schedule runs as one with others.
struct MergedPasses {
  bool any = false;
  bool begins = false;     ///< the first forward pass of a stage in an iteration
  bool completes = false;  ///< the pass that completes the gradients of a stage
};

MergedPasses merged_passes(const PipelinePlan& plan) {
  MergedPasses found;
  for (const std::vector<PipelineStep>& steps : plan.order) {
    std::map<int, bool> first, last;  // by chunk: whether that pass is merged
    for (const PipelineStep& step : steps) {
      found.any = found.any || step.is_merged;
      for (const PipelinePass& pass : step.passes()) {
        if (pass.kind == PassKind::forward) first.try_emplace(pass.chunk, step.is_merged);
        if (pass.kind == PassKind::backward || pass.kind == PassKind::backward_weight)
          last.insert_or_assign(pass.chunk, step.is_merged);
      }
    }
    for (const auto& [chunk, is_merged] : first) found.begins = found.begins || is_merged;
    for (const auto& [chunk, is_merged] : last) found.completes = found.completes || is_merged;
  }
  return found;
}

}  // namespace

void plan_exchange(const TrainingSystem& system, const TrainingEntry& entry, TrainingIteration& job) {
  if (!plans_exchange(entry) || job.dense_groups().size < 2) return;
  const AlphaBeta network = network_cost(system.network);
  const PolicyContext context{system.seed, network.beta, network.eta};
  const auto method = may_compress(entry) ? make_policy(compression_policies(), entry.compression, context) : nullptr;
  const auto policy = make_policy(fusion_policies(), entry.fusion, context);
  job.plans_all_sums = method != nullptr;
  const RankGroups groups = job.planned_groups();
  const Ground ground = ground_of(system.cluster, system.network);
  const CostTable costs{system.network, system.seed};
  const auto shapes_of = [&](std::size_t rank) {
    std::vector<GpuId> gpus;
    const std::size_t ranks = static_cast<std::size_t>(job.ranks_of_stage());
    for (std::size_t i = 0; i < ranks; ++i) gpus.emplace_back((ground.differs() ? rank * ranks : 0) + i);
    return group_shapes(gpus, groups, ground);
  };
  const JobShape shape = shapes_of(0).front();
  const bool is_even = shape.servers * shape.per_server == shape.ranks;
  job.planned_per_server = is_even ? shape.per_server : shape.ranks;
  const auto fail = [&](const std::string& reason) {
    throw InputError{{{.key = method ? "compression" : "fusion",
                       .reason = fmt::format("{}: {}", method ? entry.compression.name : entry.fusion.name, reason),
                       .hint = method ? "another method, such as top-k" : "another policy, such as ddp or wfbp"}}};
  };
  const PassKind backward = job.plan.has_weight_passes() ? PassKind::backward_weight : PassKind::backward;
  for (std::size_t stage = 0; stage < job.units.size(); ++stage) {
    const std::vector<ModelUnit>& units = job.units[stage];
    OverlapProblem problem = exchange_problem(units, backward, job);
    FusedIteration& planned = job.planned.emplace_back();
    if (problem.gradients.empty()) continue;  // nothing of the stage is trained
    const auto has = [&](const std::vector<int>& stages) {
      return std::ranges::find(stages, static_cast<int>(stage)) != stages.end();
    };
    const auto rank =
        static_cast<std::size_t>(std::ranges::find_if(job.plan.stage_of, has) - job.plan.stage_of.begin());
    const JobShape slowest = slowest_shape(costs, shapes_of(rank), problem.gradient());
    problem.cost = costs.of(slowest);
    problem.cost.interference =
        interference_of(system.network, system.overlap, system.training, path_of(slowest.servers));
    use_method(entry, method.get(), problem);
    static_cast<ExchangeWork&>(problem) = {};  // a pass adds it to the graph
    try {
      planned = plan_iteration(*policy, problem);
      if (job.sharding != Sharding::none && !job.plans_all_sums)
        share_sums(planned.graph, job.weight_bytes, job.gradient_bytes);
    } catch (const InputError& error) {
      fail(fmt::format("can't exchange the gradients of a layer, the embedding or the head as one: {}",
                       error.complaints().front().reason));
    }
    if (const auto unfit = unfit_for_stage(planned, units.size())) fail(*unfit);
    const bool goes_on = goes_on_in_forward(planned.graph, units.size());
    if (goes_on && merged_passes(job.plan).begins)
      fail("a part of its exchange goes on beside the first forward pass, which the schedule runs with another pass");
    if (goes_on && job.sharding == Sharding::none && job.sends_gradients)
      fail("gradients come while the next forward pass computes, and a host updates all weights of a GPU at once");
    if (!is_even && std::ranges::any_of(planned.graph.ops(), needs_servers))
      fail("it has collectives inside servers, on which the ranks with equal weights lie unevenly");
  }
}

void check_merges(const TrainingEntry& entry, const PipelinePlan& plan) {
  const ParallelSetup& setup = *entry.parallel;
  const MergedPasses merged = merged_passes(plan);
  if (!merged.any) return;
  if (setup.zero == 3)
    throw InputError{{{.key = "parallel.zero",
                       .reason = fmt::format("3: the schedule {} runs two passes as one, which would need all weights "
                                             "of two stages at once",
                                             setup.schedule.name),
                       .hint = "zero: 1 or 2, or another schedule"}}};
  if (setup.offload.activations)
    throw InputError{{{.key = "parallel.offload.activations",
                       .reason = fmt::format("the schedule {} runs two passes as one, which would need all activations "
                                             "of two stages at once",
                                             setup.schedule.name),
                       .hint = "another schedule"}}};
  const bool reduces = setup.zero == 2 || merged.completes;
  if (plans_exchange(entry) && reduces)
    throw InputError{{{.key = entry.says("fusion") ? "fusion" : "compression",
                       .reason = fmt::format("the schedule {} runs two passes as one, which give all gradients at "
                                             "their end, and gradients of such passes are exchanged",
                                             setup.schedule.name),
                       .hint = merged.completes ? "another schedule" : "zero: 0 or 1, or another schedule"}}};
}

}  // namespace contend
