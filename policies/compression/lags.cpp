// LAGS-SGD (Shi et al., ECAI 2020) selects the largest values layer by layer. It chooses the density of each layer so
// that the backward pass of the next layer hides the all-gather:
//
//   density = (window - alpha) / (beta x bytes of all pairs that all n workers would send of all d values)
//
// alpha and beta belong to the all-gather in the study: (n-1) alpha and (n-1)/n beta of a link in a ring. The paper
// assumes a tree with log2(n) start-ups instead, and the same bytes: 2(n-1) values and indices.

#include "policies/compression/top_k.hpp"
#include "policies/registry.hpp"

#include <algorithm>

namespace contend {

namespace {

class LayerwiseTopK final : public TopK {
 public:
  explicit LayerwiseTopK(const Parameters& parameters)
      : TopK{parameters, parameters.get<double>("min_density")}, slack_{parameters.get<double>("slack_density")} {}

  [[nodiscard]] std::optional<RouteRefusal> refusal(MessageRoute route) const override {
    if (route == MessageRoute::server)
      return RouteRefusal{"its densities are those that hide an all-gather", "exchange: all-reduce"};
    return TopK::refusal(route);
  }

 protected:
  [[nodiscard]] std::int64_t count(const OverlapProblem& problem, const GradientGroup& group) const override {
    const LinearCost& gather = problem.cost.of(CollectiveKind::all_gather);
    const std::int64_t d = problem.elements(group);
    const double spare_ns = window_ns(problem, group) - static_cast<double>(gather.alpha.ns());
    const double whole_ns = pairs(problem, d).to_double() * problem.workers * gather.beta.ns_per_byte();
    if (spare_ns > whole_ns) return selected(d, std::max(slack_, density()));
    return selected(d, std::max(density(), spare_ns / whole_ns));
  }

 private:
  /// Returns the backward time between the instants at which the group and the next layer are ready. Messages that
  /// become ready at the same time share it in proportion to their sizes.
  static double window_ns(const OverlapProblem& problem, const GradientGroup& group) {
    const auto& gradients = problem.gradients;
    const std::size_t layer = gradients[group.last].layer;
    std::size_t first = group.first, next = group.last;
    while (first > 0 && gradients[first - 1].layer == layer) --first;
    while (next < gradients.size() && gradients[next].layer == layer) ++next;
    if (next == gradients.size()) return 0;
    Time window;
    for (std::size_t i = gradients[next].layer; i < layer; ++i) window += problem.layers[i].backward;
    const auto share =
        static_cast<double>(problem.elements(group)) / static_cast<double>(problem.elements({first, next - 1}));
    return static_cast<double>(window.ns()) * share;
  }

  double slack_;
};

}  // namespace

PolicyRow<CompressionMethod> lags_compression() {
  static constexpr ParameterInfo kParameters[] = {
      {"min_density", 0.001, 1e-6, 1, "density of a layer whose all-gather cannot be hidden"},
      {"slack_density", 0.05, 1e-6, 1, "density of a layer whose all-gather of all values and indices could be hidden"},
      kSelectionTime};
  return {.name = "lags",
          .summary = "the largest values, each layer as dense as the rest of the backward pass hides",
          .source = "Shi et al., ECAI 2020",
          .parameters = kParameters,
          .make = make_own<CompressionMethod, LayerwiseTopK>};
}

}  // namespace contend
