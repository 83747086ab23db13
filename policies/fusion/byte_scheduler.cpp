// ByteScheduler (Peng et al., SOSP 2019): pieces of gradients by priority, with a credit of pieces that may be on their
// way at once, because a stack that gets one at a time is not kept busy.

#include "policies/factories.hpp"
#include "policies/fusion/partition.hpp"

#include <cstdint>

namespace contend {

namespace {

class ByteScheduler final : public FusionPolicy {
 public:
  ByteScheduler(std::int64_t piece, std::int64_t credit) : piece_{piece}, credit_{credit} {}
  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    return partitioned_graph(problem, piece_, credit_);
  }

 private:
  std::int64_t piece_, credit_;
};

}  // namespace

std::unique_ptr<FusionPolicy> make_byte_scheduler(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<ByteScheduler>(parameters.get<std::int64_t>("partition"),
                                         parameters.get<std::int64_t>("credit"));
}

}  // namespace contend
