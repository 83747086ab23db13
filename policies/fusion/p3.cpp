// P3 (Jayarajan et al., MLSys 2019): slices of gradients by priority, one at a time. Made for parameter servers.

#include "policies/factories.hpp"
#include "policies/fusion/partition.hpp"

#include <cstdint>

namespace contend {

namespace {

class PriorityPropagation final : public FusionPolicy {
 public:
  explicit PriorityPropagation(std::int64_t slice) : slice_{slice} {}
  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    return partitioned_graph(problem, slice_, 1);
  }

 private:
  std::int64_t slice_;
};

}  // namespace

std::unique_ptr<FusionPolicy> make_p3(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<PriorityPropagation>(parameters.get<std::int64_t>("slice"));
}

}  // namespace contend
