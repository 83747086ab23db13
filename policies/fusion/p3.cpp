// P3 (Jayarajan et al., MLSys 2019) sends slices of gradients by priority, one at a time. It was designed for parameter
// servers.

#include "policies/fusion/partition.hpp"
#include "policies/registry.hpp"

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

std::unique_ptr<FusionPolicy> make_p3(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<PriorityPropagation>(parameters.get<std::int64_t>("slice"));
}

}  // namespace

PolicyRow<FusionPolicy> p3_fusion() {
  static constexpr ParameterInfo kParameters[] = {
      {"slice", std::int64_t{50'000}, 1, 1e12, "largest slice, in elements"}};
  return {.name = "p3",
          .summary = "slices by priority, one at a time; the next forward starts with its first layers",
          .source = "Jayarajan et al., MLSys 2019",
          .parameters = kParameters,
          .make = make_p3};
}

}  // namespace contend
