// `search` finds a plan that is at least as good as the plan of every other synchronous policy with its default
// parameters, and of every one of the study with the parameters given there. It uses the actual cost of exchanging
// gradients, with simultaneous transfers and their contention.

#include "policies/fusion/search.hpp"

#include "policies/registry.hpp"
#include "sim/error.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace contend {

namespace {

/// The search sets out from a plan of another policy only if the plan has at most so many messages for each gradient.
/// p3 cuts Llama 3 8B's 34 gradients into 160,000 slices, and to try that plan takes longer than the whole search.
constexpr std::size_t kMostMessages = 256;

class SearchedPlan final : public FusionPolicy {
 public:
  SearchedPlan(std::vector<std::unique_ptr<FusionPolicy>> others, std::size_t given, std::int64_t evaluations)
      : others_{std::move(others)}, given_{given}, evaluations_{evaluations} {}

  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    std::vector<FusedIteration> candidates;
    for (std::size_t i = 0; i < others_.size(); ++i) {
      if (others_[i]->staleness() > 0) continue;  // it changes the training algorithm
      try {
        FusedIteration planned = others_[i]->plan(problem);
        if (i >= given_ && planned.messages.size() > kMostMessages * problem.gradients.size()) continue;
        candidates.push_back(std::move(planned));
      } catch (const InputError&) {
        continue;  // it cannot work with this exchange
      }
    }
    return search_plan(problem, std::move(candidates), evaluations_);
  }

 private:
  std::vector<std::unique_ptr<FusionPolicy>> others_;
  std::size_t given_;  // of these, the first ones
  std::int64_t evaluations_;
};

std::unique_ptr<FusionPolicy> make_search(const Parameters& parameters, const PolicyContext&) {
  return search_from({}, parameters.get<std::int64_t>("evaluations"));
}

}  // namespace

std::unique_ptr<FusionPolicy> search_from(std::vector<std::unique_ptr<FusionPolicy>> others, std::int64_t evaluations) {
  const std::size_t given = others.size();
  for (const PolicyRow<FusionPolicy>& row : fusion_policies()) {
    if (row.name == kSearchName) continue;
    std::vector<std::pair<std::string, ParameterValue>> values;
    for (const ParameterInfo& each : row.parameters) values.emplace_back(each.name, each.default_value);
    others.push_back(row.make(Parameters{std::move(values)}, {}));
  }
  return std::make_unique<SearchedPlan>(std::move(others), given, evaluations);
}

PolicyRow<FusionPolicy> search_fusion() {
  static constexpr ParameterInfo kParameters[] = {
      {"evaluations", std::int64_t{1000}, 0, 1e6,
       "schedules to try in addition to the schedules of the other policies"}};
  return {.name = kSearchName,
          .summary = "tries all other policies except last-batch and improves the best plan",
          .source = "local search",
          .parameters = kParameters,
          .make = make_search};
}

}  // namespace contend
