// Espresso, DreamDDP, PipeDream and B-Caffe on small files of our own, good and bad; and how formats are recognised.

#include "layer_test_kit.hpp"

#include "tests/models/ready_gradients.hpp"
#include "text/byte_source.hpp"
#include "traces/layers/bcaffe.hpp"
#include "traces/layers/dreamddp.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;

namespace {

LayerReadOptions selecting(const std::string& select) {
  LayerReadOptions options;
  options.select = select;
  return options;
}

const std::string kNode1 =
    "node1 -- Input -- forward_compute_time=9.000, backward_compute_time=0.000, activation_size=12.000, "
    "parameter_size=0.000\n";

std::string node(const std::string& id, const std::string& operation,
                 const std::string& times = "1.000|2.000|4.0|40.000") {
  std::string line = id + " -- " + operation + " -- forward_compute_time=";
  std::size_t field = 0;
  for (const char c : times) {
    if (c != '|')
      line += c;
    else
      line += std::vector<std::string>{", backward_compute_time=", ", activation_size=", ", parameter_size="}[field++];
  }
  return line + "\n";
}

}  // namespace

TEST_CASE("espresso: gaps are whole, tensors come in backward order") {
  const std::string text =
      R"({"_costs": [[1]], "toy": {"tensors": [["fc.bias", 2], ["fc.weight", 6], ["conv.weight", 9]],
                                    "ready_time_gap_us": [0, 1500, 2001.5]}})";
  const TimedModel model = parse_timed_model(text, "e.json");
  CHECK(model.name == "toy");
  REQUIRE(model.layers.size() == 3);
  CHECK(model.layers[0].name == "conv.weight");
  CHECK(model.layers[0].tensors[0].name == "weight");
  CHECK(model.layers[0].backward == Time::nanoseconds(2'001'500));
  CHECK(model.layers[0].forward == Time::nanoseconds(1'000'750));
  CHECK(model.layers[1].backward == Time::microseconds(1500));  // not 500
  const std::vector<test::ReadyGradient> ready = test::ready_gradients(model);
  REQUIRE(ready.size() == 3);
  CHECK(ready[0].size == Bytes{8});
  CHECK(ready[1].ready == Time::microseconds(1500));
  CHECK(ready[2].ready == Time::nanoseconds(3'501'500));
}

TEST_CASE("espresso: what is wrong, and where") {
  const auto complaints = [](const std::string& text, const std::string& select = {}) {
    return layer_complaints(text, "e.json", selecting(select));
  };
  const std::string two = R"({"a": {"tensors": [["w", 1]], "ready_time_gap_us": [1]}, "b": {}})";
  check_says(complaints(two), "e.json: select: the file holds several models; choose one of a, b");
  check_says(complaints(two, "c"), "e.json: select: no \"c\" in the file; it holds a, b");
  check_says(complaints(two, "b"), "e.json:1:63: b: no \"tensors\"");
  CHECK(complaints(two, "a").empty());
  const std::string bad = complaints(
      "{\"a\": {\"tensors\": [[\"w\", 1], [\"\", 0],\n [1, 2], [\"x\"], [\"y\", 1.5]],\n"
      "\"ready_time_gap_us\": [1, -2, \"3\", null]}}");
  check_says(bad, "e.json:1:7: a: 5 tensors, but 4 gaps");
  check_says(bad, "e.json:1:31: a.tensors[1]: expected a name, got nothing");
  check_says(bad, "e.json:1:35: a.tensors[1]: expected a whole number from 1 to 1099511627776, got 0");
  check_says(bad, "e.json:2:2: a.tensors[2]: expected [name, number of elements]");
  check_says(bad, "e.json:3:26: a.ready_time_gap_us[1]: expected a time >= 0, got -2");
  check_says(bad, "e.json:3:30: a.ready_time_gap_us[2]: expected a number, got a string");
  check_says(complaints(R"([{"tensors": 1}])"), "e.json:1:1: expected an object of models, got an array");
  check_says(complaints(R"({"a": {"tensors": {}, "ready_time_gap_us": []}})"),
             "e.json:1:19: a.tensors: expected an array, got an object");
  check_says(complaints(R"({"a": {"tensors": [["w", 1], ["w", 2]], "ready_time_gap_us": [1, 2]}})"), "e.json: model");
}

TEST_CASE("dreamddp: times of the file, sizes of a table") {
  const std::string text =
      R"({"G1": {"net": {"bp": {"conv": 1e-3, "relu": 5E-10, "fc": 0.002}, "comm": {"fc": 0.5, "relu": 0, "conv": 0.25}}}})";
  LayerTable sizes;
  sizes.name = "net";
  sizes.layers.push_back({.name = "conv", .parameters = {{.name = "w", .elements = 8, .shape = {}}}, .geometry = {}});
  sizes.layers.push_back({.name = "pool", .parameters = {}, .geometry = {}});
  sizes.layers.push_back({.name = "fc", .parameters = {{.name = "w", .elements = 4, .shape = {}}}, .geometry = {}});
  LayerReadOptions options = selecting("G1/net");
  check_says(layer_complaints(text, "d.json", options), "d.json: sizes: the file has times, but no parameter counts");
  options.sizes = &sizes;
  const TimedModel model = parse_timed_model(text, "d.json", options);
  CHECK(model.device == "G1");
  CHECK(model.gradient_elements() == 12);
  CHECK(model.layers[1].tensors.empty());
  CHECK(model.layers[1].backward == Time::nanoseconds(1));  // half a nanosecond rounds up
  sizes.layers.back().name = "fcc";
  check_says(layer_complaints(text, "d.json", options),
             "layer \"fcc\" of net has parameters, but no times in the file; did you mean \"fc\"?");
}

TEST_CASE("dreamddp: what is wrong, and where") {
  LayerTable sizes;
  LayerReadOptions options;
  options.sizes = &sizes;
  const auto complaints = [&](const std::string& text) { return layer_complaints(text, "d.json", options); };
  check_says(complaints(R"({"G": {"n": {"bp": {"a": 1, "b": 2}, "comm": {"a": 1, "c": -1}}}})"),
             "d.json:1:46: G.n.comm: no layer \"b\", which bp has");
  check_says(complaints(R"({"G": {"n": {"bp": {"a": 1}, "comm": {"a": 1, "c": 1}}}})"),
             "d.json:1:52: G.n.comm: layer \"c\", which bp has not");
  check_says(complaints(R"({"G": {"n": {"bp": {"a": "1", "": -1}}}})"), "G.n.bp.a: expected a number, got a string");
  check_says(complaints(R"({"G": {"n": {"bp": [1]}}})"),
             "d.json:1:20: G.n: expected \"bp\" to be an object, got an array");
  check_says(complaints(R"({"G": {"bp": 1}})"), "d.json:1:14: G.bp: expected \"bp\" to be an object, got a number");
  check_says(complaints(R"({"G": {"m": {"bp": {}}, "n": {}}})"), "choose one of G/m, G/n");
}

TEST_CASE("pipedream: a graph in topological order, the smallest number first") {
  // node1 -> node3 -> node4 and node1 -> node2 -> node4, listed in disorder. node10 comes last, after node4.
  const std::string text =
      node("node10", "Linear(in=1, out=2)") + node("node3", "Conv2d(1 -- 2)", "0.500|0.250|[4.0; 8.0]|0.000") + kNode1 +
      node("node4", "Add") + node("node2", "ReLU(inplace)") +
      "\tnode1 -- node3\n\tnode1 -- node2\n\tnode3 -- node4\n\tnode2 -- node4\n\tnode4 -- node10\n";
  const TimedModel model = parse_timed_model(text, "graph.txt");
  std::vector<std::string> names;
  for (const TimedLayer& layer : model.layers) names.push_back(layer.name);
  CHECK(names == std::vector<std::string>{"node1.Input", "node2.ReLU", "node3.Conv2d", "node4.Add", "node10.Linear"});
  CHECK(model.layers[0].forward == Time{});
  CHECK(model.layers[0].origin == "graph.txt line 3, without data loading");
  CHECK(model.layers[2].forward == Time::microseconds(500));
  CHECK(model.layers[2].backward == Time::microseconds(250));
  CHECK(model.layers[4].tensors[0].elements == 10);
}

TEST_CASE("pipedream: what is wrong, and where") {
  const auto complaints = [](const std::string& text) { return layer_complaints(text, "g.txt"); };
  const std::string all =
      complaints("node1 -- ReLU\n" + node("node2", "A", "nan|1|1|4") + node("node3", "B", "1|-1|1|6") +
                 node("node3", "C", "1|1|[1; x]|4.5") +
                 "node4 -- D -- forward_compute_time=1, backward_compute_time=2\n" + "\tnode2 -- node9\n\tnode2\n");
  check_says(all, "g.txt:1:1: expected `ID -- OPERATION -- forward_compute_time=..., ...`");
  check_says(all, "g.txt:2:36: node2: expected a time >= 0, got \"nan\"");
  check_says(all, "g.txt:3:61: node3: expected a time >= 0, got -1");
  check_says(all, "g.txt:3:99: node3: 6 bytes are no whole number of fp32 parameters");
  check_says(all, "g.txt:4:1: node3: was on line 3 already");
  check_says(all, "g.txt:4:84: node3: expected a number of bytes >= 0, got \"x\"");
  check_says(all, "expected a whole number of bytes, got 4.5");
  check_says(all, "g.txt:5:39: node4: expected `, activation_size=...` behind this");
  check_says(all, "g.txt:6:11: no node \"node9\"");
  check_says(all, "g.txt:7:2: expected an edge `ID -- ID`");

  const std::string cycle = node("node1", "A") + node("node2", "B") + node("node3", "C") + node("node4", "D") +
                            "\tnode1 -- node2\n\tnode2 -- node3\n\tnode3 -- node2\n\tnode3 -- node4\n";
  check_says(complaints(cycle), "g.txt:2:1: the graph has a cycle: node2 -> node3 -> node2");
  check_says(complaints(node("node1", "A") + "\tnode1 -- node1\n"), "the graph has a cycle: node1 -> node1");
}

TEST_CASE("b-caffe: the last dump, a time once for weight and bias") {
  const std::string prefix = "I0219 13:29:27.119763 66221 distributed.cpp:112] ";
  const std::string text = "I0219 13:29:27 66221 solver.cpp:1] Iteration 5, loss = 1\r\n" + prefix +
                           "[0, 9, 0, 0]\r\n" + prefix + "[1, 3, 0, 0]\n" + prefix + "[0, 9, 14.5, 7, 20]\n" + prefix +
                           "[1, 3, 14.5, 1, 0]";
  const TimedModel model = parse_timed_model(text, "log");
  REQUIRE(model.layers.size() == 1);
  CHECK(model.layers[0].name == "layer0");
  CHECK(model.layers[0].backward == Time::nanoseconds(14'500));
  CHECK(model.layers[0].forward == Time::nanoseconds(7'250));
  CHECK(model.gradient_elements() == 12);
  CHECK(model.layers[0].origin == "log line 4, forward = 0.5 backward");

  const auto complaints = [&](const std::string& rows) { return layer_complaints(prefix + rows, "log"); };
  check_says(complaints("[0, 9, 1, 1]\n"), "log:1: expected a row for the bias behind that for the weight");
  check_says(complaints("[0, 9, 1, 1]\n" + prefix + "[1, 9, 2, 1]\n"),
             "log:2: backward: expected the time of the row before");
  check_says(complaints("[0, 9, 1, 1]\n" + prefix + "[2, 9, 1, 1]\n"),
             "log:2:50: parameter: expected row 1, got row 2");
  check_says(complaints("[0, 9, 1, 1]\n" + prefix + "[1, 9, 1, 1]\n" + prefix + "[0, 9, 1, 1]\n"),
             "log:3: dump 2 ends after 1 rows, the one before has 2");
  check_says(complaints("[0, 9, 1"), "log:1:50: the row is cut off; expected a closing bracket");
  check_says(complaints("[0, 9, 1]"), "log:1:50: expected a row of 4 or 5 numbers, got 3");
  check_says(complaints("[0, 0, nan, -1]"), "backward: expected a time >= 0, got \"nan\"");
}

TEST_CASE("b-caffe: the table") {
  const std::string text =
      "layer_idx_forward,params_weight,params_bias,bp_us_1node,bp_us_2node,comm_us_2node\n0,9,3,5.5,6,1\n1,4,0,1,2,3\n";
  CHECK(parse_timed_model(text, "t.csv", selecting("2node")).backward() == Time::microseconds(8));
  check_says(layer_complaints(text, "t.csv"), "choose one of 1node, 2node");
  check_says(layer_complaints("layer_idx_forward,params_weight,params_bias,bp_us_a\n1,9,3,x\n", "t.csv"),
             "t.csv:2: layer_idx_forward: expected 0, as layers count from 0");
  check_says(layer_complaints("layer_idx_forward,params_weight\n0,9\n", "t.csv"), "t.csv:1: no column \"bp_us_NAME\"");
}

TEST_CASE("formats are recognised by what a file contains") {
  CHECK(recognise_layer_format("\xEF\xBB\xBFlayer,parameters,backward_us\n") == "timed-layers");
  CHECK(recognise_layer_format(" {\"schemaVersion\": 1, \"deviceProperties\": [") == "kineto");
  CHECK(recognise_layer_format("{\"vgg16\": {\"tensors\": [[") == "espresso");
  CHECK(recognise_layer_format("{\"A6000\": {\"gpt\": {\"bp\": {") == "dreamddp");
  CHECK(recognise_layer_format(kNode1) == "pipedream");
  CHECK(recognise_layer_format("I0 distributed.cpp:112] [0, 1, 2, 3]") == "bcaffe-log");
  CHECK(recognise_layer_format("layer_idx_forward,params_weight\n") == "bcaffe-csv");
  CHECK(recognise_layer_format("").empty());
  CHECK(recognise_layer_format("hello").empty());
  check_says(layer_complaints("", "f"), "f: the file is empty");
  check_says(layer_complaints("hello\n", "f"), "f: the file has no known format of layer times");
  LayerReadOptions options;
  options.format = "kinetto";
  check_says(layer_complaints("hello\n", "f", options),
             "f: format: unknown format \"kinetto\"; did you mean \"kineto\"?");
  CHECK(std::is_sorted(layer_formats().begin(), layer_formats().end(),
                       [](const LayerFormat& a, const LayerFormat& b) { return a.name < b.name; }));
}
