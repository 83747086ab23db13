#pragma once
// The one table of result columns and summary figures: name with unit suffix, type, and the value; texts.txt has one
// line of description for each. The CSV and JSON writers, `contend list metrics` and the reference docs all read it.

#include "sim/result.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace contend {

/// The value of a column; std::monostate is a missing value, such as the finish of an unfinished job.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, Time, GpuTime>;

/// One column of a CSV file.
template <class Row>
struct Column {
  std::string_view name;
  std::string_view type;  ///< `text`, `integer`, `number` or `seconds` (a decimal number, exact to the nanosecond)
  Cell (*value)(const Row&);
  bool where_known = false;  ///< files leave it out if no row has a value
};

/// The columns that files have: all but those that are only written where they are known, if no row has a value. `rows`
/// gives the rows of the result of a run.
template <class Row, class Runs, class Rows>
[[nodiscard]] std::vector<const Column<Row>*> shown_columns(std::span<const Column<Row>> columns, const Runs& runs,
                                                            Rows rows) {
  std::vector<const Column<Row>*> shown;
  for (const Column<Row>& column : columns) {
    const auto has_value = [&](const Row& row) { return !std::holds_alternative<std::monostate>(column.value(row)); };
    const auto is_known = [&](const auto& run) { return std::ranges::any_of(rows(run.result), has_value); };
    if (!column.where_known || std::ranges::any_of(runs, is_known)) shown.push_back(&column);
  }
  return shown;
}

/// The description of a column of a file, such as `jobs.csv`, or of a figure of `summary.json`.
[[nodiscard]] std::string_view result_text(std::string_view file, std::string_view name);
/// The text of texts.txt, and the page of columns_markdown() without its tables.
[[nodiscard]] std::string_view result_texts();
[[nodiscard]] std::string_view results_page();

[[nodiscard]] std::span<const Column<JobResult>> job_columns();
[[nodiscard]] std::span<const Column<GpuResult>> gpu_columns();
[[nodiscard]] std::span<const Column<TypeResult>> type_columns();
[[nodiscard]] std::span<const Column<LinkResult>> link_columns();
[[nodiscard]] std::span<const Column<MeteredHour>> hour_columns();

/// How long a job ran beside others with a duration.
struct SharedRow {
  std::string job, beside;
  Time time, lost;
};
[[nodiscard]] std::span<const Column<SharedRow>> sharing_columns();

/// A request to the service of a job.
struct RequestRow {
  std::string job;
  std::int64_t number = 0;  ///< by arrival, from 0
  RequestResult request;
};
[[nodiscard]] std::span<const Column<RequestRow>> request_columns();

/// A round of a job with federated training.
struct RoundRow {
  std::string job;
  std::int64_t number = 0;  ///< from 0
  FederatedRound round;
};
[[nodiscard]] std::span<const Column<RoundRow>> round_columns();

/// The bytes that one job sent over one link of the fabric.
struct LinkUse {
  std::string link, job;
  double bytes = 0;
};
/// The time that transfers of one job lost on one link because of another job.
struct DelayedBy {
  std::string job, by, link;
  Time lost;
};
/// The utilisation (0..1) of one link of the fabric in one interval that begins at `start`.
struct LinkUtilisation {
  std::string link;
  Time start;
  double utilisation = 0;
};
[[nodiscard]] std::span<const Column<FabricLinkResult>> fabric_columns();
[[nodiscard]] std::span<const Column<LinkUse>> link_use_columns();
[[nodiscard]] std::span<const Column<DelayedBy>> delay_columns();
[[nodiscard]] std::span<const Column<LinkUtilisation>> link_utilisation_columns();

/// A figure that summarises a run; NaN if it has no value.
struct Metric {
  std::string_view name;
  std::string_view title;  ///< for people, without the unit
  /// `s`, `share` (0..1), `ratio`, `price`, `kWh`, `g CO2e`, `L`, `jobs`, `preemptions`, `interruptions`, `restarts`,
  /// `requests`, `evictions`, `rounds`, `updates`, `per_s`, `B`, `messages` or `flag`
  std::string_view unit;
  /// Of a summary; nullptr: a mean over the iterations of jobs (figures_of_run()).
  double (*value)(const Summary&);
  bool of_jobs = false;  ///< it is over jobs alone, so that groups of jobs have it, too
  bool of_some = false;  ///< only some scenarios give it a value; texts leave it out where it has none
  bool in_texts = true;  ///< texts and pages about runs of jobs show it; files, rules and sweeps have it in any case
  bool where_known = false;    ///< files leave it out where it has no value: meters, services
  std::string_view text = {};  ///< one line; metrics() and group_metrics() have it

  [[nodiscard]] bool is_of_iterations() const { return value == nullptr; }
  /// Files leave out a figure of iterations that no job has, and one of a meter or a service that isn't there.
  [[nodiscard]] bool is_left_out(double figure) const {
    return std::isnan(figure) && (is_of_iterations() || where_known);
  }
};
/// All figures of a run: the figures of its summary, then of iterations.
[[nodiscard]] std::span<const Metric> metrics();
/// Their values, in that order; figures of iterations are means over the finished jobs that count and have them, NaN if
/// there are none.
[[nodiscard]] std::vector<double> figures_of_run(const RunResult& result, const Summary& summary);
/// What people read behind a number of that unit: % for shares, nothing for numbers without a unit, such as ratios, and
/// where the title says it.
[[nodiscard]] std::string_view shown_unit(std::string_view unit);
/// True for the unit of a metric that is a whole number in every run.
[[nodiscard]] bool is_count(std::string_view unit);
/// True if the metric is an average, a percentile or an end over the jobs that finished.
[[nodiscard]] bool is_over_finished_jobs(const Metric& metric);
/// The figures of a group of jobs: the metrics that are over jobs alone, GPU hours, and figures of iterations.
[[nodiscard]] std::span<const Metric> group_metrics();
/// The metric of that name, which must exist, and its place in metrics().
[[nodiscard]] const Metric& metric(std::string_view name);
[[nodiscard]] std::size_t metric_index(const Metric& metric);

/// The reference page that describes the columns of every file in an output folder.
[[nodiscard]] std::string columns_markdown();

}  // namespace contend
