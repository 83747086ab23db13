// In decentralised training workers average with a few others only and drift apart in between (Lian et al., NeurIPS
// 2017).
//
// `decentralized` works in full precision (Gan et al., VLDB 2022). While a worker computes with its weights it averages
// them with the values of all others, which is the default of BAGUA's library (peer_selection_mode in
// bagua/torch_api/algorithms/decentralized.py), or swaps them with one other worker, drawn again in each iteration.
//
// `dcd-psgd` and `ecd-psgd` work in low precision (Tang et al., NeurIPS 2018). After the update each worker of a ring
// sends a quantised message to its two neighbours. In DCD-PSGD the message is the change of its weights, and every
// worker adds it to an exact copy of the neighbour's weights. In ECD-PSGD the message is an extrapolation of the last
// two weights, and corrects an estimate of the neighbour's weights. Both need memory for two copies or estimates and
// for the last weights.

#include "policies/compression/kernels.hpp"
#include "policies/compression/levels.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <cstdint>

namespace contend {

namespace {

class Decentralized final : public CompressionMethod {
 public:
  explicit Decentralized(const Parameters& parameters)
      : all_{parameters.get<bool>("all")}, hierarchical_{parameters.get<bool>("hierarchical")} {}
  [[nodiscard]] ExchangeMoment moment() const override { return ExchangeMoment::weights; }

  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const Circle circle = circle_of(problem, hierarchical_);
    const Bytes size = problem.size(group);
    std::vector<ExchangeStage> made;
    if (circle.workers > 1) {
      made.push_back(all_ ? ExchangeStage::send("all-reduce weights", CollectiveKind::all_reduce, size, circle.scope)
                          : ExchangeStage::send("swap", CollectiveKind::exchange, size, circle.scope));
      const std::int64_t d = problem.elements(group);
      made.push_back(
          ExchangeStage::kernel("average", problem.kernels->of(all_ ? kernels::copy(d) : kernels::mix(d, 2))));
    }
    return hierarchical_ ? through_leaders(size, made) : made;
  }

 private:
  bool all_, hierarchical_;
};

enum class Replicas : std::uint8_t {
  exact,      ///< DCD-PSGD: changes of the worker and of its neighbours are added to the copies
  estimated,  ///< ECD-PSGD: extrapolations correct the estimates of neighbours
};

class LowPrecisionRing final : public CompressionMethod {
 public:
  LowPrecisionRing(Replicas replicas, const Parameters& parameters)
      : replicas_{replicas},
        bits_{parameters.get<std::int64_t>("bits")},
        hierarchical_{parameters.get<bool>("hierarchical")} {}
  [[nodiscard]] ExchangeMoment moment() const override { return ExchangeMoment::updated; }
  [[nodiscard]] PeerRule peers() const override { return ring_of_workers(); }

  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    Circle circle = circle_of(problem, hierarchical_);
    if (!hierarchical_) circle.scope = slowest_step(problem.cost);
    const auto made = circle.workers > 1 ? in_ring(problem, problem.elements(group), circle)
                                         : std::vector<ExchangeStage>{};  // one server
    return hierarchical_ ? through_leaders(problem.size(group), made) : made;
  }

 private:
  static constexpr std::int64_t kRangeBytes = 8;

  /// The ring passes all workers in order of servers. One rank of each server sends to the next server while the others
  /// send inside their servers, so the slower of the two determines the time.
  static CollectiveScope slowest_step(const ExchangeCost& cost) {
    if (!cost.levels()) return CollectiveScope::all;
    const LinearCost& inside = cost.of(CollectiveKind::exchange, CollectiveScope::server);
    const LinearCost& between = cost.of(CollectiveKind::exchange, CollectiveScope::leaders);
    return cost.one_server() || inside.beta > between.beta ? CollectiveScope::server : CollectiveScope::leaders;
  }

  [[nodiscard]] std::vector<ExchangeStage> in_ring(const OverlapProblem& problem, std::int64_t d,
                                                   const Circle& circle) const {
    const int neighbours = std::min(2, circle.workers - 1);
    const Bytes message{(d * bits_ + 7) / 8 + kRangeBytes};
    const bool exact = replicas_ == Replicas::exact;
    const KernelCosts& costs = *problem.kernels;
    // The kernels compute the mean with the neighbours, its difference to the last weights (or the extrapolation from
    // them), and the code.
    const Time before = costs.of(kernels::mix(d, neighbours + 1)) + costs.of(kernels::mix(d, 2)) +
                        costs.of(kernels::quantize(d, bits_));
    std::vector<ExchangeStage> made{ExchangeStage::kernel("encode", before)};
    for (const char* name : {"to the left", "to the right"}) {
      if (static_cast<int>(made.size()) <= neighbours)
        made.push_back(ExchangeStage::send(name, CollectiveKind::exchange, message, circle.scope));
    }
    const int corrected = neighbours + (exact ? 1 : 0);
    made.push_back(ExchangeStage::kernel("correct", costs.of(kernels::decode_into(d, bits_, corrected))));
    return made;
  }

  Replicas replicas_;
  std::int64_t bits_;
  bool hierarchical_;
};

constexpr ParameterInfo kLowPrecision[] = {{"bits", std::int64_t{8}, 1, 16, "bits of a change of a weight"},
                                           kInServers};

std::unique_ptr<CompressionMethod> make_dcd_psgd(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<LowPrecisionRing>(Replicas::exact, parameters);
}

std::unique_ptr<CompressionMethod> make_ecd_psgd(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<LowPrecisionRing>(Replicas::estimated, parameters);
}

}  // namespace

PolicyRow<CompressionMethod> decentralized_compression() {
  static constexpr ParameterInfo kParameters[] = {
      {"all", true, 0, 0, "average with all workers; false: with one other, drawn at random"}, kInServers};
  return {.name = "decentralized",
          .summary = "weights averaged with all workers or with one other, while computing",
          .source = "Gan et al., VLDB 2022 (BAGUA)",
          .parameters = kParameters,
          .make = make_own<CompressionMethod, Decentralized>};
}

PolicyRow<CompressionMethod> dcd_psgd_compression() {
  return {.name = "dcd-psgd",
          .summary = "quantised changes of the weights, to two neighbours that keep copies",
          .source = "Tang et al., NeurIPS 2018",
          .parameters = kLowPrecision,
          .make = make_dcd_psgd};
}

PolicyRow<CompressionMethod> ecd_psgd_compression() {
  return {.name = "ecd-psgd",
          .summary = "quantised extrapolations of the weights, to two neighbours that keep estimates",
          .source = "Tang et al., NeurIPS 2018",
          .parameters = kLowPrecision,
          .make = make_ecd_psgd};
}

}  // namespace contend
