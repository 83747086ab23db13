#include "models/parallel/pipeline_plan.hpp"

#include "models/parallel/pipeline_walk.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace contend {

bool PipelinePlan::has_weight_passes() const {
  return std::ranges::any_of(order, [](const std::vector<PipelineStep>& steps) {
    return std::ranges::any_of(steps, [](const PipelineStep& step) {
      return std::ranges::any_of(step.passes(),
                                 [](const PipelinePass& pass) { return pass.kind == PassKind::backward_weight; });
    });
  });
}

std::string pass_name(const PipelinePass& pass) {
  static constexpr std::array<std::string_view, 4> kLetters = {"F", "B", "Bi", "W"};
  return fmt::format("{}{}.{}", kLetters[static_cast<std::size_t>(pass.kind)], pass.micro_batch, pass.chunk);
}

std::string step_name(const PipelinePlan& plan, std::size_t rank, const PipelineStep& step) {
  std::string name;
  for (const PipelinePass& pass : step.passes())
    name += fmt::format("{}{} stage {}", name.empty() ? "" : " + ", pass_name(pass), plan.stage(rank, pass));
  return name;
}

Time step_duration(const PipelinePlan& plan, const PipelineCosts& costs, std::size_t rank, const PipelineStep& step) {
  const auto alone = [&](const PipelinePass& pass) {
    const auto stage = static_cast<std::size_t>(plan.stage(rank, pass));
    switch (pass.kind) {
      case PassKind::forward:
        return costs.forward[stage];
      case PassKind::backward:
        return costs.backward[stage];
      case PassKind::backward_input:
        return costs.backward_input[stage];
      case PassKind::backward_weight:
        return costs.backward_weight[stage];
    }
    return Time{};
  };
  if (!step.is_merged) return alone(step.pass[0]);
  if (costs.merged.empty()) return alone(step.pass[0]) + alone(step.pass[1]);
  return costs.merged[static_cast<std::size_t>(plan.stage(rank, step.pass[0]))];
}

std::vector<int> held_activations(const PipelinePlan& plan) {
  std::vector<int> peaks;
  for (std::size_t rank = 0; rank < plan.ranks(); ++rank) {
    int held = 0, most = 0;
    for (const PipelineStep& step : plan.order[rank]) {
      int freed = 0;
      for (const PipelinePass& pass : step.passes()) {
        if (pass.kind == PassKind::forward) ++held;
        // A chunk whose backward passes are in parts is free only after the part of the weights.
        if (pass.kind == PassKind::backward || pass.kind == PassKind::backward_weight) ++freed;
      }
      most = std::max(most, held);
      held -= freed;
    }
    peaks.push_back(most);
  }
  return peaks;
}

std::vector<Bytes> peak_activation_bytes(const PipelinePlan& plan, const PipelineActivations& bytes) {
  std::vector<Bytes> peaks;
  for (std::size_t rank = 0; rank < plan.ranks(); ++rank) {
    Bytes held, most;
    for (const PipelineStep& step : plan.order[rank]) {
      Bytes freed;
      for (const PipelinePass& pass : step.passes()) {
        const auto stage = static_cast<std::size_t>(plan.stage(rank, pass));
        if (pass.kind == PassKind::forward) held += bytes.until_input[stage] + bytes.until_weight[stage];
        if (pass.kind == PassKind::backward || pass.kind == PassKind::backward_input) freed += bytes.until_input[stage];
        if (pass.kind == PassKind::backward || pass.kind == PassKind::backward_weight)
          freed += bytes.until_weight[stage];
        if (bytes.for_weight.empty()) continue;
        if (pass.kind == PassKind::backward_input) held += bytes.for_weight[stage];
        if (pass.kind == PassKind::backward_weight) freed += bytes.for_weight[stage];
      }
      most = std::max(most, held);
      held -= freed;
    }
    peaks.push_back(most);
  }
  return peaks;
}

void check_costs(const PipelinePlan& plan, const PipelineCosts& costs) {
  const auto stages = static_cast<std::size_t>(plan.stages);
  const auto check = [](const std::vector<Time>& times, std::size_t wanted, std::string_view what) {
    if (times.size() != wanted)
      throw InputError{fmt::format("a pipeline needs {} {}, not {}", wanted, what, times.size())};
    for (std::size_t i = 0; i < wanted; ++i) {
      if (times[i] < Time{}) throw InputError{fmt::format("{}: number {} is negative", what, i)};
    }
  };
  check(costs.forward, stages, "times of forward passes, one a stage");
  check(costs.backward, stages, "times of backward passes, one a stage");
  check(costs.backward_input, stages, "times of gradients of inputs, one a stage");
  check(costs.backward_weight, stages, "times of gradients of weights, one a stage");
  if (!costs.merged.empty()) check(costs.merged, stages, "times of merged passes, one a stage");
  if (costs.latency.empty()) return;
  if (costs.latency.size() != plan.paths.size()) {
    throw InputError{fmt::format("a pipeline with {} paths needs latencies of each, not {}", plan.paths.size(),
                                 costs.latency.size())};
  }
  for (const auto& each : costs.latency) check(each, stages - 1, "latencies, one between each stage and the next");
}

PipelineTimes evaluate(const PipelinePlan& plan, const PipelineCosts& costs) {
  check_costs(plan, costs);
  PipelineTimes times;
  const std::size_t ranks = plan.ranks();
  times.start.resize(ranks);
  times.end.resize(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    times.start[rank].reserve(plan.order[rank].size());
    times.end[rank].reserve(plan.order[rank].size());
  }
  PipelineWalk walk{plan, &costs};
  walk.run([&](std::size_t rank, Time start, Time end) {
    times.start[rank].push_back(start);
    times.end[rank].push_back(end);
    times.makespan = std::max(times.makespan, end);
  });
  if (const std::vector<Complaint> stuck = walk.stuck(); !stuck.empty()) throw InputError{stuck};
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Time busy;
    for (std::size_t step = 0; step < times.end[rank].size(); ++step)
      busy += times.end[rank][step] - times.start[rank][step];
    times.busy.push_back(busy);
    times.bubble.push_back(times.makespan - busy);
    times.span.push_back(times.end[rank].empty() ? Time{} : times.end[rank].back() - times.start[rank].front());
  }
  times.most_held = held_activations(plan);
  return times;
}

}  // namespace contend
