// `search` finds a plan that is at least as good as that of every other synchronous policy with its default parameters.
// It uses the actual cost of exchanging gradients, with simultaneous transfers and their contention.

#include "policies/fusion/search.hpp"

#include "policies/registry.hpp"
#include "sim/error.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr std::string_view kSearch = "search";

class SearchedPlan final : public FusionPolicy {
 public:
  SearchedPlan(std::int64_t evaluations, const PolicyContext& context) : evaluations_{evaluations}, context_{context} {}

  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    if (problem.method != nullptr) throw InputError{"searches among plans of dense gradients only"};
    std::vector<FusedIteration> candidates;
    for (const PolicyRow<FusionPolicy>& row : fusion_policies()) {
      if (row.name == kSearch) continue;
      std::vector<std::pair<std::string, ParameterValue>> values;
      for (const ParameterInfo& each : row.parameters) values.emplace_back(each.name, each.default_value);
      const auto policy = row.make(Parameters{std::move(values)}, context_);
      if (policy->staleness() > 0) continue;  // it changes the training algorithm
      try {
        candidates.push_back(policy->plan(problem));
      } catch (const InputError&) {
        continue;  // it cannot work with this exchange
      }
    }
    return search_plan(problem, std::move(candidates), evaluations_);
  }

 private:
  std::int64_t evaluations_;
  PolicyContext context_;
};

std::unique_ptr<FusionPolicy> make_search(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<SearchedPlan>(parameters.get<std::int64_t>("evaluations"), context);
}

}  // namespace

PolicyRow<FusionPolicy> search_fusion() {
  static constexpr ParameterInfo kParameters[] = {
      {"evaluations", std::int64_t{1000}, 0, 1e6, "schedules to try in addition to those of the other policies"}};
  return {.name = kSearch,
          .summary = "tries all other policies except last-batch and improves the best plan",
          .source = "local search",
          .parameters = kParameters,
          .make = make_search};
}

}  // namespace contend
