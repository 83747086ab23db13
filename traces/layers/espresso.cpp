#include "traces/layers/espresso.hpp"

#include "text/json_reader.hpp"
#include "text/words.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

using Kind = JsonValue::Kind;
/// The array of that name; if it is missing or no array, reports that and returns an empty one.
const std::vector<JsonValue>& array_of(const JsonValue& model, const std::string& name, const std::string& key,
                                       FileComplaints& complaints) {
  static const std::vector<JsonValue> none;
  const JsonValue* array = model.find(name);
  if (array == nullptr)
    complaints.add(model.place, key, fmt::format("no \"{}\"", name), did_you_mean(name, model.names));
  else if (!array->is(Kind::array))
    complaints.add(array->place, fmt::format("{}.{}", key, name),
                   fmt::format("expected an array, got {}", kind_name(array->kind)));
  else
    return array->items;
  return none;
}

TimedLayer read_tensor(const JsonValue& tensor, const std::string& key, FileComplaints& complaints) {
  TimedLayer layer;
  if (!tensor.is(Kind::array) || tensor.items.size() != 2 || !tensor.items[0].is(Kind::string) ||
      !tensor.items[1].is(Kind::number)) {
    complaints.add(tensor.place, key, "expected [name, number of elements]");
    return layer;
  }
  layer.name = tensor.items[0].text;
  if (layer.name.empty()) complaints.add(tensor.items[0].place, key, "expected a name, got nothing");
  ParameterTensor gradient;
  gradient.name = layer.name.substr(layer.name.rfind('.') + 1);  // npos + 1 is 0
  gradient.elements = read_whole(tensor.items[1].text, 1, kMaxElements, tensor.items[1].place, key, complaints);
  layer.tensors.push_back(std::move(gradient));
  return layer;
}

}  // namespace

TimedModel parse_espresso(ByteSource& source, const std::string& file, const LayerReadOptions& options) {
  FileComplaints complaints{file};
  check_options(options, {.select = true, .forward_ratio = true, .batch = true}, "espresso", complaints);
  const JsonValue document = read_json(source, file);
  if (!document.is(Kind::object))
    complaints.fail(document.place, "", fmt::format("expected an object of models, got {}", kind_name(document.kind)));

  std::vector<std::string> names;
  for (const std::string& name : document.names)
    if (!name.starts_with('_')) names.push_back(name);
  TimedModel model;
  model.name = names[choose(options.select, names, complaints)];
  model.device = stem_of(file);
  model.batch = options.batch.value_or(1);
  const JsonValue& found = *document.find(model.name);
  if (!found.is(Kind::object))
    complaints.fail(found.place, model.name, fmt::format("expected an object, got {}", kind_name(found.kind)));
  const std::vector<JsonValue>& tensors = array_of(found, "tensors", model.name, complaints);
  const std::vector<JsonValue>& gaps = array_of(found, "ready_time_gap_us", model.name, complaints);
  complaints.throw_if_any();
  if (tensors.size() != gaps.size())
    complaints.add(found.place, model.name, fmt::format("{} tensors, but {} gaps", tensors.size(), gaps.size()));

  for (std::size_t i = 0; i < std::min(tensors.size(), gaps.size()); ++i) {
    TimedLayer layer = read_tensor(tensors[i], fmt::format("{}.tensors[{}]", model.name, i), complaints);
    const std::string key = fmt::format("{}.ready_time_gap_us[{}]", model.name, i);
    if (!gaps[i].is(Kind::number))
      complaints.add(gaps[i].place, key, fmt::format("expected a number, got {}", kind_name(gaps[i].kind)));
    else
      layer.backward = read_layer_time(gaps[i].text, kMicroseconds, gaps[i].place, key, complaints);
    layer.forward = forward_from(layer.backward, options);
    layer.origin = fmt::format("{} {}[{}]{}", file, model.name, i, forward_note(options));
    model.layers.push_back(std::move(layer));
  }
  complaints.throw_if_any();
  std::reverse(model.layers.begin(), model.layers.end());
  validate_read(model, file);
  return model;
}

}  // namespace contend
