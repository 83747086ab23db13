// Mixtures of experts in entries of `training`: the load of the fullest rank, tokens that go by server, and pieces.

#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

Scenario with_experts(const std::string& parallel, const std::string& model = "deepseek-v2-lite",
                      const std::string& inside = "") {
  return parsed(
      fmt::format("cluster: {{servers: 8, gpus_per_server: 8, gpu_memory: 100TiB}}\n"
                  "network: {{nic: 400Gbps, alpha: 10us, inside: {{bandwidth: 3600Gbps, alpha: 3us}}}}\n"
                  "training: {{m: {{device: H100-SXM, model: {}, dtype: bf16, sequence: 4096, parallel: {{{}}}{}}}}}\n"
                  "workload: {{generate: {{models: [m], sizes: {{32: 1}}, iterations: [4, 4], arrivals: 1ms}}}}\n",
                  model, parallel, inside));
}

ParallelJob experts_of(const std::string& parallel, const std::string& others = "") {
  const Scenario scenario = with_experts(parallel, "deepseek-v2-lite", others);
  return plan_parallel(scenario, *find_entry(scenario.training, "m"), 32);
}

/// Communication of experts that nothing hides, in the passes of a micro-batch.
double exchange_s(const std::string& parallel, const std::string& others = "") {
  return experts_of(parallel, others).shares.at(0).expert.to_seconds();
}

std::string experts_refusal(const std::string& parallel, const std::string& model = "deepseek-v2-lite") {
  try {
    const Scenario scenario = with_experts(parallel, model);
    TrainingGraphs graphs{scenario};
    (void)graphs("m", 32);
  } catch (const InputError& error) {
    std::string text;
    for (const Complaint& each : error.complaints()) text += each.file + " " + each.key + ": " + each.reason + "\n";
    return text;
  }
  return "";
}

void check_experts_refused(const std::string& parallel, const std::string& expected,
                           const std::string& model = "deepseek-v2-lite") {
  const std::string said = experts_refusal(parallel, model);
  INFO(said);
  CHECK(said.find(expected) != std::string::npos);
}

}  // namespace

TEST_CASE("experts: an uneven load makes exchange, computing and memory larger") {
  const ParallelJob even = experts_of("expert: 16, zero: 1"), same = experts_of("expert: 16, zero: 1, expert_load: {}");
  const ParallelJob more = experts_of("expert: 16, zero: 1, expert_load: {ratio: 2}");
  CHECK(even.shares.at(0).total() == same.shares.at(0).total());
  // Two all-to-alls of a layer cost their start-up once and twice as many bytes.
  CHECK(more.shares.at(0).expert.to_seconds() == near(2 * even.shares.at(0).expert.to_seconds(), 0.05));
  CHECK(more.shares.at(0).compute > even.shares.at(0).compute);
  CHECK(more.memory.at(0).activations > even.memory.at(0).activations);
  CHECK(exchange_s("expert: 16, zero: 1, expert_load: {capacity: 2}") == near(more.shares.at(0).expert.to_seconds()));
  // Room for as many tokens as a capacity says is filled up, on however few ranks the experts are.
  const auto computing = [](const char* parallel) { return experts_of(parallel).shares.at(0).compute; };
  CHECK(computing("expert: 1, zero: 1, expert_load: {capacity: 2}") > computing("expert: 1, zero: 1"));
  CHECK(computing("expert: 2, zero: 1, expert_load: {capacity: 4}") >
        computing("expert: 2, zero: 1, expert_load: {capacity: 2}"));
  const double zipf = exchange_s("expert: 16, zero: 1, expert_load: {zipf: 1}");
  CHECK(zipf > 1.5 * even.shares.at(0).expert.to_seconds());
}

TEST_CASE("experts: an update moves the elements of the dense part and of the rank's own experts") {
  const ParallelJob job = experts_of("expert: 16, offload: {optimizer: host, link: 1GB/s, memory: 100GB/s}",
                                     ", recompute: full, optimizer: adam");
  double dense = 0, experts = 0;
  for (const ModelUnit& unit : job.iteration.units.at(0)) {
    dense += static_cast<double>(unit.dense_elements);
    experts += static_cast<double>(unit.expert_elements);
  }
  CHECK(experts > 0);
  CHECK(job.iteration.update.at(0).to_seconds() == near(2 * (dense + experts) / 1e9, 1e-6));
}

TEST_CASE("experts: the load may come from a file of counts") {
  const std::string path = "expert_counts_of_test.csv";
  {
    std::ofstream file{path};
    file << "expert,tokens\n";
    // Sixteen ranks with four experts each: the first has 3 of 18 parts, 16 x 3 / 18 of the mean.
    for (int expert = 0; expert < 64; ++expert) file << expert << ',' << (expert < 4 ? 30 : 10) << '\n';
  }
  const std::string counts = fmt::format("expert: 16, zero: 1, expert_load: {{counts: {}}}", path);
  CHECK(exchange_s(counts) == near(exchange_s("expert: 16, zero: 1, expert_load: {ratio: 2.6666666667}"), 1e-6));
  std::remove(path.c_str());
}

TEST_CASE("experts: a token that goes once to each server crosses the network less often") {
  // Six of 64 experts on two servers: 1.98 servers a token, so 6 / 1.98 times fewer bytes between the servers.
  const double direct = exchange_s("expert: 16, zero: 1");
  const double by_server = exchange_s("expert: 16, zero: 1, expert_exchange: by-server");
  CHECK(by_server < 0.8 * direct);
  CHECK(by_server > direct / 4);
  // Inside a server there is nothing to save.
  CHECK(exchange_s("expert: 8, zero: 1, expert_exchange: by-server") == exchange_s("expert: 8, zero: 1"));
}

TEST_CASE("experts: pieces hide the exchange behind the experts, and the fastest number is no slower than any") {
  const double whole = exchange_s("expert: 16, zero: 1");
  double best = whole;
  for (const int pieces : {1, 2, 3, 4, 8, 16}) {
    const double cut = exchange_s(fmt::format("expert: 16, zero: 1, expert_pieces: {}", pieces));
    if (pieces == 1) CHECK(cut == whole);
    if (pieces == 2) CHECK(cut < whole);
    best = std::min(best, cut);
  }
  CHECK(exchange_s("expert: 16, zero: 1, expert_pieces: 0") <= best);
  CHECK(exchange_s("expert: 16, zero: 1, expert_exchange: by-server, expert_pieces: 0") < best);
  // A schedule whose gradients of weights are passes of their own has less to hide the exchange behind.
  const std::string pipeline = "pipeline: 2, partition: uneven, expert: 16, zero: 1, expert_pieces: 4, schedule: ";
  CHECK(exchange_s(pipeline + "zb-h1", ", accumulate: 4") >= exchange_s(pipeline + "1f1b", ", accumulate: 4"));
}

TEST_CASE("experts: a token goes once to each GPU") {
  // 6 of 64 experts on 8 GPUs of a server: a GPU with 8 of them has none of a token's with (56 choose 6)/(64 choose 6).
  const auto bytes = [](const std::string& exchange) {
    const ParallelJob job = experts_of("expert: 8, zero: 1, expert_exchange: " + exchange);
    for (const PassCollective& each : job.iteration.units[0][2].forward_traffic.collectives)
      if (each.kind == CollectiveKind::all_to_all) return each.bytes.to_double();
    return 0.0;
  };
  double none = 1;
  for (int i = 0; i < 6; ++i) none *= (56.0 - i) / (64.0 - i);
  CHECK(bytes("by-gpu") / bytes("direct") == near(8 * (1 - none) / 6, 1e-4));  // whole tokens
  CHECK(bytes("by-server") == bytes("direct"));
  // Between servers it makes no difference to by-server.
  CHECK(exchange_s("expert: 32, zero: 1, expert_exchange: by-gpu") <
        exchange_s("expert: 32, zero: 1, expert_exchange: by-server"));
}

TEST_CASE("experts: the number of pieces makes the iteration fastest, also where merged passes hide the exchange") {
  const auto passes = [](const std::string& schedule, int pieces) {
    const TrainingIteration job =
        experts_of(fmt::format("pipeline: 2, partition: uneven, expert: 16, zero: 1, expert_pieces: {}, schedule: {}",
                               pieces, schedule),
                   ", global_batch: 128")
            .iteration;
    return evaluate(job.plan, job.costs()).makespan;
  };
  for (const char* schedule : {"1f1b", "dualpipe", "{policy: interleaved, merge: true}"})
    for (const int pieces : {1, 2, 4, 8}) CHECK(passes(schedule, 0) <= passes(schedule, pieces));
  CHECK(passes("{policy: interleaved, merge: true}", 1) < passes("1f1b", 1));
}

TEST_CASE("experts: what their exchange costs the computing beside it") {
  // Without pieces nothing goes on beside it; merged passes hide it at the usual price.
  const std::string beside = "pipeline: 2, partition: uneven, expert: 16, zero: 1, schedule: dualpipe";
  const auto merged = [&](Interference slows) {
    TrainingIteration job = experts_of(beside, ", global_batch: 128").iteration;
    job.interference = slows;
    return job.costs().merged.front().ns();
  };
  const TrainingIteration job = experts_of(beside, ", global_batch: 128").iteration;
  Time exchange, all;
  for (const ModelUnit& unit : job.units.front()) {
    exchange += unit.forward_exchange + unit.backward_exchange;
    all += unit.of(PassKind::forward) + unit.of(PassKind::backward);
  }
  CHECK(merged({}) == std::max((all - exchange).ns(), exchange.ns()));
  CHECK(std::abs(merged({200'000, 200'000}) - merged({}) - std::min((all - exchange).ns(), exchange.ns()) / 5) <= 1);
}

TEST_CASE("experts: what is refused") {
  check_experts_refused("zero: 3, expert_pieces: 2",
                        "training.m.parallel.expert_pieces: has no effect: llama-3-8b has no experts", "llama-3-8b");
  check_experts_refused("zero: 3, expert_load: {ratio: 2}", "training.m.parallel.expert_load: has no effect",
                        "llama-3-8b");
  check_experts_refused("expert: 8, expert_load: {ratio: 2, zipf: 1}",
                        "training.m.parallel.expert_load: says more than once how uneven it is");
  check_experts_refused("expert: 8, expert_load: {ratio: 0.5}", "training.m.parallel.expert_load.ratio");
  // Six of 64 experts, two on each of 32 GPUs: at most 32 x 2 / 6 of the mean.
  check_experts_refused("expert: 32, expert_load: {ratio: 11}",
                        "training.m.parallel.expert_load.ratio: the fullest of 32 GPUs can't have 11 times the mean");
  check_experts_refused("expert: 8, expert_load: {counts: no_such_file.csv}", "training.m.parallel.expert_load.counts");
  check_experts_refused("expert: 32, expert_tensor: 1, expert_exchange: by-server, expert_pieces: 65",
                        "training.m.parallel.expert_pieces");
}

TEST_CASE("joint exchange: one all-to-all to all GPUs of an expert in place of an all-to-all and a gathering") {
  const ParallelJob job = experts_of("expert: 4, expert_tensor: 2, expert_exchange: joint");
  const ModelUnit& layer = job.iteration.units[0][3];
  const auto& sent = layer.forward_traffic.collectives;
  REQUIRE(std::ranges::count(sent, PassGroup::expert, &PassCollective::of) == 1);
  const auto& all = *std::ranges::find(sent, PassGroup::expert, &PassCollective::of);
  CHECK(all.kind == CollectiveKind::all_to_all);
  CHECK(all.groups == RankGroups{1, 8});
  CHECK(all.times == 2);
  // 4,096 tokens, 6 experts each, 2,048 numbers of 2 bytes, to both GPUs of each expert.
  CHECK(all.bytes == Bytes{std::int64_t{4096} * 6 * 2048 * 2 * 2});
  // Inside a server both ways carry 1.75 times the copies: 7/8 of two, or 3/4 and half of two.
  CHECK(exchange_s("expert: 4, expert_tensor: 2, expert_exchange: joint") ==
        near(exchange_s("expert: 4, expert_tensor: 2"), 0.05));
  check_experts_refused("expert: 4, expert_exchange: joint", "joint: has no effect where each expert lies on one GPU");
}

TEST_CASE("swapped experts: less to compute for the fullest GPU") {
  const auto forward = [](const std::string& load) {
    return experts_of("expert: 8, expert_load: " + load).iteration.units[0][3].forward;
  };
  CHECK(forward("{zipf: 1, swapped: true}") < forward("{zipf: 1}"));
  CHECK(forward("{zipf: 1, swapped: true}") >= forward("{ratio: 1}"));
  check_experts_refused("expert: 8, expert_load: {ratio: 1.5, swapped: true}",
                        "training.m.parallel.expert_load.swapped: has no effect");
}
