#include "results/iteration_figures.hpp"

#include "sim/check.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace contend {
namespace {

constexpr IterationFigure kIterationFigures[] = {
    {"iteration_s", "iteration [ms]", 1e3, "s"},
    {"compute_s", "compute [ms]", 1e3, "s", true},
    {"compression_s", "compression [ms]", 1e3, "s", true},
    {"exposed_communication_s", "exposed [ms]", 1e3, "s"},
    {"progress_s", "progress [ms]", 1e3, "s", true, false, true},
    {"throughput_per_s", "samples/s", 1, "per_s"},
    {"scaling_efficiency", "efficiency [%]", 100, "share"},
    {"messages", "messages", 1, "messages"},
    {"sent_bytes", "sent [MiB]", 1.0 / 1048576, "B", true},
    {"interface_bytes", "out of a server [MiB]", 1.0 / 1048576, "B", false, true},
    {"bound_s", "bound [ms]", 1e3, "s"},
    {"above_bound", "above bound [%]", 100, "share"},
};

const Column<JobResult>& column_of(std::string_view name) {
  const auto found = std::ranges::find(job_columns(), name, &Column<JobResult>::name);
  CONTEND_CHECK(found != job_columns().end(), "a figure of an iteration is a column of jobs.csv");
  return *found;
}

double number_of(const Cell& cell) {
  constexpr double kNanoseconds = 1e9;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  // The number that is nearest to the decimal one in jobs.csv, so that a folder and a run of its scenario are equal.
  if (const auto* time = std::get_if<Time>(&cell)) return static_cast<double>(time->ns()) / kNanoseconds;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::span<const IterationFigure> iteration_figures() {
  return kIterationFigures;
}

std::span<const Metric> iteration_metrics() {
  static const std::vector<Metric> kAll = [] {
    std::vector<Metric> all;
    for (const IterationFigure& each : kIterationFigures)
      all.push_back(
          {each.column, each.title.substr(0, each.title.find(" [")), each.unit, column_of(each.column).text, nullptr});
    return all;
  }();
  return kAll;
}

std::span<const Metric> run_metrics() {
  static const std::vector<Metric> kAll = [] {
    std::vector<Metric> all{metrics().begin(), metrics().end()};
    all.insert(all.end(), iteration_metrics().begin(), iteration_metrics().end());
    all.push_back(
        {"stale", "stale", "flag", "share of the jobs that train with gradients that are a step old", nullptr});
    all.push_back({"settled", "settled", "flag",
                   "share of the jobs of an iteration study whose iteration recurs exactly; of others a mean over many",
                   nullptr});
    return all;
  }();
  return kAll;
}

const Metric& run_metric(std::string_view name) {
  const auto found = std::ranges::find(run_metrics(), name, &Metric::name);
  CONTEND_CHECK(found != run_metrics().end(), "a figure of a run");
  return *found;
}

std::vector<double> figures_of_run(const RunResult& result, const Summary& summary) {
  std::vector<double> figures;
  for (const Metric& each : metrics()) figures.push_back(each.value(summary));
  const std::size_t first = figures.size();
  figures.resize(run_metrics().size(), 0);
  std::vector<std::size_t> counts(figures.size(), 0);
  const auto add = [&](std::size_t at, double value) {
    if (std::isnan(value)) return;
    figures[at] += value;
    ++counts[at];
  };
  for (const JobResult& job : result.jobs) {
    if (!job.measured || job.state != JobState::finished || !job.traffic) continue;
    const std::vector<double> values = iteration_values(job);
    for (std::size_t i = 0; i < values.size(); ++i) add(first + i, values[i]);
    add(figures.size() - 2, job.notes.stale ? 1 : 0);
    if (job.notes.plan && job.notes.plan->settled) add(figures.size() - 1, *job.notes.plan->settled ? 1 : 0);
  }
  for (std::size_t i = first; i < figures.size(); ++i)
    figures[i] = counts[i] > 0 ? figures[i] / static_cast<double>(counts[i]) : kNaN;
  return figures;
}

std::vector<double> iteration_values(const JobResult& job) {
  static const std::vector<const Column<JobResult>*> kColumns = [] {
    std::vector<const Column<JobResult>*> all;
    for (const IterationFigure& each : kIterationFigures) all.push_back(&column_of(each.column));
    return all;
  }();
  std::vector<double> values;
  for (const Column<JobResult>* each : kColumns) values.push_back(number_of(each->value(job)));
  return values;
}

double iteration_value(const JobResult& job, std::string_view column) {
  return number_of(column_of(column).value(job));
}

std::size_t iteration_index(std::string_view column) {
  const auto found = std::ranges::find(kIterationFigures, column, &IterationFigure::column);
  CONTEND_CHECK(found != std::end(kIterationFigures), "a figure of an iteration");
  return static_cast<std::size_t>(found - std::begin(kIterationFigures));
}

}  // namespace contend
