// Intervals around predicted iterations: what the standard error of each class does to one.

#include "scenarios/training/prediction_interval.hpp"

#include "scenarios/run/lone_job.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "scenarios/yaml/error_table.hpp"
#include "tests/complaint_lines.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// The effect of a class on entry `it`; nothing if the iteration has no part of the class.
std::optional<PartError> part_of(const Scenario& scenario, ErrorClass of, int gpus) {
  const std::vector<PartError> parts = part_errors(scenario, *find_entry(scenario.training, "it"), gpus);
  const auto found = std::ranges::find(parts, of, &PartError::of);
  return found == parts.end() ? std::nullopt : std::optional{*found};
}

double effect(const Scenario& scenario, ErrorClass of, int gpus) {
  return part_of(scenario, of, gpus).value_or(PartError{}).effect;
}

/// 20 layers of 30 us forward and 60 us backward with weights of 256 bytes, exchanged after the backward pass: 1.8 ms
/// and an all-reduce of 5,120 bytes at 1 ns a byte.
struct Layers : ListedJobs {
  Layers(const std::string& cluster, const std::string& network, const std::string& members = "") {
    std::string text = "layer,tensors,forward_us,backward_us\n";
    for (int layer = 0; layer < 20; ++layer) text += fmt::format("layer{},weight=[8x8],30,60\n", layer);
    scenario = parsed(fmt::format("cluster: {}\nnetwork: {}\ntraining: {{it: {{layers: {}, fusion: bsp{}}}}}\n",
                                  cluster, network, file("layers.csv", text), members));
  }
};

constexpr const char* kOnOne = "{servers: 1, gpus_per_server: 1}";

}  // namespace

TEST_CASE("intervals: a class has the part of the iteration that is its own, by hand") {
  const Layers layers{"{servers: 2, gpus_per_server: 1}", "{alpha: 200us, beta: 1ns/B}"};
  CHECK(effect(layers.scenario, ErrorClass::between, 2) == near(std::log1p(.29 * .20512 / 2.00512), 1e-5));
  CHECK(effect(layers.scenario, ErrorClass::products, 2) == 0);
  CHECK(effect(layers.scenario, ErrorClass::run, 2) == near(std::log(1.02), 1e-12));
  CHECK_FALSE(part_of(layers.scenario, ErrorClass::inside, 2));
  CHECK_FALSE(part_of(layers.scenario, ErrorClass::host, 2));
  // Inside a server of two GPUs with 8 Gbit/s, a ring sends as many bytes as the tensor has.
  const Layers inside{"{servers: 1, gpus_per_server: 2}",
                      "{nic: 8Gbps, inside: {bandwidth: 8Gbps, alpha: 100us}, formula: ring}"};
  const double alone = lone_iteration(inside.scenario, "it", 2).to_seconds();
  CHECK(effect(inside.scenario, ErrorClass::inside, 2) == near(std::log1p(.25 * (alone - 1.8e-3) / alone), 1e-4));
  CHECK_FALSE(part_of(inside.scenario, ErrorClass::between, 2));
}

TEST_CASE("intervals: what is hidden counts for nothing, and what becomes the longest way counts") {
  // 41 launches of 100 us make 4.1 ms; of the last iteration the all-reduce is seen. Launches of 20 us are hidden.
  const auto launched = [](const char* launch) {
    return Layers{"{servers: 2, gpus_per_server: 1}", "{alpha: 0s, beta: 1ns/B}", std::string{", launch: "} + launch};
  };
  CHECK(effect(launched("100us").scenario, ErrorClass::host, 2) == near(std::log(9.84512 / 8.20512), 1e-6));
  CHECK(std::abs(effect(launched("20us").scenario, ErrorClass::host, 2)) < 2e-3);
  // 40 passes take 45 us each in the mean: launches of 44 us are hidden, and of 52.8 us most are not.
  CHECK(effect(launched("44us").scenario, ErrorClass::host, 2) > .1);
}

TEST_CASE("intervals: kernels of a device share the iteration, and a wider class makes a wider interval") {
  const auto on = [](const char* device) {
    return parsed(fmt::format(
        "cluster: {}\nnetwork: {{nic: 100Gbps}}\ntraining: {{it: {{model: resnet50, device: {}}}}}\n", kOnOne, device));
  };
  const Scenario v100 = on("V100-SXM2");
  const double products = std::expm1(effect(v100, ErrorClass::products, 1)) / .2;
  const double memory = std::expm1(effect(v100, ErrorClass::memory, 1)) / .15;
  CHECK(products > .1);
  CHECK(memory > .1);
  CHECK(products + memory == near(1, 1e-3));
  // The A100 was measured, which counts where its sheet says what kernels reach.
  const Scenario a100 = on("A100-80GB, dtype: bf16, efficiency: sheet");
  CHECK(part_of(on("A100-80GB"), ErrorClass::products, 1)->error == .2);
  CHECK(part_of(a100, ErrorClass::products, 1)->error == .031);
  const auto high = [](const Scenario& scenario) {
    return prediction_interval(part_errors(scenario, *find_entry(scenario.training, "it"), 1)).high;
  };
  CHECK(high(a100) < high(v100));
}

TEST_CASE("intervals: attention in one kernel is a class of its own") {
  const Scenario scenario = parsed(
      "cluster: {servers: 1, gpus_per_server: 2}\nnetwork: {nic: 100Gbps, inside: {bandwidth: 300GB/s}}\n"
      "training: {it: {transformer: {layers: 2, hidden: 1024, heads: 16, feed_forward: 4096, vocabulary: 1024}, "
      "device: A100-80GB, dtype: bf16, sequence: 16384, efficiency: sheet, parallel: {tensor: 2}}}\n");
  const std::vector<PartError> parts = part_errors(scenario, *find_entry(scenario.training, "it"), 2);
  double shares = 0;
  for (const PartError& each : parts)
    if (each.of != ErrorClass::run) shares += std::expm1(each.effect) / each.error;
  CHECK(shares == near(1, .01));
  CHECK(effect(scenario, ErrorClass::attention, 2) > .03);
}

TEST_CASE("intervals: at fidelity flow links between servers and inside them are slower") {
  const char* const layers = ", granularity: layer";
  const auto with = [&](const char* cluster, const char* network) { return Layers{cluster, network, layers}; };
  const Layers analytic = with("{servers: 2, gpus_per_server: 1}", "{fidelity: analytic, nic: 1Mbps, formula: ring}");
  const Layers flow = with("{servers: 2, gpus_per_server: 1}", "{fidelity: flow, nic: 1Mbps}");
  const double expected = effect(analytic.scenario, ErrorClass::between, 2);
  CHECK(expected > .2);
  CHECK(effect(flow.scenario, ErrorClass::between, 2) == near(expected, 1e-3));
  const Layers inside = with("{servers: 1, gpus_per_server: 2}", "{fidelity: flow, nic: 1Gbps}");
  CHECK(effect(inside.scenario, ErrorClass::inside, 2) > 0);
}

TEST_CASE("intervals: trays that NVLink joins are as sure as a server") {
  const auto error = [](int gpus) {
    const Scenario scenario = parsed(
        "machine: gb200-nvl72\ncluster: {servers: 40}\ntraining: {it: {model: resnet50, device: GB200, dtype: "
        "bf16}}\n");
    return part_of(scenario, ErrorClass::between, gpus)->error;
  };
  CHECK(error(8) == .155);
  CHECK(error(144) == .29);
}

TEST_CASE("intervals: who stops the calculation gets neither an iteration nor effects") {
  // A run asks after 4,096 instants at the latest; this pipeline has more, and leaps over none of its rounds.
  const Scenario scenario = parsed(
      "cluster: {servers: 1, gpus_per_server: 4}\ntraining: {it: {model: gpt2, device: A100-80GB, sequence: 512, "
      "batch: 1, global_batch: 2000, memory: 1GiB, parallel: {pipeline: 4, schedule: gpipe}}}\n");
  const auto stopped = [] { return false; };
  CHECK(lone_job(scenario, "it", 4, 1, stopped) == Time::never());
  CHECK(lone_iteration(scenario, "it", 4, {}, stopped) == Time::never());
  CHECK(part_errors(scenario, scenario.training.front(), 4, 2, stopped).empty());
}

TEST_CASE("intervals: only modelled times have one") {
  const auto is_modelled = [](const std::string& members) {
    return is_predicted(parsed("training: {it: {" + members + "}}\n").training.front());
  };
  CHECK(is_modelled("model: resnet50"));
  CHECK_FALSE(is_modelled("model: resnet50, single_worker: 100ms"));
  const Layers measured{kOnOne, "{nic: 100Gbps}"};
  CHECK_FALSE(is_predicted(*find_entry(measured.scenario.training, "it")));
}

TEST_CASE("the table of errors: wrong entries are refused with their place") {
  CHECK(error_table().of(ErrorClass::products).of("A100-80GB") < error_table().of(ErrorClass::products).of("unknown"));
  const auto reason = [](const std::string& text) {
    return complaint_lines([&] { static_cast<void>(parse_error_table(text)); });
  };
  CHECK(contains(reason("product: {error: 0.1, source: x}\n"), "product: is no class of errors"));
  CHECK(contains(reason("products: {error: -1, source: x}\n"), "expected a number >= 0"));
  CHECK(contains(reason("products: {errors: 1, source: x}\n"), "unknown member `errors`"));
  CHECK(contains(reason("products: {error: 1}\n"), "needs `source`"));
  CHECK(contains(reason("products: {error: 1, source: x}\n"), "has no class `attention`"));
}
