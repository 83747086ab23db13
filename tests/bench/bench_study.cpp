// What whole runs cost, event by event and with leaping.
//
// The study: the full-scale main job (160 jobs of 1000 to 6000 iterations in 1200 s on 64 GPUs, seed 1) under five
// pairs of placement and communication policy. The two ways of running take turns within one run of the benchmark;
// medians are printed. Their results have to be equal: a difference of digests ends with exit status 1.
//
// Nobody shares: jobs that have their GPUs and interfaces to themselves, with more and more iterations. The events
// that are executed must not become more, or the exit status is 1.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <sys/resource.h>

#include "tests/bench/study_kit.hpp"

namespace {

using contend::RunResult;
using contend::Scenario;
using contend::bench::Cost;
using contend::bench::median;
using contend::bench::timed_run;
using contend::bench::TimedRun;

struct Options {
  int repetitions = 3;
  bool quick = false;
};

/// Of the process so far, in MiB.
double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct Policies {
  const char* placement;
  const char* communication;
};

constexpr const char* kLwf1 = "{policy: lwf, kappa: 1}";
constexpr const char* kSrsf1 = "{policy: srsf, ways: 1}";
constexpr const char* kSrsf2 = "{policy: srsf, ways: 2}";
constexpr Policies kPolicies[] = {
    {kLwf1, "ada-dual"}, {"first-fit", "ada-dual"}, {"list-scheduling", "ada-dual"}, {kLwf1, kSrsf1}, {kLwf1, kSrsf2}};

std::string short_name(const char* policy) {
  if (policy == kLwf1) return "lwf-1";
  if (policy == kSrsf1) return "srsf(1)";
  if (policy == kSrsf2) return "srsf(2)";
  return policy;
}

bool measure_study(const Policies& policies, const Options& options) {
  std::vector<std::string> overrides{std::string{"policies.placement="} + policies.placement,
                                     std::string{"policies.communication="} + policies.communication};
  if (options.quick)
    overrides.insert(overrides.end(), {"workload.generate.iterations=[10, 60]",  //
                                       "workload.generate.arrivals=12s"});
  Scenario every_event = contend::bench::study(overrides);
  Scenario leaping = every_event;
  every_event.engine.leap = false;
  leaping.engine.leap = true;

  TimedRun by_event;
  TimedRun leapt;
  std::vector<Cost> by_event_costs;
  std::vector<Cost> leapt_costs;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    by_event = timed_run(every_event, 1);
    leapt = timed_run(leaping, 1);
    by_event_costs.push_back(by_event.cost);
    leapt_costs.push_back(leapt.cost);
  }
  const Cost event_cost = median(by_event_costs);
  const Cost leap_cost = median(leapt_costs);
  const auto events = static_cast<double>(by_event.result.events);
  const bool equal = by_event.result.digest == leapt.result.digest;
  fmt::print("{:<16} {:<9} {:>7.2f} {:>6.2f} {:>10} {:>7.2f} {:>6.0f} {:>7.2f} {:>6.2f} {:>10} {:>6} {:>7.2f} {:>7}\n",
             short_name(policies.placement), short_name(policies.communication), event_cost.wall_s, event_cost.cpu_s,
             by_event.result.events, events / event_cost.cpu_s * 1e-6, event_cost.cpu_s / events * 1e9,
             leap_cost.wall_s, leap_cost.cpu_s, leapt.result.events, leapt.result.leaps,
             event_cost.cpu_s / leap_cost.cpu_s, equal ? "equal" : "DIFFER");
  return equal;
}

struct Alone {
  const char* what;
  const char* sizes;
};

constexpr Alone kAlone[] = {{"16 jobs, each fills a server", "{4: 16}"}, {"8 jobs, each fills two servers", "{8: 8}"}};

bool measure_alone(const Alone& alone, const Options& options) {
  bool right = true;
  std::uint64_t events_of_first = 0;
  double time_of_first = 0;
  for (const std::int64_t iterations : {1'000L, 100'000L, 10'000'000L}) {
    const Scenario leaping = contend::bench::study(
        {std::string{"workload.generate.sizes="} + alone.sizes, "workload.generate.arrivals=1s",
         fmt::format("workload.generate.iterations=[{}, {}]", iterations, iterations), "engine.leap=true"});
    TimedRun run;
    std::vector<Cost> costs;
    for (int repetition = 0; repetition < 25 * options.repetitions; ++repetition) {
      run = timed_run(leaping, 1);
      costs.push_back(run.cost);
    }
    const RunResult& result = run.result;
    const double time = median(costs).wall_s;
    const char* digest = "";
    if (events_of_first == 0) {
      events_of_first = result.events;
      time_of_first = time;
      Scenario every_event = leaping;
      every_event.engine.leap = false;
      const bool equal = contend::run_scenario(every_event, 1).digest == result.digest;
      digest = equal ? "equal" : "DIFFER";
      right = right && equal;
    }
    right = right && result.events <= events_of_first;
    fmt::print("{:<32} {:>11} {:>11} {:>15} {:>7} {:>9.3f} {:>8.2f} {:>7}\n", alone.what, iterations, result.events,
               result.leapt_events, result.leaps, time * 1e3, time / time_of_first, digest);
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.quick = argc == 2 && std::string_view{argv[1]} == "--quick";
  if (options.quick) options.repetitions = 1;
  if (argc > 1 && !options.quick) {
    fmt::print(stderr, "usage: bench_study [--quick]\n");
    return 2;
  }
  bool right = true;

  fmt::print("the study{}, medians of {}; rates and the ratio are of CPU time\n",
             options.quick ? " at 1/100 of the iterations" : "", options.repetitions);
  fmt::print("{:<16} {:<9} {:-^40} {:-^41}\n", "", "", "event by event", "leaping");
  fmt::print("{:<16} {:<9} {:>7} {:>6} {:>10} {:>7} {:>6} {:>7} {:>6} {:>10} {:>6} {:>7} {:>7}\n", "placement",
             "messages", "wall s", "cpu s", "events", "Mev/s", "ns/ev", "wall s", "cpu s", "events", "leaps", "faster",
             "digests");
  for (const Policies& policies : kPolicies) right = measure_study(policies, options) && right;
  fmt::print("peak memory of the process: {:.1f} MiB\n\n", peak_memory());

  fmt::print("leaping where nobody shares; milliseconds of wall time, and relative to the first line\n");
  fmt::print("{:<32} {:>11} {:>11} {:>15} {:>7} {:>9} {:>8} {:>7}\n", "jobs", "iterations", "events", "leapt over",
             "leaps", "ms", "ratio", "digests");
  for (const Alone& alone : kAlone) right = measure_alone(alone, options) && right;
  return right ? 0 : 1;
}
