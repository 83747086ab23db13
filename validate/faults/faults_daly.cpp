// Jobs alone, interrupted at random: the closed form of Daly (2006), equation 20, as efficiency. The figures are those
// of the formula in 50-digit arithmetic.

#include "models/reliability/checkpoint_period.hpp"
#include "sim/statistics.hpp"
#include "validate/faults/faults_suite.hpp"
#include "validate/faults/interrupted_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

struct Setting {
  double mean_s, cost_s, restart_s;
  struct {
    double period_s, efficiency;  // of the formula
  } rows[3];                      // at the optimum, at Young's period, at an hour
};

constexpr Setting kSettings[] = {
    {3600, 10, 60, {{261.703, 0.911978}, {268.328, 0.911957}, {3600, 0.569850}}},
    {28'440, 120, 600, {{2533.205, 0.891912}, {2612.585, 0.891874}, {3600, 0.886920}}},
    {1800, 60, 300, {{425.649, 0.646313}, {464.758, 0.645718}, {3600, 0.254983}}},
};
constexpr int kJobs = 200;
constexpr double kFailuresOfEach = 200;

}  // namespace

CheckedTable faults_daly() {
  CheckedTable table;
  table.title = "Efficiency of a job that is interrupted at random: Daly's formula, within three standard errors";
  for (const Setting& setting : kSettings) {
    for (const auto& [period_s, efficiency] : setting.rows) {
      InterruptedJobs what;
      what.servers = what.jobs = kJobs;
      const double periods = std::max(20.0, std::round(kFailuresOfEach * setting.mean_s * efficiency / period_s));
      what.work = Time::ceil_nanoseconds(period_s * 1e9) * static_cast<std::int64_t>(periods);
      what.keys = fmt::format(
          "failures: {{jobs: {{mean: {}s}}}}\n"
          "checkpoints: {{policy: synchronous, period: {}s, cost: {}s, restart_cost: {}s}}\n",
          setting.mean_s, period_s, setting.cost_s, setting.restart_s);
      const RunResult result = run_interrupted(what, 1);
      std::vector<double> times_s;
      for (const JobResult& job : result.jobs) times_s.push_back(job.jct().to_seconds());
      // A job ends with its last period, which is not saved.
      const double work_s = what.work.to_seconds(), rest_s = what.work.to_seconds() / periods;
      const CheckpointedRun run{setting.mean_s, setting.restart_s, rest_s, setting.cost_s};
      const double expected_s =
          expected_time(work_s - rest_s, run) + expected_time_unsaved(rest_s, setting.mean_s, setting.restart_s);
      const double error = sample_deviation(times_s) / std::sqrt(double{kJobs}) / mean(times_s);
      table.checks.push_back(
          {fmt::format("M {} d {} R {} s, every {:.6g} s", setting.mean_s, setting.cost_s, setting.restart_s, period_s),
           work_s / expected_s,
           work_s / mean(times_s),
           3 * error,
           {}});
    }
  }
  return table;
}

}  // namespace contend
