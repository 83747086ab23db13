#include "layer_test_kit.hpp"

#include "traces/layers/timed_csv.hpp"

#include <string>

using namespace contend;

TEST_CASE("timed layers: columns in any order and unit") {
  const TimedModel model = parse_timed_model(
      "backward_ms,layer,forward_us,parameters\n"
      "1.5,conv,0.25,100\n"
      "2,relu,0.001,0\n",
      "folder/toy.v2.csv");
  CHECK(model.name == "toy");
  CHECK(model.batch == 1);
  REQUIRE(model.layers.size() == 2);
  CHECK(model.layers[0].name == "conv");
  CHECK(model.layers[0].backward == Time::microseconds(1500));
  CHECK(model.layers[0].forward == Time::nanoseconds(250));
  REQUIRE(model.layers[0].tensors.size() == 1);
  CHECK(model.layers[0].tensors[0].elements == 100);
  CHECK(model.layers[0].origin == "folder/toy.v2.csv line 2");
  CHECK(model.layers[1].tensors.empty());
  CHECK(model.layers[1].forward == Time::nanoseconds(1));
}

TEST_CASE("timed layers: without forward times, a ratio that the origin names") {
  const std::string text = "layer,parameters,backward_ns\na,1,101\n";
  const TimedModel half = parse_timed_model(text, "t.csv");
  CHECK(half.layers[0].forward == Time::nanoseconds(51));  // 50.5, rounded away from zero
  CHECK(half.layers[0].origin == "t.csv line 2, forward = 0.5 backward");
  LayerReadOptions third;
  third.forward_ratio = 1.0 / 3;
  CHECK(parse_timed_model(text, "t.csv", third).layers[0].forward == Time::nanoseconds(34));
}

TEST_CASE("timed layers: what is written reads back the same") {
  TimedModel model;
  model.name = "odd, \"quoted\"";
  model.device = "A100";
  model.batch = 64;
  model.gradient_element_bytes = 2;
  TimedLayer first;
  first.name = "block.0.conv, same";
  first.tensors = {{.name = "weight", .elements = 9408, .shape = {64, 3, 7, 7}},
                   {.name = "a=b", .elements = 64, .shape = {}},
                   {.name = "bias", .elements = 64, .shape = {64}}};
  first.forward = Time::nanoseconds(1);
  first.backward = Time::nanoseconds(1'234'567'890);
  first.origin = "roofline A100 fp16";
  TimedLayer second;
  second.name = "relu";
  second.backward = Time::microseconds(7);
  second.origin = "line\nbreak";
  model.layers = {first, second};

  const std::string csv = timed_csv(model);
  const TimedModel again = parse_timed_model(csv, "again.csv");
  CHECK(timed_csv(again) == csv);
  CHECK(again.name == model.name);
  CHECK(again.device == model.device);
  CHECK(again.batch == 64);
  CHECK(again.gradient_element_bytes == 2);
  REQUIRE(again.layers.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(again.layers[i].name == model.layers[i].name);
    CHECK(again.layers[i].forward == model.layers[i].forward);
    CHECK(again.layers[i].backward == model.layers[i].backward);
    CHECK(again.layers[i].origin == model.layers[i].origin);
    REQUIRE(again.layers[i].tensors.size() == model.layers[i].tensors.size());
    for (std::size_t t = 0; t < model.layers[i].tensors.size(); ++t) {
      CHECK(again.layers[i].tensors[t].name == model.layers[i].tensors[t].name);
      CHECK(again.layers[i].tensors[t].elements == model.layers[i].tensors[t].elements);
      CHECK(again.layers[i].tensors[t].shape == model.layers[i].tensors[t].shape);
    }
  }
  first.tensors[0].name = "w;x";
  model.layers = {first};
  CHECK_THROWS_AS(static_cast<void>(timed_csv(model)), InputError);
}

TEST_CASE("timed layers: every bad row is reported, with its line and column") {
  const std::string all = layer_complaints(
      "layer,parameters,tensors,forward_us,backward_us\n"
      "a,3,weight=2;bias=2,1,1\n"
      ",0,,nan,-1\n"
      "a,1,weight=[1x0],1,1e30\n"
      "b,1,[4],1,inf\n"
      "c,1,w=[99999999999x99999999999],1,1\n",
      "t.csv");
  CHECK(all ==
        "t.csv:2: parameters: 3 is stated, but the tensors hold 4\n"
        "t.csv:3: layer: expected a name, got nothing\n"
        "t.csv:3: backward_us: expected a time >= 0, got -1\n"
        "t.csv:3: forward_us: expected a time >= 0, got \"nan\"\n"
        "t.csv:4: layer: \"a\" was used on line 2 already\n"
        "t.csv:4: tensors: \"weight=[1x0]\" is no tensor; such as weight=[64x3x7x7] or, with the shape unknown, "
        "weight=9408\n"
        "t.csv:4: parameters: 1 is stated, but the tensors hold 0\n"
        "t.csv:4: backward_us: 1e30 is longer than an hour\n"
        "t.csv:5: tensors: \"[4]\" is no tensor; such as weight=[64x3x7x7] or, with the shape unknown, weight=9408\n"
        "t.csv:5: parameters: 1 is stated, but the tensors hold 0\n"
        "t.csv:5: backward_us: expected a time >= 0, got \"inf\"\n"
        "t.csv:6: tensors: \"w=[99999999999x99999999999]\" is no tensor; such as weight=[64x3x7x7] or, with the shape "
        "unknown, weight=9408\n"
        "t.csv:6: parameters: 1 is stated, but the tensors hold 0");
}

TEST_CASE("timed layers: headers and models that can't be meant") {
  const auto complaints = [](const std::string& text) { return layer_complaints(text, "t.csv"); };
  check_says(complaints("layer,paramters,backward_us\na,1,1\n"),
             "t.csv:1: unknown column \"paramters\"; did you mean \"parameters\"?");
  check_says(complaints("layer,parameters,backward_us,backward_ms\na,1,1,1\n"),
             "both backward_us and backward_ms are given");
  check_says(complaints("layer,parameters,forward_us\na,1,1\n"), "no column \"backward_us\" (or _ns, _ms, _s)");
  check_says(complaints("layer,backward_us\na,1\n"), "no column \"parameters\" (or \"tensors\")");
  check_says(complaints("layer,parameters,backward_us\n"),
             ":2: expected a row for each layer below the header, got none; such as conv1,9408,240.5");
  check_says(complaints("layer,parameters,forward_s,backward_ms,origin"), "such as conv1,9408,0.0002405,0.2405,...");
  check_says(complaints("layer,parameters,backward_us\na,0,1\n"), "t.csv: model");
  check_says(complaints("layer,parameters,backward_us\na,1,0\n"), "t.csv: model");
  check_says(complaints("layer,parameters,backward_us,batch\na,1,1,8\nb,1,1,9\n"),
             "t.csv:3: batch: expected \"8\" as in the first row, got \"9\"");
  check_says(complaints("layer,parameters,backward_us,batch\na,1,1,0\n"),
             "t.csv:2: batch: expected a whole number from 1 to 2147483647, got 0");
  check_says(complaints("layer,parameters,backward_us,element_bytes\na,1,1,16\n"),
             "expected a whole number from 1 to 8, got 16");
}

TEST_CASE("options that a file leaves no room for are errors") {
  LayerReadOptions options;
  options.select = "x";
  options.forward_ratio = 2;
  options.batch = 4;
  const LayerTable sizes;
  options.sizes = &sizes;
  const std::string all =
      layer_complaints("layer,parameters,forward_us,backward_us,batch\na,1,1,1,8\n", "t.csv", options);
  check_says(all, "t.csv: select: a file in format timed-layers holds one model; there is nothing to choose");
  check_says(all, "t.csv: forward_ratio: a file in format timed-layers has forward times of its own");
  check_says(all, "t.csv: batch: a file in format timed-layers states its own batch");
  check_says(all, "t.csv: sizes: a file in format timed-layers has parameter counts of its own");
  options = {};
  options.forward_ratio = 0;
  options.batch = 0;
  const std::string range = layer_complaints("layer,parameters,backward_us\na,1,1\n", "t.csv", options);
  check_says(range, "forward_ratio: expected a number above 0 and up to 100, got 0");
  check_says(range, "batch: expected a whole number >= 1, got 0");
}
