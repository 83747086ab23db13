// Training entries whose hosts launch what the device does, and what launches go with.

#include "scenarios/run/lone_job.hpp"
#include "scenarios/training/host_work.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/graph.hpp"
#include "tests/complaint_lines.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"
#include "tests/text_checks.hpp"

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
  // 40 passes of a worker: 20 x 30 + 20 x 60 us = 1.8 ms. Launches of 20 us take 0.8 ms and are hidden, launches of
  // 100 us take 4 ms.
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
  // Launches that are longer than all passes have tasks of their own.
  const IterationGraph plain = graph("0us"), launched = graph("900ms");
  std::size_t device = 0;
  for (const Op& op : plain.ops()) device += op.kind == OpKind::compute || op.is_traffic() ? 1U : 0U;
  CHECK(launched.ops().size() == plain.ops().size() + device);
  launched.validate();
}

namespace {

/// A scenario with one entry, `it`, of as many layers as GPUs.
Scenario spread(const std::string& members, int gpus, int version) {
  return parse_scenario(
      fmt::format("schema_version: {}\ncluster: {{servers: 2, gpus_per_server: 1}}\nnetwork: {{alpha: 0s, beta: "
                  "1ns/B}}\ntraining: {{it: {{transformer: {{layers: {}, hidden: 512, heads: 8, feed_forward: 1024, "
                  "vocabulary: 8000}}, device: A100-40GB, dtype: bf16, batch: 1, sequence: 64, {}}}}}\n",
                  version, gpus, members),
      "a.yaml", {}, {});
}

Time iteration_of(const std::string& members, int gpus = 1, int version = 1) {
  return lone_iteration(spread(members, gpus, version), "it", gpus);
}

}  // namespace

TEST_CASE("hosts: an iteration takes as long as its launches, kernel by kernel") {
  // Embedding 1 kernel forward and 1 backward. A layer has 2 norms, 4 products, rotary positions, attention, an
  // activation and 2 sums: 11 forward, and 15 backward, as products have two gradients. Head: norm, product and loss, 3
  // and 4. The update takes 4. With 100 us each: 39 launches, which no kernel outlasts.
  const std::string one =
      "global_batch: 1, parallel: {zero: 0}, host: {dispatch: 90us, dispatch_backward: 90us, "
      "launch: 10us";
  CHECK(iteration_of(one + "}") == Time::microseconds(3900));
  CHECK(iteration_of(one + ", forward: {product: 2}}") == Time::microseconds(4400));
  CHECK(iteration_of(one + ", backward: {attention: 3}}") == Time::microseconds(4100));
  CHECK(iteration_of(one + ", step: 1ms}") == Time::microseconds(4900));
  // What is done again is launched again.
  CHECK(iteration_of(one + ", recompute: 300us}, recompute: full") == Time::microseconds(3900 + 1100 + 300));
  CHECK(iteration_of(one + ", recompute: 300us}, recompute: [mlp]") == Time::microseconds(3900 + 300 + 300));
  // What graphs do again takes no time of its own.
  CHECK(iteration_of(one + ", recompute: 300us, graphs: true}, recompute: [mlp]") <
        iteration_of(one + ", graphs: true}") + Time::microseconds(300));
  // A graph for each of three units and two passes, and 35 nodes.
  CHECK(iteration_of(one + ", graphs: true}", 1) >= Time::microseconds(6 * 15 + 35 * 3 / 5 + 400));
  CHECK(iteration_of(one + ", graphs: true}", 1) < Time::microseconds(1000));
}

TEST_CASE("hosts: gradients are clipped, cleared and scaled beside the update") {
  // A layer has 8 x 4 x 64 x 512 + 3 x 512 x 1024 + 2 x 512 weights, the tables 2 x 8000 x 512, the last norm 512. An
  // A100-40GB moves 0.8 x 1,555 bytes a nanosecond.
  const auto layers = [](int count) { return count * 2'622'464 + 2 * 8000 * 512 + 512; };
  const auto moved = [](double bytes) { return bytes / (0.8 * 1555e9); };
  const auto seconds = [](const char* host, int gpus, int zero = 0) {
    return iteration_of(
               fmt::format("optimizer: adam, global_batch: {}, parallel: {{zero: {}}}, host: {{{}}}", gpus, zero, host),
               gpus)
        .to_seconds();
  };
  CHECK(seconds("clips: true", 1) - seconds("clips: false", 1) == near(moved(12.0 * layers(1)), 1e-3));
  CHECK(seconds("gradient_buffer: true", 1) - seconds("step: 0s", 1) == near(moved(4.0 * layers(1)), 1e-3));
  // Two data-parallel ranks also scale what they are to add up.
  CHECK(seconds("gradient_buffer: true", 2) - seconds("step: 0s", 2) == near(moved(12.0 * layers(2)), 1e-3));
  // Where they share them out, each has half of the buffer.
  CHECK(seconds("gradient_buffer: true", 2, 2) - seconds("step: 0s", 2, 2) == near(moved(6.0 * layers(2)), 1e-3));
  // The 11,689,512 weights of a network of layers.
  const auto network = [](const char* host, int gpus) {
    const Scenario scenario = parsed(fmt::format(
        "cluster: {{servers: 2, gpus_per_server: 1}}\nnetwork: {{alpha: 0s, beta: 1ns/B}}\ntraining: {{it: "
        "{{model: resnet18, batch: 8, device: A100-40GB, dtype: fp32, optimizer: adam, host: {{launch: 1us, {}}}}}}}\n",
        host));
    return lone_iteration(scenario, "it", gpus).to_seconds();
  };
  CHECK(network("clips: true", 1) - network("clips: false", 1) == near(moved(12.0 * 11'689'512), 1e-3));
  CHECK(network("gradient_buffer: true", 2) - network("step: 0s", 2) == near(moved(12.0 * 11'689'512), 1e-3));
}

TEST_CASE("hosts: with waits before each pass a host waits for the update, too") {
  // Adam moves 28 bytes for each of 10,814,976 weights: 243,424 ns and a start of 5 us, beside the last 3 of 4 launches
  // of 25 us. Without an optimizer these launches stay. A host that doesn't wait launches what follows meanwhile.
  const auto update = [](const char* waits) {
    const auto with = [&](const char* optimizer) {
      return iteration_of(
          fmt::format("optimizer: {}, global_batch: 1, parallel: {{zero: 0}}, host: {{dispatch: 20us, "
                      "dispatch_backward: 20us, launch: 5us, waits: {}}}",
                      optimizer, waits));
    };
    return with("adam") - with("none");
  };
  CHECK(update("iteration") == Time{});
  CHECK(update("pass") == Time::nanoseconds(243'424 + 5'000 - 3 * 25'000));
}

TEST_CASE("hosts: experts are launched one by one, and their routing takes launches of its own") {
  const auto time = [](const std::string& host) {
    const Scenario scenario = parsed(
        "cluster: {servers: 1}\ntraining: {it: {transformer: {layers: 1, hidden: 512, heads: 8, feed_forward: 64, "
        "vocabulary: 8000, experts: 8, top_k: 2}, device: A100-40GB, dtype: bf16, batch: 1, sequence: 64, "
        "global_batch: "
        "1, parallel: {zero: 0}, host: {dispatch: 90us, dispatch_backward: 90us, launch: 10us" +
        host + "}}}\n");
    return lone_iteration(scenario, "it", 1);
  };
  // Two groups of 8 products forward, and both gradients of each.
  CHECK(time(", grouped: 50us") - time("") == Time::microseconds(6 * 7 * 50));
  CHECK(time(", routing: 3") - time("") == Time::microseconds(2 * 3 * 100));
  // Graphs of all but the experts: both groups and their activation, and all gradients, are launched as before.
  CHECK(time(", graphs: true, eager_experts: true") > time(", graphs: true") + Time::microseconds(8 * 100));
  CHECK(time(", graphs: true, eager_experts: true") < time(""));
  const std::string why = complaint_lines([&] { static_cast<void>(time(", eager_experts: true")); });
  CHECK_MESSAGE(contains(why, "eager_experts needs graphs: true"), why);
}

TEST_CASE("hosts: a layer that drops no tokens waits for their counts in its forward pass") {
  const auto time = [](const std::string& host, const std::string& parallel = "", const std::string& members = "") {
    const Scenario scenario = parsed(
        "cluster: {servers: 1, gpus_per_server: 2}\nnetwork: {nic: 400Gbps, alpha: 5us}\n"
        "training: {it: {transformer: {layers: 3, hidden: 2048, heads: 16, feed_forward: 1024, vocabulary: 8000, "
        "experts: 8, top_k: 2}, device: A100-40GB, dtype: bf16, batch: 4, sequence: 4096, global_batch: 8, parallel: "
        "{zero: 0, expert: 2" +
        parallel + "}, host: {launch: 1us" + host + "}" + members + "}}\n");
    return lone_iteration(scenario, "it", 2);
  };
  const Time ahead = time("");
  CHECK(time(", routing_wait: 50us") - ahead == Time::microseconds(3 * 50));
  const std::string again = ", recompute: full";
  CHECK(time(", routing_wait: 50us", "", again) - time("", "", again) == Time::microseconds(2 * 3 * 50));
  // Padded to a capacity, counts are known.
  CHECK(time(", routing_wait: 50us", ", expert_load: {capacity: 1}") == ahead);
}

TEST_CASE("hosts: where nothing says the host, files of version 2 have the host of a framework") {
  const std::string entry = "global_batch: 2, parallel: {pipeline: 2}, recompute: none";
  CHECK(iteration_of(entry, 2, 1) == iteration_of(entry + ", host: none", 2, 1));
  CHECK(iteration_of(entry, 2, 2) == iteration_of(entry + ", host: megatron", 2, 2));
  CHECK(iteration_of(entry, 2, 2) > iteration_of(entry + ", host: none", 2, 2));
  const std::string alone = "global_batch: 1, parallel: {zero: 0}";
  CHECK(iteration_of(alone, 1, 2) == iteration_of(alone + ", host: torch", 1, 2));
  CHECK(iteration_of(alone + ", host: torch-compile", 1) < iteration_of(alone + ", host: torch", 1));
}

TEST_CASE("hosts: layers of a table have launches for their kernels, and leaping changes nothing") {
  const auto run = [](const std::string& members, bool leap) {
    Launches launches{"", 4, 300};
    std::string text = "model: resnet18, batch: 1, device: A100-40GB, dtype: fp16, fusion: bsp, host: ";
    launches.scenario = [&] {
      const std::string jobs = launches.file("jobs.csv", "job_id,submit_s,gpus,model,iterations\ntrain,0,4,it,300\n");
      return parsed(
          fmt::format("cluster: {{servers: 4, gpus_per_server: 1}}\npolicies: {{scheduling: fifo}}\nnetwork: "
                      "{{alpha: 0s, beta: 1ns/B}}\ntraining: {{it: {{{}{}}}}}\nworkload: {{jobs: {}}}\n",
                      text, members, jobs));
    }();
    launches.scenario.engine.leap = leap;
    return launches.run();
  };
  const RunResult none = run("none", true), torch = run("torch", true);
  CHECK(torch.end > none.end);
  CHECK(torch.jobs[0].host > GpuTime{});
  CHECK(run("torch", false).digest == torch.digest);
  // A host that is never late changes nothing but the first launch.
  const RunResult fast = run("{launch: 1ns}", true);
  CHECK(fast.end - none.end < Time::microseconds(1));
}

TEST_CASE("hosts: measured times have their host in them") {
  for (const char* const members : {"model: published-resnet50", "model: resnet50, single_worker: 62ms"}) {
    const std::string rest = "workload: {generate: {models: [it], sizes: {1: 1}, iterations: [2, 2], arrivals: 1ms}}\n";
    const auto text = [&](const char* host) {
      return fmt::format("cluster: {{servers: 2}}\ntraining: {{it: {{{}{}}}}}\n{}", members, host, rest);
    };
    const std::string refused = errors_of(text(", host: torch"));
    CHECK_MESSAGE(refused.find("training.it.host: measured times have the host that launched their kernels in them") !=
                      std::string::npos,
                  refused);
    CHECK(host_of(parsed(text(""), {"schema_version=2"}).training.front()) == nullptr);
  }
  CHECK(host_of(parsed("training: {it: {model: resnet50}}\n", {"schema_version=2"}).training.front()) != nullptr);
  const std::string both = errors_of(
      "cluster: {servers: 2}\ntraining: {it: {model: resnet50, host: torch, launch: 5us}}\n"
      "workload: {generate: {models: [it], sizes: {1: 1}, iterations: [2, 2], arrivals: 1ms}}\n");
  CHECK_MESSAGE(both.find("says what launches take, and so does launch") != std::string::npos, both);
}

TEST_CASE("hosts: an iteration has settled when those behind it take as long") {
  // The first four iterations take 136.05 ms; by the seventh the GPUs wait for their hosts.
  const Scenario scenario = parse_scenario(
      "schema_version: 2\nmachine: dgx-h100\ncluster: {servers: 2, gpu_memory: 100TiB}\ntraining: {it: {transformer: "
      "{layers: 16, hidden: 2048, heads: 16, key_value_heads: 8, feed_forward: 8192, vocabulary: 50257, experts: 8, "
      "top_k: 2, expert_feed_forward: 1024}, sequence: 2048, batch: 1, global_batch: 8, dtype: fp16, optimizer: lion, "
      "recompute: [layernorm, core_attn], host: torch, adapter: {kind: lora, rank: 16, targets: [feed-forward]}, "
      "parallel: {pipeline: 4, schedule: zb-v, partition: uneven, context: 2, context_exchange: token-ring, expert: 2, "
      "expert_pieces: 2, expert_load: {ratio: 1.3}, gradient_bytes: 2}}}\n",
      "a.yaml", {}, {});
  const double shown = lone_iteration(scenario, "it", 16).to_seconds();
  const Time many = lone_job(scenario, "it", 16, 400) - lone_job(scenario, "it", 16, 200);
  CHECK(shown == near(many.to_seconds() / 200, 1e-6));
}
