// SAPS-PSGD (Tang, Shi and Chu, ICDCS 2020): after its own step each worker averages a few coordinates of its weights
// with one other worker. All draw the same coordinates from a shared seed, so only values are sent, no indices. Who
// meets whom is chosen for fast links: PeerRule::Kind::matched.

#include "models/overlap/problem.hpp"
#include "policies/compression/kernels.hpp"
#include "policies/compression/sparse.hpp"
#include "policies/factories.hpp"

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

std::unique_ptr<CompressionMethod> make_saps(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Saps>(parameters);
}

}  // namespace contend
