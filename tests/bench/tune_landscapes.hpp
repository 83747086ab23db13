#pragma once
// Twenty landscapes to search: sweeps of 576 points under three seeds, whose runs are all made once, so that a search
// can be held against the best of all points. Five kinds of decision on small clusters, each on four workloads or
// metrics.

#include "scenarios/sweep/sweep_runner.hpp"
#include "scenarios/sweep/tuner.hpp"
#include "sim/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace contend {

/// What varies.
struct LandscapeKind {
  const char* what;
  const char* base;  ///< of the scenario, without the workload
  const char* grid;
};

inline constexpr LandscapeKind kMixKinds[] = {
    {"kappa, ways, start-up time, scheduling",
     "cluster: {servers: 8}\n"
     "policies: {scheduling: srsf, placement: lwf, communication: {policy: srsf, ways: 2}}\n",
     "policies.placement.kappa: [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16]\n"
     "    policies.communication.ways: [1, 2, 3, 4]\n"
     "    network.alpha: [0us, 0.5ms, 2ms]\n"
     "    policies.scheduling: [fifo, sjf, srtf, srsf]\n"},
    {"kappa, line rate, ways, arrivals",
     "cluster: {servers: 8}\n"
     "policies: {scheduling: srsf, placement: lwf, communication: {policy: srsf, ways: 2}}\n",
     "policies.placement.kappa: [1, 2, 3, 4, 6, 8, 12, 16]\n"
     "    network.nic: [2.5Gbps, 5Gbps, 10Gbps, 20Gbps, 40Gbps, 80Gbps]\n"
     "    policies.communication.ways: [1, 2, 3, 4]\n"
     "    workload.generate.arrivals: [30s, 60s, 120s]\n"},
};

inline constexpr LandscapeKind kTraceKinds[] = {
    {"slice, checkpoints, quantum, placement",
     "cluster: {servers: 4, gpus_per_server: 8}\n"
     "checkpoints: {policy: synchronous, restart_cost: 60s, period: 10min, cost: 20s}\n"
     "policies: {scheduling: {policy: las, gpu_time: false}, placement: consolidated}\n",
     "policies.scheduling.slice_s: [600, 1200, 1800, 2700, 3600, 5400, 7200, 10800, 14400, 21600, 43200, 86400]\n"
     "    checkpoints.period: [5min, 10min, 20min, 40min, 80min, 160min]\n"
     "    scheduling.quantum: [0s, 1min, 5min, 20min]\n"
     "    policies.placement: [consolidated, first-fit]\n"},
    {"limits of queues, promotion, placement",
     "cluster: {servers: 4, gpus_per_server: 8}\n"
     "checkpoints: {restart_cost: 60s}\n"
     "policies: {scheduling: {policy: dlas-gpu, queues: 3}, placement: consolidated}\n",
     "policies.scheduling.limit_1_s: [2000, 4000, 8000, 16000, 24000, 32000, 48000, 64000]\n"
     "    policies.scheduling.limit_2_s: [70000, 100000, 140000, 200000, 280000, 400000, 560000, 800000]\n"
     "    policies.scheduling.promote: [0, 2, 8]\n"
     "    policies.placement: [consolidated, first-fit, spread]\n"},
    {"scheduling, placement, quantum",
     "cluster: {servers: 4, gpus_per_server: 8}\n"
     "policies: {scheduling: fifo, placement: consolidated}\n",
     "policies.scheduling: [fifo, sjf, srtf, easy, smallest-first, {policy: dlas, queues: 2}, gittins, fit-first]\n"
     "    policies.placement: [consolidated, first-fit, spread, consolidated-or-wait, list-scheduling, lwf]\n"
     "    scheduling.quantum: [0s, 1min, 2min, 5min, 10min, 15min, 20min, 30min, 45min, 1h, 2h, 4h]\n"},
};

/// All runs of a sweep.
struct Landscape {
  std::string name;
  SweepPlan plan;
  std::vector<StoreRun> runs;
  std::size_t metric = 0;
  std::vector<double> means;  ///< by point, over the seeds; infinite if a run failed or left jobs unfinished

  [[nodiscard]] double least() const { return *std::min_element(means.begin(), means.end()); }
  /// How far a point is from the best, as a share of the best.
  [[nodiscard]] double regret(std::size_t point) const { return means[point] / least() - 1; }
};

inline std::size_t metric_index(const SweepPlan& plan, std::string_view name) {
  std::size_t index = 0;
  while (plan.info().metrics[index].name != name) ++index;
  return index;
}

/// Runs all points of a scenario on this many threads.
inline Landscape landscape_of(std::string name, const std::string& text, unsigned threads) {
  Landscape land{
      std::move(name), SweepPlan{ScenarioVariants{text, "landscape.yaml", {}, read_text_file}, threads}, {}, 0, {}};
  land.runs.resize(static_cast<std::size_t>(land.plan.info().runs));
  const auto make = [&] {
    return [&land, executor = SweepExecutor{land.plan.lists()}](std::size_t index) mutable {
      const auto run = static_cast<std::int64_t>(index);
      const Scenario scenario = land.plan.scenario(land.plan.point_of(run));
      StoreRun& recorded = land.runs[index];
      recorded = executor([&]() -> const Scenario& { return scenario; }, land.plan.seed_of(run), {}).run;
      recorded.run = run;
      recorded.point = land.plan.point_of(run);
    };
  };
  parallel_for(threads, land.runs.size(), make, [] { return false; });
  return land;
}

/// The same runs under another metric.
inline void look_at(Landscape& land, std::string_view metric) {
  land.metric = metric_index(land.plan, metric);
  const std::size_t jobs = metric_index(land.plan, "jobs"), finished = metric_index(land.plan, "finished");
  land.means.assign(land.plan.points().size(), 0);
  for (const StoreRun& run : land.runs) {
    double& sum = land.means[static_cast<std::size_t>(run.point)];
    const bool whole = run.status == RunStatus::done && run.metrics[finished] >= run.metrics[jobs];
    sum += whole ? run.metrics[land.metric] / static_cast<double>(land.plan.info().repeat)
                 : std::numeric_limits<double>::infinity();
  }
}

/// Twenty landscapes whose workloads are drawn from `seed` on; calls `use` with each.
template <class Use>
void each_landscape(std::uint64_t seed, unsigned threads, const Use& use) {
  const auto text = [&](const LandscapeKind& kind, const std::string& workload, std::uint64_t first_seed) {
    return fmt::format("schema_version: 1\nseed: {}\nworkload: {}\n{}sweep:\n  repeat: 3\n  grid:\n    {}", first_seed,
                       workload, kind.base, kind.grid);
  };
  for (const LandscapeKind& kind : kMixKinds) {
    int mix = 0;
    for (const char* sizes : {"{1: 20, 2: 8, 4: 10, 8: 8, 16: 2}", "{1: 10, 2: 10, 4: 8, 8: 10, 16: 3}"}) {
      const std::string workload =
          fmt::format("{{generate: {{sizes: {}, iterations: [50, 300], arrivals: 60s}}}}", sizes);
      Landscape land =
          landscape_of(kind.what, text(kind, workload, seed + 10 * static_cast<std::uint64_t>(mix)), threads);
      for (const char* metric : {"avg_jct_s", mix == 0 ? "makespan_s" : "p95_jct_s"}) {
        look_at(land, metric);
        land.name = fmt::format("{}; mix {}, {}", kind.what, ++mix, metric);
        use(land);
      }
    }
  }
  struct Trace {
    const char *name, *metric;
  };
  for (const LandscapeKind& kind : kTraceKinds) {
    for (const Trace& trace : {Trace{"philly", "avg_jct_s"}, Trace{"helios-venus", "avg_jct_s"},
                               Trace{"itp", "avg_jct_s"}, Trace{"philly", "p95_jct_s"}}) {
      const bool again = std::string_view{trace.metric} == "p95_jct_s";
      const std::string workload = fmt::format(
          "{{like: {}, jobs: 200, scatter_penalty: [1, 1.2, 1.5], scaling: {{load: 1.5, longest: 2d, largest: 16}}}}",
          trace.name);
      Landscape land = landscape_of(fmt::format("{}; {}, {}", kind.what, trace.name, trace.metric),
                                    text(kind, workload, seed + (again ? 10U : 0U)), threads);
      look_at(land, trace.metric);
      use(land);
    }
  }
}

/// A search over recorded runs: the point that it calls the best, and how many runs it made.
struct Searched {
  std::size_t best = 0;
  std::int64_t runs = 0;
};

inline Searched searched(const Landscape& land, TuneOptions options) {
  options.goals = {{land.metric, false}};
  options.batch = land.plan.info().repeat;  // as contend tune does
  const TuneRunner runner = [&](std::span<const std::int64_t> runs) {
    std::vector<StoreRun> done;
    for (const std::int64_t run : runs) done.push_back(land.runs[static_cast<std::size_t>(run)]);
    return done;
  };
  const TuneResult found = tune(land.plan, options, runner);
  return {static_cast<std::size_t>(found.points.front().point), found.runs};
}

}  // namespace contend
