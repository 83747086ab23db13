#include "scenarios/training/optimizer_bytes.hpp"

#include "scenarios/training/trained_model.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace contend {

OptimizerBytes bytes_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::none:
      return {};
    case Optimizer::sgd:
      return {12, 0};
    case Optimizer::momentum:
      return {20, 4};
    case Optimizer::adam:
      return {28, 8};
  }
  check_failed(__FILE__, __LINE__, "an optimizer", "unknown");
}

KernelWork update_work(Optimizer optimizer, double elements, int width) {
  KernelWork work{.bytes = bytes_of(optimizer).moved * elements};
  if (optimizer == Optimizer::momentum)
    work.op = "sgd_fused";
  else if (optimizer == Optimizer::adam)
    work.op = width < 4 ? "adam_mixed" : "adam_fused";
  work.shape[0] = std::max<std::int64_t>(1, std::llround(elements));
  return work;
}

void add_update(const TrainingEntry& entry, TimedModel& model) {
  if (entry.optimizer == Optimizer::none) return;
  const auto values = static_cast<double>(model.gradient_elements());
  Time update = kernel_costs(entry).of(update_work(entry.optimizer, values, model.gradient_element_bytes));
  constexpr double kUnscaled = 4 + 4 + 4;  // a value is read, divided by the scale and written, and checked
  if (entry.mixed_precision && entry.type == DataType::fp16)
    update += kernel_costs(entry).of({kUnscaled * values, 0, 2});

  std::size_t tensors = 0;
  for (const TimedLayer& layer : model.layers) tensors += layer.tensors.size();
  const Time host = entry.update_per_tensor * static_cast<std::int64_t>(tensors);
  const bool launches = host > update;
  const auto total = static_cast<double>(launches ? host.ns() : update.ns());
  const double all = launches ? static_cast<double>(tensors) : values;
  double before = 0;
  Time given;
  for (TimedLayer& layer : model.layers) {
    for (const ParameterTensor& tensor : layer.tensors) before += launches ? 1 : static_cast<double>(tensor.elements);
    const Time until = Time::nanoseconds(static_cast<std::int64_t>(std::llround(total * (before / all))));
    layer.forward += until - given;
    given = until;
  }
}

}  // namespace contend
