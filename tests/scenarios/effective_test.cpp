#include "scenarios/sweep/effective.hpp"

#include "scenarios/keys/print.hpp"
#include "tests/scenarios/sweep_kit.hpp"

#include <doctest/doctest.h>

using namespace contend;

namespace {

using Names = std::vector<std::string>;

std::optional<PlainValue> effective(const std::string& key, const Scenario& scenario, const Names& shown = {}) {
  return EffectiveKey{key, shown}.value(scenario);
}

std::string text_of(const std::string& key, const Scenario& scenario, const Names& shown = {}) {
  const std::optional<PlainValue> value = effective(key, scenario, shown);
  return value ? value->text : "-";
}

Magnitude magnitude_at(const std::string& key, const Scenario& scenario) {
  const std::optional<PlainValue> value = effective(key, scenario);
  REQUIRE(value.has_value());
  REQUIRE_MESSAGE(value->magnitude.has_value(), key);
  return *value->magnitude;
}

const StoreParameter& only_parameter(const SweepPlan& plan) {
  REQUIRE(plan.info().parameters.size() == 1);
  return plan.info().parameters.front();
}

}  // namespace

TEST_CASE("a value has the type that its key knows") {
  const Scenario s = parsed(
      "cluster: {cpus: 64, gpu_memory: 32GiB}\nnetwork: {alpha: 20us, nic: 10Gbps, fidelity: contention, eta: 1ms/MB}\n"
      "workload: {scatter_penalty: [1.5]}");
  CHECK(std::get<std::int64_t>(magnitude_at("cluster.servers", s)) == s.cluster.servers);
  CHECK(std::get<std::int64_t>(magnitude_at("cluster.cpus", s)) == 64);  // a number that is whole
  CHECK(std::get<Bytes>(magnitude_at("cluster.gpu_memory", s)) == s.cluster.gpu_memory);
  CHECK(std::get<Time>(magnitude_at("network.alpha", s)) == s.network.alpha);
  CHECK(std::get<ByteRate>(magnitude_at("network.nic", s)) == *s.network.nic);
  CHECK(std::get<TimePerByte>(magnitude_at("network.eta", s)) == *s.network.eta);
  CHECK(std::get<double>(magnitude_at("workload.scatter_penalty", s)) == 1.5);  // a list of one
  CHECK_FALSE(effective("network.beta", s)->magnitude.has_value());
  CHECK(text_of("network.beta", s) == "auto");
  CHECK(text_of("engine.leap", s) == "true");
  CHECK(text_of("workload.generate.models", parsed("workload: {generate: {models: [vgg16]}}")) == "vgg16");
  CHECK(text_of("overlap.workers", s) == "-");  // means nothing in a study of jobs
  CHECK(text_of("workload.jobs", s) == "-");    // no value, and no word for that
}

TEST_CASE("a text is no number, whatever its characters are") {
  const Scenario s = parsed("training: {it: {layers: net.csv, select: \"50\"}}\noverlap: {training: it}");
  CHECK(text_of("training.it.select", s) == "50");
  CHECK_FALSE(effective("training.it.select", s)->magnitude.has_value());
  CHECK(
      only_parameter(plan_of("training: {it: {model: resnet50}}\noverlap: {training: it, fusion: [bsp], workers: [4]}\n"
                             "sweep: {grid: {training.it.model: [resnet50, vgg16]}}"))
          .type == StoreParameter::Type::text);
}

TEST_CASE("numbers of one key make one kind of column") {
  const auto column = [](const std::string& values) {
    return only_parameter(plan_of("sweep: {grid: {workload.scatter_penalty: [" + values + "]}}")).type;
  };
  CHECK(column("[1], [2]") == StoreParameter::Type::integer);
  CHECK(column("[1], [1.5]") == StoreParameter::Type::number);
  CHECK(column("[1], [1, 2]") == StoreParameter::Type::text);
  CHECK(only_parameter(plan_of("sweep: {grid: {cluster.cpus: [any, 64.0]}}")).type == StoreParameter::Type::text);
}

TEST_CASE("parts of values: parameters, sizes, profiles, bounds, factors") {
  const Scenario jobs = parsed(
      "policies: {placement: {policy: lwf, kappa: 3}}\nworkload: {generate: {sizes: {1: 8, 04: 2}}}\n"
      "network: {fidelity: flow, fabric: {kind: torus, dimensions: [4, 4]}}\ncluster: {servers: 16}\n"
      "expect: {finished: 10, avg_jct: \"< 2h\", makespan: [10min, 3h], p95_jct: 90min}");
  CHECK(std::get<std::int64_t>(magnitude_at("policies.placement.kappa", jobs)) == 3);
  CHECK(text_of("policies.placement", jobs) == "lwf kappa=3");
  CHECK(text_of("policies.placement", jobs, {"policies.placement.kappa"}) == "lwf");
  CHECK(text_of("policies.placement.no_such", jobs) == "-");
  CHECK(std::get<std::int64_t>(magnitude_at("workload.generate.sizes.4", jobs)) == 2);
  CHECK(text_of("workload.generate.sizes.2", jobs) == "-");
  CHECK(text_of("network.fabric.kind", jobs) == "torus");
  CHECK(text_of("network.fabric.dimensions", jobs) == "[4, 4]");
  CHECK(text_of("network.fabric.spines", jobs) == "-");  // of another kind
  CHECK(text_of("network.server.kind", jobs) == jobs.network.topology.server.kind);
  CHECK(std::get<std::int64_t>(magnitude_at("expect.finished", jobs)) == 10);
  CHECK(std::get<Time>(magnitude_at("expect.p95_jct", jobs)) == Time::seconds(5400));
  CHECK(text_of("expect.p95_jct_s", jobs) == "90min");  // its full name
  CHECK(text_of("expect.avg_jct", jobs) == "< 2h");
  CHECK(text_of("expect.makespan", jobs) == "[10min, 3h]");
  CHECK(text_of("expect.avg_queue", jobs) == "-");

  const Scenario study = parsed(
      "training: {it: {model: resnet50}}\noverlap: {training: it, compression: [top-k], fusion: [{policy: ddp, mib: "
      "10}], "
      "iterations_to_target: {top-k: 1.25, source: \"Table 2\"}}");
  CHECK(text_of("overlap.compression", study) == "top-k");
  CHECK(text_of("overlap.fusion", study) == "ddp mib=10");
  CHECK(std::get<double>(magnitude_at("overlap.iterations_to_target.top-k.factor", study)) == 1.25);
  CHECK(text_of("overlap.iterations_to_target.top-k.source", study) == "Table 2");
  CHECK(text_of("overlap.iterations_to_target.dgc.factor", study) == "-");
}

TEST_CASE("a value shown as a number is the number that it is printed as") {
  for (const std::string study : {"network: {fidelity: contention}", "network: {fidelity: flow}",
                                  "training: {it: {model: bert-large}}\noverlap: {training: it, workers: [8]}"}) {
    const Scenario scenario = parsed(study);
    std::size_t numbers = 0;
    for (const ScenarioKey& key : scenario_keys()) {
      CAPTURE(key.path);
      const std::optional<PlainValue> value = key.io->plain(scenario, {});
      if (!value || !value->magnitude) continue;
      ++numbers;
      const std::optional<Magnitude> read = parse_magnitude(value->text);
      REQUIRE(read.has_value());
      CHECK(read->index() == value->magnitude->index());
      CHECK(base_number(*read) == base_number(*value->magnitude));
      const std::string printed = key.io->print(scenario);
      CHECK((printed == value->text || printed == "[" + value->text + "]"));
    }
    CHECK(numbers > 15);
  }
}
