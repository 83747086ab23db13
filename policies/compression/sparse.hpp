#pragma once
// Methods that send only some values of a gradient, with their indices, and keep the rest for the next step (error
// feedback, Stich et al., NeurIPS 2018). What differs is how values are selected.

#include "models/overlap/compression_method.hpp"
#include "models/overlap/problem.hpp"
#include "policies/registry.hpp"

#include <cstdint>

namespace contend {

/// Values that a density in (0, 1] selects of d: at least one.
[[nodiscard]] std::int64_t selected(std::int64_t d, double density);

/// The parameter `density` of the methods that select.
[[nodiscard]] constexpr ParameterInfo density_parameter(double by_default) {
  return {"density", by_default, 1e-6, 1, "share of the values that is sent"};
}

/// The parameters of methods that select as MSTopK does.
inline constexpr ParameterInfo kSampledParameters[] = {
    density_parameter(0.001),
    {"samples", std::int64_t{30}, 1, 1000, "thresholds that are tried, a count each; assumption"}};

/// MSTopK's selection (Shi et al., MLSys 2021): mean, largest, a count for each of `samples` thresholds, everything
/// above the best.
[[nodiscard]] Time sampled_select(const KernelCosts& costs, std::int64_t d, std::int64_t k, std::int64_t samples);

class SparseMethod : public CompressionMethod {
 public:
  explicit SparseMethod(double density) : density_{density} {}
  /// Select; all-gather of (value, index) pairs; add up those of all workers. By parameter servers: push the pairs,
  /// pull those of the sum, of which there are up to as many as all workers have, or the whole sum where that is
  /// smaller.
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override;
  [[nodiscard]] std::optional<RouteRefusal> refusal(MessageRoute route) const override;

 protected:
  /// Values of a group that each worker sends.
  [[nodiscard]] virtual std::int64_t count(const OverlapProblem& problem, const GradientGroup& group) const {
    return selected(problem.elements(group), density_);
  }
  /// Time to find and write out k of d values, the residual already added.
  [[nodiscard]] virtual Time select(const KernelCosts& kernels, std::int64_t d, std::int64_t k) const = 0;
  /// Adding the residual, and selecting.
  [[nodiscard]] ExchangeStage compress(const OverlapProblem& problem, std::int64_t d, std::int64_t k) const;
  /// Bytes of k pairs.
  [[nodiscard]] static Bytes pairs(const OverlapProblem& problem, std::int64_t k);
  [[nodiscard]] double density() const { return density_; }

 private:
  double density_;
};

}  // namespace contend
