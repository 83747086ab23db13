// GPipe (Huang et al., NeurIPS 2019, arXiv 1811.06965, section 2.2): each rank executes the forward passes of all
// micro-batches, then all backward passes, here in the order of Narayanan et al. (arXiv 2104.04473, figure 3).

#include "policies/pipeline/orders.hpp"
#include "policies/registry.hpp"

namespace contend {

namespace {

class GPipe final : public PipelineSchedule {
 public:
  [[nodiscard]] PipelineTraits traits() const override { return {.holds_all = true}; }
  [[nodiscard]] PipelinePlan plan(const PipelineShape& shape) const override {
    check_shape({.schedule = "gpipe"}, shape);
    PipelinePlan plan = looped_plan(shape, 1);
    for (auto& steps : plan.order) {
      RankOrder order{{0}};
      for (int i = 0; i < shape.micro_batches; ++i) order.forward(0);
      for (int i = 0; i < shape.micro_batches; ++i) order.backward(0);
      steps = order.take();
    }
    return plan;
  }
};

}  // namespace

PolicyRow<PipelineSchedule> gpipe_pipeline() {
  return {.name = "gpipe",
          .summary = "all forward passes, then all backward passes; holds the activations of every micro-batch",
          .source = "Huang et al., NeurIPS 2019",
          .make = [](const Parameters&, const PolicyContext&) -> std::unique_ptr<PipelineSchedule> {
            return std::make_unique<GPipe>();
          }};
}

}  // namespace contend
