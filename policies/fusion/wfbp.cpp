// Wait-free backpropagation (Poseidon, Zhang et al., USENIX ATC 2017): every gradient is sent as soon as it is ready.

#include "policies/factories.hpp"
#include "policies/fusion/merging.hpp"

namespace contend {

namespace {

class WaitFree final : public FusionPolicy {
 public:
  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    return barrier_graph(problem, every_gradient(problem));
  }
};

}  // namespace

std::unique_ptr<FusionPolicy> make_wfbp(const Parameters&, const PolicyContext&) {
  return std::make_unique<WaitFree>();
}

}  // namespace contend
