// ZB-V (Qi et al., arXiv 2401.10241, section 6, and "Pipeline parallelism with controllable memory", arXiv 2405.15362):
// each rank holds stages r and 2p-1-r, so a micro-batch returns to the rank that it started on, and the first backward
// pass begins there as soon as its last forward pass has ended. The order is the static one of PyTorch's
// ScheduleZBVZeroBubble (torch.distributed.pipelining.schedules). With F = Bi = W a rank works without a gap from its
// first pass to its last one.

#include "policies/pipeline/orders.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <cstddef>

namespace contend {

namespace {

class ZeroBubbleV final : public PipelineSchedule {
 public:
  [[nodiscard]] int round(const PipelineShape&) const override { return 1; }
  [[nodiscard]] PipelinePlan plan(const PipelineShape& shape) const override {
    check_shape({.schedule = "zb-v", .chunks = 2}, shape);
    PipelinePlan plan = v_plan(shape);
    // With fewer micro-batches the order is the order of so many, without the passes that don't exist.
    const int count = std::max(2 * shape.ranks - 1, shape.micro_batches);
    for (int rank = 0; rank < shape.ranks; ++rank) {
      auto& steps = plan.order[static_cast<std::size_t>(rank)];
      steps = order_of(rank, shape.ranks, count);
      std::erase_if(steps, [&](const PipelineStep& step) { return step.pass[0].micro_batch >= shape.micro_batches; });
    }
    return plan;
  }

 private:
  static std::vector<PipelineStep> order_of(int rank, int ranks, int count) {
    RankOrder order{{0, 0}};
    int forwards0 = 0, forwards1 = 0;
    const auto forward0 = [&] {
      order.forward(0);
      ++forwards0;
    };
    const auto forward1 = [&] {
      order.forward(1);
      ++forwards1;
    };
    const auto backward = [&](int chunk) {
      order.input(chunk);
      order.weight(chunk);
    };
    for (int i = 0; i < 2 * (ranks - rank) - 1; ++i) forward0();
    for (int i = 0; i < rank; ++i) {
      forward1();
      forward0();
    }
    for (int i = 0; i < ranks - rank; ++i) {
      forward1();
      backward(1);
    }
    while (forwards1 < forwards0 || forwards0 < count) {
      if (forwards0 < count) forward0();
      backward(0);
      forward1();
      backward(1);
    }
    for (int i = 0; i < rank; ++i) {
      order.input(0);
      order.input(1);
    }
    for (int i = 0; i < ranks - rank; ++i) {
      order.input(0);
      order.weight(0);
    }
    for (const int chunk : {1, 0}) {
      while (order.pending(chunk) > 0) order.weight(chunk);
    }
    return order.take();
  }
};

}  // namespace

PolicyRow<PipelineSchedule> zb_v_pipeline() {
  return {.name = "zb-v",
          .summary = "two chunks on each rank in a V, backward passes in two parts; no gap on a rank if F = Bi = W",
          .source = "Qi et al., arXiv 2405.15362",
          .make = [](const Parameters&, const PolicyContext&) -> std::unique_ptr<PipelineSchedule> {
            return std::make_unique<ZeroBubbleV>();
          }};
}

}  // namespace contend
