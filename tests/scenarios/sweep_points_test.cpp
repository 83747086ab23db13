#include "scenarios/sweep/sweep_points.hpp"

#include "scenarios/keys/print.hpp"
#include "scenarios/sweep/sweep_keys.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// The points of `sweep: ...`, each as its settings with blanks between.
std::vector<std::string> points_of(const std::string& sweep) {
  const SweepPoints points = sweep_points(parsed("sweep: " + sweep).sweep);
  std::vector<std::string> texts;
  for (const auto& point : points.points) {
    std::string text;
    for (const std::uint32_t number : point) text += (text.empty() ? "" : " ") + points.settings[number].value.text;
    texts.push_back(text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

/// The values of one key over a range.
Texts values_of(const std::string& range) {
  return points_of("{grid: {network.alpha: " + range + "}}");
}

std::string complaint_of(const std::string& sweep) {
  try {
    static_cast<void>(points_of(sweep));
  } catch (const InputError& error) {
    return error.complaints().front().reason;
  }
  return {};
}

}  // namespace

TEST_CASE("a grid combines all values, the last key fastest") {
  CHECK(points_of("{grid: {network.nic: [1Gbps, 2Gbps], cluster.servers: [4, 8]}}") ==
        Texts{"1Gbps 4", "1Gbps 8", "2Gbps 4", "2Gbps 8"});
}

TEST_CASE("a grid has each value once, however it is written") {
  CHECK(complaint_of("{grid: {network.nic: [1Gbps, 2Gbps, 1Gbps]}}") == "1Gbps is there twice");
  CHECK(complaint_of("{grid: {network.nic: [1Gbps, 1000Mbps]}}") == "1000Mbps is there already, as 1Gbps");
  CHECK(complaint_of("{grid: {policies.placement: [lwf, first-fit, lwf]}}") == "lwf is there twice");
  // Where values are drawn, one that is there twice is drawn twice as often.
  CHECK(points_of("{random: {points: 2, keys: {network.nic: [1Gbps, 1Gbps]}}}").size() == 2);
}

TEST_CASE("the parts of a sweep are combined: list, zip, draws, grid") {
  CHECK(points_of("{grid: {cluster.servers: [4, 8]}, zip: {network.nic: [1Gbps, 2Gbps], network.alpha: [1us, 2us]}, "
                  "list: [{policies.placement: lwf, policies.placement.kappa: 2}, {policies.placement: random}]}") ==
        Texts{"lwf 2 1Gbps 1us 4", "lwf 2 1Gbps 1us 8", "lwf 2 2Gbps 2us 4", "lwf 2 2Gbps 2us 8", "random 1Gbps 1us 4",
              "random 1Gbps 1us 8", "random 2Gbps 2us 4", "random 2Gbps 2us 8"});
}

TEST_CASE("a sweep that varies nothing is one point") {
  CHECK(points_of("{repeat: 3}") == Texts{""});
}

TEST_CASE("ranges: linear, by steps, logarithmic, in the unit of their first end") {
  CHECK(values_of("{from: 10us, to: 1ms, points: 3}") == Texts{"10us", "505us", "1ms"});
  CHECK(values_of("{from: 0us, to: 35us, step: 10us}") == Texts{"0us", "10us", "20us", "30us"});
  CHECK(values_of("{from: 1us, to: 10ms, points: 5, scale: log}") == Texts{"1us", "10us", "100us", "1000us", "10ms"});
  // 10^(1/2) = 3.16227766...
  CHECK(values_of("{from: 1us, to: 10us, points: 3, scale: log}") == Texts{"1us", "3.16228us", "10us"});
  CHECK(values_of("{from: 0.1, to: 0.5, step: 0.2}") == Texts{"0.1", "0.3", "0.5"});
  // 1, 2, 4, 8: whole ends have whole values between; 1.26 and 1.59 are 1 and 2 again.
  CHECK(values_of("{from: 1, to: 8, points: 4, scale: log}") == Texts{"1", "2", "4", "8"});
  CHECK(values_of("{from: 1, to: 8, points: 10, scale: log}") == Texts{"1", "2", "3", "4", "5", "6", "8"});
}

TEST_CASE("ranges that make no sense are refused") {
  CHECK(complaint_of("{grid: {network.nic: {from: 1Gbps, to: 1ms, points: 3}}}") ==
        "the ends of a range are of one kind, got 1Gbps and 1ms");
  CHECK(complaint_of("{grid: {network.nic: {from: 2Gbps, to: 1Gbps, points: 3}}}") ==
        "a range goes up, got 2Gbps to 1Gbps");
  CHECK(complaint_of("{grid: {network.alpha: {from: 0us, to: 1us, points: 3, scale: log}}}") ==
        "a logarithmic scale begins above 0, got 0us");
  CHECK(complaint_of("{grid: {cluster.servers: {from: 1, to: 8, step: 0.5}}}") == "the step from 1 to 8 can't be 0.5");
  CHECK(complaint_of("{grid: {policies.placement: {from: lwf, to: random, points: 2}}}") ==
        "an end of a range is a number or a quantity, got lwf");
  CHECK(complaint_of("{grid: {cluster.servers: {from: 1, to: 2000, points: 2000}, "
                     "network.alpha: {from: 1us, to: 1s, points: 2000}}}") == "a sweep of more than 1000000 points");
}

TEST_CASE("a key that two parts vary and unequal lists of zip are refused") {
  CHECK(complaint_of("{zip: {network.nic: [1Gbps]}, grid: {network.nic: [2Gbps]}}") == "sweep.zip varies it too");
  CHECK(complaint_of("{zip: {network.nic: [1Gbps], network.alpha: [1us, 2us]}}") ==
        "has 2 values, the key before it in sweep.zip 1");
}

TEST_CASE("points are left out by their values, however these are written") {
  const std::string grid = "grid: {network.nic: [1Gbps, 2Gbps], cluster.servers: [4, 8, 16]}, ";
  CHECK(points_of("{" + grid + "exclude: [{network.nic: 1000Mbps, cluster.servers: [8, 16]}]}") ==
        Texts{"1Gbps 4", "2Gbps 4", "2Gbps 8", "2Gbps 16"});
  CHECK(points_of("{" + grid + "exclude: [{network.nic: 1Gbps}, {cluster.servers: 16}]}") ==
        Texts{"2Gbps 4", "2Gbps 8"});
}

TEST_CASE("draws are the same everywhere, within their range, and others with another seed") {
  const auto drawn = [](const std::string& kind, int seed) {
    return points_of("{" + kind + ": {points: 50, seed: " + std::to_string(seed) +
                     ", keys: {cluster.servers: {from: 3, to: 6}, network.nic: [1Gbps, 2Gbps]}}}");
  };
  for (const std::string kind : {"random", "latin_hypercube", "sobol"}) {
    CHECK(drawn(kind, 1) == drawn(kind, 1));
    CHECK(drawn(kind, 1) != drawn(kind, 2));
    const Texts texts = drawn(kind, 1);
    const std::set<std::string> seen{texts.begin(), texts.end()};
    CHECK(seen == std::set<std::string>{"3 1Gbps", "3 2Gbps", "4 1Gbps", "4 2Gbps", "5 1Gbps", "5 2Gbps", "6 1Gbps",
                                        "6 2Gbps"});
  }
}

TEST_CASE("a Latin hypercube has one value in each stratum of each key") {
  const SweepPoints points =
      sweep_points(parsed("sweep: {latin_hypercube: {points: 20, keys: {network.alpha: {from: 0us, to: 20us}, "
                          "network.nic: {from: 1Gbps, to: 1048576Gbps, scale: log}}}}")
                       .sweep);
  std::set<int> linear, logarithmic;
  for (const auto& point : points.points) {
    const double alpha_us = base_number(*points.settings[point[0]].value.magnitude) * 1e6;
    const double nic = base_number(*points.settings[point[1]].value.magnitude) / 1.25e8;
    linear.insert(static_cast<int>(alpha_us));
    logarithmic.insert(static_cast<int>(std::log2(nic)));  // 2^20: a stratum is a factor of two
  }
  CHECK(linear.size() == 20);
  CHECK(logarithmic.size() == 20);
}

TEST_CASE("a Sobol design of 64 points has one in each stratum of each key and in each of 8 x 8 boxes") {
  const SweepPoints points =
      sweep_points(parsed("sweep: {sobol: {points: 64, seed: 3, keys: {network.alpha: {from: 0us, to: 64us}, "
                          "network.nic: {from: 1Gbps, to: 100000Gbps, scale: log}}}}")
                       .sweep);
  REQUIRE(points.points.size() == 64);
  std::set<int> linear, boxes;
  for (const auto& point : points.points) {
    const double alpha_us = base_number(*points.settings[point[0]].value.magnitude) * 1e6;
    const double nic = base_number(*points.settings[point[1]].value.magnitude) / 1.25e8;
    linear.insert(static_cast<int>(alpha_us));
    const double share = std::log2(nic) / std::log2(100000.0);
    boxes.insert(8 * static_cast<int>(alpha_us / 8) + static_cast<int>(8 * share));
  }
  CHECK(linear.size() == 64);
  CHECK(boxes.size() == 64);
  // Words take turns: each of four has a quarter of the points.
  const Texts texts = points_of(
      "{sobol: {points: 16, keys: {cluster.servers: {from: 1, to: 100}, "
      "policies.placement: [first-fit, spread, random, list-scheduling]}}}");
  CHECK(std::count_if(texts.begin(), texts.end(), [](const auto& t) { return t.ends_with("spread"); }) == 4);
}

TEST_CASE("a map in a design that draws: one complaint says how it should look") {
  const auto complaints = [](const std::string& keys) {
    return errors_of("sweep: {sobol: {points: 4, keys: " + keys + "}}\n");
  };
  CHECK(contains(complaints("{cluster.servers: {first: 1}}"),
                 "expected a list of values, or a range such as {from: 1, to: 8}, got a map"));
  CHECK(contains(errors_of("sweep: {grid: {cluster.servers: {first: 1}}}\n"), "such as {from: 1, to: 8, points: 8}"));
  CHECK(contains(complaints("{cluster.servers: {from: 1, to: 8, points: 3}}"),
                 "has no meaning where values are drawn; the design has the number of its points, beside its keys"));
  const std::string no_map = complaints("[cluster.servers]");
  CHECK(contains(no_map, "expected a map of keys to values"));
  CHECK_FALSE(contains(no_map, "keys is missing"));
  CHECK(contains(errors_of("sweep: {sobol: {points: 4}}\n"), "keys is missing"));
}

TEST_CASE("values on a command line: commas within brackets and quotes separate nothing") {
  const SweepDimension policies = parse_dimension("policies.placement={policy: lwf, kappa: 2},first-fit");
  REQUIRE(policies.values.size() == 2);
  CHECK(policies.values[0].text == "{policy: lwf, kappa: 2}");
  CHECK(policies.values[1].text == "first-fit");
  CHECK(parse_dimension("overlap.workers=[8, 16]").values.size() == 1);
  CHECK(parse_dimension("cluster.servers={from: 1, to: 8, points: 8}").range->points == 8);
  CHECK_THROWS_AS(static_cast<void>(parse_dimension("network.nik=1Gbps")), InputError);
  CHECK_THROWS_AS(static_cast<void>(parse_dimension("network.nic=1Gbps,")), InputError);
  CHECK_THROWS_AS(static_cast<void>(parse_dimension("network.nic")), InputError);
  CHECK_THROWS_AS(static_cast<void>(parse_dimension("seed=1,2")), InputError);
}

TEST_CASE("what a scenario says about a sweep prints as it reads") {
  const std::string text =
      "sweep: {list: [{scheduling.quantum: 1s}], zip: {network.alpha: [1us, 2us]}, "
      "random: {points: 3, seed: 4, keys: {cluster.servers: {from: 3, to: 6, scale: log}}}, "
      "latin_hypercube: {points: 3, keys: {cluster.gpus_per_server: [4, 8]}}, "
      "sobol: {points: 4, keys: {network.nic: {from: 1Gbps, to: 2Gbps}}}, "
      "grid: {policies.placement: [{policy: lwf, kappa: 2}, first-fit]}, "
      "exclude: [{network.alpha: [1us, 2us], policies.placement: first-fit}], repeat: 3, "
      "baseline: {policies.placement: first-fit}}";
  const Scenario scenario = parsed(text);
  const std::string printed = to_yaml(scenario);
  CHECK(to_yaml(parse_scenario(printed, "b.yaml")) == printed);
  CHECK(printed.find("repeat: 3\n") != std::string::npos);
  CHECK(printed.find("grid: {policies.placement: [{policy: lwf, kappa: 2}, first-fit]}") != std::string::npos);
  CHECK(printed.find("random: {points: 3, seed: 4, keys: {cluster.servers: {from: 3, to: 6, scale: log}}}") !=
        std::string::npos);
}
