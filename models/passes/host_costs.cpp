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

std::int64_t collectives_of(const PassTraffic& traffic) {
  std::int64_t count = 0;
  for (const PassCollective& each : traffic.collectives)
    if (each.groups.size > 1) count += each.times;
  return count;
}

/// A pass of so many forward and backward launches and collectives.
Time pass(const HostCosts& costs, double forward, double backward, std::int64_t collectives) {
  if (costs.graphs) {
    const double nodes = forward + backward + static_cast<double>(collectives);
    return nodes > 0 ? kGraph + Time::nanoseconds(std::llround(nodes * static_cast<double>(kNode.ns()))) : Time{};
  }
  const double ns =
      forward * static_cast<double>(costs.kernel(false).ns()) + backward * static_cast<double>(costs.kernel(true).ns());
  return Time::nanoseconds(std::llround(ns)) + costs.collective * collectives;
}

double launches(const LaunchFactors& factors, OperatorKind kind, const LayerWork& work) {
  return factors[static_cast<std::size_t>(kind)] * work.kernels;
}

/// Further launches for the tables by which a layer with experts routes its tokens; `pass` of the router's product.
double routes(const HostCosts& costs, std::span<const TransformerOperator> operators,
              LayerWork TransformerOperator::*pass) {
  const bool is_routed = std::ranges::any_of(operators, [&](const TransformerOperator& each) {
    return each.part == LayerPart::router && each.kind == OperatorKind::product && (each.*pass).kernels > 0;
  });
  return is_routed ? costs.routing : 0;
}

/// Products of groups that are launched one by one, but the first of each group.
std::int64_t further_products(std::span<const TransformerOperator> operators, LayerWork TransformerOperator::*pass) {
  std::int64_t further = 0;
  for (const TransformerOperator& each : operators)
    if (each.kind == OperatorKind::product) further += (each.count - 1) * (each.*pass).kernels;
  return further;
}

}  // namespace

Time HostCosts::first(bool is_backward) const {
  return graphs ? kGraph : kernel(is_backward);
}

HostTimes HostCosts::of(std::span<const TransformerOperator> operators, std::span<const TransformerOperator> again,
                        const ModelUnit& unit) const {
  using Operator = TransformerOperator;
  double once = routes(*this, operators, &Operator::forward), repeated = routes(*this, again, &Operator::forward);
  double inputs = routes(*this, operators, &Operator::input_gradient), weights = 0;
  for (const TransformerOperator& each : operators) {
    once += launches(forward, each.kind, each.forward);
    inputs += launches(backward, each.kind, each.input_gradient);
    weights += launches(backward, each.kind, each.weight_gradient);
  }
  for (const TransformerOperator& each : again) repeated += launches(forward, each.kind, each.forward);
  const Time each = graphs ? std::min(grouped, kNode) : grouped;
  const std::int64_t further_inputs =
      further_products(again, &Operator::forward) + further_products(operators, &Operator::input_gradient);
  return {pass(*this, once, 0, collectives_of(unit.forward_traffic)) +
              each * further_products(operators, &Operator::forward),
          pass(*this, repeated, inputs, collectives_of(unit.backward_traffic)) + (again.empty() ? Time{} : recompute) +
              each * further_inputs,
          pass(*this, 0, weights, 0) + each * further_products(operators, &Operator::weight_gradient)};
}

HostTimes HostCosts::of(const Layer& layer) const {
  const OperatorKind kind = kind_of(layer);
  const LayerWork once = forward_work(layer, 1, 1);
  const double back = launches(backward, kind, input_gradient_work(layer, 1, 1)) +
                      launches(backward, kind, weight_gradient_work(layer, 1, 1));
  return {pass(*this, launches(forward, kind, once), 0, 0), pass(*this, 0, back, 0), {}};
}

Time HostCosts::update(std::int64_t tensors) const {
  // Adam of torch: add, lerp, mul, addcmul, sqrt, div, addcdiv and what makes their scalars, for each tensor or for
  // groups of them; one kernel over a flat buffer, the norm, and its scaling.
  constexpr std::int64_t kSeparate = 12, kFused = 4;
  if (optimizer == OptimizerKernels::fused) return kernel(false) * kFused;
  return kernel(false) * (optimizer == OptimizerKernels::foreach ? kSeparate : kSeparate * tensors);
}

}  // namespace contend
