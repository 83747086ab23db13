#pragma once
// A pipeline plan says which rank of a pipeline holds which part of a model, and in which order it executes the passes
// of the micro-batches of one iteration. Schedules (policies/pipeline/) make plans. evaluate() gives the times of a
// plan exactly, in time linear in the number of passes; training_iteration.hpp turns the same plan into an iteration
// graph.
//
// The layers are cut into model stages 0 .. stages-1. A rank holds one or more of them, which are its chunks (virtual
// stages in Narayanan et al., arXiv 2104.04473, section 2.2). A micro-batch takes a path: for each stage, the rank and
// chunk that execute it. Most schedules have one path; DualPipe has two, which run in opposite directions.

#include "sim/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// What a pass computes. A backward pass is whole, or in two parts: the gradient with respect to the inputs, which the
/// stage before waits for, and that with respect to the weights, which nothing waits for (Qi et al., arXiv 2401.10241).
enum class PassKind : std::uint8_t { forward, backward, backward_input, backward_weight };

/// One pass of a micro-batch through a chunk of the rank.
struct PipelinePass {
  PassKind kind = PassKind::forward;
  int chunk = 0;
  int micro_batch = 0;
  auto operator<=>(const PipelinePass&) const = default;
};

/// What a rank executes at a time: a pass, or two that it executes together as one (DualPipe merges a forward pass with
/// the backward pass of another micro-batch). Both begin when both may begin, and both end at its end.
struct PipelineStep {
  std::array<PipelinePass, 2> pass{};
  bool is_merged = false;

  [[nodiscard]] std::span<const PipelinePass> passes() const { return {pass.data(), is_merged ? 2U : 1U}; }
};

/// Where a model stage is executed.
struct StagePlace {
  int rank = 0;
  int chunk = 0;
  auto operator<=>(const StagePlace&) const = default;
};

struct PipelinePlan {
  int stages = 1;
  int micro_batches = 1;
  std::vector<std::vector<int>> stage_of;        ///< [rank][chunk]: model stage; every rank has at least one chunk
  std::vector<std::vector<StagePlace>> paths;    ///< [path][stage]
  std::vector<int> path_of;                      ///< [micro-batch]: index into paths
  std::vector<std::vector<PipelineStep>> order;  ///< [rank]: its steps, which it executes strictly one after another
  int round = 0;                                 ///< PipelineSchedule::round()
  std::int64_t left_out = 0;  ///< rounds in the middle of an iteration that the plan leaves out; none without `round`

  [[nodiscard]] std::size_t ranks() const { return order.size(); }
  [[nodiscard]] int stage(std::size_t rank, const PipelinePass& pass) const {
    return stage_of[rank][static_cast<std::size_t>(pass.chunk)];
  }
  /// The micro-batches of an iteration, with those that are left out.
  [[nodiscard]] std::int64_t all_micro_batches() const { return micro_batches + left_out * round; }
  /// The rounds of the plan, and the round of a micro-batch: on each path, its place among the micro-batches of the
  /// path. With `round`.
  [[nodiscard]] int rounds() const { return micro_batches / round; }
  [[nodiscard]] int round_of(int micro_batch) const;
  /// True if gradients of weights have passes of their own.
  [[nodiscard]] bool has_weight_passes() const;
  /// Where the micro-batch executes the stage.
  [[nodiscard]] StagePlace place(int micro_batch, int stage) const {
    return paths[static_cast<std::size_t>(path_of[static_cast<std::size_t>(micro_batch)])]
                [static_cast<std::size_t>(stage)];
  }
};

/// `F3.0` is the forward pass of micro-batch 3 through chunk 0 of its rank; B, Bi and W are the backward passes: whole,
/// of the inputs, of the weights.
[[nodiscard]] std::string pass_name(const PipelinePass& pass);
/// `F3.0 stage 2`, and of merged passes `F3.0 stage 2 + B1.1 stage 5`.
[[nodiscard]] std::string step_name(const PipelinePlan& plan, std::size_t rank, const PipelineStep& step);

/// Throws InputError unless the plan can be executed: every stage has its place on every path, every pass is there
/// exactly once and on its rank, a rank executes a forward pass before its backward pass and the gradient of the inputs
/// before the gradient of the weights, merged passes are a forward pass and a whole backward pass, and no ranks wait
/// for each other for ever. The complaints name rank, step (from 0) and pass.
void validate(const PipelinePlan& plan);

/// Times of passes by model stage, each >= 0, and of transfers between ranks.
struct PipelineCosts {
  std::vector<Time> forward;          ///< [stage]
  std::vector<Time> backward;         ///< [stage]: whole backward passes
  std::vector<Time> backward_input;   ///< [stage]
  std::vector<Time> backward_weight;  ///< [stage]
  /// [stage of the forward pass]: that pass and a backward pass together; empty: as long as one after the other.
  std::vector<Time> merged{};
  /// [path][stage]: from the end of a pass on one rank until the next rank has its result, between the stage and the
  /// next one, in either direction. Transfers occupy no rank. Between stages of one rank it doesn't count. Empty: 0.
  std::vector<std::vector<Time>> latency{};
};

/// Throws InputError unless the costs have an entry for each stage and boundary of the plan, none of them negative.
void check_costs(const PipelinePlan& plan, const PipelineCosts& costs);

/// Duration of a step of this rank.
[[nodiscard]] Time step_duration(const PipelinePlan& plan, const PipelineCosts& costs, std::size_t rank,
                                 const PipelineStep& step);

/// The most activations that each rank holds at any instant, counted in micro-batches of a chunk, all chunks together.
/// A micro-batch is held from the start of its forward pass to the end of its last backward pass (of the weights, if
/// that is a pass of its own). Ranks execute one step at a time, so the numbers depend on the order alone.
[[nodiscard]] std::vector<int> held_activations(const PipelinePlan& plan);

/// Activations of one micro-batch by model stage, as bytes: what the gradient of the inputs frees, and what only the
/// gradient of the weights frees. A whole backward pass frees both.
struct PipelineActivations {
  std::vector<Bytes> until_input;   ///< [stage]
  std::vector<Bytes> until_weight;  ///< [stage]
  /// [stage] what a pass of the gradient of inputs leaves for the pass of the weights, if that is a pass of its own:
  /// the gradients of the outputs of products. Empty: nothing.
  std::vector<Bytes> for_weight{};
};
/// The most bytes of activations on each rank at any instant.
[[nodiscard]] std::vector<Bytes> peak_activation_bytes(const PipelinePlan& plan, const PipelineActivations& bytes);

struct PipelineTimes {
  Time makespan;                         ///< the last end of all ranks; the first pass starts at 0
  std::vector<std::vector<Time>> start;  ///< [rank][step]
  std::vector<std::vector<Time>> end;    ///< [rank][step]
  std::vector<Time> busy;                ///< [rank]: sum of its steps
  std::vector<Time> bubble;              ///< [rank]: makespan without busy
  std::vector<Time> span;                ///< [rank]: from its first start to its last end
  std::vector<int> most_held;            ///< [rank]: held_activations()
};

/// Executes a valid plan: every step starts as soon as the step before it on its rank has ended and the data that it
/// needs have arrived. Of a plan that leaves rounds out, makespan, busy, bubble and span have them, too, and start and
/// end are the times of the shorter plan; throws UnleaptRounds if its rounds don't come to take the same time each.
/// Throws InputError if the costs don't have an entry for each stage and boundary, or are negative, or if ranks wait
/// for each other for ever.
[[nodiscard]] PipelineTimes evaluate(const PipelinePlan& plan, const PipelineCosts& costs);

}  // namespace contend
