// Workers train on their own and average their weights from time to time. Local SGD (Stich, ICLR 2019; Lin et al., ICLR
// 2020) all-reduces the weights after every `period`-th update. Asynchronous model averaging (Gan et al., BAGUA, VLDB
// 2022) has a thread that continuously averages the whole model beside training, which never waits for it. DiLoCo
// averages what a round of local steps has changed, for a step of an outer optimizer; Streaming DiLoCo does so by
// fragments of the model. CO2 averages during the next round.

#include "models/overlap/compression_method.hpp"
#include "models/overlap/problem.hpp"
#include "policies/compression/kernels.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

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

/// A part of the model that an iteration sends as one message, whatever the fusion policy does with gradients, with the
/// last gradient: the averaging of the model takes several iterations.
class PieceAverage : public CompressionMethod {
 public:
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    if (group.last + 1 < problem.gradients.size()) return {};
    const Bytes sent = piece(problem);
    const std::int64_t d = std::max<std::int64_t>(1, sent.count() / problem.gradient_element_bytes);
    // A snapshot is averaged, and the change that this makes is added to the weights, which have moved on.
    return {ExchangeStage::kernel("snapshot", problem.kernels->of(kernels::copy(d))),
            ExchangeStage::send("all-reduce weights", CollectiveKind::all_reduce, sent),
            ExchangeStage::kernel("average", problem.kernels->of(kernels::mix(d, 3)))};
  }

 protected:
  [[nodiscard]] virtual Bytes piece(const OverlapProblem& problem) const = 0;
  static Bytes part_of(std::int64_t model, std::int64_t parts) { return Bytes{(model + parts - 1) / parts}; }
};

/// An averaging of the model takes as many iterations as the network needs for it. Each iteration sends an equal piece
/// whose all-reduce, with what the host does around it, takes no longer than the iteration computes.
class AsyncAverage final : public PieceAverage {
 public:
  [[nodiscard]] ExchangeMoment moment() const override { return ExchangeMoment::background; }

 private:
  /// What the host does around an all-reduce: its work and copies from and to the GPU.
  static Time beside_gpu(const OverlapProblem& problem, Bytes bytes) {
    std::vector<ExchangeStage> stages{ExchangeStage::send("", CollectiveKind::all_reduce, bytes)};
    wrap(problem, {1, bytes, problem.gradient_element_bytes, problem.workers}, stages);
    Time sum;
    for (const ExchangeStage& each : stages)
      if (each.site != StageSite::gpu) sum += each.duration;
    return sum;
  }

  /// Returns the size of the largest n-th part of the model whose averaging takes no longer than an iteration computes.
  /// Throws InputError if the start-up alone takes longer.
  [[nodiscard]] Bytes piece(const OverlapProblem& problem) const override {
    const LinearCost& cost = problem.cost.of(CollectiveKind::all_reduce);
    const Time left = problem.compute() - cost.alpha;
    if (left <= Time{})
      throw InputError{"can't keep up: the start-up of an all-reduce takes longer than computing an iteration"};
    const std::int64_t model = problem.gradient().count();
    const double all = static_cast<double>(model) * cost.beta.ns_per_byte() +
                       static_cast<double>(beside_gpu(problem, Bytes{model}).ns());
    const auto takes = [&](Bytes bytes) { return cost.of(bytes) + beside_gpu(problem, bytes); };
    auto parts = static_cast<std::int64_t>(std::max(1.0, std::ceil(all / static_cast<double>(left.ns()))));
    while (parts < model && takes(part_of(model, parts)) > problem.compute()) ++parts;
    return part_of(model, parts);
  }
};

/// What a round of `period` iterations has changed is averaged during the next round, and used at its end. The average
/// is cut into a piece for each iteration of that round; the end of an iteration waits for the piece before it.
class Co2 final : public PieceAverage {
 public:
  explicit Co2(std::int64_t period) : period_{period} {}
  [[nodiscard]] ExchangeMoment moment() const override { return ExchangeMoment::late; }

 private:
  [[nodiscard]] Bytes piece(const OverlapProblem& problem) const override {
    return part_of(problem.gradient().count(), period_);
  }

  std::int64_t period_;
};

/// Parameters of rounds with an outer optimizer.
struct DilocoRounds {
  std::int64_t period = 1;     ///< H iterations of a round, >= fragments
  std::int64_t fragments = 1;  ///< p parts of the layers, each of which is sent once a round
  bool is_strided = true;      ///< fragment k: layers k, k + p, ...; else layers that follow each other
  std::int64_t bits = 32;      ///< of each value sent
  bool is_late = false;        ///< averages are used an iteration late
};

/// After H inner steps the change of the weights is averaged, as a gradient for an outer step with Nesterov momentum
/// (DiLoCo). Fragments take turns, so that one is sent every H / p steps (Streaming DiLoCo).
class Diloco final : public CompressionMethod {
 public:
  explicit Diloco(const DilocoRounds& rounds) : rounds_{rounds} {}

  [[nodiscard]] ExchangeMoment moment() const override {
    return rounds_.is_late ? ExchangeMoment::late : ExchangeMoment::gradients;
  }
  /// For each fragment the iterations without exchange before the one that sends the fragment, if any, and that one.
  [[nodiscard]] IterationPhases phases() const override {
    std::vector<std::int64_t> lengths;
    for (std::int64_t k = 0; k < rounds_.fragments; ++k) {
      if (quiet(k) > 0) lengths.push_back(quiet(k));
      lengths.push_back(1);
    }
    return lengths.size() == 1 ? IterationPhases{} : IterationPhases::cycle(std::move(lengths));
  }
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const std::int64_t fragment = fragment_of(problem.phase);
    if (fragment < 0) return {};
    if (rounds_.fragments > static_cast<std::int64_t>(problem.layers.size()))
      throw InputError{
          fmt::format("can't cut a model of {} layers into {} fragments", problem.layers.size(), rounds_.fragments)};
    Bytes size;
    for (std::size_t i = group.first; i <= group.last; ++i)
      if (holds(fragment, problem.gradients[i].layer, problem.layers.size())) size += problem.gradients[i].size;
    if (size == Bytes{}) return {};
    const std::int64_t d = std::max<std::int64_t>(1, size.count() / problem.gradient_element_bytes);
    const KernelCosts& costs = *problem.kernels;
    const bool is_coded = rounds_.bits < 8 * problem.gradient_element_bytes;
    const Bytes sent = is_coded ? Bytes{(d * rounds_.bits + 7) / 8} : size;
    Time before = costs.of(kernels::mix(d, 2)), after = costs.of(kernels::outer_step(d));
    if (is_coded) {
      before += costs.of(kernels::encode(d, rounds_.bits));
      after += costs.of(kernels::decode(d, rounds_.bits));
    }
    return {ExchangeStage::kernel("outer gradient", before),
            ExchangeStage::send("all-reduce", CollectiveKind::all_reduce, sent),
            ExchangeStage::kernel("outer step", after)};
  }

 private:
  /// The iterations of a round before the end of the k-th of equal parts of the round, rounded to whole ones.
  [[nodiscard]] std::int64_t part_end(std::int64_t k) const { return k * rounds_.period / rounds_.fragments; }
  [[nodiscard]] std::int64_t quiet(std::int64_t k) const { return part_end(k + 1) - part_end(k) - 1; }
  /// The fragment that iterations of a phase send; -1: none.
  [[nodiscard]] std::int64_t fragment_of(int phase) const {
    std::int64_t at = 0;
    for (std::int64_t k = 0; k < rounds_.fragments; ++k) {
      if (quiet(k) > 0 && at++ == phase) return -1;
      if (at++ == phase) return k;
    }
    return -1;
  }
  [[nodiscard]] bool holds(std::int64_t fragment, std::size_t layer, std::size_t layers) const {
    const auto i = static_cast<std::int64_t>(layer), all = static_cast<std::int64_t>(layers);
    return (rounds_.is_strided ? i % rounds_.fragments : i * rounds_.fragments / all) == fragment;
  }

  DilocoRounds rounds_;
};

std::unique_ptr<CompressionMethod> make_local_sgd(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<LocalSgd>(parameters.get<std::int64_t>("period"));
}

std::unique_ptr<CompressionMethod> make_diloco(const Parameters& parameters, const PolicyContext&) {
  const DilocoRounds rounds{.period = parameters.get<std::int64_t>("period"),
                            .fragments = parameters.get<std::int64_t>("fragments"),
                            .is_strided = parameters.get<bool>("strided"),
                            .bits = parameters.get<std::int64_t>("bits"),
                            .is_late = parameters.get<bool>("late")};
  if (rounds.fragments > rounds.period)
    throw InputError{fmt::format("sends {} fragments in a round of {} iterations, and an iteration sends one at most",
                                 rounds.fragments, rounds.period)};
  return std::make_unique<Diloco>(rounds);
}

std::unique_ptr<CompressionMethod> make_co2(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Co2>(parameters.get<std::int64_t>("period"));
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

PolicyRow<CompressionMethod> diloco_compression() {
  static constexpr ParameterInfo kParameters[] = {
      {"period", std::int64_t{100}, 1, IterationPhases::kLongestCycle, "iterations of a round (H)"},
      {"fragments", std::int64_t{1}, 1, 1000, "parts of the layers, each sent once a round (Streaming DiLoCo)"},
      {"strided", true, 0, 0,
       "fragment k of p is every p-th layer from layer k on; false: layers that follow each other"},
      {"bits", std::int64_t{32}, 1, 32, "bits of each value sent, at most as wide as gradients"},
      {"late", false, 0, 0, "averages are used an iteration late, so that they overlap that iteration"}};
  return {.name = "diloco",
          .summary = "rounds of local steps, then an outer step, whole or by fragments",
          .source = "Douillard et al., arXiv 2311.08105; arXiv 2501.18512 (Streaming DiLoCo)",
          .parameters = kParameters,
          .make = make_diloco};
}

PolicyRow<CompressionMethod> co2_compression() {
  static constexpr ParameterInfo kParameters[] = {
      {"period", std::int64_t{48}, 1, IterationPhases::kLongestCycle, "iterations of a round (tau)"}};
  return {.name = "co2",
          .summary = "rounds of local steps whose average goes on during the next round",
          .source = "Sun et al., ICLR 2024 (CO2)",
          .parameters = kParameters,
          .make = make_co2};
}

}  // namespace contend
