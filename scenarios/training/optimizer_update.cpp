#include "scenarios/training/optimizer_update.hpp"

#include "models/overlap/optimizers.hpp"
#include "scenarios/training/host_work.hpp"
#include "scenarios/training/trained_model.hpp"

#include <cmath>
#include <cstddef>

namespace contend {

void add_update(const TrainingEntry& entry, TimedModel& model) {
  if (entry.optimizer == nullptr) return;
  const auto values = static_cast<double>(model.gradient_elements());
  Time update = kernel_costs(entry).of(
      update_work(*entry.optimizer, values, model.gradient_element_bytes, updates_separately(entry)));
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
