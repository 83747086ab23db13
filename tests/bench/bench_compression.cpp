// What the maps of compression cost: the shipped sweeps as they are, planned and run on one core, and a sample of their
// points by the fast executor and with the engine as a check.
//   bench_compression [folder]          default scenarios/sweeps

#include "scenarios/keys/reader.hpp"
#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_runner.hpp"
#include "text/atomic_file.hpp"

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>

#include <fmt/core.h>

using namespace contend;

namespace {

constexpr const char* kMaps[] = {"compression-map-resnet50.yaml", "compression-map-bert-large.yaml"};
constexpr std::int64_t kSampleEvery = 97;

template <class Work>
double seconds(const Work& work) {  // of the processor
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Every `step`-th run of the sweep; refused combinations count as well.
double run_points(const SweepPlan& plan, std::int64_t step, bool engine) {
  JobLists lists;
  SweepExecutor execute{lists};
  return seconds([&] {
    for (std::int64_t run = 0; run < plan.info().runs; run += step) {
      Scenario scenario = plan.scenario(plan.point_of(run));
      scenario.overlap.engine = engine;
      static_cast<void>(execute([&]() -> const Scenario& { return scenario; }, plan.seed_of(run), {}));
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "scenarios/sweeps";
  double all_s = 0;
  std::size_t all = 0;
  for (const char* map : kMaps) {
    const std::string path = folder + "/" + map;
    const std::string text = read_file(path);
    const double planning = seconds([&] {
      static_cast<void>(SweepPlan{ScenarioVariants{text, path, {}, read_text_file}, 1});
    });
    const SweepPlan plan{ScenarioVariants{text, path, {}, read_text_file}, 1};
    const auto points = plan.points().size();
    const double running = run_points(plan, 1, false);
    fmt::print("{}: {} points, plan {:.2f} s, run {:.2f} s: {:.0f} points/s\n", map, points, planning, running,
               static_cast<double>(points) / (planning + running));
    const double fast = run_points(plan, kSampleEvery, false), engine = run_points(plan, kSampleEvery, true);
    fmt::print("  every {}th point: fast executor {:.3f} s, with the engine as a check {:.3f} s: {:.1f} times\n",
               kSampleEvery, fast, engine, engine / fast);
    all_s += planning + running;
    all += points;
  }
  fmt::print("{} points in {:.2f} s of one core\n", all, all_s);
}
