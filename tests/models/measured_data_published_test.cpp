// Compares the catalogue and the roofline with published traces of other projects. Tensors and their order must agree
// exactly, times roughly.

#include "models/catalogue/catalogue.hpp"
#include "models/cost_model.hpp"
#include "tests/devices.hpp"
#include "tests/models/ready_gradients.hpp"
#include "tests/test_data.hpp"

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

struct NamedTensor {
  std::string name;
  std::int64_t elements;
};

// All `["name", elements]` of the list "tensors" of a model in Espresso's file.
std::vector<NamedTensor> espresso_tensors(const std::string& text, const std::string& model) {
  const std::size_t begin = text.find("\"tensors\"", text.find(fmt::format("\"{}\": {{", model)));
  const std::string list = text.substr(begin, text.find("]]", begin) + 1 - begin);
  static const std::regex kPair{R"re(\["([^"]+)", (\d+)\])re"};
  std::vector<NamedTensor> tensors;
  for (std::sregex_iterator match{list.begin(), list.end(), kPair}, end; match != end; ++match) {
    tensors.push_back({(*match)[1], std::stoll((*match)[2])});
  }
  return tensors;
}

}  // namespace

TEST_CASE("a backward pass produces its gradients in the order that Espresso recorded on a V100") {
  const std::optional<std::string> path = test_data("overlap/espresso/espresso_model_tensors.json");
  if (!path) return;
  const std::string text = text_of(*path);
  for (const char* name : {"vgg16", "resnet50", "resnet101", "gpt2"}) {
    const std::vector<NamedTensor> recorded = espresso_tensors(text, name);
    const LayerTable table = build_model(*find_model(name));
    const TimedModel model = roofline_times(table, v100(), 32);
    const std::vector<test::ReadyGradient> ready = test::ready_gradients(model);
    INFO(std::string{name});
    REQUIRE(recorded.size() == ready.size());
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const TimedLayer& layer = model.layers[ready[i].layer];
      CHECK(layer.tensors[ready[i].tensor].elements == recorded[i].elements);
      // The order of weight and bias of a normalization isn't one: both come out of one kernel.
      CHECK(recorded[i].name.substr(0, recorded[i].name.rfind('.')) == layer.name);
    }
  }
}

TEST_CASE("the BVLC GoogLeNet has the weights of the K80 trace, layer by layer") {
  const std::optional<std::string> path = test_data("overlap/bcaffe_googlenet_k80/googlenet_k80_parsed.csv");
  if (!path) return;
  const std::string text = text_of(*path);
  std::istringstream lines{text};
  std::string line;
  std::getline(lines, line);
  const LayerTable table = build_model(*find_model("googlenet-bvlc"));
  std::vector<const Layer*> layers;
  for (const Layer& layer : table.layers) {
    if (!layer.parameters.empty()) layers.push_back(&layer);
  }
  std::size_t row = 0;
  for (; std::getline(lines, line); ++row) {
    REQUIRE(row < layers.size());
    const std::size_t comma = line.find(',');
    INFO(layers[row]->name);
    CHECK(layers[row]->parameters[0].elements == std::stoll(line.substr(comma + 1)));
    // The trace holds biases padded to a multiple of 64: 856 elements more than the network has.
    const std::int64_t bias = layers[row]->parameters[1].elements;
    CHECK((bias + 63) / 64 * 64 == std::stoll(line.substr(line.find(',', comma + 1) + 1)));
  }
  CHECK(row == layers.size());
}

TEST_CASE("roofline against PipeDream's profile of ResNet-50, by kind of layer") {
  const std::optional<std::string> path =
      test_data("overlap/pipedream_profiles/image_classification__resnet50__graph.txt");
  if (!path) return;
  const std::string text = text_of(*path);
  // node -- Conv2d(...) -- forward_compute_time=ms, backward_compute_time=ms, ...
  static const std::regex kNode{R"re(-- (\w+)[^\n]*forward_compute_time=([\d.]+), backward_compute_time=([\d.]+))re"};
  const std::map<std::string, LayerKind> kinds{
      {"Conv2d", LayerKind::convolution}, {"BatchNorm2d", LayerKind::normalization}, {"ReLU", LayerKind::activation}};
  struct Sums {
    double measured_s[2] = {0, 0}, roofline_s[2] = {0, 0};
    int measured = 0, modelled = 0;
  };
  std::map<LayerKind, Sums> sums;
  for (std::sregex_iterator match{text.begin(), text.end(), kNode}, end; match != end; ++match) {
    const auto kind = kinds.find((*match)[1]);
    if (kind == kinds.end()) continue;
    Sums& sum = sums[kind->second];
    for (std::size_t pass = 0; pass < 2; ++pass) sum.measured_s[pass] += std::stod((*match)[2 + pass]) * 1e-3;
    ++sum.measured;
  }
  const LayerTable table = build_model(*find_model("resnet50"));
  const TimedModel model = roofline_times(table, v100(), 128);
  for (std::size_t i = 0; i < table.layers.size(); ++i) {
    const auto sum = sums.find(table.layers[i].kind);
    if (sum == sums.end()) continue;
    sum->second.roofline_s[0] += model.layers[i].forward.to_seconds();
    sum->second.roofline_s[1] += model.layers[i].backward.to_seconds();
    ++sum->second.modelled;
  }
  CHECK(sums.size() == 3);
  for (const auto& entry : sums) {
    const Sums& sum = entry.second;
    INFO(std::string{to_string(entry.first)});
    CHECK(sum.measured == sum.modelled);
    MESSAGE(fmt::format(
        "ResNet-50, batch 128, forward / backward: measured {:.1f} / {:.1f} ms, roofline {:.1f} / {:.1f}",
        sum.measured_s[0] * 1e3, sum.measured_s[1] * 1e3, sum.roofline_s[0] * 1e3, sum.roofline_s[1] * 1e3));
    for (std::size_t pass = 0; pass < 2; ++pass) {
      CHECK(sum.roofline_s[pass] > sum.measured_s[pass] / 4);  // synchronized after every layer: an upper bound
      CHECK(sum.roofline_s[pass] < sum.measured_s[pass] * 1.5);
    }
  }
}
