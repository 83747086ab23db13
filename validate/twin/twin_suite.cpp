#include "validate/twin/twin_suite.hpp"

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/twin/twin.hpp"
#include "sim/statistics.hpp"
#include "validate/schedulers/traces.hpp"
#include "validate/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// What a user knows at an instant.
struct Known {
  TwinJobs jobs;
  std::vector<std::size_t> listed;  ///< jobs of the trace, by job of the list
  bool any_waits = false;
};

Known known_at(Time now, const std::vector<JobRequest>& jobs, const RunResult& truth) {
  Known known;
  std::vector<JobRequest> ended;
  double sum_s = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (truth.jobs[j].finish > now) continue;
    ended.push_back(jobs[j]);
    sum_s += jobs[j].duration->to_seconds();
  }
  const Time mean =
      Time::nanoseconds(std::llround(1e9 * sum_s / static_cast<double>(std::max<std::size_t>(ended.size(), 1))));
  for (const bool runs : {true, false}) {
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const JobResult& real = truth.jobs[j];
      if (jobs[j].submit > now || real.finish <= now || (real.start <= now) != runs) continue;
      JobRequest& job = known.jobs.list.jobs.emplace_back(jobs[j]);
      known.listed.push_back(j);
      job.submit = Time{};
      job.duration = mean;
      if (runs) job.elapsed = now - real.start;
      if (runs) *job.duration += *job.elapsed;
      known.any_waits = known.any_waits || !runs;
    }
  }
  known.jobs.history = RunHistory{ended};
  known.jobs.arrivals = std::move(ended);
  return known;
}

Scenario scenario_with(const SchedulerTrace& trace, std::string_view policy) {
  return parse_scenario(fmt::format("schema_version: 2\ncluster: {{servers: {}, gpus_per_server: {}}}\n"
                                    "policies: {{scheduling: {}, placement: consolidated}}\n",
                                    trace.servers, trace.gpus_per_server, policy),
                        "back test");
}

}  // namespace

BackTest back_test(Scenario scenario, const std::vector<JobRequest>& jobs, std::size_t instants, std::size_t draws,
                   std::uint64_t seed) {
  const Scenario cluster = std::move(scenario);
  const RunResult truth = run_workload(cluster, workload_of(cluster, cluster.workload, jobs), seed);
  const auto [first, last] = std::ranges::minmax(jobs, {}, &JobRequest::submit);
  const Time quarter = Time::nanoseconds((last.submit - first.submit).ns() / 4);
  RandomStream random{seed, "twin/instants"};
  BackTest test;
  for (int tries = 0; test.instants < instants && tries < 100'000; ++tries) {
    const Time now = first.submit + quarter + Time::nanoseconds(random.uniform_integer(0, 2 * quarter.ns()));
    const Known known = known_at(now, jobs, truth);
    if (!known.any_waits) continue;
    ++test.instants;
    TwinOptions options{
        .draws = draws, .seed = seed + test.instants, .threads = std::max(1U, std::thread::hardware_concurrency())};
    const std::vector<StartForecast> forecasts = forecast_starts(cluster, known.jobs, options);
    options.alike = false;
    const std::vector<StartForecast> apart = forecast_starts(cluster, known.jobs, options);
    for (std::size_t f = 0; f < forecasts.size(); ++f) {
      const StartForecast& forecast = forecasts[f];
      const double real_s = (truth.jobs[known.listed[forecast.job]].start - now).to_seconds();
      ++test.jobs;
      const auto covers = [&](const StartForecast& each, double low, double high) {
        return each.quantile(low) <= real_s && real_s <= each.quantile(high);
      };
      if (covers(forecast, 0.25, 0.75)) ++test.in_50;
      if (covers(forecast, 0.05, 0.95)) ++test.in_90;
      if (covers(apart[f], 0.05, 0.95)) ++test.in_90_apart;
      test.errors_s.push_back(std::abs(forecast.quantile(0.5) - real_s));
      test.baseline_errors_s.push_back(std::abs(forecast.by_limits_s - real_s));
    }
  }
  return test;
}

int validate_twin(std::FILE* out) {
  constexpr std::size_t kInstants = 40, kDraws = 100;
  // What the forecasts reach on these traces (docs/howto/twin.md).
  constexpr double kLeastCovered = 0.8, kLargestError = 1.15;
  bool holds = true, any = false;
  fmt::print(out, "{:<16}{:<8}{:>9}{:>7}{:>12}{:>12}{:>12}{:>18}{:>18}\n", "trace", "policy", "instants", "jobs",
             "in 50% [%]", "in 90% [%]", "apart [%]", "median error [h]", "by the mean [h]");
  for (const TraceKind kind : {TraceKind::helios_vcvgl, TraceKind::itp_cluster01}) {
    if (!std::filesystem::exists(trace_path(kind))) {
      fmt::print(out, "{}: skipped, because there is no {}\n", trace_title(kind), trace_path(kind));
      continue;
    }
    SchedulerTrace trace = read_scheduler_trace(kind);
    for (JobRequest& job : trace.jobs) job.limit.reset();  // in the lists they are the durations, which nobody knows
    for (const char* const policy : {"fifo", "easy"}) {
      const BackTest test = back_test(scenario_with(trace, policy), trace.jobs, kInstants, kDraws, 1);
      const auto share = [&](std::size_t count) { return static_cast<double>(count) / static_cast<double>(test.jobs); };
      const double error_s = percentile(test.errors_s, 0.5), baseline_s = percentile(test.baseline_errors_s, 0.5);
      const bool is_good = share(test.in_90) >= kLeastCovered && error_s <= kLargestError * baseline_s;
      fmt::print(out, "{:<16}{:<8}{:>9}{:>7}{:>12.1f}{:>12.1f}{:>12.1f}{:>18.2f}{:>18.2f} {}\n", trace.title, policy,
                 test.instants, test.jobs, 100 * share(test.in_50), 100 * share(test.in_90),
                 100 * share(test.in_90_apart), error_s / 3600, baseline_s / 3600, word(is_good));
      holds = holds && is_good;
      any = true;
    }
  }
  const SuiteVerdict verdict = suite_verdict(holds, any);
  fmt::print(out, "twin: {}\n", suite_word(verdict));
  return verdict;
}

}  // namespace contend
