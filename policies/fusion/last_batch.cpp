// Last-batch SGD exchanges the gradients of an iteration as one message during the whole next iteration, which does not
// wait for them. Updates are one step stale, so this is a different algorithm and not a faster schedule of the same
// one.

#include "policies/registry.hpp"

namespace contend {

namespace {

class LastBatch final : public FusionPolicy {
 public:
  /// The exchange in an iteration carries the gradients of the previous one.
  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    IterationBuilder builder{problem};
    builder.use_channel(1, Bytes{1});
    builder.use_last_gradients();
    builder.exchange("all of the last batch", {0, problem.gradients.size() - 1}, builder.forward(0));
    return builder.take();
  }
  [[nodiscard]] int staleness() const override { return 1; }
};

}  // namespace

PolicyRow<FusionPolicy> last_batch_fusion() {
  return {.name = "last-batch",
          .summary = "one message during the whole next iteration; updates are a step stale",
          .source = "Zhang, last-batch data-parallel training (LB-SGD)",
          .make = make_own<FusionPolicy, LastBatch>};
}

}  // namespace contend
