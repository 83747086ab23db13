// Workers train on their own and average their weights from time to time. Local SGD (Stich, ICLR 2019; Lin et al., ICLR
// 2020) all-reduces the weights after every `period`-th update. Asynchronous model averaging (Gan et al., BAGUA, VLDB
// 2022) has a thread that continuously averages the whole model beside training, which never waits for it.

#include "models/overlap/compression_method.hpp"
#include "models/overlap/problem.hpp"
#include "policies/compression/kernels.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace contend {

namespace {

class LocalSgd final : public CompressionMethod {
 public:
  explicit LocalSgd(std::int64_t period) : period_{period} {}
  [[nodiscard]] ExchangeMoment moment() const override { return ExchangeMoment::updated; }
  [[nodiscard]] IterationPhases phases() const override {
    return period_ == 1 ? IterationPhases{} : IterationPhases::cycle({period_ - 1, 1});
  }
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    if (problem.phase == 0 && period_ > 1) return {};
    return {ExchangeStage::send("all-reduce weights", CollectiveKind::all_reduce, problem.size(group))};
  }

 private:
  std::int64_t period_;
};

/// An averaging of the model takes as many iterations as the network needs for it. Each iteration sends an equal piece
/// whose all-reduce takes no longer than the iteration computes. The piece is one message, whatever the fusion policy
/// does with gradients, and is sent with the last gradient.
class AsyncAverage final : public CompressionMethod {
 public:
  [[nodiscard]] ExchangeMoment moment() const override { return ExchangeMoment::background; }
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    if (group.last + 1 < problem.gradients.size()) return {};
    const Bytes sent = piece(problem);
    const std::int64_t d = std::max<std::int64_t>(1, sent.count() / problem.gradient_element_bytes);
    // The thread averages a snapshot and adds the change that this makes to the weights, which have moved on.
    return {ExchangeStage::kernel("snapshot", problem.kernels->of(kernels::copy(d))),
            ExchangeStage::send("all-reduce weights", CollectiveKind::all_reduce, sent),
            ExchangeStage::kernel("average", problem.kernels->of(kernels::mix(d, 3)))};
  }

 private:
  /// Returns the size of the largest n-th part of the model whose all-reduce takes no longer than an iteration
  /// computes. Throws InputError if the start-up alone takes longer.
  static Bytes piece(const OverlapProblem& problem) {
    const LinearCost& cost = problem.cost.of(CollectiveKind::all_reduce);
    const Time left = problem.compute() - cost.alpha;
    if (left <= Time{})
      throw InputError{"can't keep up: the start-up of an all-reduce takes longer than computing an iteration"};
    const std::int64_t model = problem.gradient().count();
    const double slope = cost.beta.ns_per_byte();
    auto parts = static_cast<std::int64_t>(
        std::max(1.0, std::ceil(static_cast<double>(model) * slope / static_cast<double>(left.ns()))));
    const auto part = [&] { return Bytes{(model + parts - 1) / parts}; };
    while (parts < model && cost.of(part()) > problem.compute()) ++parts;
    return part();
  }
};

std::unique_ptr<CompressionMethod> make_local_sgd(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<LocalSgd>(parameters.get<std::int64_t>("period"));
}

}  // namespace

PolicyRow<CompressionMethod> local_sgd_compression() {
  static constexpr ParameterInfo kParameters[] = {{"period", std::int64_t{8}, 1, IterationPhases::kLongestCycle,
                                                   "iterations from one average to the next; assumption"}};
  return {.name = "local-sgd",
          .summary = "weights averaged after every few updates",
          .source = "Stich, ICLR 2019; Lin et al., ICLR 2020",
          .parameters = kParameters,
          .make = make_local_sgd};
}

PolicyRow<CompressionMethod> async_average_compression() {
  return {.name = "async-average",
          .summary = "weights averaged continuously beside training, which does not wait",
          .source = "Gan et al., VLDB 2022 (BAGUA)",
          .make = make_own<CompressionMethod, AsyncAverage>};
}

}  // namespace contend
