// V-Half and V-Min (Qi et al., "Pipeline parallelism with controllable memory", NeurIPS 2024, arXiv 2405.15362, section
// 3): V schedules whose micro-batches live shorter than in ZB-V. All micro-batches follow one pattern, six units of
// time apart, where a pass through a chunk takes a unit: F0, F1, Bi1 and Bi0 of a rank are at fixed offsets from the
// start of the micro-batch, and gradients of weights take the units between. The offsets are those of the authors'
// stable patterns (sail-sg/zero-bubble-pipeline-parallelism, zbv_greedy.py). The authors then move passes of the first
// and last micro-batches to earlier gaps; here the order stays that of the pattern, and passes start as early as it
// allows.

#include "policies/pipeline/orders.hpp"
#include "policies/registry.hpp"

#include <array>
#include <cstddef>
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

class VPattern final : public PipelineSchedule {
 public:
  using Pattern = Offsets (*)(int rank, int ranks);
  VPattern(std::string_view name, Pattern pattern) : name_{name}, pattern_{pattern} {}

  [[nodiscard]] PipelinePlan plan(const PipelineShape& shape) const override {
    check_shape({.schedule = name_, .chunks = 2}, shape);
    PipelinePlan plan = v_plan(shape);
    for (int rank = 0; rank < shape.ranks; ++rank)
      plan.order[static_cast<std::size_t>(rank)] = order_of(pattern_(rank, shape.ranks), shape.micro_batches);
    return plan;
  }

 private:
  static std::vector<PipelineStep> order_of(const Offsets& at, int micro_batches) {
    const std::array<int, 4> offsets = {at.forward0, at.forward1, at.input1, at.input0};
    RankOrder order{{0, 0}};
    // The patterns leave one pass at most to each unit, so the order is that of the units.
    const int end = at.input0 + kPatternUnits * (micro_batches - 1);
    for (int unit = at.forward0; unit <= end; ++unit) {
      bool is_taken = false;
      for (std::size_t i = 0; i < offsets.size(); ++i) {
        const int since = unit - offsets[i];
        if (since < 0 || since % kPatternUnits != 0 || since / kPatternUnits >= micro_batches) continue;
        i == 0 ? order.forward(0) : i == 1 ? order.forward(1) : i == 2 ? order.input(1) : order.input(0);
        is_taken = true;
      }
      if (!is_taken && order.pending() > 0) order.weight();
    }
    while (order.pending() > 0) order.weight();
    return order.take();
  }

  std::string_view name_;
  Pattern pattern_;
};

}  // namespace

PolicyRow<PipelineSchedule> v_half_pipeline() {
  return {.name = "v-half",
          .summary = "two chunks on each rank in a V that hold half of what 1f1b holds",
          .source = "Qi et al., arXiv 2405.15362",
          .make = [](const Parameters&, const PolicyContext&) -> std::unique_ptr<PipelineSchedule> {
            return std::make_unique<VPattern>("v-half", half_pattern);
          }};
}

PolicyRow<PipelineSchedule> v_min_pipeline() {
  return {.name = "v-min",
          .summary = "two chunks on each rank in a V that hold a third of what 1f1b holds",
          .source = "Qi et al., arXiv 2405.15362",
          .make = [](const Parameters&, const PolicyContext&) -> std::unique_ptr<PipelineSchedule> {
            return std::make_unique<VPattern>("v-min", min_pattern);
          }};
}

}  // namespace contend
