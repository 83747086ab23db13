#include "models/layers.hpp"

#include "sim/error.hpp"
#include "tests/models/ready_gradients.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

ParameterTensor tensor(const std::string& name, std::int64_t elements) {
  return {name, elements, {}};
}

LayerTable small_table() {
  LayerTable table{"net", "test", "image", {}};
  for (const char* name : {"conv", "relu", "fc"}) {
    Layer layer;
    layer.name = name;
    layer.kind = layer.name == "relu" ? LayerKind::activation : LayerKind::linear;
    if (layer.name != "relu") layer.parameters = {{"weight", 12, {3, 4}}, {"bias", 3, {3}}};
    table.layers.push_back(layer);
  }
  return table;
}

TimedModel small_model() {
  TimedModel model;
  model.name = "net";
  model.batch = 4;
  model.layers = {{"a", {tensor("w", 100), tensor("b", 10)}, Time::nanoseconds(5), Time::nanoseconds(10), "test"},
                  {"b", {}, Time::nanoseconds(1), Time::nanoseconds(2), "test"},
                  {"c", {tensor("w", 50)}, Time::nanoseconds(3), Time::nanoseconds(6), "test"}};
  return model;
}

template <typename Model>
std::string faults(const Model& model) {
  try {
    validate(model);
  } catch (const InputError& error) {
    std::string all;
    for (const Complaint& complaint : error.complaints()) all += complaint.key + ": " + complaint.reason + "\n";
    return all;
  }
  return {};
}

}  // namespace

TEST_CASE("a valid table passes; totals add up") {
  const LayerTable table = small_table();
  CHECK(faults(table).empty());
  CHECK(table.parameter_elements() == 30);
  CHECK(table.parameter_tensors() == 4);
}

TEST_CASE("an invalid table is refused with every fault and its layer") {
  LayerTable table = small_table();
  table.layers[0].parameters[0].elements = 13;
  table.layers[0].forward_flops = -1;
  table.layers[1].name = "conv";
  table.layers[1].kernels = 0;
  table.layers[1].input_reads = 0;
  table.layers[2].parameters.clear();
  CHECK(faults(table) ==
        "model `net`: layer 1 `conv`: tensor `weight`: its shape holds 12 elements, not 13\n"
        "model `net`: layer 1 `conv`: forward flops must not be negative, got -1\n"
        "model `net`: layer 2 `conv`: the name is used twice\n"
        "model `net`: layer 2 `conv`: expected at least 1 kernel, got 0\n"
        "model `net`: layer 2 `conv`: expected at least 1 read of the input, got 0\n"
        "model `net`: layer 3 `fc`: a layer of kind linear needs parameters\n");

  table = small_table();
  table.layers.resize(2);
  table.layers[0].kind = LayerKind::pooling;
  table.layers[0].parameters.clear();
  CHECK(faults(table) == "model `net`: no layer has parameters, so there is nothing to train\n");
  table.layers.clear();
  CHECK(faults(table) == "model `net`: expected at least one layer\n");

  table = small_table();
  table.layers[0].parameters[1] = {"weight", 0, {}};
  table.layers[2].name.clear();
  CHECK(faults(table) ==
        "model `net`: layer 1 `conv`: tensor `weight`: the name is used twice\n"
        "model `net`: layer 1 `conv`: tensor `weight`: expected at least 1 element, got 0\n"
        "model `net`: layer 3 ``: a name is missing\n");
}

TEST_CASE("gradients become ready from the last layer to the first") {
  const TimedModel model = small_model();
  CHECK(faults(model).empty());
  CHECK(model.forward() == Time::nanoseconds(9));
  CHECK(model.backward() == Time::nanoseconds(18));
  CHECK(model.gradient_elements() == 160);
  CHECK(model.gradient() == Bytes{640});
  CHECK(model.gradient(0) == Bytes{440});
  CHECK(model.gradient(1) == Bytes{0});
  // Layer c ends at 6, b at 8 with nothing to send, a at 18: its last tensor first.
  const std::vector<test::ReadyGradient> ready = test::ready_gradients(model);
  REQUIRE(ready.size() == 3);
  CHECK(ready[0].layer == 2);
  CHECK(ready[0].ready == Time::nanoseconds(6));
  CHECK(ready[0].size == Bytes{200});
  CHECK(ready[1].layer == 0);
  CHECK(ready[1].tensor == 1);
  CHECK(ready[1].size == Bytes{40});
  CHECK(ready[1].ready == Time::nanoseconds(18));
  CHECK(ready[2].tensor == 0);
  CHECK(ready[2].size == Bytes{400});
  CHECK(ready[2].ready == Time::nanoseconds(18));
}

TEST_CASE("an invalid timed model is refused with every fault") {
  TimedModel model = small_model();
  model.batch = 0;
  model.gradient_element_bytes = 0;
  model.layers[0].backward = Time::nanoseconds(-1);
  model.layers[2].name = "a";
  model.layers[2].tensors[0].elements = -5;
  CHECK(faults(model) ==
        "model `net`: expected a batch of at least 1, got 0\n"
        "model `net`: expected at least 1 byte per element, got 0\n"
        "model `net`: layer 1 `a`: backward time (ns) must not be negative, got -1\n"
        "model `net`: layer 3 `a`: the name is used twice\n"
        "model `net`: layer 3 `a`: tensor `w`: expected at least 1 element, got -5\n");

  model = small_model();
  for (TimedLayer& layer : model.layers) {
    layer.forward = layer.backward = Time{};
    layer.tensors.clear();
  }
  CHECK(faults(model) ==
        "model `net`: no layer has gradients, so there is nothing to send\n"
        "model `net`: the forward pass takes no time\n"
        "model `net`: the backward pass takes no time\n");
}
