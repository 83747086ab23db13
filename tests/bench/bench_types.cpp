// What a decision costs where a cluster has several types of GPUs: shares of time for jobs on 10,000 GPUs of 4 types
// under the objectives of Gavel, Sia's configurations, AlloX's matching by the number of jobs that it looks at, and
// Hydra's search. The number of jobs grows tenfold from row to row; the last column is the growth of the time, so it
// shows where it is more than the jobs. Time of the processor, one core.
//   bench_types --quick   up to 10,000 jobs

#include "policies/scheduling/configurations.hpp"
#include "policies/scheduling/deadline_plan.hpp"
#include "policies/scheduling/position_matching.hpp"
#include "policies/scheduling/type_allocation.hpp"
#include "sim/random_stream.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include <fmt/core.h>

namespace {

using namespace contend;

double processor_s() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

/// Jobs of 1 to 8 GPUs; each type is up to three times as fast as the one before.
TypedCluster random_jobs(int jobs) {
  RandomStream stream{1, "bench.types"};
  TypedCluster cluster{.capacity = {4000, 3000, 2000, 1000}, .prices = {0.5, 0.9, 1.6, 3}, .jobs = {}};
  for (int i = 0; i < jobs; ++i) {
    TypedJob job;
    job.gpus = static_cast<double>(std::int64_t{1} << stream.uniform_integer(0, 3));
    double speed = 1;
    for (int t = 0; t < 4; ++t) {
      job.rates.push_back(speed);
      speed *= 1 + 2 * stream.uniform();
    }
    job.left = 60 + 60'000 * stream.uniform();
    job.age = 1000 * stream.uniform();
    job.isolated = job.age * stream.uniform();
    cluster.jobs.push_back(job);
  }
  return cluster;
}

void shares(int most) {
  struct Objective {
    const char* name;
    TimeShares (*divide)(const TypedCluster&);
    double last = 0;
  };
  Objective objectives[] = {
      {"max-min", [](const TypedCluster& c) { return max_min_shares(c, false, false); }},
      {"min-makespan", makespan_shares},
      {"min-cost", least_cost_shares},
      {"finish-time-fairness", finish_time_fair_shares},
      {"gandiva-fair",
       [](const TypedCluster& each) {
         TimeShares shares = equal_shares(each, true);
         trade(each, shares);
         return shares;
       }},
  };
  fmt::print("{:<22}{:>10}{:>14}{:>16}{:>10}\n", "shares", "jobs", "decision [s]", "per job [us]", "growth");
  for (Objective& each : objectives) {
    for (int jobs = 1000; jobs <= most; jobs *= 10) {
      const TypedCluster cluster = random_jobs(jobs);
      const double begin = processor_s();
      const TimeShares found = each.divide(cluster);
      const double took = processor_s() - begin;
      fmt::print("{:<22}{:>10}{:>14.4f}{:>16.2f}{:>10}\n", each.name, jobs, took, 1e6 * took / jobs,
                 each.last > 0 ? fmt::format("{:.1f}", took / each.last) : "-");
      std::fflush(stdout);
      if (std::isnan(found.value)) fmt::print("no value\n");
      each.last = took;
    }
  }
}

/// Sia's configurations: each job on 1, 2, 4 or 8 GPUs of each type.
void configurations(int most) {
  constexpr double kGap = 1e-4;
  fmt::print("\n{:<22}{:>10}{:>14}{:>16}{:>10}{:>12}\n", "sia", "jobs", "decision [s]", "per job [us]", "growth",
             "above bound");
  double last = 0;
  for (int jobs = 1000; jobs <= most; jobs *= 10) {
    const TypedCluster cluster = random_jobs(jobs);
    RandomStream stream{1, "bench.configurations"};
    ConfigurationProgram program{{4000, 3000, 2000, 1000}};
    for (const TypedJob& job : cluster.jobs) {
      const double saturation = 0.5 + 0.5 * stream.uniform();
      std::vector<Configuration> own;
      for (std::size_t t = 0; t < job.rates.size(); ++t)
        for (const int gpus : {1, 2, 4, 8})
          own.push_back({t, gpus, std::llround(100 / std::sqrt(job.rates[t] * std::pow(gpus, saturation)))});
      program.add(own, 110);
    }
    const double begin = processor_s();
    const ConfigurationChoice choice = program.solve(kGap);
    const double took = processor_s() - begin;
    fmt::print("{:<22}{:>10}{:>14.4f}{:>16.2f}{:>10}{:>12.1e}\n", "", jobs, took, 1e6 * took / jobs,
               last > 0 ? fmt::format("{:.1f}", took / last) : "-",
               static_cast<double>(choice.cost) / choice.bound - 1);
    std::fflush(stdout);
    last = took;
  }
}

void matching(std::size_t most) {
  fmt::print("\n{:<22}{:>10}{:>14}{:>16}{:>10}\n", "allox, 64 free GPUs", "jobs", "decision [s]", "per job [us]",
             "growth");
  double last = 0;
  const std::vector<std::size_t> gpus(4, 16);
  for (std::size_t jobs = 125; jobs <= most; jobs *= 2) {
    RandomStream stream{1, "bench.matching"};
    std::vector<double> takes;
    for (std::size_t i = 0; i < jobs; ++i) {
      const double own = 60 + 6000 * stream.uniform(), faster = 1 + 2 * stream.uniform();
      for (std::size_t t = 0; t < gpus.size(); ++t) takes.push_back(own / std::pow(faster, static_cast<double>(t)));
    }
    const double begin = processor_s();
    const auto found = match_positions(takes, gpus);
    const double took = processor_s() - begin;
    fmt::print("{:<22}{:>10}{:>14.4f}{:>16.2f}{:>10}\n", "", found.size(), took, 1e6 * took / static_cast<double>(jobs),
               last > 0 ? fmt::format("{:.1f}", took / last) : "-");
    std::fflush(stdout);
    last = took;
  }
}

/// Hydra's search: 16 GPUs of 4 types, half of them busy, half of the jobs with a deadline.
void deadlines() {
  fmt::print("\n{:<22}{:>10}{:>14}{:>16}{:>10}\n", "hydra, 10,000 nodes", "jobs", "decision [s]", "per job [us]",
             "growth");
  double last = 0;
  for (const std::size_t jobs : {10U, 50U, 250U}) {
    RandomStream stream{1, "bench.deadlines"};
    std::vector<PlannedJob> planned(jobs);
    for (PlannedJob& job : planned) {
      const double own = 60 + 6000 * stream.uniform(), faster = 1 + 2 * stream.uniform();
      for (int t = 0; t < 4; ++t) job.takes.push_back(own / std::pow(faster, t));
      if (stream.uniform() < 0.5) job.due = own * (1 + 3 * stream.uniform());
    }
    std::vector<PlanMachine> machines;
    for (std::size_t m = 0; m < 16; ++m) machines.push_back({m % 4, m < 8 ? 0 : 3000 * stream.uniform()});
    constexpr std::int64_t kNodes = 10'000;
    const double begin = processor_s();
    const DeadlinePlan plan = plan_deadlines(planned, machines, kNodes);
    const double took = processor_s() - begin;
    fmt::print("{:<22}{:>10}{:>14.4f}{:>16.2f}{:>10}\n", "", plan.starts.size(), took,
               1e6 * took / static_cast<double>(jobs), last > 0 ? fmt::format("{:.1f}", took / last) : "-");
    last = took;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  shares(quick ? 10'000 : 100'000);
  configurations(quick ? 10'000 : 100'000);
  matching(quick ? 1000 : 4000);
  deadlines();
  return 0;
}
