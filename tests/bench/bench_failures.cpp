// What failures cost to simulate: 16,384 GPUs in 2,048 servers for a year, about 50,000 failures of servers, and 200
// jobs that run all the time, with a duration or with iterations of 10 s; these also with checkpoints for which they
// stop, and under the placement that looks at the work of others. Each run stands beside the same one without failures.
// Everything in one process on one core, in time of the processor.
// At last an hour of each with iterations, leaping and event by event.
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

struct Case {
  const char* name;
  bool iterates;
  const char *checkpoints, *placement;
};

constexpr Case kCases[] = {
    {"durations", false, "policy: synchronous, period: 30min", "first-fit"},
    {"iterations", true, "policy: asynchronous, iterations: 180", "first-fit"},
    {"that stop", true, "policy: synchronous, iterations: 180, cost: 10s", "first-fit"},
    {"under lwf", true, "policy: asynchronous, iterations: 180", "lwf"},
    {"both", true, "policy: synchronous, iterations: 180, cost: 10s", "lwf"},
};

Timed run(const Case& each, bool fails, int hours, bool leaps = true) {
  std::string keys = fmt::format(
      "schema_version: 1\ncluster: {{servers: {}, gpus_per_server: 8}}\nengine: {{until: {}h, leap: {}}}\n"
      "policies: {{scheduling: fifo, placement: {}}}\nnetwork: {{fidelity: analytic}}\n"
      "checkpoints: {{{}, restart_cost: 5min}}\n",
      kServers, hours, leaps, each.placement, each.checkpoints);
  if (fails)
    keys += fmt::format(
        "failures:\n  components: [{{name: server, fails: {{mean: {:.0f}s}}, repair: {{law: lognormal, mean: 355min, "
        "median: 54min}}}}]\n  detection: 10min\n",
        kMeanDays * 86'400);
  Workload workload;
  if (each.iterates)
    workload.graphs.push_back(graph_from_text(fmt::format(
        "role worker {} | compute forward worker 3000000000 | compute backward worker 6000000000 | all-reduce grads "
        "worker 1000000000 | forward -> backward | backward -> grads | grads => forward",
        kGpus)));
  for (int j = 0; j < kJobs; ++j) {
    JobSpec job;
    job.name = fmt::format("job{}", j);
    job.gpus = kGpus;
    job.gpu_share = 1000;
    if (each.iterates) {
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
  for (const Case& each : kCases) {
    const Timed without = run(each, false, 24 * days), with = run(each, true, 24 * days);
    std::int64_t interruptions = 0;
    for (const JobResult& job : with.result.jobs) interruptions += job.interruptions;
    fmt::print("{:<12}{:>10}{:>16}{:>12}{:>12}{:>14.2f}{:>12.3f}{:>10.0f}\n", each.name, with.result.failures,
               interruptions, with.result.events, with.result.leapt_events, with.seconds, without.seconds,
               with.seconds / without.seconds);
  }
  bool is_same = true;
  for (const Case& each : kCases) {
    if (!each.iterates) continue;
    const Timed every = run(each, true, 1, false), leaping = run(each, true, 1);
    is_same = is_same && every.result.digest == leaping.result.digest;
    fmt::print("an hour of {}, event by event: {} events in {:.2f} s; leaping: {} in {:.4f} s; ratio {:.0f}; {}\n",
               each.name, every.result.events, every.seconds, leaping.result.events, leaping.seconds,
               every.seconds / leaping.seconds,
               every.result.digest == leaping.result.digest ? "digests are equal" : "DIGESTS DIFFER");
  }
  return is_same ? 0 : 1;
}
