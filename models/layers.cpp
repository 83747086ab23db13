#include "models/layers.hpp"

#include "sim/complaints.hpp"

#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

std::int64_t elements_of(const std::vector<ParameterTensor>& tensors) {
  std::int64_t sum = 0;
  for (const ParameterTensor& tensor : tensors) sum += tensor.elements;
  return sum;
}

bool needs_parameters(LayerKind kind) {
  return kind == LayerKind::convolution || kind == LayerKind::linear || kind == LayerKind::embedding ||
         kind == LayerKind::recurrent;
}

// Collects complaints about one model and prefixes each with its place in the model.
class ModelComplaints {
 public:
  explicit ModelComplaints(std::string_view model) : model_{model} {}

  void add(const std::string& place, std::string reason) {
    found_.add(place.empty() ? fmt::format("model `{}`", model_) : fmt::format("model `{}`: {}", model_, place),
               std::move(reason));
  }
  void add_if_negative(const std::string& place, std::string_view what, std::int64_t value) {
    if (value < 0) add(place, fmt::format("{} must not be negative, got {}", what, value));
  }
  void throw_if_any() { found_.throw_if_any(); }

 private:
  std::string_view model_;
  Complaints found_;
};

// Identifies a layer also by its position, because its name may be the fault.
std::string layer_place(std::size_t index, const std::string& name) {
  return fmt::format("layer {} `{}`", index + 1, name);
}

void check_name(ModelComplaints& complaints, std::set<std::string>& seen, const std::string& place,
                const std::string& name) {
  if (name.empty()) complaints.add(place, "a name is missing");
  if (!name.empty() && !seen.insert(name).second) complaints.add(place, "the name is used twice");
}

void check_tensors(ModelComplaints& complaints, const std::string& layer, const std::vector<ParameterTensor>& tensors) {
  std::set<std::string> names;
  for (const ParameterTensor& tensor : tensors) {
    const std::string place = fmt::format("{}: tensor `{}`", layer, tensor.name);
    check_name(complaints, names, place, tensor.name);
    if (tensor.elements < 1) {
      complaints.add(place, fmt::format("expected at least 1 element, got {}", tensor.elements));
    }
    const std::int64_t product =
        std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1}, std::multiplies<>{});
    if (!tensor.shape.empty() && product != tensor.elements) {
      complaints.add(place, fmt::format("its shape holds {} elements, not {}", product, tensor.elements));
    }
  }
}

void check_layer(ModelComplaints& complaints, const std::string& place, const Layer& layer) {
  check_tensors(complaints, place, layer.parameters);
  if (needs_parameters(layer.kind) && layer.parameters.empty() && layer.shared_elements == 0) {
    complaints.add(place, fmt::format("a layer of kind {} needs parameters", to_string(layer.kind)));
  }
  complaints.add_if_negative(place, "shared elements", layer.shared_elements);
  complaints.add_if_negative(place, "forward flops", layer.forward_flops);
  complaints.add_if_negative(place, "input gradient flops", layer.input_gradient_flops);
  complaints.add_if_negative(place, "weight gradient flops", layer.weight_gradient_flops);
  complaints.add_if_negative(place, "input elements", layer.input_elements);
  complaints.add_if_negative(place, "output elements", layer.output_elements);
  if (layer.kernels < 1) complaints.add(place, fmt::format("expected at least 1 kernel, got {}", layer.kernels));
  if (layer.input_reads < 1) {
    complaints.add(place, fmt::format("expected at least 1 read of the input, got {}", layer.input_reads));
  }
}

}  // namespace

std::string_view to_string(LayerKind kind) {
  switch (kind) {
    case LayerKind::convolution:
      return "convolution";
    case LayerKind::linear:
      return "linear";
    case LayerKind::embedding:
      return "embedding";
    case LayerKind::attention:
      return "attention";
    case LayerKind::recurrent:
      return "recurrent";
    case LayerKind::normalization:
      return "normalization";
    case LayerKind::pooling:
      return "pooling";
    case LayerKind::activation:
      return "activation";
    case LayerKind::elementwise:
      return "elementwise";
  }
  return "unknown";
}

std::int64_t Layer::parameter_elements() const {
  return elements_of(parameters);
}

std::int64_t LayerTable::parameter_elements() const {
  std::int64_t sum = 0;
  for (const Layer& layer : layers) sum += layer.parameter_elements();
  return sum;
}

std::int64_t LayerTable::parameter_tensors() const {
  std::int64_t sum = 0;
  for (const Layer& layer : layers) sum += static_cast<std::int64_t>(layer.parameters.size());
  return sum;
}

std::int64_t LayerTable::forward_flops() const {
  std::int64_t sum = 0;
  for (const Layer& layer : layers) sum += layer.forward_flops;
  return sum;
}

std::int64_t LayerTable::backward_flops() const {
  std::int64_t sum = 0;
  for (const Layer& layer : layers) sum += layer.backward_flops();
  return sum;
}

void validate(const LayerTable& table) {
  ModelComplaints complaints{table.name};
  if (table.layers.empty()) complaints.add("", "expected at least one layer");
  if (!table.layers.empty() && table.parameter_tensors() == 0) {
    complaints.add("", "no layer has parameters, so there is nothing to train");
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < table.layers.size(); ++i) {
    const std::string place = layer_place(i, table.layers[i].name);
    check_name(complaints, names, place, table.layers[i].name);
    check_layer(complaints, place, table.layers[i]);
  }
  complaints.throw_if_any();
}

Time TimedModel::forward() const {
  Time sum;
  for (const TimedLayer& layer : layers) sum += layer.forward;
  return sum;
}

Time TimedModel::backward() const {
  Time sum;
  for (const TimedLayer& layer : layers) sum += layer.backward;
  return sum;
}

std::int64_t TimedModel::gradient_elements() const {
  std::int64_t sum = 0;
  for (const TimedLayer& layer : layers) sum += elements_of(layer.tensors);
  return sum;
}

Bytes TimedModel::gradient() const {
  return Bytes{gradient_elements() * gradient_element_bytes};
}

Bytes TimedModel::gradient(std::size_t layer) const {
  return Bytes{elements_of(layers[layer].tensors) * gradient_element_bytes};
}

void validate(const TimedModel& model) {
  ModelComplaints complaints{model.name};
  if (model.layers.empty()) complaints.add("", "expected at least one layer");
  if (model.batch < 1) complaints.add("", fmt::format("expected a batch of at least 1, got {}", model.batch));
  if (model.gradient_element_bytes < 1) {
    complaints.add("", fmt::format("expected at least 1 byte per element, got {}", model.gradient_element_bytes));
  }
  if (!model.layers.empty()) {
    if (model.gradient_elements() == 0) complaints.add("", "no layer has gradients, so there is nothing to send");
    if (model.forward() == Time{}) complaints.add("", "the forward pass takes no time");
    if (model.backward() == Time{}) complaints.add("", "the backward pass takes no time");
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const TimedLayer& layer = model.layers[i];
    const std::string place = layer_place(i, layer.name);
    check_name(complaints, names, place, layer.name);
    check_tensors(complaints, place, layer.tensors);
    complaints.add_if_negative(place, "forward time (ns)", layer.forward.ns());
    complaints.add_if_negative(place, "backward time (ns)", layer.backward.ns());
  }
  complaints.throw_if_any();
}

}  // namespace contend
