// V-Half and V-Min (Qi et al., "Pipeline parallelism with controllable memory", NeurIPS 2024, arXiv 2405.15362, section
// 3): V schedules whose micro-batches live shorter than in ZB-V. All micro-batches follow one pattern, six units of
// time apart, where a pass through a chunk takes a unit: F0, F1, Bi1 and Bi0 of a rank are at fixed offsets from the
// start of the micro-batch, and gradients of weights take the units between. The offsets come from the authors'
// stable patterns (sail-sg/zero-bubble-pipeline-parallelism, zbv_greedy.py).
//
// The pattern leaves gaps at both ends, which the authors fill by a search. Here the order of all other passes stays
// the peak of the pattern, and gradients of weights are placed greedily: in units of time a rank executes one whenever
// its next other pass can't begin, and before a forward pass if it holds as much already as the pattern ever does. So
// the peak is the pattern's, and V-Half has half of 1F1B's bubble.

#include "policies/pipeline/orders.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

namespace contend {

namespace {

constexpr int kPatternUnits = 6;  // two chunks with three passes each

/// When a micro-batch that starts at 0 executes its passes on a rank.
struct Offsets {
  int forward0 = 0, forward1 = 0, input1 = 0, input0 = 0;
};

Offsets half_pattern(int rank, int ranks) {
  const int gap = ranks % 2 == 0 ? 3 : 0;
  return {2 * rank, 3 * ranks - rank - 2, 3 * ranks + gap + 2 * rank - 1, 6 * ranks + gap - rank - 2};
}

Offsets min_pattern(int rank, int ranks) {
  const int gap = ranks % 3 == 0 ? 2 : 0;
  return {rank, 2 * ranks - rank - 1, 2 * ranks + gap + rank, 4 * ranks + gap - rank - 1};
}

/// The order of a rank in the pattern, with gradients of weights in the units that are free, oldest first.
std::vector<PipelineStep> order_of_pattern(const Offsets& at, int micro_batches) {
  const std::array<int, 4> offsets = {at.forward0, at.forward1, at.input1, at.input0};
  RankOrder order{{0, 0}};
  // The patterns leave one pass at most to each unit.
  const int end = at.input0 + kPatternUnits * (micro_batches - 1);
  for (int unit = at.forward0; unit <= end; ++unit) {
    bool is_taken = false;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const int since = unit - offsets[i];
      if (since < 0 || since % kPatternUnits != 0 || since / kPatternUnits >= micro_batches) continue;
      const int chunk = i == 1 || i == 2 ? 1 : 0;
      i < 2 ? order.forward(chunk) : order.input(chunk);
      is_taken = true;
    }
    if (!is_taken && order.pending() > 0) order.weight();
  }
  while (order.pending() > 0) order.weight();
  return order.take();
}

/// Executes a plan of passes that all take a unit, and places gradients of weights again.
class GreedyWeights {
 public:
  explicit GreedyWeights(const PipelinePlan& pattern)
      : plan_{pattern},
        forward_(static_cast<std::size_t>(pattern.stages) * static_cast<std::size_t>(pattern.micro_batches), kNever),
        gradient_{forward_},
        lanes_(pattern.ranks()) {
    const std::vector<int> held = held_activations(pattern);
    most_ = *std::max_element(held.begin(), held.end());
    for (std::size_t rank = 0; rank < lanes_.size(); ++rank) {
      for (const PipelineStep& step : pattern.order[rank])
        if (step.pass[0].kind != PassKind::backward_weight) lanes_[rank].passes.push_back(step.pass[0]);
    }
  }

  std::vector<std::vector<PipelineStep>> orders() {
    std::size_t left = lanes_.size();  // ranks that have something to do
    for (int unit = 0; left > 0; ++unit) {
      left = 0;
      for (std::size_t rank = 0; rank < lanes_.size(); ++rank) left += take_unit(rank, unit) ? 1U : 0U;
    }
    std::vector<std::vector<PipelineStep>> orders;
    for (Lane& lane : lanes_) orders.push_back(lane.order.take());
    return orders;
  }

 private:
  static constexpr int kNever = std::numeric_limits<int>::max();
  struct Lane {
    std::vector<PipelinePass> passes;  ///< all but the gradients of weights
    std::size_t next = 0;
    int held = 0;
    RankOrder order{{0, 0}};
  };

  [[nodiscard]] std::size_t index(int stage, int micro_batch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(plan_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }

  /// Whether what the pass needs was there at the beginning of the unit.
  [[nodiscard]] bool is_ready(const PipelinePass& pass, int stage, int unit) const {
    if (pass.kind == PassKind::forward) return stage == 0 || forward_[index(stage - 1, pass.micro_batch)] <= unit;
    const bool is_last = stage + 1 == plan_.stages;
    return (is_last ? forward_[index(stage, pass.micro_batch)] : gradient_[index(stage + 1, pass.micro_batch)]) <= unit;
  }

  /// What the rank does in a unit; returns whether it has more to do, now or later.
  bool take_unit(std::size_t rank, int unit) {
    Lane& lane = lanes_[rank];
    const bool has_next = lane.next < lane.passes.size();
    if (has_next) {
      const PipelinePass& pass = lane.passes[lane.next];
      const bool is_forward = pass.kind == PassKind::forward;
      const bool is_full = is_forward && lane.held >= most_ && lane.order.pending() > 0;
      const int stage = plan_.stage(rank, pass);
      if (!is_full && is_ready(pass, stage, unit)) {
        is_forward ? lane.order.forward(pass.chunk) : lane.order.input(pass.chunk);
        (is_forward ? forward_ : gradient_)[index(stage, pass.micro_batch)] = unit + 1;
        lane.held += is_forward ? 1 : 0;
        ++lane.next;
        return true;
      }
    }
    if (lane.order.pending() > 0) {
      lane.order.weight();
      --lane.held;
      return true;
    }
    return has_next;
  }

  const PipelinePlan& plan_;
  std::vector<int> forward_, gradient_;  ///< by stage and micro-batch: the unit after the pass
  std::vector<Lane> lanes_;
  int most_ = 0;  ///< micro-batches of a chunk that a rank holds in the pattern
};

class VPattern final : public PipelineSchedule {
 public:
  using Pattern = Offsets (*)(int rank, int ranks);
  VPattern(std::string_view name, Pattern pattern) : name_{name}, pattern_{pattern} {}

  [[nodiscard]] int round(const PipelineShape&) const override { return 1; }
  [[nodiscard]] PipelinePlan plan(const PipelineShape& shape) const override {
    check_shape({.schedule = name_, .chunks = 2}, shape);
    PipelinePlan plan = v_plan(shape);
    for (int rank = 0; rank < shape.ranks; ++rank)
      plan.order[static_cast<std::size_t>(rank)] = order_of_pattern(pattern_(rank, shape.ranks), shape.micro_batches);
    plan.order = GreedyWeights{plan}.orders();
    return plan;
  }

 private:
  std::string_view name_;
  Pattern pattern_;
};

}  // namespace

PolicyRow<PipelineSchedule> v_half_pipeline() {
  return {.name = "v-half",
          .summary = "a V that holds half of what 1f1b holds; gradients of weights are placed greedily",
          .source = "Qi et al., arXiv 2405.15362",
          .make = [](const Parameters&, const PolicyContext&) -> std::unique_ptr<PipelineSchedule> {
            return std::make_unique<VPattern>("v-half", half_pattern);
          }};
}

PolicyRow<PipelineSchedule> v_min_pipeline() {
  return {.name = "v-min",
          .summary = "a V that holds a third of what 1f1b holds; gradients of weights are placed greedily",
          .source = "Qi et al., arXiv 2405.15362",
          .make = [](const Parameters&, const PolicyContext&) -> std::unique_ptr<PipelineSchedule> {
            return std::make_unique<VPattern>("v-min", min_pattern);
          }};
}

}  // namespace contend
