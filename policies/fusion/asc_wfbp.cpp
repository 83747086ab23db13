// ASC-WFBP (Shi, Chu and Li, INFOCOM 2021) runs several all-reduces at once, because one alone does not saturate the
// link. It merges a gradient into a message only while that message would have to wait anyway.

#include "policies/fusion/merging.hpp"
#include "policies/registry.hpp"

#include <cstdint>

namespace contend {

namespace {

class SimultaneousCommunication final : public FusionPolicy {
 public:
  explicit SimultaneousCommunication(std::int64_t streams) : streams_{static_cast<int>(streams)} {}
  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    const auto [alike, cost] = planned(problem);
    return barrier_graph(problem, asc_merge(alike, cost), streams_);
  }

 private:
  int streams_;
};

std::unique_ptr<FusionPolicy> make_asc_wfbp(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<SimultaneousCommunication>(parameters.get<std::int64_t>("streams"));
}

}  // namespace

PolicyRow<FusionPolicy> asc_wfbp_fusion() {
  static constexpr ParameterInfo kParameters[] = {
      {"streams", std::int64_t{2}, 1, 1024, "largest number of simultaneous messages"}};
  return {.name = "asc-wfbp",
          .summary = "several messages at once, merged only while they would wait",
          .source = "Shi et al., INFOCOM 2021",
          .parameters = kParameters,
          .make = make_asc_wfbp};
}

}  // namespace contend
