#pragma once
// SparseMethod is the base class of methods that send only some values of a gradient, with their indices, and keep the
// rest for the next step (error feedback, Stich et al., NeurIPS 2018). The methods differ in how they select values.

#include "models/overlap/compression_method.hpp"
#include "models/overlap/problem.hpp"
#include "policies/registry.hpp"

#include <cstdint>

namespace contend {

/// Returns the number of values that a density in (0, 1] selects of d values; at least one.
[[nodiscard]] std::int64_t selected(std::int64_t d, double density);

/// The parameter `density` of the methods that select.
[[nodiscard]] constexpr ParameterInfo density_parameter(double by_default) {
  return {"density", by_default, 1e-6, 1, "share of the values that are sent"};
}

/// The parameters of methods that select as MSTopK does.
inline constexpr ParameterInfo kSampledParameters[] = {
    density_parameter(0.001),
    {"samples", std::int64_t{30}, 1, 1000, "thresholds to try, each with a count; assumption"}};

/// Returns the time of MSTopK's selection of k of d values (Shi et al., MLSys 2021): mean, maximum, a count for each of
/// `samples` thresholds, and the values above the best threshold.
[[nodiscard]] Time sampled_select(const KernelCosts& costs, std::int64_t d, std::int64_t k, std::int64_t samples);

class SparseMethod : public CompressionMethod {
 public:
  explicit SparseMethod(double density) : density_{density} {}
  /// The workers select, all-gather their (value, index) pairs and add up the pairs of all workers. With parameter
  /// servers they push their pairs and pull the pairs of the sum, which may be as many as the pairs of all workers
  /// together. They pull the dense sum if that is smaller.
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override;
  [[nodiscard]] std::optional<RouteRefusal> refusal(MessageRoute route) const override;

 protected:
  /// Returns the number of values of a group that each worker sends.
  [[nodiscard]] virtual std::int64_t count(const OverlapProblem& problem, const GradientGroup& group) const {
    return selected(problem.elements(group), density_);
  }
  /// Returns the time to find k of d values and write them out, without the time to add the residual.
  [[nodiscard]] virtual Time select(const KernelCosts& kernels, std::int64_t d, std::int64_t k) const = 0;
  /// Returns the stage that adds the residual and selects.
  [[nodiscard]] ExchangeStage compress(const OverlapProblem& problem, std::int64_t d, std::int64_t k) const;
  /// Returns the size of k pairs.
  [[nodiscard]] static Bytes pairs(const OverlapProblem& problem, std::int64_t k);
  [[nodiscard]] double density() const { return density_; }

 private:
  double density_;
};

}  // namespace contend
