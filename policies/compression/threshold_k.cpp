// These methods send the values above an estimated threshold and need no sorting. GaussianK (Shi et al., arXiv
// 1911.08772) takes the threshold from a normal fit and refines it. MSTopK (Shi et al., MLSys 2021) searches for it
// between the mean and the largest magnitude. DGC (Lin et al., ICLR 2018) estimates it from a sample, and corrects the
// momentum.

#include "policies/compression/kernels.hpp"
#include "policies/compression/sparse.hpp"
#include "policies/registry.hpp"

namespace contend {

namespace {

class GaussianK final : public SparseMethod {
 public:
  explicit GaussianK(const Parameters& parameters)
      : SparseMethod{parameters.get<double>("density")}, refinements_{parameters.get<std::int64_t>("refinements")} {}

 protected:
  [[nodiscard]] Time select(const KernelCosts& costs, std::int64_t d, std::int64_t k) const override {
    return costs.of(kernels::gaussian_select(d, k, static_cast<int>(refinements_)));
  }

 private:
  std::int64_t refinements_;
};

class MultiSampledTopK final : public SparseMethod {
 public:
  explicit MultiSampledTopK(const Parameters& parameters)
      : SparseMethod{parameters.get<double>("density")}, samples_{parameters.get<std::int64_t>("samples")} {}

 protected:
  [[nodiscard]] Time select(const KernelCosts& costs, std::int64_t d, std::int64_t k) const override {
    return sampled_select(costs, d, k, samples_);
  }

 private:
  std::int64_t samples_;
};

class DeepGradientCompression final : public SparseMethod {
 public:
  explicit DeepGradientCompression(const Parameters& parameters)
      : SparseMethod{parameters.get<double>("density")}, sample_{parameters.get<double>("sample")} {}

 protected:
  [[nodiscard]] Time select(const KernelCosts& costs, std::int64_t d, std::int64_t k) const override {
    const std::int64_t drawn = selected(d, sample_);
    return costs.of(kernels::add_residual(d)) +  // the second buffer: the velocity beside the accumulated gradient
           costs.of(kernels::gather(d, drawn)) + costs.of(kernels::radix_select(drawn, selected(drawn, density()))) +
           costs.of(kernels::compact(d, k));
  }

 private:
  double sample_;
};

}  // namespace

PolicyRow<CompressionMethod> gaussian_k_compression() {
  static constexpr ParameterInfo kParameters[] = {
      density_parameter(0.001),
      {"refinements", std::int64_t{3}, 0, 100, "number of counts that correct the threshold"}};
  return {.name = "gaussian-k",
          .summary = "values above a threshold from a normal fit",
          .source = "Shi et al., arXiv 1911.08772",
          .parameters = kParameters,
          .make = make_own<CompressionMethod, GaussianK>};
}

PolicyRow<CompressionMethod> ms_top_k_compression() {
  return {.name = "ms-top-k",
          .summary = "values above the best of many sampled thresholds",
          .source = "Shi et al., MLSys 2021",
          .parameters = kSampledParameters,
          .make = make_own<CompressionMethod, MultiSampledTopK>};
}

PolicyRow<CompressionMethod> dgc_compression() {
  static constexpr ParameterInfo kParameters[] = {
      density_parameter(0.001), {"sample", 0.01, 1e-6, 1, "share of the values from which the threshold is estimated"}};
  return {.name = "dgc",
          .summary = "values above a threshold from a sample, with momentum correction",
          .source = "Lin et al., ICLR 2018",
          .parameters = kParameters,
          .make = make_own<CompressionMethod, DeepGradientCompression>};
}

}  // namespace contend
