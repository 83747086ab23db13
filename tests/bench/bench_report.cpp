// What the report of a run with many jobs costs beside the run, which its timeline repeats:
//   bench_report [jobs]          default 100000
// The run is made with a tenth of the jobs, too; the ratio of both reports says whether their time is linear in the
// number of jobs (10) or worse.

#include "report/iteration_bars.hpp"
#include "report/page.hpp"
#include "report/run_figures.hpp"
#include "results/result_writer.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <cstdlib>
#include <ctime>
#include <string>

#include <fmt/core.h>

using namespace contend;

namespace {

/// CPU time, which doesn't depend on other programs; nothing here has a second thread.
double seconds_since(std::clock_t begin) {
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// The CPU seconds that the report of a run with so many jobs takes without the run itself.
double report_seconds(std::size_t jobs) {
  const TemporaryFolder place;
  std::string list = "job_id,submit_s,gpus,duration_s\n";
  for (std::size_t i = 0; i < jobs; ++i)
    list += fmt::format("job-{},{},{},{}\n", i, 7 * i, 1 + i % 8, 60 + i * 7919 % 3600);
  write_file(place.path("jobs.csv"), list);
  const Scenario scenario = parse_scenario(
      fmt::format(
          "schema_version: 1\nname: many\ncluster: {{servers: 128, gpus_per_server: 8}}\nworkload: {{jobs: {}}}\n",
          place.path("jobs.csv")),
      "bench.yaml");
  Replica replica;
  replica.seed = scenario.seed;
  auto begin = std::clock();
  replica.result = run_scenario(scenario, scenario.seed);
  replica.summary = summarise(replica.result);
  const double run_s = seconds_since(begin);
  begin = std::clock();
  write_results(place.path("out"), {}, to_yaml(scenario, place.path("out")), {&replica, 1});
  const double write_s = seconds_since(begin);
  begin = std::clock();
  const RunFolder folder = read_run_folder(place.path("out"));
  const double read_s = seconds_since(begin);
  begin = std::clock();
  const ReplayOutcome replay = replay_run(folder, folder.runs.front(), {}, [] { return false; });
  const double replay_s = seconds_since(begin);
  begin = std::clock();
  const std::vector<Figure> figures =
      run_figures(folder, folder.runs.front(), replay.replay ? &*replay.replay : nullptr);
  const double figures_s = seconds_since(begin);
  begin = std::clock();
  const std::string page =
      run_page({.folder = folder, .run = folder.runs.front(), .replay = replay, .figures = figures, .drawings = {}});
  const double page_s = seconds_since(begin);
  fmt::print(
      "{} jobs: run {:.2f} s, write {:.2f} s, read and check {:.2f} s, run again {:.2f} s, figures {:.2f} s, page "
      "{:.2f} "
      "s ({:.1f} MB)\n",
      jobs, run_s, write_s, read_s, replay_s, figures_s, page_s, static_cast<double>(page.size()) / 1e6);
  return read_s + figures_s + page_s;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t jobs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  const double tenth = report_seconds(jobs / 10), all = report_seconds(jobs);
  fmt::print("report of {} jobs without its run: {:.2f} s, {:.1f} times that of a tenth\n", jobs, all, all / tenth);
  return 0;
}
