// What an event costs when there are 10 and 100 times as many jobs at the same load, event by event: on the same
// cluster for a longer time, and on a larger cluster for the same time. The base is the shipped study with 10 to 60
// iterations a job instead of 1000 to 6000, in 12 s instead of 1200 s.
//
//   wider    servers and jobs are multiplied, the window is kept. More placements than elsewhere are compared, as this
//            shows whether they look at every server.
//   steady   window and jobs are multiplied, the cluster is kept. Jobs arrive 32 times as slowly as in the study, so
//            that the backlog stays bounded.
//   longer   the same at the pace of the study, whose jobs bring several times more work than the cluster can do within
//            the window: GPU memory fills up and the queue grows in proportion to the window.
//
// A small run takes a few milliseconds, so small factors are averaged over several seeds, and the factors take turns;
// the medians of the rounds are printed, in CPU time. A run that takes longer than the limit is cut and marked `>`: the
// limit over the events that it would have had, ten times the events of factor 10, bounds its cost from below. --full
// has no limit and one round; --quick leaves out factor 100. TITLE picks comparisons, such as "wider first-fit".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "tests/bench/study_kit.hpp"

namespace {

using contend::Scenario;
using contend::Time;
using contend::bench::timed_run;
using contend::bench::TimedRun;

struct Options {
  int rounds = 3;
  bool with_100 = true;
  double limit_s = 5;
  std::string_view only{};  // what the title of a comparison must contain, as "wider first-fit"
};

struct Growth {
  const char* name;
  bool grows_cluster;           // or the window
  std::int64_t arrival_spread;  // stretches the window: 1 is the load of the study
};

constexpr Growth kGrowths[] = {{"wider", true, 1}, {"steady", false, 32}, {"longer", false, 1}};

struct Policies {
  const char* name;
  const char* placement;
  const char* communication;
  bool on_all_growths = false;
};

constexpr Policies kPolicies[] = {{"lwf-1 + srsf(1)", "{policy: lwf, kappa: 1}", "{policy: srsf, ways: 1}", true},
                                  {"first-fit + ada-dual", "first-fit", "ada-dual", true},
                                  {"list-sch. + ada-dual", "list-scheduling", "ada-dual"},
                                  {"random + ada-dual", "random", "ada-dual"},
                                  {"consolidated + ada-d.", "consolidated", "ada-dual"},
                                  {"spread + ada-dual", "spread", "ada-dual"},
                                  {"topology-a. + ada-d.", "topology-aware", "ada-dual"}};

Scenario scaled_study(const Growth& growth, const Policies& policies, int factor) {
  Scenario scenario = contend::bench::study({std::string{"policies.placement="} + policies.placement,
                                             std::string{"policies.communication="} + policies.communication,
                                             "workload.generate.iterations=[10, 60]", "engine.leap=false"});
  contend::GeneratedWorkload& mix = scenario.workload.generate;
  for (auto& [gpus, count] : mix.sizes) count *= factor;
  mix.arrival_window = Time::seconds(12 * growth.arrival_spread);
  if (growth.grows_cluster) {
    scenario.cluster.servers *= factor;
  } else {
    mix.arrival_window = mix.arrival_window * factor;
  }
  return scenario;
}

struct Point {
  Point(int times, int seed_count, Scenario scaled) : factor{times}, seeds{seed_count}, scenario{std::move(scaled)} {}

  int factor;
  int seeds;
  Scenario scenario;
  std::uint64_t events = 0;  // of the first seed, as all below
  std::size_t jobs = 0;
  double queueing_s = 0;
  bool cut = false;  // by the limit
  std::vector<double> ns_per_event;
};

/// `expected` is the number of events of a whole run, as far as known.
void measure(Point& point, double limit_s, std::uint64_t expected) {
  if (point.cut) return;
  contend::RunHooks hooks;
  const std::clock_t begin = std::clock();
  hooks.monitor = [&](const contend::Progress&) {
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < limit_s;
  };
  double seconds = 0;
  std::uint64_t events = 0;
  for (int seed = 1; seed <= point.seeds && !point.cut; ++seed) {
    const TimedRun run = timed_run(point.scenario, static_cast<std::uint64_t>(seed), hooks);
    seconds += run.cost.cpu_s;
    point.cut = run.result.interrupted;
    const std::uint64_t count = point.cut ? std::max(expected, run.result.events) : run.result.events;
    events += count;
    if (seed > 1) continue;
    point.events = count;
    point.jobs = run.result.jobs.size();
    point.queueing_s = summarise(run.result).avg_queueing_s;
  }
  point.ns_per_event.push_back(seconds * 1e9 / static_cast<double>(events));
}

void measure(const Growth& growth, const Policies& policies, const Options& options) {
  std::vector<Point> points;
  points.emplace_back(1, 16, scaled_study(growth, policies, 1));
  points.emplace_back(10, 2, scaled_study(growth, policies, 10));
  if (options.with_100) points.emplace_back(100, 1, scaled_study(growth, policies, 100));
  for (int round = 0; round < options.rounds; ++round) {
    std::uint64_t expected = 0;
    for (Point& point : points) {
      measure(point, options.limit_s, expected);
      expected = 10 * point.events;
    }
  }
  double ns_of_first = 0;
  for (const Point& point : points) {
    const double ns = contend::bench::median(point.ns_per_event);
    if (point.factor == 1) ns_of_first = ns;
    const std::string queueing = point.cut ? "cut" : fmt::format("{:.1f}", point.queueing_s);
    fmt::print("{:<7} {:<21} {:>4} {:>6} {:>5} {:>8} {:>11} {:>1}{:>9.0f} {:>6.2f}\n", growth.name, policies.name,
               point.factor, point.jobs, point.scenario.cluster.servers * point.scenario.cluster.gpus_per_server,
               point.events, queueing, point.cut ? ">" : "", ns, ns / ns_of_first);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--quick") {
      options.rounds = 1;
      options.with_100 = false;
    } else if (option == "--full") {
      options.rounds = 1;
      options.limit_s = std::numeric_limits<double>::infinity();
    } else if (option.starts_with('-')) {
      fmt::print(stderr, "usage: bench_scaling [--quick | --full] [TITLE]\n");
      return 2;
    } else {
      options.only = option;
    }
  }
  fmt::print("cost of an event at constant load, event by event; CPU time, medians of {}\n", options.rounds);
  fmt::print("{:<7} {:<21} {:>4} {:>6} {:>5} {:>8} {:>11} {:>10} {:>6}\n", "growth", "policies", "x", "jobs", "GPUs",
             "events", "queueing s", "ns/event", "to x1");
  for (const Growth& growth : kGrowths) {
    for (const Policies& policies : kPolicies) {
      if (fmt::format("{} {}", growth.name, policies.name).find(options.only) == std::string::npos) continue;
      if (growth.grows_cluster || policies.on_all_growths) measure(growth, policies, options);
    }
  }
  return 0;
}
