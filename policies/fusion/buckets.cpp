// Buckets of fixed size collect gradients in the order in which they become ready. A bucket is sent when it is full.
// All buckets of `threshold` have the same size. `ddp` is PyTorch's DistributedDataParallel (Li et al., VLDB 2020): the
// first bucket has 1 MiB, the others 25 MiB.

#include "policies/fusion/merging.hpp"
#include "policies/registry.hpp"

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

std::unique_ptr<FusionPolicy> make_threshold(const Parameters& parameters, const PolicyContext&) {
  const Bytes limit = mebibytes(parameters.get<double>("mib"));
  return std::make_unique<Buckets>(limit, limit);
}

std::unique_ptr<FusionPolicy> make_ddp(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Buckets>(mebibytes(parameters.get<double>("mib")),
                                   mebibytes(parameters.get<double>("first_mib")));
}

}  // namespace

PolicyRow<FusionPolicy> threshold_fusion() {
  static constexpr ParameterInfo kParameters[] = {{"mib", 64.0, 0, 1e6, "size at which a bucket is sent, in MiB"}};
  return {.name = "threshold",
          .summary = "buckets of one size, sent when full",
          .source = "Shi et al., INFOCOM 2019",
          .parameters = kParameters,
          .make = make_threshold};
}

PolicyRow<FusionPolicy> ddp_fusion() {
  static constexpr ParameterInfo kParameters[] = {{"mib", 25.0, 0, 1e6, "size of a bucket, in MiB"},
                                                  {"first_mib", 1.0, 0, 1e6, "size of the first bucket, in MiB"}};
  return {.name = "ddp",
          .summary = "the buckets of PyTorch's DistributedDataParallel",
          .source = "Li et al., VLDB 2020",
          .parameters = kParameters,
          .make = make_ddp};
}

}  // namespace contend
