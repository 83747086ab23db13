#include "models/overlap/problem.hpp"

#include "sim/error.hpp"

namespace contend {

Time OverlapProblem::forward() const {
  Time sum;
  for (const Layer& layer : layers) sum += layer.forward;
  return sum;
}

Time OverlapProblem::backward() const {
  Time sum;
  for (const Layer& layer : layers) sum += layer.backward;
  return sum;
}

Bytes OverlapProblem::gradient() const {
  Bytes sum;
  for (const Gradient& each : gradients) sum += each.size;
  return sum;
}

Bytes OverlapProblem::size(const GradientGroup& group) const {
  Bytes sum;
  for (std::size_t i = group.first; i <= group.last; ++i) sum += gradients[i].size;
  return sum;
}

std::vector<Time> OverlapProblem::ready() const {
  std::vector<Time> of_layer(layers.size());
  Time now;
  for (std::size_t i = layers.size(); i-- > 0;) of_layer[i] = now += layers[i].backward;
  std::vector<Time> result;
  result.reserve(gradients.size());
  for (const Gradient& each : gradients) result.push_back(of_layer[each.layer]);
  return result;
}

OverlapProblem overlap_problem(const TimedModel& model, int workers, const ExchangeCost& cost,
                               Granularity granularity) {
  validate(model);
  if (workers < 1) throw InputError{"a job needs at least one worker"};
  OverlapProblem problem;
  problem.workers = workers;
  problem.gradient_element_bytes = model.gradient_element_bytes;
  problem.cost = workers > 1 ? cost : ExchangeCost{};  // a single worker exchanges nothing
  std::vector<std::size_t> layer_of;                   // of each layer of the model
  for (const TimedLayer& layer : model.layers) {
    if (!problem.layers.empty() && layer.tensors.empty()) {
      problem.layers.back().forward += layer.forward;
      problem.layers.back().backward += layer.backward;
    } else {
      problem.layers.push_back({layer.name, layer.forward, layer.backward});
    }
    layer_of.push_back(problem.layers.size() - 1);
  }
  for (std::size_t i = model.layers.size(); i-- > 0;) {
    const auto& tensors = model.layers[i].tensors;
    const auto size = [&](std::int64_t elements) { return Bytes{elements * model.gradient_element_bytes}; };
    if (granularity == Granularity::layer && !tensors.empty()) {
      const bool single = tensors.size() == 1;
      problem.gradients.push_back({layer_of[i], model.gradient(i), single ? tensors.front().rows() : 0,
                                   single ? tensors.front().columns() : 0});
      continue;
    }
    for (std::size_t t = tensors.size(); t-- > 0;)
      problem.gradients.push_back({layer_of[i], size(tensors[t].elements), tensors[t].rows(), tensors[t].columns()});
  }
  return problem;
}

}  // namespace contend
