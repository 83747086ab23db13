// Decentralised training: workers average with a few others only, and drift apart in between (Lian et al., NeurIPS
// 2017). In full precision each swaps its weights with one other, drawn anew in each iteration, while it computes with
// them; or averages with all others, which BAGUA's library does unless told otherwise (Gan et al., VLDB 2022;
// peer_selection_mode in bagua/torch_api/algorithms/decentralized.py). In low precision workers in a ring send their
// two neighbours the quantised change of their weights, after the update. DCD-PSGD: everybody has an exact copy of each
// neighbour, and adds the change to it; ECD-PSGD: of an extrapolation of the last two weights, which corrects an
// estimate (both Tang et al., NeurIPS 2018). Memory beyond the weights: two copies or estimates of neighbours, and the
// last weights.

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
  exact,      ///< DCD-PSGD: changes of the worker and its neighbours are added to their copies
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

  /// In a ring of all workers in order of servers one rank of each server sends out of it and the others inside, at
  /// once: the slower of the two decides.
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
    // The mean with the neighbours; its difference to the last weights, or the extrapolation from them.
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

constexpr ParameterInfo kLowPrecision[] = {{"bits", std::int64_t{8}, 1, 16, "of a change of a weight"}, kInServers};

std::unique_ptr<CompressionMethod> make_decentralized(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Decentralized>(parameters);
}

std::unique_ptr<CompressionMethod> make_dcd_psgd(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<LowPrecisionRing>(Replicas::exact, parameters);
}

std::unique_ptr<CompressionMethod> make_ecd_psgd(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<LowPrecisionRing>(Replicas::estimated, parameters);
}

}  // namespace

PolicyRow<CompressionMethod> decentralized_compression() {
  static constexpr ParameterInfo kParameters[] = {{"all", false, 0, 0, "averaged over all workers, not two"},
                                                  kInServers};
  return {.name = "decentralized",
          .summary = "weights averaged with another worker, while computing",
          .source = "Gan et al., VLDB 2022 (BAGUA)",
          .parameters = kParameters,
          .make = make_decentralized};
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
