// Low-rank compression sends a matrix M of n x m as the factors P (n x r) and Q (m x r), where P Q^T is a projection of
// M. It sends vectors uncompressed. Power-SGD (Vogels et al., NeurIPS 2019) all-reduces P, orthogonalises it, and then
// all-reduces Q. ACP-SGD (Zhang et al., ICDCS 2023) all-reduces P and Q in alternate iterations.

#include "models/overlap/compression_method.hpp"
#include "models/overlap/problem.hpp"
#include "policies/compression/kernels.hpp"
#include "policies/compression/routes.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstdint>

namespace contend {

namespace {

class LowRank : public CompressionMethod {
 public:
  explicit LowRank(const Parameters& parameters) : rank_{parameters.get<std::int64_t>("rank")} {}
  [[nodiscard]] std::optional<RouteRefusal> refusal(MessageRoute) const override { return std::nullopt; }

 protected:
  /// The sizes of the factors of all matrices of a group and the times of their kernels.
  struct Factors {
    std::int64_t p = 0, q = 0, vectors = 0;  ///< elements
    bool any = false;                        ///< the group has a matrix
    Time residual;                           ///< to add the residual of the last step
    Time make_p, make_q;
    Time orthogonal_p, orthogonal_q;
    Time restore;  ///< to compute P Q^T and the new residual
  };

  [[nodiscard]] Factors factors(const OverlapProblem& problem, const GradientGroup& group) const {
    check(problem);
    const KernelCosts& costs = *problem.kernels;
    Factors sum;
    for (std::size_t i = group.first; i <= group.last; ++i) {
      const std::int64_t n = problem.gradients[i].rows, m = problem.gradients[i].columns;
      if (n <= 1 || m <= 1) {
        sum.vectors += std::max(n, m);
        continue;
      }
      const std::int64_t r = std::min({rank_, n, m});
      sum.any = true;
      sum.p += n * r;
      sum.q += m * r;
      sum.residual += costs.of(kernels::add_residual(n * m));
      sum.make_p += costs.of(kernels::make_p(n, m, r));
      sum.make_q += costs.of(kernels::make_q(n, m, r));
      sum.orthogonal_p += costs.of(kernels::orthogonalise(n, r));
      sum.orthogonal_q += costs.of(kernels::orthogonalise(m, r));
      sum.restore += costs.of(kernels::product(n, m, r)) + costs.of(kernels::add_residual(n * m));
    }
    return sum;
  }

 private:
  static void check(const OverlapProblem& problem) {
    const auto& all = problem.gradients;
    if (std::any_of(all.begin(), all.end(), [](const auto& each) { return each.rows == 0; }))
      throw InputError{"works on single tensors: granularity must be tensor"};
    if (std::none_of(all.begin(), all.end(), [](const auto& each) { return each.columns > 1; }))
      throw InputError{"needs the shapes of the tensors, which this file of layer times doesn't have"};
  }

  std::int64_t rank_;
};

class PowerSgd final : public LowRank {
 public:
  using LowRank::LowRank;
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const Factors f = factors(problem, group);
    std::vector<ExchangeStage> made;
    if (f.any) made.push_back(ExchangeStage::kernel("make P", f.residual + f.make_p));
    add_up_values(problem, f.p + f.vectors, f.any ? "P" : "", made);
    if (!f.any) return made;
    made.push_back(ExchangeStage::kernel("make Q", f.orthogonal_p + f.make_q));
    add_up_values(problem, f.q, "Q", made);
    made.push_back(ExchangeStage::kernel("restore", f.restore));
    return made;
  }
};

class AcpSgd final : public LowRank {
 public:
  using LowRank::LowRank;
  [[nodiscard]] IterationPhases phases() const override { return IterationPhases::cycle({1, 1}); }
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const Factors f = factors(problem, group);
    std::vector<ExchangeStage> made;
    const bool p = problem.phase == 0;
    const Time before = f.residual + (p ? f.orthogonal_q + f.make_p : f.orthogonal_p + f.make_q);
    if (f.any) made.push_back(ExchangeStage::kernel(p ? "make P" : "make Q", before));
    add_up_values(problem, (p ? f.p : f.q) + f.vectors, f.any ? (p ? "P" : "Q") : "", made);
    if (f.any) made.push_back(ExchangeStage::kernel("restore", f.restore));
    return made;
  }
};

constexpr ParameterInfo kLowRank[] = {
    {"rank", std::int64_t{4}, 1, 4096, "rank of the factors, at most the smaller side of the matrix"}};

}  // namespace

PolicyRow<CompressionMethod> power_sgd_compression() {
  return {.name = "power-sgd",
          .summary = "two factors of low rank, all-reduced one after the other",
          .source = "Vogels et al., NeurIPS 2019",
          .parameters = kLowRank,
          .make = make_own<CompressionMethod, PowerSgd>};
}

PolicyRow<CompressionMethod> acp_sgd_compression() {
  return {.name = "acp-sgd",
          .summary = "two factors of low rank, all-reduced in alternate iterations",
          .source = "Zhang et al., ICDCS 2023",
          .parameters = kLowRank,
          .make = make_own<CompressionMethod, AcpSgd>};
}

}  // namespace contend
