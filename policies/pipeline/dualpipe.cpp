// DualPipe (DeepSeek-V3 technical report, arXiv 2412.19437, section 3.2.1; the order comes from deepseek-ai/DualPipe,
// dualpipe.py). Half of the micro-batches enter at the first rank and half at the last one, so each rank holds two
// stages, r and p-1-r. In the main part a rank executes a forward pass of one direction and a backward pass of the
// other as one step, each behind the communication of the other.
//
// DualPipeV (dualpipev.py of the same repository) is DualPipe cut in half: rank r holds stages r and 2p-1-r of a V, and
// the second half of the V takes the place of the other direction.

#include "policies/pipeline/orders.hpp"
#include "policies/registry.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

/// The order of one rank. `near` is the chunk whose micro-batches come first to this rank, `far` the other one.
struct DualSteps {
  int half;  ///< ranks on which micro-batches go in before they come back
  int rank;  ///< distance from the end where the micro-batches of `near` begin, 0 .. half-1
  int main;  ///< rounds of the main part
  int near;
  int far;

  /// `first`: the first micro-batch of each chunk.
  [[nodiscard]] std::vector<PipelineStep> order(std::vector<int> first) const {
    RankOrder order{std::move(first)};
    const int outer = half - rank - 1;
    for (int i = 0; i < 2 * outer; ++i) order.forward(near);
    for (int i = 0; i <= rank; ++i) {
      order.forward(near);
      order.forward(far);
    }
    for (int i = 0; i < outer; ++i) {
      order.input(far);
      order.weight();
      order.forward(far);
    }
    for (int i = 0; i < main; ++i) {
      if (i == 0 && outer == 0) {  // apart, so that the backward pass doesn't delay what the neighbour waits for
        order.forward(near);
        order.backward(far);
      } else {
        order.merged(near, far);
      }
      order.merged(far, near);
    }
    for (int i = 0; i < outer; ++i) {
      order.backward(far);
      order.merged(far, near);
    }
    // From the middle on the gradients of the weights are put off.
    bool in_parts = false;
    const auto backward = [&](int chunk) { in_parts ? order.input(chunk) : order.backward(chunk); };
    for (int i = 0; i <= rank; ++i) {
      const bool is_middle = i == (rank + 1) / 2;
      if (is_middle && rank % 2 == 1) in_parts = true;
      backward(far);
      if (is_middle && rank % 2 == 0) in_parts = true;
      backward(near);
    }
    for (int i = 0; i < outer; ++i) {
      order.weight();
      order.input(near);
    }
    while (order.pending() > 0) order.weight();
    return order.take();
  }
};

class DualPipe final : public PipelineSchedule {
 public:
  [[nodiscard]] int round(const PipelineShape&) const override { return 2; }
  [[nodiscard]] PipelinePlan plan(const PipelineShape& shape) const override {
    check_shape({.schedule = "dualpipe"}, shape);
    Complaints complaints;
    if (shape.ranks % 2 != 0) {
      complaints.add("pipeline",
                     fmt::format("the schedule dualpipe needs an even number of ranks, not {}", shape.ranks),
                     shape.ranks == 1 ? "2" : fmt::format("{} or {}", shape.ranks - 1, shape.ranks + 1));
    }
    if (shape.micro_batches % 2 != 0 || shape.micro_batches < 2 * shape.ranks) {
      complaints.add(
          "micro_batches",
          fmt::format("the schedule dualpipe needs an even number of micro-batches, at least twice the {} ranks, "
                      "and there are {}",
                      shape.ranks, shape.micro_batches),
          fmt::format("{}", std::max(2 * shape.ranks, shape.micro_batches + shape.micro_batches % 2)));
    }
    complaints.throw_if_any();

    const int ranks = shape.ranks, half = ranks / 2, each_way = shape.micro_batches / 2;
    PipelinePlan plan;
    plan.stages = ranks;
    plan.micro_batches = shape.micro_batches;
    plan.paths.resize(2);
    for (int i = 0; i < shape.micro_batches; ++i) plan.path_of.push_back(i < each_way ? 0 : 1);
    for (int rank = 0; rank < ranks; ++rank) {
      plan.stage_of.push_back({rank, ranks - 1 - rank});
      plan.paths[0].push_back({rank, 0});
      plan.paths[1].push_back({ranks - 1 - rank, 1});
      const bool is_second_half = rank >= half;
      const DualSteps steps{.half = half,
                            .rank = std::min(rank, ranks - 1 - rank),
                            .main = each_way - ranks + std::min(rank, ranks - 1 - rank) + 1,
                            .near = is_second_half ? 1 : 0,
                            .far = is_second_half ? 0 : 1};
      plan.order.push_back(steps.order({0, each_way}));
    }
    return plan;
  }
};

class DualPipeV final : public PipelineSchedule {
 public:
  [[nodiscard]] int round(const PipelineShape&) const override { return 1; }
  [[nodiscard]] PipelinePlan plan(const PipelineShape& shape) const override {
    check_shape({.schedule = "dualpipe-v", .chunks = 2}, shape);
    Complaints complaints;
    if (shape.micro_batches < 2 * shape.ranks) {
      complaints.add(
          "micro_batches",
          fmt::format("the schedule dualpipe-v needs twice as many micro-batches as ranks, and there are {} of {}",
                      shape.micro_batches, shape.ranks),
          fmt::format("{} or more", 2 * shape.ranks));
    }
    complaints.throw_if_any();
    PipelinePlan plan = v_plan(shape);
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const DualSteps steps{.half = shape.ranks,
                            .rank = rank,
                            .main = shape.micro_batches - 2 * shape.ranks + rank + 1,
                            .near = 0,
                            .far = 1};
      plan.order[static_cast<std::size_t>(rank)] = steps.order({0, 0});
    }
    return plan;
  }
};

}  // namespace

PolicyRow<PipelineSchedule> dualpipe_pipeline() {
  return {.name = "dualpipe",
          .summary = "micro-batches from both ends, forward and backward passes merged; each rank holds two stages",
          .source = "DeepSeek-AI, arXiv 2412.19437",
          .make = [](const Parameters&, const PolicyContext&) -> std::unique_ptr<PipelineSchedule> {
            return std::make_unique<DualPipe>();
          }};
}

PolicyRow<PipelineSchedule> dualpipe_v_pipeline() {
  return {.name = "dualpipe-v",
          .summary = "dualpipe cut in half: two chunks on each rank in a V, no parameters twice",
          .source = "deepseek-ai/DualPipe, dualpipev.py",
          .make = [](const Parameters&, const PolicyContext&) -> std::unique_ptr<PipelineSchedule> {
            return std::make_unique<DualPipeV>();
          }};
}

}  // namespace contend
