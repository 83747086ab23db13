#include "models/parallel/pipeline_plan.hpp"

#include "models/parallel/pipeline_walk.hpp"
#include "sim/error.hpp"
#include "sim/planned_rounds.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
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

int PipelinePlan::round_of(int micro_batch) const {
  const auto path = path_of[static_cast<std::size_t>(micro_batch)];  // the micro-batches of a path follow each other
  const auto first = path == 0 ? path_of.begin() : std::ranges::lower_bound(path_of, path);
  const auto of_path = micro_batch - static_cast<int>(first - path_of.begin());
  return of_path / (round / static_cast<int>(paths.size()));
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

namespace {

/// The length of a round of a plan once rounds take equally long, and the time that each rank computes in a round.
struct SteadyRound {
  Time time;
  std::vector<Time> busy;  ///< by rank
};

/// By round: the ends of its steps, rank by rank in the order of the rank, and by rank the time of its steps. A step of
/// two passes belongs to the round of the first one.
struct RoundEnds {
  RoundEnds(const PipelinePlan& plan, const PipelineTimes& times)
      : ends(static_cast<std::size_t>(plan.rounds()) + 1), busy(ends.size(), std::vector<Time>(plan.ranks())) {
    for (std::size_t rank = 0; rank < plan.ranks(); ++rank) {
      int before = 0;
      for (std::size_t i = 0; i < plan.order[rank].size(); ++i) {
        const PipelineStep& step = plan.order[rank][i];
        const int round = plan.round_of(step.pass[0].micro_batch);
        ends[static_cast<std::size_t>(round)].push_back(times.end[rank][i]);
        busy[static_cast<std::size_t>(round)][rank] += times.end[rank][i] - times.start[rank][i];
        for (const PipelinePass& pass : step.passes())  // which waits for a pass of a step that may be as far away
          reach = std::max(reach, 2 * std::abs(plan.round_of(pass.micro_batch) - round));
        if (i > 0) reach = std::max(reach, std::abs(round - before));
        before = round;
      }
    }
  }
  std::vector<std::vector<Time>> ends;
  std::vector<std::vector<Time>> busy;
  int reach = 0;  ///< the most rounds between two steps of which one waits for the other
};

/// Looks at as many rounds in the middle of the plan as a step can wait for, and one more. If all of them are as much
/// later as the rounds before, so are all that follow, as a step ends a fixed time after the last that it waits for.
SteadyRound steady_round(const PipelinePlan& plan, const PipelineTimes& times) {
  const RoundEnds rounds{plan, times};
  const auto middle = static_cast<std::size_t>(plan.rounds() / 2), reach = static_cast<std::size_t>(rounds.reach);
  if (middle < reach + 2) throw UnleaptRounds{};
  std::optional<Time> time;
  for (std::size_t round = middle - reach - 1; round <= middle; ++round) {
    const std::vector<Time>&before = rounds.ends[round - 1], &ends = rounds.ends[round];
    if (ends.size() != before.size() || ends.empty()) throw UnleaptRounds{};
    if (!time) time = ends.front() - before.front();
    for (std::size_t i = 0; i < ends.size(); ++i)
      if (ends[i] - before[i] != *time) throw UnleaptRounds{};
  }
  return {*time, rounds.busy[middle]};
}

}  // namespace

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
  SteadyRound left_out{.time = {}, .busy = std::vector<Time>(ranks)};
  if (plan.left_out > 0) left_out = steady_round(plan, times);
  const Time leap = left_out.time * plan.left_out;
  times.makespan += leap;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Time busy;
    for (std::size_t step = 0; step < times.end[rank].size(); ++step)
      busy += times.end[rank][step] - times.start[rank][step];
    busy += left_out.busy[rank] * plan.left_out;
    times.busy.push_back(busy);
    times.bubble.push_back(times.makespan - busy);
    times.span.push_back(times.end[rank].empty() ? Time{} : times.end[rank].back() - times.start[rank].front() + leap);
  }
  times.most_held = held_activations(plan);
  return times;
}

}  // namespace contend
