// Wait-free backpropagation (Poseidon, Zhang et al., USENIX ATC 2017) sends every gradient as soon as it is ready.

#include "policies/fusion/merging.hpp"
#include "policies/registry.hpp"

namespace contend {

namespace {

class WaitFree final : public FusionPolicy {
 public:
  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    return barrier_graph(problem, every_gradient(problem));
  }
};

}  // namespace

PolicyRow<FusionPolicy> wfbp_fusion() {
  return {.name = "wfbp",
          .summary = "every gradient as soon as it is ready",
          .source = "Zhang et al., USENIX ATC 2017 (Poseidon)",
          .make = make_own<FusionPolicy, WaitFree>};
}

}  // namespace contend
