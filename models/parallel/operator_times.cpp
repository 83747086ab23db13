#include "models/parallel/operators.hpp"
#include "sim/complaints.hpp"

#include <numeric>
#include <set>

#include <fmt/core.h>

namespace contend {

namespace {

KernelShape shape_of(const TransformerOperator& each) {
  if (each.kind == OperatorKind::fused_attention) {
    // A score is a product with a key and one with a value, which may have another size.
    const std::int64_t head = each.value_size > 0 ? (each.k + each.value_size) / 2 : each.k;
    return KernelShape::of_attention(each.count, each.m, head, each.forward.flops);
  }
  return {each.count / each.kernels_of_group, each.m, each.n, each.k, false, false, std::gcd(each.n, each.k)};
}

}  // namespace

OperatorTimes rounded_times(double forward_ns, double input_gradient_ns, double weight_gradient_ns) {
  constexpr double kDay_ns = 86'400e9;
  Complaints found;
  const auto time_of = [&](const char* pass, double ns) {
    if (ns <= kDay_ns) return Time::ceil_nanoseconds(ns);
    found.add(pass, fmt::format("the pass would take {:.3g} s, more than a day", ns * 1e-9));
    return Time{};
  };
  const OperatorTimes times{time_of("forward", forward_ns), time_of("gradient of the inputs", input_gradient_ns),
                            time_of("gradient of the weights", weight_gradient_ns)};
  found.throw_if_any();
  return times;
}

OperatorTimes operator_times(std::span<const TransformerOperator> operators, const Device& device,
                             const RooflineOptions& options) {
  Complaints found;
  std::set<DataType> types;
  for (const TransformerOperator& each : operators) types.insert(each.type);
  if (types.empty()) types.insert(options.type);
  RooflineOptions typed = options;
  for (const DataType type : types) {
    if (!found.empty()) break;
    typed.type = type;
    found.collect([&] { validate(typed, device); });
  }
  found.throw_if_any();

  double forward = 0, input_gradient = 0, weight_gradient = 0;
  for (const TransformerOperator& each : operators) {
    typed = options;
    typed.type = each.type;
    if (each.kind == OperatorKind::fused_attention) {
      const bool is_known = device.fused_attention > 0 && device.uses_matrix_unit(each.type);
      double& attention = typed.product_efficiency(device);
      attention = options.attention_efficiency.value_or(is_known ? device.fused_attention : attention);
    }
    const KernelShape shape = shape_of(each);
    forward += roofline_cost(each.forward, device, typed, shape).ns;
    input_gradient += roofline_cost(each.input_gradient, device, typed, shape.of_inputs()).ns;
    weight_gradient += roofline_cost(each.weight_gradient, device, typed, shape.of_weights()).ns;
  }
  return rounded_times(forward, input_gradient, weight_gradient);
}

}  // namespace contend
