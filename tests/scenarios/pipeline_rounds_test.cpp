// Iterations of pipelines with many micro-batches are leapt over in their middle: with graphs that leave rounds out,
// and with the result of all of them.

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/rounds_kept.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// A job whose pipeline has 20 to 400 micro-batches.
class RandomPipeline {
 public:
  explicit RandomPipeline(RandomStream& random) : random_{random} {}

  [[nodiscard]] Scenario scenario() {
    static constexpr std::array kSchedules = {"1f1b",   "interleaved", "zb-h1",    "zb-h2",      "zb-v",
                                              "v-half", "v-min",       "dualpipe", "dualpipe-v", "gpipe"};
    schedule = kSchedules[static_cast<std::size_t>(below(10))];
    static constexpr const char* kInside = ", inside: {bandwidth: 3600Gbps, alpha: 3us}";
    static constexpr std::array<std::array<const char*, 2>, 4> kFidelities = {
        {{"analytic", kInside}, {"contention", kInside}, {"flow", ""}, {"flow", ", link_interval: 1s"}}};
    const auto [fidelity, more] = kFidelities[static_cast<std::size_t>(below(4))];
    static constexpr std::array kHosts = {"none", "torch", "megatron"};
    const bool merges = schedule.starts_with("dualpipe");
    const int pipeline = schedule == "dualpipe" ? 2 + 2 * below(2) : 1 + below(4);
    const int tensor = 1 << below(2), data = 1 << below(2), zero = below(merges ? 3 : 4);
    int batches = 20 + below(381);
    std::string chunks;
    if (schedule == "interleaved") {
      batches -= batches % pipeline;
      chunks = fmt::format(", virtual: {}", 1 + below(3));
    }
    if (schedule == "dualpipe") batches -= batches % 2;
    std::string members = fmt::format("accumulate: {}, host: {}", batches, kHosts[static_cast<std::size_t>(below(3))]);
    members += fmt::format(", recompute: {}", below(2) == 0 ? "none" : "full");
    if (below(5) == 0) members += ", input: 3ms";
    const int gpus = pipeline * tensor * data;
    const int iterations = below(6) == 0 ? 12 : 1 + below(4);  // which may recur, too
    // One after the other: in the arguments of a call, compilers would draw them in different orders.
    const int sequence = 256 << below(3);
    const int rate = below(3) == 0 ? 10 : 400;
    const int gpus_per_server = 2 + 6 * below(2);
    return parse_scenario(
        fmt::format(
            "schema_version: 2\n"
            "cluster: {{servers: {}, gpus_per_server: {}, gpu_memory: 80GiB}}\n"
            "network: {{fidelity: {}, nic: {}Gbps, alpha: 10us{}}}\n"
            "training: {{m: {{model: gpt2, device: H100-SXM, dtype: bf16, optimizer: adam, sequence: {}, batch: "
            "1, memory: 1GiB, {}, parallel: {{tensor: {}, pipeline: {}, zero: {}, schedule: {}, partition: "
            "balanced{}}}}}}}\n"
            "workload: {{generate: {{models: [m], sizes: {{{}: 1}}, iterations: [{}, {}], arrivals: 1ms}}}}\n",
            gpus, gpus_per_server, fidelity, rate, more, sequence, members, tensor, pipeline, zero, schedule, chunks,
            gpus, iterations, iterations),
        "rounds");
  }

  std::string schedule;

 private:
  int below(int n) { return static_cast<int>(random_.uniform_integer(0, n - 1)); }

  RandomStream& random_;
};

}  // namespace

TEST_CASE("a run that leaves rounds out has the result of all rounds, executed event by event") {
  RandomStream random{7, "pipeline-rounds-scenarios"};
  std::map<std::string, int> tried, leapt;
  int refused = 0, all_tried = 0, all_leapt = 0;
  for (int i = 0; i < effort(150); ++i) {
    RandomPipeline drawn{random};
    Scenario scenario;
    Workload workload;
    try {
      scenario = drawn.scenario();
      scenario.rounds_kept = static_cast<int>(random.uniform_integer(1, 40));
      workload = scenario_workload(scenario, 1);
    } catch (const InputError& error) {  // a shape that can't be
      const std::string why = error.what();
      INFO(why);
      CHECK(++refused < effort(150) / 2);
      continue;
    } catch (const UnleaptRounds&) {
      ++tried[drawn.schedule];
      continue;
    }
    INFO(i, " ", drawn.schedule);
    const bool leaves_out = workload.graphs[0].left_out().count > 0;
    tried[drawn.schedule] += leaves_out ? 1 : 0;
    Scenario all = scenario;
    all.rounds_kept = 0;
    all.engine.leap = false;
    try {
      const RunResult shorter = run_workload(scenario, std::move(workload), 1);
      const RunResult whole = run_workload(all, scenario_workload(all, 1), 1);
      CHECK(shorter.jobs[0].finish == whole.jobs[0].finish);
      CHECK(shorter.digest == whole.digest);
      CHECK(shorter.events + shorter.leapt_events == whole.events + whole.leapt_events);
      CHECK(shorter.jobs[0].traffic->sent_bytes == whole.jobs[0].traffic->sent_bytes);
      CHECK(shorter.jobs[0].traffic->messages == whole.jobs[0].traffic->messages);
      REQUIRE(shorter.fabric.links.size() == whole.fabric.links.size());
      for (std::size_t link = 0; link < whole.fabric.links.size(); ++link)
        CHECK(shorter.fabric.links[link].bytes == near(whole.fabric.links[link].bytes, 1e-9));
      leapt[drawn.schedule] += leaves_out ? 1 : 0;
    } catch (const UnleaptRounds&) {
      continue;
    }
  }
  for (const auto& each : tried) {
    INFO(each.first, " ", each.second, " ", leapt[each.first]);
    CHECK(leapt[each.first] >= each.second / 8);
    all_tried += each.second;
    all_leapt += leapt[each.first];
  }
  CHECK(all_leapt > all_tried / (kSanitized ? 4 : 2));  // few rounds are drawn under sanitizers
}

TEST_CASE("a million micro-batches take few events, and as long as a multiple of a round says") {
  const auto long_pipeline = [](int batches) {
    return parse_scenario(
        fmt::format("schema_version: 2\n"
                    "cluster: {{servers: 1, gpus_per_server: 8, gpu_memory: 80GiB}}\n"
                    "training: {{m: {{model: gpt2, device: H100-SXM, sequence: 1024, batch: 1, accumulate: {}, "
                    "parallel: {{pipeline: 4, tensor: 2}}}}}}\n"
                    "workload: {{generate: {{sizes: {{8: 1}}, models: [m]}}}}\n",
                    batches),
        "rounds");
  };
  const auto iteration = [&](int batches) { return lone_iteration(long_pipeline(batches), "m", 8); };
  const int once = kSanitized ? 200 : 1000;
  const Time short_one = iteration(once), longer = iteration(2 * once);
  CHECK(iteration(1'000'000) == short_one + (longer - short_one) * (1'000'000 / once - 1));
  // A check plans no more of them: it would take gigabytes.
  CHECK(check_scenario(long_pipeline(1'000'000)) == check_scenario(long_pipeline(1000)));
}
