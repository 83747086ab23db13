// Bulk-synchronous training sends the whole gradient as one message after the backward pass ("single layer", SyncEASGD
// in Shi et al., INFOCOM 2019).

#include "policies/registry.hpp"

namespace contend {

namespace {

class BulkSynchronous final : public FusionPolicy {
 public:
  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    IterationBuilder builder{problem};
    builder.use_channel(1, Bytes{1});
    builder.exchange("all", {0, problem.gradients.size() - 1}, builder.forward(0));
    return builder.take();
  }
};

}  // namespace

PolicyRow<FusionPolicy> bsp_fusion() {
  return {.name = "bsp",
          .summary = "one message with the whole gradient after the backward pass",
          .source = "textbook",
          .make = make_own<FusionPolicy, BulkSynchronous>};
}

}  // namespace contend
