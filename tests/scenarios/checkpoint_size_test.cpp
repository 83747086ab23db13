// Tests what checkpoints of size auto have of a job's training entry, by hand.

#include "scenarios/run/run_scenario.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a checkpoint of size auto has the weights and the optimizer of the job's training entry") {
  const auto first_job = [](const std::string& entry, const std::string& checkpoints) {
    const Scenario scenario =
        parsed("cluster: {servers: 2, gpus_per_server: 8, gpu_memory: 80GB}\ntraining: {it: {" + entry +
               "}}\nworkload: {generate: {sizes: {16: 1}, models: [it], iterations: [4, 4], arrivals: 1s}}\n"
               "policies: {scheduling: fifo}\ncheckpoints: {policy: synchronous, iterations: 2, size: " +
               checkpoints + "}\n");
    return run_scenario(scenario, 1).jobs.front();
  };
  // ResNet-50: 25,557,032 parameters, each with a weight and a momentum in fp32. After 2 of 4 iterations it saves.
  const JobResult small =
      first_job("model: resnet50, device: V100-SXM2, batch: 32, optimizer: momentum", "auto, rate: 1GB/s");
  CHECK(small.notes.state == Bytes{25'557'032LL * 8});
  CHECK(small.overhead.ns() == 204'456'256);
  // A transformer in bf16 with Adam: 2 + 4 + 8 bytes, whatever its parallelism.
  const JobResult large = first_job(
      "model: gpt-sc21-1.7b, device: A100-80GB, dtype: bf16, batch: 64, sequence: 2048, optimizer: "
      "adam, "
      "parallel: {tensor: 4, pipeline: 2}",
      "auto, rate: 10GB/s");
  CHECK(large.notes.state.count() % 14 == 0);
  CHECK(large.notes.state.count() / 14 == near(1.7e9, 0.05));
  CHECK(large.overhead.to_seconds() == near(static_cast<double>(large.notes.state.count()) / 10e9, 1e-6));
}
