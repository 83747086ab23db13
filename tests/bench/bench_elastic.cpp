// What policies cost that change the numbers of GPUs of jobs: whole runs of the sizes that their papers simulate, with
// the time of the processor and the time of `afs` in the same run as the measure. One core.
// Where CONTEND_DATA is set it also measures ElasticFlow's trace of 195 jobs, and Gavel's of 5,600 on three types of
// GPUs, whose measure is `fifo`.
//   bench_elastic --quick   the smallest size of each

#include "network/alpha_beta.hpp"
#include "policies/registry.hpp"
#include "sim/random_stream.hpp"
#include "sim/simulation.hpp"
#include "validate/elastic/elastic_suite.hpp"
#include "validate/elastic/elasticflow_trace.hpp"
#include "validate/elastic/gavel_continuous.hpp"
#include "validate/elastic/timed_run.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace {

using namespace contend;

template <class Port>
std::unique_ptr<Port> usual(std::span<const PolicyRow<Port>> table, const std::string& name) {
  for (const PolicyRow<Port>& row : table) {
    if (row.name != name) continue;
    std::vector<std::pair<std::string, ParameterValue>> values;
    for (const ParameterInfo& parameter : row.parameters)
      values.emplace_back(parameter.name, parameter.name == "period_s" ? ParameterValue{60.0}
                                                                       : ParameterValue{parameter.default_value});
    return row.make(Parameters{std::move(values)}, {});
  }
  return nullptr;
}

/// Jobs over eight hours whose speed saturates, on any number of GPUs up to all GPUs of the cluster; four of five have
/// a deadline.
Workload random_jobs(int count, int gpus) {
  RandomStream stream{1, "bench.elastic"};
  Workload workload;
  for (int j = 0; j < count; ++j) {
    std::vector<JobSize> sizes;
    double speed = 1, gain = 1;
    for (int k = 1; k <= gpus; ++k) {
      sizes.push_back(
          {.gpus = k, .paces = {{.together = std::llround(static_cast<double>(kNominalPace) / speed)}}, .parts = 1});
      speed += gain *= 0.8 + 0.2 * stream.uniform();
    }
    JobSpec job;
    job.name = fmt::format("{}", j);
    job.submit = Time::milliseconds(stream.uniform_integer(0, 8LL * 3'600'000));
    job.duration = Time::milliseconds(stream.uniform_integer(300'000, 20'000'000));
    if (stream.uniform() < 0.8) job.deadline = job.submit + *job.duration * stream.uniform_integer(1, 3);
    job.sizes = j;
    workload.sizes.push_back(std::move(sizes));
    workload.jobs.push_back(std::move(job));
  }
  return workload;
}

struct Measured {
  double seconds = 0;
  std::int64_t resizes = 0;
};

Measured measure(const std::string& policy, int jobs, int gpus) {
  constexpr int kEach = 4;
  ClusterSpec cluster;
  cluster.servers = gpus / kEach;
  cluster.gpus_per_server = kEach;
  cluster.gpu_memory = Bytes{1};
  SimulationOptions options;
  options.rules.preemption.restart = Time::seconds(30);
  PolicySet policies{usual(scheduling_policies(), policy),
                     usual(placement_policies(), "first-fit"),
                     usual(communication_policies(), "srsf"),
                     policy,
                     "first-fit",
                     "srsf"};
  AlphaBeta link;  // jobs with a duration send nothing over it
  link.beta = TimePerByte{1.0};
  const std::clock_t begin = std::clock();
  Simulation simulation{
      cluster, random_jobs(jobs, gpus), std::move(policies),
      make_analytic_network(link, static_cast<std::size_t>(cluster.servers), static_cast<std::size_t>(jobs)),
      std::move(options)};
  const RunResult result = simulation.run();
  Measured measured{static_cast<double>(std::clock() - begin) / static_cast<double>(CLOCKS_PER_SEC), 0};
  for (const JobResult& job : result.jobs) measured.resizes += job.resizes;
  return measured;
}

/// Runs Gavel's continuous trace under a scheduling policy. Restarts cost nothing, as in the released simulator.
/// Nothing if the data are not there.
std::optional<RunResult> run_gavel_continuous(const std::string& policy) {
  const std::optional<std::vector<GavelRow>> rows = read_gavel_continuous();
  if (!rows) return std::nullopt;
  ClusterSpec cluster;
  cluster.servers = 0;
  for (std::size_t t = 0; t < std::size(kGavelTypes); ++t) {
    cluster.types.push_back({.name = kGavelTypes[t],
                             .servers = kGavelGpusPerType,
                             .gpus_per_server = 1,
                             .gpu_memory = Bytes{1},
                             .price = kGavelPrices[t]});
    cluster.servers += kGavelGpusPerType;
  }
  Workload workload;
  for (const GavelRow& row : *rows) {
    const double fastest = row.rates.back();
    JobSpec job;
    job.name = fmt::format("{}", workload.jobs.size());
    job.gpus = row.gpus;
    job.submit = Time::ceil_nanoseconds(row.arrival_s * 1e9);
    job.duration = Time::ceil_nanoseconds(row.iterations / fastest * 1e9);
    std::vector<JobPace> paces;
    for (const double rate : row.rates)
      paces.push_back({.together = rate > 0 ? std::llround(fastest / rate * static_cast<double>(kNominalPace)) : 0});
    job.pace = static_cast<std::int32_t>(workload.paces.size());
    workload.paces.push_back(std::move(paces));
    workload.jobs.push_back(std::move(job));
  }
  return run_timed(cluster, std::move(workload), policy, {}, 0);
}

/// Gavel's continuous trace from the first job to the end of the last.
void gavel_study() {
  double base = 0;
  for (const char* policy : {"fifo", "allox", "max-min", "finish-time-fairness", "min-makespan", "min-cost"}) {
    const std::clock_t begin = std::clock();
    const auto result = run_gavel_continuous(policy);
    if (!result) return;
    const double took = static_cast<double>(std::clock() - begin) / static_cast<double>(CLOCKS_PER_SEC);
    if (base == 0) {
      base = took;
      fmt::print("\n{:<22}{:>7}{:>7}{:>10}{:>14}{:>12}\n", "policy", "jobs", "GPUs", "run [s]", "mean JCT [s]",
                 "by fifo");
    }
    fmt::print("{:<22}{:>7}{:>7}{:>10.3f}{:>14.0f}{:>12.2f}\n", policy, result->jobs.size(), 3 * kGavelGpusPerType,
               took, summarise(*result).avg_jct_s, base > 0 ? took / base : 0);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  fmt::print("{:<14}{:>7}{:>7}{:>10}{:>10}{:>12}\n", "policy", "jobs", "GPUs", "run [s]", "resizes", "by afs");
  for (const auto& [jobs, gpus] : {std::pair{160, 64}, {195, 64}, {640, 256}}) {
    double base = 0;
    for (const char* policy : {"afs", "optimus", "elasticflow", "pollux"}) {
      const Measured measured = measure(policy, jobs, gpus);
      if (base == 0) base = measured.seconds;
      fmt::print("{:<14}{:>7}{:>7}{:>10.3f}{:>10}{:>12.2f}\n", policy, jobs, gpus, measured.seconds, measured.resizes,
                 base > 0 ? measured.seconds / base : 0);
    }
    if (quick) break;
  }
  for (const bool most_first : {false, true}) {
    const std::clock_t begin = std::clock();
    const auto result = run_elasticflow_trace("elasticflow", {{"most_first", most_first}}, 30);
    if (!result) break;
    const double took = static_cast<double>(std::clock() - begin) / static_cast<double>(CLOCKS_PER_SEC);
    std::int64_t resizes = 0;
    for (const JobResult& job : result->jobs) resizes += job.resizes;
    fmt::print("elasticflow on its trace{}: {:.3f} s, {} resizes\n", most_first ? ", most_first" : "", took, resizes);
  }
  if (!quick) gavel_study();
  return 0;
}
