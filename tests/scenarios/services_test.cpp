// Jobs that wait for services, from scenarios, by hand: cold starts, lifetimes, storage, exchanges over a store.

#include "models/services/start_up.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/keys/keys.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// A job of an hour on two GPUs, or more.
struct Functions : ListedJobs {
  explicit Functions(const std::string& checkpoints, const std::string& outages = "", int gpus = 2) {
    std::string failures;
    if (!outages.empty()) failures = fmt::format("failures: {{events: {}}}\n", file("outages.csv", outages));
    scenario = parsed(fmt::format(
        "cluster: {{servers: 1, gpus_per_server: {0}}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
        "workload: {{jobs: {1}}}\ncheckpoints: {2}\n{3}",
        gpus, file("jobs.csv", fmt::format("job_id,submit_s,gpus,duration_s\na,0,{},3600\n", gpus)), checkpoints,
        failures));
  }
  [[nodiscard]] double finish_s() const { return run().jobs[0].finish.to_seconds(); }
};

/// A job that trains on a worker alone: 10 ms of computing, a sample an iteration.
struct Reader : ListedJobs {
  explicit Reader(const std::string& data, int gpus = 1, const std::string& network = "{}") {
    scenario = parsed(fmt::format(
        "cluster: {{servers: {}, gpus_per_server: 1}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
        "network: {}\nworkload: {{jobs: {}}}\ntraining: {{it: {{layers: {}, fusion: bsp{}}}}}\n",
        gpus, network, file("jobs.csv", fmt::format("job_id,submit_s,model,gpus,iterations\na,0,it,{},100\n", gpus)),
        file("layers.csv", "layer,parameters,forward_ms,backward_ms,batch\nall,1000,4,6,1\n"), data));
  }
  [[nodiscard]] double iteration_ms() const { return run().jobs[0].finish.to_seconds() * 10; }
};

}  // namespace

TEST_CASE("services: a job begins when its slowest worker has started, and starts again after a failure") {
  CHECK(Functions{"{start_up: {mean: 10s}}"}.finish_s() == near(3610));
  const Time drawn = slowest_start({Time::seconds(10), Time::seconds(20)}, 2, 1, "start/a");
  CHECK(Functions{"{start_up: {mean: 10s, deviation: 20s}}"}.finish_s() == near(3600 + drawn.to_seconds()));
  // From 10 s on it works; at 20 s its server fails, at 25 s it is back, and the job works from 40 s on.
  CHECK(Functions{"{start_up: {mean: 10s}, restart_cost: 5s}", "component,down_s,up_s\nserver0,20,25\n"}.finish_s() ==
        near(3630));
  CHECK(Functions{"{start_up: {mean: 0s}}"}.finish_s() == near(3600));
}

TEST_CASE("services: workers that live for a while start, work and save in that time") {
  // Of 900 s 10 start and 2 save: 888 s of work. 3600 s are 4 of these and 48 s, with 4 stops between.
  const Functions functions{"{policy: synchronous, cost: 2s, lifetime: 15min, start_up: {mean: 10s}}"};
  CHECK(functions.finish_s() == near(3600 + 5 * 10 + 4 * 2));
}

TEST_CASE("services: lifetimes that are too short, and periods beside them, are refused") {
  CHECK(errors_of("checkpoints: {policy: synchronous, cost: 2s, lifetime: 10s, start_up: {mean: 8s}}")
            .find("workers are stopped after 10s, and need 8s to start and 2s to save: they never work") !=
        std::string::npos);
  CHECK(errors_of("checkpoints: {policy: synchronous, period: 1min, lifetime: 10s}").find("it is the period") !=
        std::string::npos);
  // One that is long enough for the mean, but not for the draws of a job.
  const Functions functions{"{policy: synchronous, lifetime: 1500ms, start_up: {mean: 1s, deviation: 2s}}", "", 64};
  CHECK(functions.refusals().find("s until its slowest worker has started") != std::string::npos);
}

TEST_CASE("services: an iteration takes as long as the longest of reading, preparing, copying and training") {
  CHECK(Reader{""}.iteration_ms() == near(10, 1e-6));
  CHECK(Reader{", data: {sample: 1MB, rate: 200MB/s}"}.iteration_ms() == near(10, 1e-6));  // 5 ms
  CHECK(Reader{", data: {sample: 1MB, rate: 50MB/s}"}.iteration_ms() == near(20, 1e-6));
  CHECK(Reader{", data: {sample: 1MB, rate: 50MB/s, seek: 5ms}"}.iteration_ms() == near(25, 1e-6));
  CHECK(Reader{", data: {sample: 1MB, rate: 100MB/s, readers: 4}"}.iteration_ms() == near(40, 1e-6));
  CHECK(Reader{", data: {prepare: 90ms, processes: 6}"}.iteration_ms() == near(15, 1e-6));
  CHECK(Reader{", data: {copied: 1MB, copy_rate: 40MB/s, prepare: 12ms}"}.iteration_ms() == near(25, 1e-6));
  CHECK(Reader{", data: {sample: 1MB, rate: 50MB/s, cache: 0.25, evict: never}"}.iteration_ms() == near(15, 1e-6));
  // A buffer of a tenth of the data adds a tenth of the reading to each iteration of an epoch.
  CHECK(Reader{", data: {sample: 1MB, rate: 50MB/s, order: blocks, block: 10MB, buffer: 0.1}"}.iteration_ms() ==
        near(22, 1e-6));
  CHECK(Reader{", accumulate: 3, data: {sample: 1MB, rate: 50MB/s}"}.iteration_ms() == near(60, 1e-6));
}

TEST_CASE("services: storage without a rate, and the like, are refused") {
  const auto refused = [](const std::string& data, const std::string& why) {
    CHECK_MESSAGE(errors_of("training: {it: {model: resnet50, device: V100-SXM2, data: " + data +
                            "}}\nworkload: {generate: {models: [it]}}")
                          .find(why) != std::string::npos,
                  data);
  };
  refused("{sample: 1MB}", "rate is missing");
  refused("{rate: 1MB/s}", "sample is missing");
  refused("{copied: 1MB}", "copy_rate is missing");
  refused("{sample: 1MB, rate: 1MB/s, order: blocks}", "a block is smaller than a sample");
  refused("{sample: 1MB, rate: 1MB/s, block: 10MB}", "are for order: blocks");
}

TEST_CASE("services: workers exchange over a store, reading beside") {
  // 4,000 bytes among 4 workers: 7 requests of 1 ms and 4 us, and a poll; or 10 of 1 ms and 1 us.
  const std::string store = "{fidelity: analytic, formula: store, alpha: 1ms, nic: 1GB/s, poll: 3ms}";
  CHECK(Reader{"", 4, store}.iteration_ms() == near(10 + 7 * 1.004 + 3, 1e-6));
  CHECK(Reader{"", 4, "{fidelity: analytic, formula: store-scatter, alpha: 1ms, nic: 1GB/s}"}.iteration_ms() ==
        near(10 + 10 * 1.001, 1e-6));
  CHECK(Reader{", data: {sample: 1MB, rate: 40MB/s}", 4, store}.iteration_ms() == near(25, 1e-6));
}

TEST_CASE("services: a study of an iteration waits for its data, and the engine finds the time of the fast executor") {
  const auto iteration_s = [](const char* rate, const char* executor) {
    const Scenario scenario = parsed(
        fmt::format("network: {{nic: 10Gbps, alpha: 50us}}\ntraining: {{it: {{model: resnet50, device: V100-SXM2, "
                    "batch: 32, data: {{sample: 110KB, rate: {}}}}}}}\n"
                    "overlap: {{training: it, workers: [4], fusion: [dear], executor: {}}}\n",
                    rate, executor));
    return iteration_value(run_scenario(scenario, 1).jobs[0], "iteration_s");
  };
  CHECK(iteration_s("20MB/s", "fast") == near(32 * 110e3 / 20e6, 1e-6));
  CHECK(iteration_s("20MB/s", "engine") == near(32 * 110e3 / 20e6, 1e-6));
  CHECK(iteration_s("1GB/s", "fast") < 0.16);
}
