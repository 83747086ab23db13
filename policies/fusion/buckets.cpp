// Buckets of fixed size, filled in the order in which gradients become ready and sent when they are full. `threshold`
// has one size for all; `ddp` is PyTorch's DistributedDataParallel (Li et al., VLDB 2020): 25 MiB, the first 1 MiB.

#include "policies/factories.hpp"
#include "policies/fusion/merging.hpp"

#include <cmath>
#include <cstdint>

namespace contend {

namespace {

Bytes mebibytes(double n) {
  return Bytes{static_cast<std::int64_t>(std::ceil(n * 1048576.0))};
}

class Buckets final : public FusionPolicy {
 public:
  Buckets(Bytes limit, Bytes first_limit) : limit_{limit}, first_limit_{first_limit} {}
  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    return barrier_graph(problem, fill_buckets(problem, limit_, first_limit_));
  }

 private:
  Bytes limit_, first_limit_;
};

}  // namespace

std::unique_ptr<FusionPolicy> make_threshold(const Parameters& parameters, const PolicyContext&) {
  const Bytes limit = mebibytes(parameters.get<double>("mib"));
  return std::make_unique<Buckets>(limit, limit);
}

std::unique_ptr<FusionPolicy> make_ddp(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Buckets>(mebibytes(parameters.get<double>("mib")),
                                   mebibytes(parameters.get<double>("first_mib")));
}

}  // namespace contend
