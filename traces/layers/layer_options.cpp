#include "traces/layers/layer_options.hpp"

#include "sim/complaints.hpp"
#include "text/words.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::int64_t kMaxParameters = std::int64_t{1} << 59;  // their bytes stay within 64 bits

template <class Model, class Layer>
void validate_layers(const Model& model, std::vector<ParameterTensor> Layer::*tensors, const std::string& file) {
  if (static_cast<std::int64_t>(model.layers.size()) > kMaxLayers)
    FileComplaints{file}.fail({}, "", fmt::format("{} layers; expected at most {}", model.layers.size(), kMaxLayers));
  std::int64_t parameters = 0;
  for (const Layer& layer : model.layers)
    for (const ParameterTensor& tensor : layer.*tensors) {
      parameters += std::min(tensor.elements, kMaxElements);
      if (parameters > kMaxParameters)
        FileComplaints{file}.fail({}, "", fmt::format("more than {} parameters", kMaxParameters));
    }
  try {
    validate(model);
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& each) { each.file = file; });
  }
}

}  // namespace

void check_options(const LayerReadOptions& options, const LayerReadNeeds& needs, std::string_view format,
                   FileComplaints& complaints) {
  const auto unused = [&](bool given, bool needed, const char* option, const char* why) {
    if (given && !needed) complaints.add({}, option, fmt::format("a file in format {} {}", format, why));
  };
  unused(!options.select.empty(), needs.select, "select", "holds one model; there is nothing to choose");
  unused(options.forward_ratio.has_value(), needs.forward_ratio, "forward_ratio", "has forward times of its own");
  unused(options.batch.has_value(), needs.batch, "batch", "states its own batch");
  unused(options.sizes != nullptr, needs.sizes, "sizes", "has parameter counts of its own");
  const double ratio = options.forward_ratio.value_or(kForwardRatio);
  if (!(ratio > 0 && ratio <= 100))
    complaints.add({}, "forward_ratio", fmt::format("expected a number above 0 and up to 100, got {}", ratio));
  if (options.batch.value_or(1) < 1)
    complaints.add({}, "batch", fmt::format("expected a whole number >= 1, got {}", *options.batch));
  complaints.throw_if_any();
}

Time forward_from(Time backward, const LayerReadOptions& options) {
  const double ratio = options.forward_ratio.value_or(kForwardRatio);
  return Time::nanoseconds(std::llround(ratio * static_cast<double>(backward.ns())));
}

std::string forward_note(const LayerReadOptions& options) {
  return fmt::format(", forward = {} backward", options.forward_ratio.value_or(kForwardRatio));
}

std::size_t choose(const std::string& wanted, const std::vector<std::string>& available, FileComplaints& complaints) {
  if (available.empty()) complaints.fail({}, "", "the file holds no model");
  if (wanted.empty() && available.size() == 1) return 0;
  const auto found = std::find(available.begin(), available.end(), wanted);
  if (found != available.end()) return static_cast<std::size_t>(found - available.begin());
  std::string list;
  for (const std::string& name : available) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  if (wanted.empty())
    complaints.fail({}, "select", fmt::format("the file holds several models; choose one of {}", list));
  std::string hint = did_you_mean(wanted, available);
  complaints.fail({}, "select", fmt::format("no \"{}\" in the file; it holds {}", wanted, list), std::move(hint));
}

void take_sizes(TimedModel& model, const LayerTable& sizes, FileComplaints& complaints) {
  std::map<std::string, TimedLayer*> layers;
  std::vector<std::string> names;
  for (TimedLayer& layer : model.layers) {
    layers.emplace(layer.name, &layer);
    names.push_back(layer.name);
  }
  for (const Layer& layer : sizes.layers) {
    if (layer.parameters.empty()) continue;
    if (const auto found = layers.find(layer.name); found != layers.end())
      found->second->tensors = layer.parameters;
    else
      complaints.add({}, "sizes",
                     fmt::format("layer \"{}\" of {} has parameters, but no times in the file", layer.name, sizes.name),
                     did_you_mean(layer.name, names));
  }
  complaints.throw_if_any();
}

void validate_read(const TimedModel& model, const std::string& file) {
  validate_layers(model, &TimedLayer::tensors, file);
}

void validate_read(const LayerTable& table, const std::string& file) {
  validate_layers(table, &Layer::parameters, file);
}

std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const std::size_t dot = name.find('.', 1);
  return dot == std::string::npos ? name : name.substr(0, dot);
}

}  // namespace contend
