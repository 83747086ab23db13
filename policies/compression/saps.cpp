// SAPS-PSGD (Tang, Shi and Chu, ICDCS 2020) averages, after each step, a few coordinates of the weights of each worker
// with the weights of one other worker. All workers draw the same coordinates from a shared seed, so they send values
// without indices. PeerRule::Kind::matched pairs the workers over fast links.

#include "models/overlap/problem.hpp"
#include "policies/compression/kernels.hpp"
#include "policies/compression/sparse.hpp"
#include "policies/registry.hpp"

#include <cstdint>

namespace contend {

namespace {

class Saps final : public CompressionMethod {
 public:
  explicit Saps(const Parameters& parameters) : density_{parameters.get<double>("density")} {
    constexpr double kBytesPerMegabit = 125'000;
    peers_.kind = parameters.get<bool>("matched") ? PeerRule::Kind::matched : PeerRule::Kind::random;
    peers_.threshold = ByteRate{parameters.get<double>("threshold_mbps") * kBytesPerMegabit};
    peers_.within = static_cast<int>(parameters.get<std::int64_t>("within"));
    peers_.random_weights = parameters.get<bool>("random_weights");
  }
  [[nodiscard]] ExchangeMoment moment() const override { return ExchangeMoment::updated; }
  [[nodiscard]] PeerRule peers() const override { return peers_; }

  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const std::int64_t d = problem.elements(group);
    const std::int64_t k = selected(d, density_);
    return {ExchangeStage::kernel("pick", problem.kernels->of(kernels::gather(d, k))),
            ExchangeStage::send("swap", CollectiveKind::exchange, Bytes{k * problem.gradient_element_bytes}),
            ExchangeStage::kernel("average", problem.kernels->of(kernels::average_picked(k)))};
  }

 private:
  double density_;
  PeerRule peers_;
};

}  // namespace

PolicyRow<CompressionMethod> saps_compression() {
  static constexpr ParameterInfo kParameters[] = {
      density_parameter(0.01),
      {"matched", true, 0, 0, "pair workers over fast links of network.sites; false: at random", "network.sites"},
      {"threshold_mbps", 0.0, 0, 1e9,
       "smallest rate of both directions of a link, for pairs that are not forced, in Mbit/s", "matched"},
      {"within", std::int64_t{10}, 1, 10'000, "number of rounds in a row whose links always connect all workers",
       "matched"},
      {"random_weights", false, 0, 0, "any pairs above the threshold, as in the authors' code, instead of the fastest",
       "matched"}};
  return {.name = "saps",
          .summary = "random weights, the same on every worker, averaged with one other worker over fast links",
          .source = "Tang et al., ICDCS 2020 (SAPS-PSGD)",
          .parameters = kParameters,
          .make = make_own<CompressionMethod, Saps>};
}

}  // namespace contend
