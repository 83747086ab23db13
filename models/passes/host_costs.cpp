#include "models/passes/host_costs.hpp"

#include "models/layer_work.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace contend {
namespace {

/// A graph of kernels takes so long to launch (ahrefs/ocannl issue 488), and each of its nodes (NVIDIA/Megatron-LM
/// issue 6453: 0.55 us; ocannl: 0.58).
constexpr Time kGraph = Time::microseconds(15), kNode = Time::nanoseconds(600);

OperatorKind kind_of(const Layer& layer) {
  using enum LayerOperation;
  switch (layer.geometry ? layer.geometry->operation : linear) {
    case attention_scores:
      return OperatorKind::attention_scores;
    case attention_context:
      return OperatorKind::attention_context;
    case fused_attention:
      return OperatorKind::fused_attention;
    case softmax:
      return OperatorKind::softmax;
    default:
      break;
  }
  switch (layer.kind) {
    case LayerKind::normalization:
      return OperatorKind::norm;
    case LayerKind::embedding:
      return OperatorKind::embedding;
    case LayerKind::pooling:
    case LayerKind::activation:
    case LayerKind::elementwise:
      return OperatorKind::elementwise;
    default:
      return OperatorKind::product;
  }
}

/// Launches of a pass one by one, and those that are nodes of a graph.
struct Launches {
  double forward = 0, backward = 0, nodes = 0;
  Time further;  ///< of groups
  std::int64_t collectives = 0;
};

Time pass(const HostCosts& costs, const Launches& made) {
  const double ns = made.forward * static_cast<double>(costs.kernel(false).ns()) +
                    made.backward * static_cast<double>(costs.kernel(true).ns()) +
                    made.nodes * static_cast<double>(kNode.ns());
  return (made.nodes > 0 ? kGraph : Time{}) + Time::nanoseconds(std::llround(ns)) + made.further +
         costs.collective * made.collectives;
}

/// True if a graph has the operators or collectives; `of_experts`: operators of routed experts and collectives of their
/// exchange.
bool in_graph(const HostCosts& costs, bool of_experts) {
  return costs.graphs && !(costs.eager_experts && of_experts);
}

bool in_graph(const HostCosts& costs, const TransformerOperator& each) {
  return in_graph(costs, each.part == LayerPart::experts || each.part == LayerPart::combination);
}

void add(const HostCosts& costs, const PassTraffic& traffic, Launches& made) {
  for (const PassCollective& each : traffic.collectives) {
    if (each.groups.size < 2) continue;
    if (in_graph(costs, each.of == PassGroup::expert))
      made.nodes += static_cast<double>(each.times);
    else
      made.collectives += each.times;
  }
}

double launches(const LaunchFactors& factors, OperatorKind kind, const LayerWork& work) {
  return factors[static_cast<std::size_t>(kind)] * work.kernels;
}

/// The launches of a pass of operators. A call of the framework launches the kernels of a group; the launches of a
/// routing are counted already.
void add(const HostCosts& costs, std::span<const TransformerOperator> operators, LayerWork TransformerOperator::*pass,
         bool is_backward, Launches& made) {
  for (const TransformerOperator& each : operators) {
    const int calls = (each.*pass).kernels / each.kernels_of_group;
    const LaunchFactors& factors = is_backward ? costs.backward : costs.forward;
    const double launched = each.name == kRouting ? calls : launches(factors, each.kind, {0, 0, calls});
    const double further = static_cast<double>(calls) * (each.kernels_of_group - 1);
    if (in_graph(costs, each)) {
      made.nodes += launched + further;
    } else {
      (is_backward ? made.backward : made.forward) += launched;
      made.further += Time::nanoseconds(std::llround(static_cast<double>(costs.grouped.ns()) * further));
    }
  }
}

}  // namespace

Time HostCosts::first(bool is_backward) const {
  return graphs ? kGraph : kernel(is_backward);
}

HostTimes HostCosts::of(std::span<const TransformerOperator> operators, std::span<const TransformerOperator> again,
                        const ModelUnit& unit) const {
  using Operator = TransformerOperator;
  Launches once, inputs, weights;
  add(*this, operators, &Operator::forward, false, once);
  add(*this, unit.forward_traffic, once);
  add(*this, operators, &Operator::input_gradient, true, inputs);
  add(*this, again, &Operator::forward, false, inputs);
  add(*this, unit.backward_traffic, inputs);
  add(*this, operators, &Operator::weight_gradient, true, weights);
  const bool starts = std::ranges::any_of(again, [&](const Operator& each) { return !in_graph(*this, each); });
  return {pass(*this, once), pass(*this, inputs) + (starts ? recompute : Time{}), pass(*this, weights)};
}

HostTimes HostCosts::of(const Layer& layer) const {
  const OperatorKind kind = kind_of(layer);
  Launches once, back;
  (graphs ? once.nodes : once.forward) = launches(forward, kind, forward_work(layer, 1, 1));
  (graphs ? back.nodes : back.backward) = launches(backward, kind, input_gradient_work(layer, 1, 1)) +
                                          launches(backward, kind, weight_gradient_work(layer, 1, 1));
  return {pass(*this, once), pass(*this, back), {}};
}

Time HostCosts::update(std::int64_t tensors) const {
  // Adam of torch: add, lerp, mul, addcmul, sqrt, div, addcdiv and what makes their scalars, for each tensor or for
  // groups of them; one kernel over a flat buffer, the norm, and its scaling.
  constexpr std::int64_t kSeparate = 12, kFused = 4;
  if (optimizer == OptimizerKernels::fused) return kernel(false) * kFused;
  return kernel(false) * (optimizer == OptimizerKernels::foreach ? kSeparate : kSeparate * tensors);
}

}  // namespace contend
