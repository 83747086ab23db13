#include "calibration/transformer_times.hpp"

#include "calibration/pass_time.hpp"
#include "calibration/transformer_calls.hpp"
#include "sim/complaints.hpp"

#include <set>
#include <utility>

namespace contend {

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

  PassTime forward, input_gradient, weight_gradient;
  for (const TransformerOperator& each : operators) {
    const TransformerCalls calls = transformer_calls(each);
    forward.add(calls.forward, device, each.type);
    input_gradient.add(calls.input_gradient, device, each.type);
    weight_gradient.add(calls.weight_gradient, device, each.type);
  }
  PredictionSum all = forward.sum();
  all.add(input_gradient.sum());
  all.add(weight_gradient.sum());
  return {rounded_times(forward.seconds(device) * 1e9, input_gradient.seconds(device) * 1e9,
                        weight_gradient.seconds(device) * 1e9),
          all.basis()};
}

}  // namespace contend
