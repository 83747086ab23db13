// Training entries whose hosts launch what the device does, and what launches go with.

#include "scenarios/training/training_graphs.hpp"
#include "sim/graph.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// A network of 20 layers, each of which takes 30 us forward and 60 us backward and has a weight of 256 bytes.
std::string layer_times() {
  std::string text = "layer,tensors,forward_us,backward_us\n";
  for (int layer = 0; layer < 20; ++layer) text += fmt::format("layer{},weight=[8x8],30,60\n", layer);
  return text;
}

/// A job of so many GPUs on servers of one, with a network of 8 Gbit/s: 1 ns a byte.
struct Launches : ListedJobs {
  Launches(const std::string& members, int gpus, int iterations = 100) {
    const std::string layers = file("layers.csv", layer_times());
    const std::string jobs =
        file("jobs.csv", fmt::format("job_id,submit_s,gpus,model,iterations\ntrain,0,{},it,{}\n", gpus, iterations));
    scenario =
        parsed(fmt::format("cluster: {{servers: {}, gpus_per_server: 1}}\npolicies: {{scheduling: fifo}}\n"
                           "network: {{alpha: 0s, beta: 1ns/B}}\n"
                           "training: {{it: {{layers: {}, fusion: bsp{}}}}}\nworkload: {{jobs: {}}}\n",
                           std::max(gpus, 2), layers, members, jobs));
  }
};

}  // namespace

TEST_CASE("launches: an iteration takes as long as its launches where layers are short") {
  // 40 passes of a worker: 20 x 30 + 20 x 60 us = 1.8 ms. Launches of 20 us take 0.8 ms and are hidden, those of 100 us
  // take 4 ms.
  const auto seconds = [](const std::string& members) { return Launches{members, 1}.run().end.to_seconds(); };
  CHECK(seconds("") == near(100 * 1.8e-3, 1e-9));
  CHECK(seconds(", launch: 20us") == near(20e-6 + 100 * 1.8e-3, 1e-9));
  CHECK(seconds(", launch: 100us") == near(100 * 4e-3 + 60e-6, 1e-9));
  const RunResult run = Launches{", launch: 100us", 1}.run();
  CHECK(run.jobs[0].host.to_seconds() == near(100 * 4e-3, 1e-9));
  CHECK(run.jobs[0].compute.to_seconds() == near(100 * 1.8e-3, 1e-9));
}

TEST_CASE("launches: workers launch their collectives, and leaping changes nothing") {
  Launches launches{", launch: 100us", 4, 500};
  const RunResult fast = launches.run();
  CHECK(fast.leaps > 0);
  // 40 passes and a collective, whose 5,120 bytes only the last iteration shows.
  CHECK(fast.jobs[0].host.to_seconds() == near(4 * 500 * 4.1e-3, 1e-9));
  CHECK(fast.end.to_seconds() == near(500 * 4.1e-3 + 5.12e-6, 1e-9));
  launches.scenario.engine.leap = false;
  CHECK(launches.run().digest == fast.digest);
  CHECK(Launches{"", 4, 500}.run().end < fast.end);
}

TEST_CASE("launches: backup workers leave their launches behind") {
  const RunResult run = Launches{", launch: 20us, backup_workers: 1", 4}.run();
  CHECK(run.jobs[0].state == JobState::finished);
  CHECK(run.jobs[0].left_behind == 0);  // nobody is late
}

TEST_CASE("launches: a model that is spread over GPUs has them too, for passes and messages") {
  const std::string members =
      "it: {transformer: {layers: 4, hidden: 512, heads: 8, feed_forward: 1024, vocabulary: 8000}, "
      "device: A100-40GB, dtype: bf16, batch: 1, global_batch: 8, sequence: 256, parallel: {pipeline: 2, "
      "schedule: 1f1b}, launch: LAUNCH}";
  const auto graph = [&](const std::string& launch) {
    std::string text = members;
    text.replace(text.find("LAUNCH"), 6, launch);
    const Scenario scenario = parsed(
        "cluster: {servers: 2, gpus_per_server: 1}\nnetwork: {alpha: 0s, beta: 1ns/B}\ntraining: {" + text + "}\n");
    return TrainingGraphs{scenario}("it", 2).graph;
  };
  const IterationGraph plain = graph("0us"), launched = graph("5us");
  std::size_t device = 0;
  for (const Op& op : plain.ops()) device += op.kind == OpKind::compute || op.is_traffic() ? 1U : 0U;
  CHECK(launched.ops().size() == plain.ops().size() + device);
  launched.validate();
}
