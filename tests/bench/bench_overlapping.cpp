// What runs cost whose jobs overlap and merge their gradients, next to jobs that send one message an iteration.
//
// The study: its 160 jobs at full scale on one core, with the single message, MG-WFBP's merged messages, and WFBP's one
// message for each tensor. A sample with fewer iterations also runs event by event; if its result is another one, the
// program ends with status 1.
//
// The fabric: 1,000 jobs that send DDP's buckets as flows over a leaf-spine of 2,048 GPUs with half of the bandwidth
// above the leaves: event by event for some simulated seconds, after a time in which the cluster fills, and leaping for
// two hours, or with --full for a day.

#include "tests/bench/study_kit.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace {

using contend::RunResult;
using contend::Scenario;
using contend::bench::Cost;
using contend::bench::median;
using contend::bench::timed_run;
using contend::bench::TimedRun;

/// scenarios/overlapping-jobs/base.yaml: the profiles' compute times and memory, divided among layers.
constexpr const char* kTraining =
    "training={default: {device: V100-SXM2, batch: 16}, vgg: {model: vgg16, single_worker: 90ms, memory: 4527MiB}, "
    "resnet: {model: resnet50, single_worker: 62ms, memory: 3213MiB}, inception: {model: inception-v3, single_worker: "
    "87ms, memory: 3291MiB}, lstm-ptb: {model: lstm-ptb, batch: 64, single_worker: 79ms, memory: 2751MiB}}";

Scenario study_of(const char* fusion, std::vector<std::string> overrides) {
  if (fusion != nullptr) {
    overrides.insert(overrides.end(),
                     {"network.alpha=0.7ms", kTraining, "workload.generate.models=[vgg, resnet, inception, lstm-ptb]",
                      std::string{"training.default.fusion="} + fusion});
  }
  return contend::bench::study(std::move(overrides));
}

bool measure_study(bool quick) {
  const std::vector<std::string> short_jobs{"workload.generate.iterations=[50, 300]", "workload.generate.arrivals=60s"};
  fmt::print("the study{}: 160 jobs, LWF-1, AdaDUAL, seed 1; medians of 3 (WFBP: one run), ratios of CPU time\n",
             quick ? " at 1/20 of the iterations" : "");
  fmt::print("{:<34} {:>8} {:>10} {:>12} {:>7} {:>8}\n", "messages", "cpu s", "events", "leapt over", "ratio",
             "digests");
  struct Row {
    const char* name;
    const char* fusion;
  };
  const Row rows[] = {{"one, of a training profile", nullptr},
                      {"one, after the backward pass", "bsp"},
                      {"merged by MG-WFBP", "mg-wfbp"},
                      {"one for each tensor (WFBP)", "wfbp"}};
  bool right = true;
  std::vector<std::vector<Cost>> costs(std::size(rows));
  std::vector<RunResult> results(std::size(rows));
  for (int repetition = 0; repetition < (quick ? 1 : 3); ++repetition) {
    for (std::size_t i = 0; i < std::size(rows); ++i) {
      if (repetition > 0 && i + 1 == std::size(rows)) continue;
      TimedRun run = timed_run(study_of(rows[i].fusion, quick ? short_jobs : std::vector<std::string>{}), 1);
      costs[i].push_back(run.cost);
      results[i] = std::move(run.result);
    }
  }
  const double single = median(costs.front()).cpu_s;
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    Scenario sample = study_of(rows[i].fusion, short_jobs);
    const std::uint64_t leaping = contend::run_scenario(sample, 1).digest;
    sample.engine.leap = false;
    const bool equal = contend::run_scenario(sample, 1).digest == leaping;
    right = right && equal;
    const double cpu = median(costs[i]).cpu_s;
    fmt::print("{:<34} {:>8.2f} {:>10} {:>12} {:>7.2f} {:>8}\n", rows[i].name, cpu, results[i].events,
               results[i].leapt_events, cpu / single, equal ? "equal" : "DIFFER");
  }
  return right;
}

Scenario fabric(int seconds) {
  constexpr const char* kText = R"(
schema_version: 1
name: fabric
cluster: {servers: 256, gpus_per_server: 8, gpu_memory: 32GiB}
network:
  fidelity: flow
  nic: 100Gbps
  alpha: 30us
  fabric: {kind: leaf-spine, servers_per_leaf: 16, spines: 8, oversubscription: 2}
  link_interval: 0s
policies: {scheduling: fifo, placement: consolidated, communication: {policy: srsf, ways: 1000000}}
training:
  default: {device: V100-SXM2, fusion: ddp}
  resnet: {model: resnet50, batch: 64}
  bert: {model: bert-base, batch: 16}
workload:
  generate:
    models: [resnet, bert]
    sizes: {8: 500, 16: 300, 32: 150, 64: 50}
    iterations: [10000, 60000]
    arrivals: 1s
)";
  return contend::parse_scenario(kText, "fabric", {{fmt::format("engine.until={}s", seconds)}});
}

/// Event by event for some seconds after the cluster has filled, and leaping for longer.
bool measure_fabric(int filling, int until, int leaping_until) {
  constexpr double kHour = 3600;
  const auto run = [](int seconds, bool leap) {
    Scenario scenario = fabric(seconds);
    scenario.engine.leap = leap;
    return timed_run(scenario, 1);
  };
  const TimedRun begin = run(filling, false), whole = run(until, false), same = run(until, true);
  const TimedRun leaping = run(leaping_until, true);
  std::int64_t running = 0;
  for (const contend::JobResult& job : whole.result.jobs)
    running += job.state == contend::JobState::running || job.state == contend::JobState::finished ? 1 : 0;
  const bool equal = whole.result.digest == same.result.digest;
  fmt::print("\nthe fabric: 1,000 jobs of ddp, 2,048 GPUs, leaf-spine 2:1, flow; {} jobs run; digests {}\n", running,
             equal ? "equal" : "DIFFER");
  fmt::print("{:<15} {:>7} {:>8} {:>11} {:>12} {:>8} {:>17} {:>8}\n", "", "from s", "to s", "events", "leapt over",
             "cpu s", "cpu s of an hour", "faster");
  const double by_event = (whole.cost.cpu_s - begin.cost.cpu_s) / (until - filling) * kHour;
  fmt::print("{:<15} {:>7} {:>8} {:>11} {:>12} {:>8.2f} {:>17.1f} {:>8.1f}\n", "event by event", filling, until,
             whole.result.events - begin.result.events, 0, whole.cost.cpu_s - begin.cost.cpu_s, by_event, 1.0);
  const double leaping_hour = leaping.cost.cpu_s / leaping_until * kHour;
  fmt::print("{:<15} {:>7} {:>8} {:>11} {:>12} {:>8.2f} {:>17.1f} {:>8.1f}\n", "leaping", 0, leaping_until,
             leaping.result.events, leaping.result.leapt_events, leaping.cost.cpu_s, leaping_hour,
             by_event / leaping_hour);
  return equal;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view option = argc == 2 ? argv[1] : "";
  const bool quick = option == "--quick", full = option == "--full";
  if (argc > 1 && !quick && !full) {
    fmt::print(stderr, "usage: bench_overlapping [--quick | --full]\n");
    return 2;
  }
  const bool right = measure_study(quick);
  const bool fabric_right = measure_fabric(quick ? 2 : 5, quick ? 3 : 35, quick ? 60 : full ? 86'400 : 7'200);
  return right && fabric_right ? 0 : 1;
}
