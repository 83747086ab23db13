#include "results/iteration_figures.hpp"

#include "sim/check.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace contend {
namespace {

constexpr IterationFigure kIterationFigures[] = {
    {"iteration_s", "iteration [ms]", 1e3, "s", false, false, false, true},
    {"compute_s", "compute [ms]", 1e3, "s", true},
    {"compression_s", "compression [ms]", 1e3, "s", true},
    {"exposed_communication_s", "exposed [ms]", 1e3, "s", false, false, false, true},
    {"progress_s", "progress [ms]", 1e3, "s", true, false, true},
    {"throughput_per_s", "samples/s", 1, "per_s", false, false, false, true},
    {"scaling_efficiency", "efficiency [%]", 100, "share"},
    {"messages", "messages", 1, "messages"},
    {"sent_bytes", "sent [MiB]", 1.0 / 1048576, "B", true},
    {"interface_bytes", "out of a server [MiB]", 1.0 / 1048576, "B", false, true},
    {"bound_s", "bound [ms]", 1e3, "s"},
    {"above_bound", "above bound [%]", 100, "share"},
    {"tokens_per_second", "tokens/s", 1, "per_s", false, false, true, true},
    {"tflops_per_gpu", "TFLOP/s per GPU", 1, "tflops", false, false, true},
    {"mfu", "MFU [%]", 100, "share", false, false, true, true},
    {"hfu", "HFU [%]", 100, "share", false, false, true},
    {"memory_gib", "memory [GiB]", 1, "GiB", false, false, true},
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
      all.push_back({.name = each.column,
                     .title = each.title.substr(0, each.title.find(" [")),
                     .unit = each.unit,
                     .value = nullptr,
                     .of_jobs = true,
                     .of_some = true,
                     .in_texts = each.in_texts,
                     .text = result_text("jobs.csv", each.column)});
    return all;
  }();
  return kAll;
}

std::span<const Metric> iteration_flags() {
  static constexpr Metric kFlags[] = {
      {.name = "stale", .title = "stale", .unit = "flag", .value = nullptr, .of_some = true, .in_texts = false},
      {.name = "settled", .title = "settled", .unit = "flag", .value = nullptr, .of_some = true, .in_texts = false},
  };
  return kFlags;
}

IterationMeans::IterationMeans() : sums_(std::size(kIterationFigures)), counts_(std::size(kIterationFigures)) {}

void IterationMeans::add(std::span<const double> figures) {
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (std::isnan(figures[i])) continue;
    sums_[i] += figures[i];
    ++counts_[i];
  }
}

std::vector<double> IterationMeans::means() const {
  std::vector<double> means;
  for (std::size_t i = 0; i < sums_.size(); ++i)
    means.push_back(counts_[i] > 0 ? sums_[i] / static_cast<double>(counts_[i]) : kNaN);
  return means;
}

std::vector<double> figures_of_run(const RunResult& result, const Summary& summary) {
  std::vector<double> figures;
  for (const Metric& each : metrics())
    if (!each.is_of_iterations()) figures.push_back(each.value(summary));
  IterationMeans means;
  double jobs = 0, stale = 0, of_study = 0, settled = 0;
  for (const JobResult& job : result.jobs) {
    if (!job.measured || job.state != JobState::finished || !job.traffic) continue;
    means.add(iteration_values(job));
    ++jobs;
    stale += job.notes.stale ? 1 : 0;
    if (!job.notes.plan || !job.notes.plan->settled) continue;
    ++of_study;
    settled += *job.notes.plan->settled ? 1 : 0;
  }
  const std::vector<double> all = means.means();
  figures.insert(figures.end(), all.begin(), all.end());
  figures.push_back(jobs > 0 ? stale / jobs : kNaN);
  figures.push_back(of_study > 0 ? settled / of_study : kNaN);
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

bool is_iteration_metric(const Metric& metric) {
  return std::ranges::find(kIterationFigures, metric.name, &IterationFigure::column) != std::end(kIterationFigures);
}

std::size_t iteration_index(std::string_view column) {
  const auto found = std::ranges::find(kIterationFigures, column, &IterationFigure::column);
  CONTEND_CHECK(found != std::end(kIterationFigures), "a figure of an iteration");
  return static_cast<std::size_t>(found - std::begin(kIterationFigures));
}

}  // namespace contend
