#include "models/parallel/pipeline_graph.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

class GraphOfPlan {
 public:
  GraphOfPlan(const PipelinePlan& plan, const PipelineMessages& messages)
      : plan_{plan},
        messages_{messages},
        forward_(static_cast<std::size_t>(plan.stages) * static_cast<std::size_t>(plan.micro_batches)),
        gradient_{forward_} {}

  PipelineGraph build(const PipelineCosts& costs, int ranks_per_stage) {
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank) add_steps(rank, costs, ranks_per_stage);
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank) {
      for (std::size_t i = 0; i < plan_.order[rank].size(); ++i) {
        for (const PipelinePass& pass : plan_.order[rank][i].passes()) add_transfer(rank, pass, built_.steps[rank][i]);
      }
    }
    return std::move(built_);
  }

 private:
  [[nodiscard]] std::size_t index(int stage, int micro_batch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(plan_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }

  void add_steps(std::size_t rank, const PipelineCosts& costs, int ranks_per_stage) {
    IterationGraph& graph = built_.graph;
    const RoleId role =
        built_.roles.emplace_back(graph.add_role(fmt::format("pipeline rank {}", rank), ranks_per_stage));
    auto& steps = built_.steps.emplace_back();
    for (const PipelineStep& step : plan_.order[rank]) {
      const OpId op = graph.add_compute(step_name(plan_, rank, step), role, step_duration(plan_, costs, rank, step));
      if (!steps.empty()) graph.add_dependency(steps.back(), op);
      steps.push_back(op);
      for (const PipelinePass& pass : step.passes()) {
        if (pass.kind == PassKind::backward_weight) continue;
        const std::size_t at = index(plan_.stage(rank, pass), pass.micro_batch);
        (pass.kind == PassKind::forward ? forward_ : gradient_)[at] = op;
      }
    }
    if (!steps.empty()) graph.add_dependency(steps.back(), steps.front(), 1);
  }

  /// Sends the result of the pass on, unless it stays on the rank, whose order makes the next pass wait for it.
  void add_transfer(std::size_t rank, const PipelinePass& pass, OpId step) {
    if (pass.kind == PassKind::backward_weight) return;
    const bool is_forward = pass.kind == PassKind::forward;
    const int stage = plan_.stage(rank, pass), next = is_forward ? stage + 1 : stage - 1;
    if (next < 0 || next == plan_.stages) return;
    const auto to = static_cast<std::size_t>(plan_.place(pass.micro_batch, next).rank);
    if (to == rank) return;
    const auto boundary = static_cast<std::size_t>(std::min(stage, next));
    const OpId sent = built_.graph.add_message(fmt::format("{} from stage {} to {}", pass_name(pass), stage, next),
                                               built_.roles[rank], built_.roles[to],
                                               (is_forward ? messages_.forward : messages_.backward)[boundary]);
    built_.graph.add_dependency(step, sent);
    built_.graph.add_dependency(sent, (is_forward ? forward_ : gradient_)[index(next, pass.micro_batch)]);
  }

  const PipelinePlan& plan_;
  const PipelineMessages& messages_;
  PipelineGraph built_;
  std::vector<OpId> forward_, gradient_;  ///< by stage and micro-batch: the operation that computes it
};

}  // namespace

PipelineGraph pipeline_graph(const PipelinePlan& plan, const PipelineCosts& costs, const PipelineMessages& messages,
                             int ranks_per_stage) {
  check_costs(plan, costs);
  for (const auto* sizes : {&messages.forward, &messages.backward}) {
    if (sizes->size() + 1 == static_cast<std::size_t>(plan.stages)) continue;
    throw InputError{fmt::format("{} stages need {} sizes of messages each way, not {}", plan.stages, plan.stages - 1,
                                 sizes->size())};
  }
  return GraphOfPlan{plan, messages}.build(costs, ranks_per_stage);
}

}  // namespace contend
