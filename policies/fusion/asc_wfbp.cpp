// ASC-WFBP (Shi, Chu and Li, INFOCOM 2021): several all-reduces at once, because one alone does not fill the link;
// gradients are merged only while the message before them would have to wait anyway.

#include "policies/factories.hpp"
#include "policies/fusion/merging.hpp"

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

}  // namespace

std::unique_ptr<FusionPolicy> make_asc_wfbp(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<SimultaneousCommunication>(parameters.get<std::int64_t>("streams"));
}

}  // namespace contend
