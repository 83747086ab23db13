#include "traces/layers/dreamddp.hpp"

#include "text/json_reader.hpp"
#include "text/words.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <map>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

using Kind = JsonValue::Kind;
constexpr int kSeconds = 9;

/// The object of that name; fails if it is missing or no object.
const JsonValue& object_in(const JsonValue& parent, const std::string& name, const std::string& key,
                           FileComplaints& complaints) {
  const JsonValue* found = parent.find(name);
  if (found == nullptr)
    complaints.fail(parent.place, key, fmt::format("no \"{}\"", name), did_you_mean(name, parent.names));
  if (!found->is(Kind::object))
    complaints.fail(found->place, key,
                    fmt::format("expected \"{}\" to be an object, got {}", name, kind_name(found->kind)));
  return *found;
}

Time seconds(const JsonValue& value, const std::string& key, FileComplaints& complaints) {
  if (value.is(Kind::number)) return read_layer_time(value.text, kSeconds, value.place, key, complaints);
  complaints.add(value.place, key, fmt::format("expected a number, got {}", kind_name(value.kind)));
  return Time{};
}

/// The backward pass of a layer.
struct LayerPass {
  std::string name;
  Time backward;
};

struct Chosen {
  std::string gpu;
  std::string model;
};

Chosen choose_model(const JsonValue& document, const std::string& select, FileComplaints& complaints) {
  std::vector<std::string> available;
  std::vector<Chosen> all;
  for (std::size_t g = 0; g < document.items.size(); ++g) {
    const JsonValue& models = object_in(document, document.names[g], document.names[g], complaints);
    for (const std::string& model : models.names) {
      available.push_back(fmt::format("{}/{}", document.names[g], model));
      all.push_back({document.names[g], model});
    }
  }
  return all[choose(select, available, complaints)];
}

std::vector<LayerPass> read_layers(const JsonValue& model, const std::string& key, FileComplaints& complaints) {
  const JsonValue& backward = object_in(model, "bp", key, complaints);
  const JsonValue* communication = model.find("comm") == nullptr ? nullptr : &object_in(model, "comm", key, complaints);
  std::map<std::string_view, const JsonValue*> communication_of;
  if (communication != nullptr)
    for (std::size_t i = 0; i < communication->items.size(); ++i)
      communication_of.emplace(communication->names[i], &communication->items[i]);
  std::vector<LayerPass> layers;
  for (std::size_t i = 0; i < backward.items.size(); ++i) {
    const std::string& name = backward.names[i];
    LayerPass layer;
    layer.name = name;
    layer.backward = seconds(backward.items[i], key + ".bp." + name, complaints);
    if (name.empty()) complaints.add(backward.items[i].place, key + ".bp", "expected the name of a layer, got nothing");
    if (const auto found = communication_of.find(name); found != communication_of.end()) {
      static_cast<void>(seconds(*found->second, key + ".comm." + name, complaints));
      communication_of.erase(found);
    } else if (communication != nullptr) {
      complaints.add(communication->place, key + ".comm", fmt::format("no layer \"{}\", which bp has", name));
    }
    layers.push_back(std::move(layer));
  }
  for (const auto& [name, value] : communication_of)
    complaints.add(value->place, key + ".comm", fmt::format("layer \"{}\", which bp has not", name));
  complaints.throw_if_any();
  return layers;
}

struct Trace {
  Chosen chosen;
  std::vector<LayerPass> layers;
};

Trace read_trace(ByteSource& source, const std::string& select, FileComplaints& complaints) {
  const JsonValue document = read_json(source, complaints.file());
  if (!document.is(Kind::object))
    complaints.fail(document.place, "", fmt::format("expected an object of GPUs, got {}", kind_name(document.kind)));
  Trace trace;
  trace.chosen = choose_model(document, select, complaints);
  const std::string key = fmt::format("{}.{}", trace.chosen.gpu, trace.chosen.model);
  const JsonValue& gpu = object_in(document, trace.chosen.gpu, trace.chosen.gpu, complaints);
  trace.layers = read_layers(object_in(gpu, trace.chosen.model, key, complaints), key, complaints);
  return trace;
}

}  // namespace

TimedModel parse_dreamddp(ByteSource& source, const std::string& file, const LayerReadOptions& options) {
  FileComplaints complaints{file};
  check_options(options, {.select = true, .forward_ratio = true, .batch = true, .sizes = true}, "dreamddp", complaints);
  Trace trace = read_trace(source, options.select, complaints);
  if (options.sizes == nullptr)
    complaints.fail({}, "sizes", "the file has times, but no parameter counts",
                    "give the layer table of the model, whose layers have the same names");
  TimedModel model;
  model.name = trace.chosen.model;
  model.device = trace.chosen.gpu;
  model.batch = options.batch.value_or(1);
  for (LayerPass& measured : trace.layers) {
    TimedLayer layer;
    layer.name = std::move(measured.name);
    layer.backward = measured.backward;
    layer.forward = forward_from(measured.backward, options);
    layer.origin = fmt::format("{} {}/{}{}", file, model.device, model.name, forward_note(options));
    model.layers.push_back(std::move(layer));
  }
  take_sizes(model, *options.sizes, complaints);
  validate_read(model, file);
  return model;
}

}  // namespace contend
