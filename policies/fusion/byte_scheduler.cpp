// ByteScheduler (Peng et al., SOSP 2019) cuts gradients into pieces and sends them by priority. A credit allows several
// pieces on their way at once, because single pieces do not keep the communication stack busy.

#include "policies/fusion/partition.hpp"
#include "policies/registry.hpp"

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

std::unique_ptr<FusionPolicy> make_byte_scheduler(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<ByteScheduler>(parameters.get<std::int64_t>("partition"),
                                         parameters.get<std::int64_t>("credit"));
}

}  // namespace

PolicyRow<FusionPolicy> bytescheduler_fusion() {
  static constexpr ParameterInfo kParameters[] = {
      {"partition", std::int64_t{4'000'000}, 1, 1e12, "largest piece, in gradient elements"},
      {"credit", std::int64_t{16'000'000}, 1, 1e12, "pieces are sent while fewer elements than this are on their way"}};
  return {.name = "bytescheduler",
          .summary = "pieces by priority within a credit; the next forward starts with its first layers",
          .source = "Peng et al., SOSP 2019",
          .parameters = kParameters,
          .make = make_byte_scheduler};
}

}  // namespace contend
