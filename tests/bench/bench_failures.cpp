// What failures cost to simulate: 16,384 GPUs in 2,048 servers for a year, about 50,000 failures of servers, and 200
// jobs that run all the time, with a duration or with iterations of 10 s. Each run stands beside the same one without
// failures. Everything in one process on one core, in time of the processor.
// At last an hour of the jobs with iterations, leaping and event by event.
//   bench_failures --quick     a month instead of a year

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/scenario.hpp"

#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace {

using namespace contend;

constexpr int kServers = 2048, kJobs = 200, kGpus = 80;
constexpr double kMeanDays = kServers * 365.0 / 50'000;  // of one server

struct Timed {
  RunResult result;
  double seconds = 0;
};

Timed run(bool iterates, bool fails, int hours, bool leaps = true) {
  std::string keys = fmt::format(
      "schema_version: 1\ncluster: {{servers: {}, gpus_per_server: 8}}\nengine: {{until: {}h, leap: {}}}\n"
      "policies: {{scheduling: fifo, placement: first-fit}}\nnetwork: {{fidelity: analytic}}\n",
      kServers, hours, leaps);
  if (fails)
    keys += fmt::format(
        "failures:\n  components: [{{name: server, fails: {{mean: {:.0f}s}}, repair: {{law: lognormal, mean: 355min, "
        "median: 54min}}}}]\n  detection: 10min\ncheckpoints: {{{}, restart_cost: 5min}}\n",
        kMeanDays * 86'400, iterates ? "policy: asynchronous, iterations: 180" : "policy: synchronous, period: 30min");
  Workload workload;
  if (iterates)
    workload.graphs.push_back(graph_from_text(fmt::format(
        "role worker {} | compute forward worker 3000000000 | compute backward worker 6000000000 | all-reduce grads "
        "worker 1000000000 | forward -> backward | backward -> grads | grads => forward",
        kGpus)));
  for (int j = 0; j < kJobs; ++j) {
    JobSpec job;
    job.name = fmt::format("job{}", j);
    job.gpus = kGpus;
    job.gpu_share = 1000;
    if (iterates) {
      job.iterations = 10'000'000;
    } else {
      job.duration = Time::seconds(20LL * 365 * 86'400);
    }
    workload.jobs.push_back(std::move(job));
  }
  const Scenario scenario = parse_scenario(keys, "bench_failures");
  Timed timed;
  const std::clock_t begin = std::clock();
  timed.result = run_workload(scenario, std::move(workload), 1);
  timed.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return timed;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const int days = quick ? 30 : 365;
  fmt::print("{} days, {} servers of 8 GPUs, {} jobs of {} GPUs\n", days, kServers, kJobs, kGpus);
  fmt::print("{:<12}{:>10}{:>16}{:>12}{:>12}{:>14}{:>12}{:>10}\n", "jobs", "failures", "interruptions", "events",
             "leapt", "seconds", "without", "ratio");
  for (const bool iterates : {false, true}) {
    const Timed without = run(iterates, false, 24 * days), with = run(iterates, true, 24 * days);
    std::int64_t interruptions = 0;
    for (const JobResult& job : with.result.jobs) interruptions += job.interruptions;
    fmt::print("{:<12}{:>10}{:>16}{:>12}{:>12}{:>14.2f}{:>12.3f}{:>10.0f}\n", iterates ? "iterations" : "durations",
               with.result.failures, interruptions, with.result.events, with.result.leapt_events, with.seconds,
               without.seconds, with.seconds / without.seconds);
  }
  const Timed every = run(true, true, 1, false), leaping = run(true, true, 1);
  fmt::print(
      "an hour of iterations, event by event: {} events in {:.2f} s; leaping: {} in {:.4f} s; ratio {:.0f}; {}\n",
      every.result.events, every.seconds, leaping.result.events, leaping.seconds, every.seconds / leaping.seconds,
      every.result.digest == leaping.result.digest ? "digests are equal" : "DIGESTS DIFFER");
  return every.result.digest == leaping.result.digest ? 0 : 1;
}
