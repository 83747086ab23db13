// Jobs that answer requests, from scenarios: the hand cases of docs/models/serving.md in a cluster, and what is
// refused.

#include "models/parallel/layer_split.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "results/result_writer.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/run/service_requests.hpp"
#include "scenarios/training/serving_steps.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// A server of two GPUs, and a job `a` on some of them whose replicas take 1 ms a step, or 2 us a token if that is
/// more.
struct ServedScenario : ListedJobs {
  explicit ServedScenario(const std::string& requests, const std::string& more = "", int gpus = 1,
                          const std::string& step = "{weights: 1ms, token: 2us}", const std::string& jobs = "") {
    const std::string list = fmt::format("job_id,submit_s,model,gpus,iterations\na,0,chat,{},\n{}", gpus, jobs);
    scenario = parsed(
        fmt::format("cluster: {{servers: 1, gpus_per_server: 2}}\n"
                    "policies: {{scheduling: fifo, placement: first-fit}}\n"
                    "workload: {{jobs: {}}}\n"
                    "serving: {{chat: {{step: {}, requests: {{trace: {}}}{}}}}}\n",
                    file("jobs.csv", list), step, file("requests.csv", "arrival,prompt,answer\n" + requests), more));
  }
};

/// First and last tokens, in us.
std::vector<std::int64_t> token_times(const RunResult& result) {
  std::vector<std::int64_t> times;
  for (const RequestResult& each : result.services.front().requests)
    for (const Time time : {each.first, each.end}) times.push_back(time.ns() / 1000);
  return times;
}
using Times = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("serving: one request, by hand, and what results say about it") {
  const ServedScenario served{"0,600,4\n", ", targets: {ttft: 2ms, tpot: 1ms}"};
  const RunResult result = served.run();
  CHECK(token_times(result) == Times{1200, 4200});
  CHECK(result.jobs[0].finish == Time::nanoseconds(4'200'000));
  CHECK(result.jobs[0].compute == GpuTime{Time::nanoseconds(4'200'000), 1});
  CHECK(result.gpus[0].busy == Time::nanoseconds(4'200'000));
  CHECK(result.gpus[1].busy == Time{});
  const Summary summary = summarise(result);
  CHECK(summary.answers.ttft.mean_s == near(1.2e-3));
  CHECK(summary.answers.tpot.mean_s == near(1e-3));
  CHECK(summary.answers.e2e.p99_s == near(4.2e-3));
  CHECK(summary.answers.targets_met == 1);
  CHECK(summary.answers.goodput_per_s == near(1 / 4.2e-3));
  CHECK(summary.answers.tokens_per_s == near(4 / 4.2e-3));
  CHECK(summary.answers.mean_batch == near(1));
  CHECK(std::isnan(summary.answers.kv_peak));
  const Replica replica{1, result, summary, {}};
  CHECK(requests_csv({&replica, 1}) ==
        "job_id,request,arrival_s,prompt,answer,first_s,end_s,ttft_s,tpot_s,waited_s,waited_for,evictions,replica\n"
        "a,0,0,600,4,0.0012,0.0042,0.0012,0.001,0,,0,0\n");
  CHECK(summary_json("x", {&replica, 1}).find("\"ttft_p99_s\"") != std::string::npos);
}

TEST_CASE("serving: replicas get requests by turns, and their GPUs are busy for themselves") {
  const ServedScenario served{"0,100,6\n0,100,1\n0.0011,100,6\n0.0012,100,2\n", ", batch: 1, route: round", 2};
  const RunResult result = served.run();
  CHECK(token_times(result) == Times{1000, 6000, 1000, 1000, 7000, 12'000, 2200, 3200});
  CHECK(result.gpus[0].busy == Time::nanoseconds(12'000'000));
  CHECK(result.gpus[1].busy == Time::nanoseconds(3'000'000));
}

TEST_CASE("serving: a KV cache that is full evicts, and the evicted tokens are computed again") {
  const ServedScenario served{"0,3,4\n0,3,4\n", ", block: 1, blocks: 10", 1, "{weights: 1ms, token: 300us}"};
  const RunResult result = served.run();
  CHECK(token_times(result) == Times{1800, 4800, 1800, 6600});
  const ServiceResult& service = result.services.front();
  CHECK(service.requests[1].evictions == 1);
  CHECK(service.tokens == 8);
  CHECK(summarise(result).answers.evictions == 1);
  CHECK(summarise(result).answers.kv_peak == near(1));
}

TEST_CASE("serving: results say for how long a request waited, and for what") {
  const ServedScenario served{"0,100,2\n0,100,2\n0.0025,100,2\n", ", batch: 1"};
  const RunResult result = served.run();
  const std::vector<RequestResult>& requests = result.services.front().requests;
  CHECK(token_times(result) == Times{1000, 2000, 3000, 4000, 5000, 6000});
  CHECK(requests[0].waited_for == RequestWait::none);
  CHECK(requests[1].waited_for == RequestWait::batch);
  CHECK(requests[1].admitted == Time::nanoseconds(2'000'000));
}

TEST_CASE("serving: prefill and decode apart") {
  const ServedScenario served{"0,400,3\n0,400,3\n", ", apart: {prefill: 1, latency: 100us, per_token: 1us}", 2};
  const RunResult result = served.run();
  CHECK(token_times(result) == Times{1600, 4100, 1600, 5100});
  CHECK(result.services.front().requests[0].replica == 1);
}

TEST_CASE("serving: replicas come and go with the load, as GPUs are free, and lend theirs to a job of lower priority") {
  // Case S19: three requests are left at 2 ms, so that a second replica is asked for. Its GPU trains until 2 ms, or is
  // taken from a job of lower priority; 3 ms later it takes requests. At 8 ms it takes no more, and at 9.5 ms it
  // leaves.
  const std::string requests = "0,1,2\n0,1,2\n0,1,2\n0,1,2\n0.0055,1,2\n0.0055,1,2\n";
  const std::string scale = ", batch: 1, scale: {max: 2, up: 2, down: 1, period: 2ms, cold_start: 3ms}";
  ServedScenario served{requests, scale, 1, "{weights: 1ms}"};
  const Times times{1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 6500, 7500, 8500, 9500};
  const auto jobs = [&](const std::string& rows) {
    return served.file("jobs.csv",
                       "job_id,submit_s,model,gpus,iterations,duration_s,priority\na,0,chat,1,,,1\n" + rows);
  };
  const RunResult alone = served.run();
  CHECK(token_times(alone) == times);
  CHECK(alone.jobs[0].resizes == 1);  // it ends with its last answer
  CHECK(alone.gpus[1].busy == Time::milliseconds(4));
  for (const char* const policy : {"afs", "optimus", "pollux", "elastic-edf", "elasticflow", "sia"}) {  // so do these
    CAPTURE(policy);
    ServedScenario scaled{requests, scale, 1, "{weights: 1ms}"};
    scaled.scenario.scheduling =
        parsed(fmt::format("policies: {{scheduling: {{policy: {}, period_s: 0}}}}", policy)).scheduling;
    const RunResult itself = scaled.run();
    CHECK(token_times(itself) == times);
    CHECK(itself.jobs[0].resizes == 1);
  }
  served.scenario.workload.jobs = jobs("b,0,,1,,0.02,0\n");
  for (const bool leap : {true, false}) {
    served.scenario.engine.leap = leap;
    const RunResult lent = served.run();
    CHECK(token_times(lent) == times);
    CHECK(lent.jobs[1].preemptions == 1);
    CHECK(lent.jobs[1].finish == Time::nanoseconds(9'500'000 + 18'000'000));
  }
  served.scenario.workload.jobs = jobs("b,0,,1,,0.02,1\n");  // nothing is taken from its own priority
  const RunResult kept = served.run();
  CHECK(kept.jobs[1].finish == Time::milliseconds(20));
  CHECK(token_times(kept).back() == 12'000);
}

TEST_CASE("serving: a failed GPU stops its replica, whose requests go to the other one") {
  // GPU 0 is down from 2.5 to 9 ms. Of its request two tokens of four are left then, which the other replica gives
  // after its own request, as it runs one at a time; from 9 ms on the GPU is a replica again.
  ServedScenario served{"0,100,4\n0,100,4\n0.0095,100,2\n", ", batch: 1", 2, "{weights: 1ms}"};
  served.scenario.failures.events = served.file("events.csv", "component,down_s,up_s\ngpu0,0.0025,0.009\n");
  const RunResult result = served.run();
  CHECK(token_times(result) == Times{1000, 6000, 1000, 4000, 10'500, 11'500});
  CHECK(result.jobs[0].interruptions == 0);
  CHECK(result.services.front().recomputed == 101);
  CHECK(result.gpus[0].busy == Time::nanoseconds(2'500'000 + 2'000'000));
  CHECK(result.services.front().requests[0].replica == 1);
  served.scenario.engine.leap = false;
  CHECK(served.run().digest == result.digest);
  served.scenario.scheduling =
      parsed("policies: {scheduling: easy}").scheduling;  // which plans with the places of jobs
  CHECK(served.run().jobs[0].interruptions == 1);
}

TEST_CASE("serving: requests count from the submission, beside jobs that train, with and without leaping") {
  ServedScenario served{"0,600,40\n0.01,300,20\n", "", 1, "{weights: 1ms, token: 2us, cache: 10ns}",
                        "b,0,resnet50,1,200\n"};
  const RunResult leapt = served.run();
  served.scenario.engine.leap = false;
  const RunResult stepped = served.run();
  CHECK(leapt.digest == stepped.digest);
  CHECK(leapt.events < stepped.events);
  CHECK(leapt.jobs[1].state == JobState::finished);
  served.scenario.engine.until = Time::nanoseconds(20'500'000);
  const RunResult cut = served.run();
  served.scenario.engine.leap = true;
  const RunResult cut_leaping = served.run();
  CHECK(cut.digest == cut_leaping.digest);
  CHECK(cut.services.front().tokens > 20);
  CHECK(cut.jobs[0].compute == GpuTime{Time::nanoseconds(20'500'000), 1});
}

TEST_CASE("serving: laws draw as many requests as their rate says, with lengths of their means") {
  ServingEntry entry;
  entry.name = "chat";
  entry.requests = {.rate = {50}, .prompt = {100, 1, 1000}, .answer = {20, 0, {}}, .until = Time::seconds(100)};
  const std::vector<ServedRequest> requests = requests_of(entry, 7, "a").requests;
  CHECK(static_cast<double>(requests.size()) == near(5000, 0.06));  // four standard deviations
  double sum = 0;
  std::int64_t longest = 0;
  for (const ServedRequest& each : requests) {
    sum += static_cast<double>(each.prompt);
    longest = std::max(longest, each.prompt);
    CHECK(each.answer == 20);
  }
  CHECK(sum / static_cast<double>(requests.size()) == near(100, 0.06));
  CHECK(longest <= 1000);
  CHECK(requests.back().arrival < Time::seconds(100));
  CHECK(requests_of(entry, 7, "a").requests.back().arrival == requests.back().arrival);
  CHECK(requests_of(entry, 7, "b").requests.front().arrival != requests.front().arrival);
  entry.requests.rate = {0, 1};
  entry.requests.until = Time::seconds(3700);
  CHECK(requests_of(entry, 7, "a").requests.front().arrival > Time::seconds(3600));
}

TEST_CASE("serving: laws have bursts, quantiles, prefixes and hits") {
  ServingEntry entry;
  entry.name = "chat";
  entry.requests = {.rate = {50}, .gap_cv = 4, .until = Time::seconds(400)};
  entry.requests.prompt.quantiles = {10, 20, 100};
  entry.requests.answer.mean = 5;
  entry.requests.prefixes = 3;
  entry.requests.hits = 0.5;
  const std::vector<ServedRequest> requests = requests_of(entry, 7, "a").requests;
  const auto count = static_cast<double>(requests.size());
  double gaps = 0, squares = 0;
  int short_ones = 0;
  for (std::size_t i = 1; i < requests.size(); ++i) {
    const double gap = (requests[i].arrival - requests[i - 1].arrival).to_seconds();
    gaps += gap;
    squares += gap * gap;
    short_ones += requests[i].prompt <= 20 ? 1 : 0;
    CHECK(requests[i].hits == requests[i].prompt / 2);
    CHECK(requests[i].prefix < 3);
  }
  const double mean = gaps / count;
  CHECK(std::sqrt(squares / count - mean * mean) / mean == near(4, 0.1));
  CHECK(short_ones / count == near(0.5, 0.05));
}

TEST_CASE("serving: a cache of blocks gives hits to a trace that names them") {
  // Two blocks of 512 tokens: the second request finds both, the third, after one of two other blocks, none.
  const ListedJobs folder;
  ServingEntry entry;
  entry.name = "chat";
  const auto row = [](int ms, const char* blocks) {
    return fmt::format("{{\"timestamp\": {}, \"input_length\": 1024, \"output_length\": 2, \"hash_ids\": [{}]}}\n", ms,
                       blocks);
  };
  entry.requests.trace = folder.file("trace.jsonl", row(0, "1, 2") + row(1, "1, 2") + row(2, "3, 4") + row(3, "1, 2"));
  const auto hits = [&] {
    std::vector<std::int64_t> all;
    for (const ServedRequest& each : requests_of(entry, 1, "a").requests) all.push_back(each.hits);
    return all;
  };
  CHECK(hits() == std::vector<std::int64_t>{0, 0, 0, 0});
  entry.requests.cache = 2;
  CHECK(hits() == std::vector<std::int64_t>{0, 1024, 0, 0});
  entry.requests.cache = 4;
  CHECK(hits() == std::vector<std::int64_t>{0, 1024, 0, 1024});
  entry.requests.trace =
      folder.file("bare.jsonl", row(0, "1, 2") + "{\"timestamp\": 1, \"input_length\": 9, \"output_length\": 2}\n");
  CHECK(complaint_lines([&] { hits(); }).find("bare.jsonl:2: the request has no hash_ids") != std::string::npos);
  entry.requests.cache.reset();
  CHECK(hits() == std::vector<std::int64_t>{0, 0});
}

TEST_CASE("serving: the entry is printed as it is read") {
  const ServedScenario served{"0,6,4\n", ", batch: 8, drafts: {tokens: 3, accepted: 0.8}"};
  const std::string printed = to_yaml(served.scenario);
  CHECK(printed.find("chat: {step: {weights: 1ms, token: 2us}") != std::string::npos);
  CHECK(printed.find("drafts: {tokens: 3, accepted: 0.8}") != std::string::npos);
  const auto key = std::ranges::find(scenario_keys(), "serving", &ScenarioKey::path);
  for (const auto& [part, text] :
       {std::pair{"chat.step.token", "2us"}, {"chat.drafts.accepted", "0.8"}, {"chat.batch", "8"}})
    CHECK(key->io->part(served.scenario, part)->text == text);
}

TEST_CASE("serving: what can't be is refused at its place") {
  const auto refusals = [](const std::string& requests, const std::string& more, int gpus = 1) {
    return ServedScenario{requests, more, gpus}.refusals();
  };
  CHECK(refusals("0,6,4\n", "") == "");
  CHECK(refusals("0,6,4\n0,600,4\n", ", blocks: 20").starts_with("requests.csv:3: a request of 600 + 4 tokens"));
  CHECK(refusals("1,6,4\n0.5,6,4\n", "").starts_with("requests.csv:3: arrival: the time goes back"));
  CHECK(refusals("0,600,4\n", ", targets: {ttft: 1ms}")
            .starts_with("serving.chat.targets.ttft: no request can meet 1ms: the shortest takes "));
  CHECK(
      refusals("0,600,4\n", ", targets: {tpot: 999us}").starts_with("serving.chat.targets.tpot: no request can meet"));
  CHECK(refusals("0,6,4\n", ", gpus_per_replica: 2")
            .starts_with("jobs.csv:2: gpus: expected a multiple of 2, the GPUs of a replica of serving.chat, got 1"));
  CHECK(refusals("0,6,4\n", ", apart: {prefill: 1}").find("no other to decode") != std::string::npos);
  CHECK(refusals("", "").find("there is no request") != std::string::npos);
  CHECK(refusals("0,6,4\n", ", scale: {min: 2, max: 2, up: 2, down: 1}")
            .starts_with("jobs.csv:2: gpus: 1 make 1 replica of serving.chat, which has 2 to 2 (scale)"));
  ServedScenario planned{"0,6,4\n", ", scale: {max: 2, up: 2, down: 1}"};
  CHECK(planned.refusals() == "");
  planned.scenario.scheduling = parsed("policies: {scheduling: easy}").scheduling;
  CHECK(planned.refusals().starts_with("serving.chat.scale: easy plans with the GPUs that a job has until it ends"));
  ServedScenario cached{"0,6,4\n"};
  cached.scenario.serving.front().requests.cache = 5;
  CHECK(cached.refusals().starts_with("serving.chat.requests.cache: the trace doesn't say of which blocks"));
}

TEST_CASE("serving: entries without a step or requests, and names that mean two things, are refused") {
  const auto faults = [](const std::string& serving) { return errors_of("serving: " + serving); };
  CHECK(faults("{chat: {requests: {trace: r.csv}}}").find("serving.chat: how long a step takes is missing") !=
        std::string::npos);
  CHECK(faults("{chat: {step: {weights: 1ms}}}").find("serving.chat: requests is missing") != std::string::npos);
  const auto laws = [&](const std::string& more) {
    return faults(fmt::format("{{chat: {{step: {{weights: 1ms}}, requests: {{rate: 1, until: 1h{}}}}}}}", more));
  };
  CHECK(laws("") == "");
  CHECK(laws(", cache: 5").find("serving.chat.requests.cache: laws don't say") != std::string::npos);
  CHECK(laws(", prompt: {quantiles: [3, 2]}").find("at least two lengths that don't fall") != std::string::npos);
  CHECK(laws(", answer: {mean: 5, quantiles: [3, 20]}").find("serving.chat.requests.answer: quantiles are the whole") !=
        std::string::npos);
  const auto scales = [&](const std::string& scale, const std::string& more = "") {
    return faults(fmt::format("{{chat: {{step: {{weights: 1ms}}, requests: {{rate: 1, until: 1h}}, scale: {}{}}}}}",
                              scale, more));
  };
  CHECK(scales("{max: 2, up: 2, down: 1}") == "");
  CHECK(scales("{max: 2}").find("serving.chat.scale.up: the load at which") != std::string::npos);
  CHECK(scales("{min: 3, max: 2, up: 2, down: 1}").find("serving.chat.scale.min: is more than max, 2") !=
        std::string::npos);
  CHECK(scales("{max: 2, up: 2, down: 3}").find("serving.chat.scale.down: is more than up, 2") != std::string::npos);
  CHECK(scales("{max: 2, up: 2, down: 1}", ", apart: {prefill: 1}").find("the rule counts one load") !=
        std::string::npos);
  CHECK(faults("{chat: {step: {wieghts: 1ms}}}").find("did you mean \"weights\"?") != std::string::npos);
  CHECK(faults("{a: {step: {weights: 1ms}, requests: {trace: r.csv}}}\ntraining: {a: {model: resnet50, batch: 8}}")
            .find("training has an entry of this name") != std::string::npos);
}

namespace {

/// Two servers of one GPU, and a job on them that serves a model on a device of 1 GB/s, which is so slow that the bytes
/// of a step are all that counts.
struct ModelServed : ListedJobs {
  explicit ModelServed(const std::string& entry, const std::string& requests = "0,1,2\n", int gpus = 1,
                       const std::string& network = "{fidelity: contention}") {
    scenario = parsed(fmt::format(
        "cluster: {{servers: 2, gpus_per_server: 1, gpu_memory: 24GiB}}\n"
        "policies: {{scheduling: fifo, placement: first-fit}}\n"
        "network: {}\n"
        "workload: {{jobs: {}}}\n"
        "serving: {{chat: {{{}, requests: {{trace: {}}}}}}}\n",
        network, file("jobs.csv", fmt::format("job_id,submit_s,model,gpus,iterations\na,0,chat,{},\n", gpus)), entry,
        file("requests.csv", "arrival,prompt,answer\n" + requests)));
  }
  [[nodiscard]] ReplicaSpec replica() const { return replica_of(scenario, scenario.serving.front()); }
};

constexpr const char* kSlowDevice =
    "device: {name: slow, source: a test, matrix_tflops: {bf16: 1000}, vector_tflops: {fp32: 1000}, memory: 80GiB, "
    "memory_bandwidth: 1GB/s}";

std::string served_model(const std::string& model, const std::string& more = "") {
  return fmt::format("model: {}, {}{}", model, kSlowDevice, more);
}

}  // namespace

TEST_CASE("serving: the step and the KV cache of a model, by hand") {
  // 0.9 x 24 GiB less 2 x 8,030,261,248 bytes of weights hold 3,400.9 blocks of 16 tokens, each of 131,072 bytes. A GPU
  // reaches 0.8 of 1 GB/s.
  const ModelServed served{served_model("llama-3-8b", ", host: {step: 1ms, sequence: 20us}")};
  const ReplicaSpec replica = served.replica();
  CHECK(replica.blocks == 3400);
  CHECK(replica.law.cache == 163'840'000);
  CHECK(replica.law.overhead == 1'000'000'000);
  CHECK(replica.law.sequence == 20'000'000);
  // A step of one token reads the matrices of 32 layers and the head.
  constexpr double kParameters = 32.0 * 4096 * (4096 + 2 * 1024 + 4096 + 3 * 14336) + 128'256.0 * 4096;
  const RunResult result = served.run();
  const RequestResult& request = result.services.front().requests.front();
  CHECK(request.first.to_seconds() == near(2 * kParameters / 0.8e9, 1e-3));
  CHECK((request.end - request.first).to_seconds() == near(2 * kParameters / 0.8e9, 1e-3));
  CHECK(ModelServed{served_model("llama-3-8b", ", memory_share: 0.8, block: 1")}.replica().blocks == 34'754);
  CHECK(ModelServed{served_model("llama-3-8b", ", blocks: 1000")}.replica().blocks == 1000);
}

TEST_CASE("serving: modules of multi-token prediction take no memory of a server, which doesn't speculate") {
  TransformerModel model = *find_transformer("deepseek-v3");
  REQUIRE(model.mtp_layers == 1);
  const LayerRange whole{0, model.all_layers(), true, true};
  const auto gibibytes = [&] {
    const std::int64_t parameters = rank_parameters(model, whole, {.tensor = 2, .expert_tensor = 2}).total();
    return fmt::format("the weights take {:.4g} GiB", static_cast<double>(2 * parameters) / (1 << 30));
  };
  const std::string all = ModelServed{served_model("deepseek-v3", ", parallel: {tensor: 2}"), "0,1,2\n", 2}.refusals();
  CHECK(all.find(gibibytes()) == std::string::npos);
  model.mtp_layers = 0;
  CHECK_MESSAGE(all.find(gibibytes()) != std::string::npos, all);
}

TEST_CASE("serving: tensor groups of a model exchange over the network of the scenario") {
  const auto step = [](const char* alpha) {
    const ModelServed served{served_model("llama-3-8b", ", parallel: {tensor: 2}"), "0,1,2\n", 2,
                             fmt::format("{{fidelity: contention, nic: 10Gbps, alpha: {}}}", alpha)};
    CHECK(served.scenario.serving.front().gpus() == 2);
    CHECK(served.refusals() == "");
    return served.replica().law.by_tokens[1];
  };
  // Two all-reduces in each of 32 layers, each of a step there and one back.
  CHECK(step("110us") - step("10us") == std::int64_t{32} * 2 * 2 * 100'000'000);
}

TEST_CASE("serving: a model that has no room, or can't be divided so, is refused at its place") {
  const auto refusals = [](const std::string& entry, const std::string& requests = "0,1,2\n", int gpus = 1) {
    return ModelServed{entry, requests, gpus}.refusals();
  };
  CHECK(refusals(served_model("llama-3-8b")) == "");
  CHECK(refusals(served_model("llama-3-70b"))
            .starts_with("serving.chat.model: the weights take 131.4 GiB of each GPU, and 0.9 of its 24 GiB leaves"));
  CHECK(refusals(served_model("llama-3-8b", ", blocks: 3401")).starts_with("serving.chat.blocks: the weights take"));
  CHECK(refusals(served_model("llama-3-8b"), "0,54400,2\n").starts_with("requests.csv:2: a request of 54400 + 2 tok"));
  CHECK(refusals("model: llama-3-8b").starts_with("serving.chat.device: the device is missing"));
  CHECK(refusals(served_model("llama-3-8b", ", parallel: {tensor: 2}"))
            .starts_with("jobs.csv:2: gpus: expected a multiple of 2, the GPUs of a replica of serving.chat, got 1"));
  CHECK(refusals(served_model("llama-3-8b", ", parallel: {tensor: 2, expert: 2}"), "0,1,2\n", 2)
            .starts_with("serving.chat.parallel.expert: expected 1, because llama-3-8b has no experts"));
  const auto faults = [](const std::string& entry) {
    return errors_of(fmt::format("serving: {{chat: {{{}, requests: {{trace: r.csv}}}}}}", entry));
  };
  CHECK(faults("step: {weights: 1ms}, dtype: bf16").find("serving.chat.dtype: says how a model is served") !=
        std::string::npos);
  CHECK(faults("model: llama-3-8b, step: {weights: 1ms}").find("serving.chat.step: the step of a model follows") !=
        std::string::npos);
  CHECK(faults("model: llama-3-8b, gpus_per_replica: 2").find("serving.chat.gpus_per_replica: a replica of a model") !=
        std::string::npos);
}

TEST_CASE("serving: the model of an entry is printed as it is read") {
  const ModelServed served{"model: llama-3-8b, device: H100-SXM, parallel: {tensor: 2}, host: {step: 1ms}"};
  CHECK(to_yaml(served.scenario)
            .find("chat: {model: llama-3-8b, device: H100-SXM, parallel: {tensor: 2}, host: "
                  "{step: 1ms}") != std::string::npos);
  const auto key = std::ranges::find(scenario_keys(), "serving", &ScenarioKey::path);
  CHECK(key->io->part(served.scenario, "chat.parallel.tensor")->text == "2");
}
