// One forward, one backward, and its variants in which a rank puts off the gradients of the weights.
//
// 1F1B (PipeDream-Flush; Narayanan et al., arXiv 2104.04473, section 2.2): rank r of p executes p-r-1 forward passes,
// then pairs of one forward and one backward pass, then the backward passes that are left.
//
// ZB-H1 and ZB-H2 (Qi et al., "Zero bubble pipeline parallelism", arXiv 2401.10241, sections 2.1 and 2.2) cut backward
// passes in two and fill gaps with the gradients of the weights. In H1 rank r executes as many forward passes first as
// in 1F1B, and the gradient of the weights of a micro-batch after the gradient of the inputs of the one that is r
// later: so all ranks hold p micro-batches at most. In H2 it is 2(p-r)-1 forward passes first and 2r micro-batches
// later, so that ranks hold 2p-1 and, with passes of equal length, work without a gap between their first and their
// last pass.

#include "policies/pipeline/orders.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <cstddef>

namespace contend {

namespace {

class OneForwardOneBackward final : public PipelineSchedule {
 public:
  [[nodiscard]] int round(const PipelineShape&) const override { return 1; }
  [[nodiscard]] PipelinePlan plan(const PipelineShape& shape) const override {
    check_shape({.schedule = "1f1b"}, shape);
    PipelinePlan plan = looped_plan(shape, 1);
    for (int rank = 0; rank < shape.ranks; ++rank) {
      RankOrder order{{0}};
      const int warm_up = std::min(shape.ranks - rank - 1, shape.micro_batches);
      for (int i = 0; i < warm_up; ++i) order.forward(0);
      for (int i = warm_up; i < shape.micro_batches; ++i) {
        order.forward(0);
        order.backward(0);
      }
      for (int i = 0; i < warm_up; ++i) order.backward(0);
      plan.order[static_cast<std::size_t>(rank)] = order.take();
    }
    return plan;
  }
};

/// H1 and H2: so many forward passes before the first backward pass on rank r, and so many gradients of weights put
/// off there.
class ZeroBubbleH final : public PipelineSchedule {
 public:
  explicit ZeroBubbleH(bool doubles) : doubles_{doubles} {}

  [[nodiscard]] int round(const PipelineShape&) const override { return 1; }
  [[nodiscard]] PipelinePlan plan(const PipelineShape& shape) const override {
    check_shape({.schedule = doubles_ ? "zb-h2" : "zb-h1"}, shape);
    PipelinePlan plan = looped_plan(shape, 1);
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const int first = doubles_ ? 2 * (shape.ranks - rank) - 1 : shape.ranks - rank;
      const auto put_off = static_cast<std::size_t>(doubles_ ? 2 * rank : rank);
      RankOrder order{{0}};
      int forwards = 0;
      for (; forwards < std::min(first, shape.micro_batches); ++forwards) order.forward(0);
      for (int i = 0; i < shape.micro_batches; ++i) {
        order.input(0);
        if (order.pending() > put_off) order.weight();
        if (forwards < shape.micro_batches) {
          order.forward(0);
          ++forwards;
        }
      }
      while (order.pending() > 0) order.weight();
      plan.order[static_cast<std::size_t>(rank)] = order.take();
    }
    return plan;
  }

 private:
  bool doubles_;
};

template <bool doubles>
std::unique_ptr<PipelineSchedule> make_zero_bubble_h(const Parameters&, const PolicyContext&) {
  return std::make_unique<ZeroBubbleH>(doubles);
}

}  // namespace

PolicyRow<PipelineSchedule> one_f_one_b_pipeline() {
  return {.name = "1f1b",
          .summary = "one forward, one backward pass in turn; rank r holds the activations of p - r micro-batches",
          .source = "Narayanan et al., SC 2021",
          .make = [](const Parameters&, const PolicyContext&) -> std::unique_ptr<PipelineSchedule> {
            return std::make_unique<OneForwardOneBackward>();
          }};
}

PolicyRow<PipelineSchedule> zb_h1_pipeline() {
  return {.name = "zb-h1",
          .summary = "1f1b that fills gaps with gradients of weights; holds p micro-batches on every rank",
          .source = "Qi et al., ICLR 2024",
          .make = make_zero_bubble_h<false>};
}

PolicyRow<PipelineSchedule> zb_h2_pipeline() {
  return {.name = "zb-h2",
          .summary = "zb-h1 with twice the activations, and no gap on a rank if F = Bi = W",
          .source = "Qi et al., ICLR 2024",
          .make = make_zero_bubble_h<true>};
}

}  // namespace contend
