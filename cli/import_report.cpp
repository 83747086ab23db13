#include "cli/import_report.hpp"

#include "cli/text_table.hpp"
#include "text/decimal.hpp"
#include "text/json_writer.hpp"
#include "traces/jobs/job_summary.hpp"
#include "traces/jobs/timestamp.hpp"

#include <fmt/core.h>

namespace contend {
namespace {

/// Rows of the table of virtual clusters; further ones share a row.
constexpr std::size_t kShownGroups = 12;

std::string origin_text(const ImportedJobs& imported) {
  if (imported.format->dated)
    return imported.origin == Time{} ? "1970-01-01 00:00:00 UTC"
                                     : fmt::format("{} of the trace", format_timestamp(imported.origin));
  return fmt::format("{} s of the trace", format_seconds(imported.origin));
}

std::string lines_text(const RowReason& reason) {
  std::string out;
  for (const int line : reason.first_lines) out += fmt::format("{}{}", out.empty() ? "" : ", ", line);
  const bool more = reason.rows > static_cast<std::int64_t>(reason.first_lines.size());
  return fmt::format("{}{}", out, more ? ", ..." : "");
}

std::string rows_text(const RowReport& report) {
  std::string out;
  Table table{{"what", "why", "rows", "lines"}};
  table.align_left(1);
  table.align_left(3);
  for (const auto& [what, reasons] : {std::pair{"bad", &report.bad_reasons()},
                                      std::pair{"left out", &report.left_out()}, std::pair{"noted", &report.notes()}})
    for (const RowReason& reason : *reasons)
      table.add({what, reason.reason, fmt::format("{}", reason.rows), lines_text(reason)});
  const bool any = !report.bad_reasons().empty() || !report.left_out().empty() || !report.notes().empty();
  if (any) out += "\n" + table.text();
  if (!report.unused_columns().empty()) {
    out += "\ncolumns not used:";
    for (const std::string& name : report.unused_columns()) out += " " + name;
    out += "\n";
  }
  return out;
}

std::string groups_text(const std::string& title, const std::vector<JobGroup>& groups, const JobSummary& summary) {
  Table table{{title, "jobs", "jobs [%]", "GPU hours", "GPU hours [%]"}};
  const auto row = [&](const std::string& name, std::int64_t jobs, double gpu_hours) {
    table.add({name, fmt::format("{}", jobs),
               fmt::format("{:.2f}", 100.0 * static_cast<double>(jobs) / static_cast<double>(summary.jobs)),
               fmt::format("{:.1f}", gpu_hours),
               summary.gpu_hours > 0 ? fmt::format("{:.2f}", 100.0 * gpu_hours / summary.gpu_hours) : "-"});
  };
  const std::size_t shown = groups.size() > kShownGroups + 1 ? kShownGroups : groups.size();
  for (std::size_t i = 0; i < shown; ++i)
    row(groups[i].name.empty() ? "(none)" : groups[i].name, groups[i].jobs, groups[i].gpu_hours);
  JobGroup rest;
  for (std::size_t i = shown; i < groups.size(); ++i) {
    rest.jobs += groups[i].jobs;
    rest.gpu_hours += groups[i].gpu_hours;
  }
  if (rest.jobs > 0) row(fmt::format("{} others", groups.size() - shown), rest.jobs, rest.gpu_hours);
  return "\n" + table.text();
}

std::string distributions_text(const JobSummary& summary) {
  Table table{{"", "mean", "min", "25 %", "median", "75 %", "90 %", "99 %", "max"}};
  const auto row = [&](const std::string& name, const Distribution& d) {
    std::vector<std::string> cells{name};
    for (const double value : {d.mean, d.min, d.p25, d.median, d.p75, d.p90, d.p99, d.max})
      cells.push_back(fmt::format("{:.6g}", value));
    table.add(std::move(cells));
  };
  if (summary.duration_s.count > 0) row("duration [s]", summary.duration_s);
  if (summary.measured_wait_s.count > 0) row("measured wait [s]", summary.measured_wait_s);
  row("GPUs", summary.gpus);
  return "\n" + table.text();
}

std::string jobs_text(const JobSummary& summary) {
  std::string out;
  const auto line = [&](std::string_view name, const std::string& value) {
    out += fmt::format("  {:<24}{}\n", name, value);
  };
  std::string outcomes;
  for (const JobGroup& group : summary.outcomes)
    outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", group.jobs, group.name);
  line("jobs", fmt::format("{} ({})", summary.jobs, outcomes));
  if (summary.timed_jobs < summary.jobs)
    line("without a duration", fmt::format("{}, whose GPU hours are not known", summary.jobs - summary.timed_jobs));
  if (summary.retried_jobs > 0) line("with several attempts", fmt::format("{}", summary.retried_jobs));
  line("GPU hours", fmt::format("{:.1f}", summary.gpu_hours));
  line("submitted",
       fmt::format("{} s to {} s", format_seconds(summary.first_submit), format_seconds(summary.last_submit)));
  line("arrivals", fmt::format("{:.4g} an hour; {} in the busiest, hour {}", summary.jobs_per_hour,
                               summary.peak_hour_jobs, summary.peak_hour));
  if (summary.mean_busy_gpus > 0)
    line("offered load", fmt::format("{:.4g} GPUs on average between first and last", summary.mean_busy_gpus));
  line("users", fmt::format("{}", summary.users));
  return out;
}

void add_reasons(JsonWriter& json, std::string_view name, const std::vector<RowReason>& reasons) {
  json.key(name).begin_array();
  for (const RowReason& reason : reasons) {
    json.begin_object().member("reason", reason.reason).member("rows", reason.rows);
    json.key("first_lines").begin_array();
    for (const int line : reason.first_lines) json.value(line);
    json.end_array().end_object();
  }
  json.end_array();
}

void add_distribution(JsonWriter& json, std::string_view name, const Distribution& d) {
  json.key(name).begin_object().member("count", std::uint64_t{d.count}).member("mean", d.mean).member("min", d.min);
  json.member("p25", d.p25).member("median", d.median).member("p75", d.p75).member("p90", d.p90);
  json.member("p99", d.p99).member("max", d.max).end_object();
}

void add_groups(JsonWriter& json, std::string_view name, const std::vector<JobGroup>& groups) {
  json.key(name).begin_array();
  for (const JobGroup& group : groups)
    json.begin_object()
        .member("name", group.name)
        .member("jobs", group.jobs)
        .member("gpu_hours", group.gpu_hours)
        .end_object();
  json.end_array();
}

}  // namespace

std::string import_text(const ImportedJobs& imported) {
  const RowReport& report = imported.report;
  const JobSummary summary = summarise_jobs(imported.jobs);
  std::string out = fmt::format("{}: {}\n", report.file(), imported.format->summary);
  out += fmt::format("  {:<24}{}: {} jobs, {} left out, {} bad\n", "rows", report.rows(), summary.jobs,
                     report.left_out_rows(), report.bad_rows());
  out += fmt::format("  {:<24}{}\n", "time 0", origin_text(imported));
  if (summary.jobs > 0) {
    out += jobs_text(summary) + distributions_text(summary) + groups_text("GPUs", summary.sizes, summary);
    if (summary.vcs.size() > 1 || !summary.vcs.front().name.empty())
      out += groups_text("virtual cluster", summary.vcs, summary);
  }
  return out + rows_text(report);
}

std::string import_json(const ImportedJobs& imported) {
  const RowReport& report = imported.report;
  const JobSummary summary = summarise_jobs(imported.jobs);
  JsonWriter json;
  json.begin_object().member("file", report.file()).member("format", imported.format->name);
  json.member("rows", report.rows()).member("left_out_rows", report.left_out_rows());
  json.member("bad_rows", report.bad_rows());
  json.key("origin_s").raw(format_seconds(imported.origin));
  json.member("origin_is_date", imported.format->dated);
  json.member("jobs", summary.jobs).member("timed_jobs", summary.timed_jobs);
  json.member("retried_jobs", summary.retried_jobs).member("users", summary.users);
  json.member("gpu_hours", summary.gpu_hours);
  json.key("first_submit_s").raw(format_seconds(summary.first_submit));
  json.key("last_submit_s").raw(format_seconds(summary.last_submit));
  json.member("jobs_per_hour", summary.jobs_per_hour).member("peak_hour_jobs", summary.peak_hour_jobs);
  json.member("peak_hour", summary.peak_hour).member("mean_busy_gpus", summary.mean_busy_gpus);
  add_distribution(json, "duration_s", summary.duration_s);
  add_distribution(json, "measured_wait_s", summary.measured_wait_s);
  add_distribution(json, "gpus", summary.gpus);
  add_groups(json, "sizes", summary.sizes);
  add_groups(json, "virtual_clusters", summary.vcs);
  add_groups(json, "outcomes", summary.outcomes);
  add_reasons(json, "bad", report.bad_reasons());
  add_reasons(json, "left_out", report.left_out());
  add_reasons(json, "notes", report.notes());
  json.key("unused_columns").begin_array();
  for (const std::string& name : report.unused_columns()) json.value(name);
  json.end_array().end_object();
  return json.take();
}

}  // namespace contend
