// What a sweep costs beside its runs, and what a second thread brings, within one process:
//   bench_sweep [points]          default 10000
// The same points are run bare (read from layers, simulated, summarised; nothing else), as a sweep with its plan and
// its store on one thread, and on all. CPU time tells the overhead even on a busy machine, wall time the speed-up.

#include "scenarios/run/run_scenario.hpp"
#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_runner.hpp"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>

#include <fmt/core.h>
#include <unistd.h>

using namespace contend;

namespace {

struct Cost {
  double wall_s = 0, cpu_s = 0;
};

template <class Work>
Cost cost_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
}

SweepPlan plan_of(const std::string& text, unsigned threads) {
  return SweepPlan{ScenarioVariants{text, "bench.yaml", {}, read_text_file}, threads};
}

void sweep(const std::string& text, unsigned threads) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("bench-sweep-{}.sqlite", ::getpid())).string();
  const SweepPlan plan = plan_of(text, threads);
  {
    SweepStore store = SweepStore::create(path, plan.info(), plan.points());
    std::vector<std::int64_t> runs;
    for (std::int64_t run = 0; run < plan.info().runs; ++run) runs.push_back(run);
    run_sweep(plan, runs, store.add_manifest({}), store, {.threads = threads, .recorded = {}, .interrupted = {}});
    store.finish();
  }
  std::filesystem::remove(path);
}

void bare(const SweepPlan& plan) {
  JobLists lists;
  SweepExecutor execute{lists};
  for (std::int64_t run = 0; run < plan.info().runs; ++run) {
    const Scenario scenario = plan.scenario(plan.point_of(run));
    static_cast<void>(execute([&]() -> const Scenario& { return scenario; }, plan.seed_of(run), {}));
  }
}

void measure(const char* what, const std::string& text) {
  const SweepPlan plan = plan_of(text, 1);
  const auto points = static_cast<double>(plan.points().size());
  bare(plan);  // once to warm up
  const Cost alone = cost_of([&] { bare(plan); });
  const Cost one = cost_of([&] { sweep(text, 1); });
  const unsigned threads = std::max(2U, std::thread::hardware_concurrency());
  const Cost all = cost_of([&] { sweep(text, threads); });
  fmt::print("{}: {} points, {:.3f} ms a bare run\n", what, points, alone.cpu_s / points * 1e3);
  fmt::print("  bare {:.2f} s; sweep {:.2f} s CPU ({:.2f} s wall): overhead {:.1f}% of the bare runs\n", alone.cpu_s,
             one.cpu_s, one.wall_s, 100 * (one.cpu_s / alone.cpu_s - 1));
  fmt::print("  {} threads: {:.2f} s wall, {:.2f} s CPU: {:.2f} x one thread\n", threads, all.wall_s, all.cpu_s,
             one.wall_s / all.wall_s);
}

}  // namespace

int main(int argc, char** argv) {
  const int points = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const std::string range =
      fmt::format("{{from: 1Gbps, to: 100Gbps, points: {}, scale: log}}", std::max(2, points / 4));
  measure("16 servers, 40 jobs", R"(
schema_version: 1
cluster: {servers: 16}
workload: {generate: {sizes: {1: 20, 2: 5, 4: 10, 8: 4, 16: 1}, iterations: [100, 500], arrivals: 120s}}
sweep: {grid: {policies.placement: [first-fit, lwf], policies.communication: [srsf, ada-dual], network.nic: )" +
                                     range + "}}\n");
  measure("one iteration of ResNet-50", R"(
schema_version: 1
training: {it: {model: resnet50}}
overlap: {training: it, fusion: [wfbp, mg-wfbp], workers: [8, 64]}
sweep: {grid: {network.nic: )" + range + "}}\n");
}
