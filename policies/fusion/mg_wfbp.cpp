// MG-WFBP (Shi, Chu and Li, INFOCOM 2019; TPDS 2021) uses alpha and beta to merge gradients so that the last message
// ends earliest. `optimal` computes the exact optimum under the assumptions of the paper; otherwise the policy follows
// the published walk.

#include "policies/fusion/merging.hpp"
#include "policies/registry.hpp"

#include <vector>

namespace contend {

namespace {

class MergedGradient final : public FusionPolicy {
 public:
  explicit MergedGradient(bool optimal) : optimal_{optimal} {}
  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    const auto [alike, cost] = planned(problem);
    if (!optimal_) return barrier_graph(problem, published_merge(alike, cost));
    std::vector<MergePlan> plans{optimal_merge(alike, cost)};
    if (problem.cost.interference.none()) return barrier_graph(problem, plans.front());
    // The paper takes overlapping to be free. What hides slows down what hides it, so larger messages may be faster.
    constexpr int kSizes = 12;
    Bytes limit = problem.gradient();
    for (int i = 0; i < kSizes && limit > Bytes{1}; ++i, limit = Bytes{limit.count() / 2})
      plans.push_back(fill_buckets(problem, limit, limit));
    return fastest_of(problem, plans);
  }

 private:
  bool optimal_;
};

std::unique_ptr<FusionPolicy> make_mg_wfbp(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<MergedGradient>(parameters.get<bool>("optimal"));
}

}  // namespace

PolicyRow<FusionPolicy> mg_wfbp_fusion() {
  static constexpr ParameterInfo kParameters[] = {
      {"optimal", true, 0, 0, "the exact optimum under the method's assumptions; false: the published walk"}};
  return {.name = "mg-wfbp",
          .summary = "merges neighbours so that the last message ends earliest",
          .source = "Shi et al., INFOCOM 2019",
          .parameters = kParameters,
          .make = make_mg_wfbp};
}

}  // namespace contend
