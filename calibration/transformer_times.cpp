#include "calibration/transformer_times.hpp"

#include "calibration/layer_operators.hpp"
#include "calibration/prediction_sum.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace contend {

namespace {

class OperatorPasses {
 public:
  explicit OperatorPasses(const CalibratedDevice& device) : device_{device} {}

  void add(const TransformerOperator& each) {
    const auto [count, m, n, k] = std::array{each.count, each.m, each.n, each.k};
    switch (each.kind) {
      case OperatorKind::product:
        call(forward, "gemm", each, {count, m, n, k});
        call(input_gradient, "gemm", each, {count, m, k, n});
        call(weight_gradient, "gemm", each, {count, n, k, m});
        break;
      case OperatorKind::attention_scores:
        call(forward, "gemm", each, {count, m, n, k});
        call(input_gradient, "gemm", each, {count, m, k, n});
        call(input_gradient, "gemm", each, {count, n, k, m});
        break;
      case OperatorKind::attention_context:
        call(forward, "gemm", each, {count, m, k, n});
        call(input_gradient, "gemm", each, {count, m, n, k});
        call(input_gradient, "gemm", each, {count, n, k, m});
        break;
      case OperatorKind::fused_attention:
        share(forward, "attention", each, each.forward.flops);
        share(input_gradient, "attention_backward", each, each.input_gradient.flops);
        break;
      case OperatorKind::softmax:
        call(forward, "softmax", each, {m, n});
        call(input_gradient, "softmax_backward", each, {m, n});
        break;
      case OperatorKind::norm:
        call(forward, "layer_norm", each, {m, n});
        call(input_gradient, "layer_norm_backward", each, {m, n});
        break;
      case OperatorKind::embedding:
        call(forward, "embedding", each, {k, n, m});
        call(weight_gradient, "embedding_backward", each, {k, n, m});
        break;
      case OperatorKind::elementwise:
        forward.add(device_.work(each.forward, each.type));
        input_gradient.add(device_.work(each.input_gradient, each.type));
        break;
    }
  }

  PredictionSum forward, input_gradient, weight_gradient;

 private:
  void call(PredictionSum& pass, std::string_view name, const TransformerOperator& each, OperatorShape shape) const {
    const OperatorCall made = operator_call(name, each.type, std::move(shape));
    pass.add(device_.operation(made.name, made.type, made.shape));
  }

  /// What was measured is attention of a sequence to itself, all scores computed.
  void share(PredictionSum& pass, std::string_view name, const TransformerOperator& each, double flops) const {
    const OperatorCall square = operator_call(name, each.type, {1, each.count, each.n, each.k});
    Prediction one = device_.operation(square.name, square.type, square.shape);
    const double part = flops / find_operator(name)->work(square.shape, square.type).flops;
    if (part != 1) {
      one.seconds *= part;
      one.basis = std::max(one.basis, PredictionBasis::interpolated);
    }
    pass.add(one);
  }

  const CalibratedDevice& device_;
};

}  // namespace

CalibratedOperatorTimes calibrated_operator_times(std::span<const TransformerOperator> operators,
                                                  const CalibratedDevice& device) {
  std::set<DataType> types;
  for (const TransformerOperator& each : operators) {
    if (each.forward.flops > 0) types.insert(each.type);
  }
  Complaints found;
  for (const DataType type : types) {
    for (CalibratedDevice::Fault& fault : device.faults(type)) {
      if (fault.about == CalibratedDevice::Fault::type || type == *types.begin())
        found.add("type", std::move(fault.text));
    }
  }
  found.throw_if_any();

  OperatorPasses passes{device};
  for (const TransformerOperator& each : operators) passes.add(each);
  PredictionSum all = passes.forward;
  all.add(passes.input_gradient);
  all.add(passes.weight_gradient);
  return {rounded_times(passes.forward.seconds() * 1e9, passes.input_gradient.seconds() * 1e9,
                        passes.weight_gradient.seconds() * 1e9),
          all.basis()};
}

}  // namespace contend
