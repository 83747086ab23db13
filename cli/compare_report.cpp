#include "cli/compare_report.hpp"

#include "cli/github.hpp"
#include "cli/group_report.hpp"
#include "cli/output.hpp"
#include "cli/text_table.hpp"
#include "results/iteration_figures.hpp"
#include "text/decimal.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// The text shows at most this many jobs that appeared or disappeared; JSON has them all.
constexpr std::size_t kShownJobs = 10;
/// Lines of the table of differences are wrapped beyond this: a value may be a long list.
constexpr std::size_t kWidest = 120;

bool is_share(const Metric& metric) {
  return metric.unit == "share";
}
bool is_censored(const Regression& regression, const Metric& metric) {
  return is_over_finished_jobs(metric) && !regression.same_jobs_finished();
}

/// A count as text; a mean over seeds need not be whole.
std::string count_text(double count) {
  return fmt::format("{:.6g}", count);
}

std::string job_name(const Regression& regression, std::uint64_t seed, const std::string& job) {
  return regression.pairs > 1 && regression.seeds.size() > 1 ? fmt::format("{} (seed {})", job, seed) : job;
}

std::string changes_text(const Regression& regression, const char* title, const std::vector<JobChange>& changes) {
  if (changes.empty()) return {};
  std::vector<std::string> titles{title, "GPUs", "BASE JCT [s]", "NEW JCT [s]", "change [s]", "change"};
  const bool parts = have_parts(changes);
  if (parts)
    for (const PartOfIteration& part : kPartsOfIteration) titles.push_back(fmt::format("{} [ms]", part.title));
  Table table{titles};
  std::vector<double> seconds;
  for (const JobChange& each : changes)
    for (const Time time : {each.base, each.other, each.difference()}) seconds.push_back(time.to_seconds());
  const std::vector<std::string> cells = format_column(seconds);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const JobChange& each = changes[i];
    const Metric& metric = *find_metric("avg_jct");
    std::vector<std::string> row{job_name(regression, each.seed, each.job),
                                 fmt::format("{}", each.gpus),
                                 cells[3 * i],
                                 cells[3 * i + 1],
                                 cells[3 * i + 2],
                                 change_text(metric, true, each.relative())};
    for (std::size_t part = 0; parts && part < std::size(kPartsOfIteration); ++part)
      row.push_back(part_change_text(each, kPartsOfIteration[part]));
    table.add(std::move(row));
  }
  return "\n" + table.text() + (parts ? "the last columns: what changed of an iteration\n" : "");
}

std::string odd_text(const Regression& regression, const char* title, const std::vector<OddJob>& jobs) {
  if (jobs.empty()) return {};
  std::string out = fmt::format("{}: {}", title, jobs.size());
  for (std::size_t i = 0; i < std::min(jobs.size(), kShownJobs); ++i)
    out += fmt::format("{}{}", i == 0 ? ": " : ", ", job_name(regression, jobs[i].seed, jobs[i].job));
  return out + (jobs.size() > kShownJobs ? ", ...\n" : "\n");
}

void write_interval(JsonWriter& json, const char* name, const ConfidenceInterval& interval) {
  json.key(name);
  if (interval.exists())
    json.begin_array().value(interval.low).value(interval.high).end_array();
  else
    json.null();
}

void write_changes(JsonWriter& json, const char* name, const std::vector<JobChange>& changes) {
  json.key(name).begin_array();
  for (const JobChange& each : changes) {
    json.begin_object().member("seed", each.seed).member("job_id", each.job).member("gpus", each.gpus);
    json.key("base_jct_s").raw(format_seconds(each.base)).key("new_jct_s").raw(format_seconds(each.other));
    json.key("change_s").raw(format_seconds(each.difference())).member("relative", each.relative());
    for (const auto& [side, figures] :
         {std::pair{"base_iteration", &each.base_iteration}, std::pair{"new_iteration", &each.other_iteration}}) {
      if (figures->empty()) continue;
      json.key(side).begin_object();
      for (std::size_t i = 0; i < figures->size(); ++i) json.member(iteration_metrics()[i].name, (*figures)[i]);
      json.end_object();
    }
    json.end_object();
  }
  json.end_array();
}

void write_odd(JsonWriter& json, const char* name, const std::vector<OddJob>& jobs) {
  json.key(name).begin_array();
  for (const OddJob& each : jobs) {
    json.begin_object().member("seed", each.seed).member("job_id", each.job);
    if (!each.base.empty()) json.member("base_state", each.base);
    if (!each.other.empty()) json.member("new_state", each.other);
    json.end_object();
  }
  json.end_array();
}

void write_estimate(JsonWriter& json, const char* name, const char* interval, const ChangeEstimate& change) {
  json.member(name, change.value);
  write_interval(json, interval, change.interval_95);
}

void write_metrics(JsonWriter& json, const Regression& regression) {
  json.key("metrics").begin_object();
  for (const MetricChange& each : regression.metrics) {
    json.key(each.metric->name).begin_object();
    json.member("base", each.change.base).member("new", each.change.other);
    write_estimate(json, "difference", "difference_95", each.change.difference);
    write_estimate(json, "relative", "relative_95", each.change.relative);
    write_estimate(json, "relative_of_means", "relative_of_means_95", each.change.of_means);
    json.member("detectable", told_change(each).detectable()).member("p_value", each.p_value);
    json.member("over_different_jobs", is_censored(regression, *each.metric)).end_object();
  }
  json.end_object();
}

void write_group_changes(JsonWriter& json, const std::vector<GroupChanges>& all) {
  json.key("groups").begin_object();
  for (const GroupChanges& changes : all) {
    json.key(changes.grouping->name).begin_array();
    for (const GroupChange& group : changes.groups) {
      json.begin_object().member("value", group.value).key("base").begin_object();
      write_group_figures(json, group.base);
      json.end_object().key("new").begin_object();
      write_group_figures(json, group.other);
      json.end_object().key("changes").begin_object();
      for (const MetricChange& each : group.changes) {
        json.key(each.metric->name).begin_object();
        write_estimate(json, "relative", "relative_95", each.change.relative);
        json.member("detectable", told_change(each).detectable()).member("p_value", each.p_value).end_object();
      }
      json.end_object().end_object();
    }
    json.end_array();
  }
  json.end_object();
}

}  // namespace

bool have_parts(const std::vector<JobChange>& changes) {
  return std::ranges::any_of(changes, [](const JobChange& each) { return !each.base_iteration.empty(); });
}

std::string part_change_text(const JobChange& change, const PartOfIteration& part) {
  constexpr double kMs = 1e3, kShown = 5e-4;
  if (change.base_iteration.empty()) return "-";
  const std::size_t i = iteration_index(part.column);
  const double ms = kMs * (change.other_iteration[i] - change.base_iteration[i]);
  return std::isnan(ms) ? "-" : std::abs(ms) < kShown ? "0" : fmt::format("{:+.3f}", ms);
}

std::string no_differences(const JudgedSides& report) {
  if (!report.differences) return fmt::format("what differs is not known: {}", report.unknown_because);
  return report.differences->empty() ? "the scenarios of BASE and NEW are the same" : "";
}

std::vector<Check> JudgedSides::checks() const {
  std::vector<Check> all;
  for (const RuleOutcome& each : outcomes)
    all.push_back({each.rule.text, scenario_file(other), true, each.fails, each.reason});
  for (const SideExpectations& side : expectations)
    for (const ExpectationOutcome& each : side.outcomes)
      all.push_back({fmt::format("{} expects {}", side.side, each.expectation), scenario_file(side.path), false,
                     !each.met, each.reason});
  all.insert(all.end(), certificates.begin(), certificates.end());
  return all;
}

bool JudgedSides::passes() const {
  return std::ranges::none_of(checks(), &Check::fails);
}

std::string differences_text(const JudgedSides& report) {
  if (const std::string line = no_differences(report); !line.empty()) return line + "\n";
  Table table{{"what differs", "BASE", "NEW"}};
  table.align_left(1);
  table.align_left(2);
  for (const KeyDifference& each : *report.differences) {
    std::vector<std::string> cells{each.key};
    for (const std::string& value : each.values) cells.push_back(value.empty() ? "-" : value);
    table.add(std::move(cells));
  }
  return table.text(output_width(kWidest));
}

void write_differences(JsonWriter& json, const JudgedSides& report) {
  json.key("differences");
  if (!report.differences) {
    json.null().member("differences_unknown", report.unknown_because);
    return;
  }
  json.begin_array();
  for (const KeyDifference& each : *report.differences) {
    json.begin_object().member("key", each.key);
    for (std::size_t i = 0; i < each.values.size(); ++i) {
      json.key(i == 0 ? "base" : "new");
      if (each.values[i].empty())
        json.null();
      else
        json.value(each.values[i]);
    }
    json.end_object();
  }
  json.end_array();
}

std::string checks_text(const JudgedSides& report) {
  std::string out;
  for (const RuleOutcome& outcome : report.outcomes)
    out += fmt::format("{}  {}: {}\n", outcome.fails ? "FAIL" : "ok  ", outcome.rule.text, outcome.reason);
  for (const SideExpectations& side : report.expectations)
    out += fmt::format("\n{}: expectations\n{}", side.side, expectations_text(side.outcomes));
  for (const Check& each : report.certificates)
    out += fmt::format("{}  {}{}{}\n", each.fails ? "FAIL" : "ok  ", each.name, each.fails ? ": " : "", each.reason);
  return out;
}

void write_checks(JsonWriter& json, const JudgedSides& report) {
  json.key("rules").begin_array();
  for (const RuleOutcome& outcome : report.outcomes) {
    json.begin_object().member("rule", outcome.rule.text).member("failed", outcome.fails);
    json.member("p_value", outcome.p_value).member("reason", outcome.reason).end_object();
  }
  json.end_array().key("expectations").begin_array();
  for (const SideExpectations& side : report.expectations) {
    for (const ExpectationOutcome& each : side.outcomes) {
      json.begin_object().member("side", side.side);
      write_members(json, each);
      json.end_object();
    }
  }
  json.end_array().key("certificates").begin_array();
  for (const Check& each : report.certificates)
    json.begin_object()
        .member("check", each.name)
        .member("failed", each.fails)
        .member("reason", each.reason)
        .end_object();
  json.end_array().member("failed", !report.passes());
}

std::vector<FigureRow> figure_rows(const Regression& regression) {
  std::vector<FigureRow> rows;
  for (const MetricChange& each : regression.metrics) {
    const Metric& metric = *each.metric;
    if (!metric.in_texts) continue;
    if (metric.of_some && std::isnan(each.change.base) && std::isnan(each.change.other)) continue;
    const double factor = is_share(metric) ? kPercent : 1;
    const std::vector<std::string> sides =
        is_count(metric.unit) ? std::vector{count_text(each.change.base), count_text(each.change.other)}
                              : format_column({factor * each.change.base, factor * each.change.other});
    const bool relative = is_told_relative(metric);
    const std::string_view unit = shown_unit(metric.unit);
    const ChangeEstimate& change = told_change(each);
    const ChangeEstimate& of_means = each.change.of_means;
    FigureRow row{.title = is_count(metric.unit) || unit.empty() ? std::string{metric.title}
                                                                 : fmt::format("{} [{}]", metric.title, unit),
                  .base = sides[0],
                  .other = sides[1],
                  .change = change_text(metric, relative, change.value),
                  .interval = change.error > 0 ? interval_text(metric, relative, change.interval_95) : "",
                  .p_value = p_value_text(each.p_value),
                  .of_means = {},
                  .detectable = {}};
    if (is_censored(regression, metric)) row.title += " *";
    if (relative && of_means.error > 0)
      row.of_means = fmt::format("{} {}", change_text(metric, true, of_means.value),
                                 interval_text(metric, true, of_means.interval_95));
    row.detectable = detectable_text(metric, relative, change);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> figure_titles(const Regression& regression) {
  std::vector<std::string> titles{"metric", "BASE", "NEW", "change"};
  if (regression.pairs == 1) return titles;
  titles.emplace_back("95% interval");
  titles.emplace_back("p");
  if (!regression.about_list) titles.emplace_back("change of means");
  titles.emplace_back("detectable");
  return titles;
}

std::vector<std::string> figure_cells(const Regression& regression, const FigureRow& row) {
  std::vector<std::string> cells{row.title, row.base, row.other, row.change};
  const auto add = [&](const std::string& cell) { cells.push_back(cell.empty() ? "-" : cell); };
  if (regression.pairs == 1) return cells;
  add(row.interval);
  add(row.p_value);
  if (!regression.about_list) add(row.of_means);
  add(row.detectable);
  return cells;
}

std::string pairing_text(const Regression& regression) {
  const std::size_t count = regression.seeds.size();
  if (regression.is_of_studies) return "each job is an iteration of a study, once it has settled";
  const std::string seeds = count == 1 ? fmt::format("seed {}", regression.seeds.front())
                                       : fmt::format("{} seeds, the first {}", count, regression.seeds.front());
  if (regression.pairs == 1) return fmt::format("{}; one run a side", seeds);
  if (regression.about_list)
    return fmt::format(
        "one job list; 95% intervals by {} resamples of it: Student's t on their scatter, its skewness, the "
        "correlation "
        "of days, and the distance of the resamples from the list",
        regression.pairs);
  if (regression.draws == Draws::resamples)
    return fmt::format(
        "{}, each a resample of one job list; changes of times are geometric means of the ratios seed by seed, "
        "intervals are Student's t on the scatter of the resamples",
        seeds);
  return fmt::format(
      "{}; changes of times are geometric means of the ratios seed by seed, intervals are Student's t over seeds",
      seeds);
}

std::string tests_text(std::size_t tests) {
  if (tests == 0) return {};
  return fmt::format(
      "p: of no change, by two-sided t tests, corrected by Holm for the {} tests of this table{}; significant up to {}",
      tests, tests > 1 ? " (the intervals are not: each is of its change alone)" : "", kTwoSidedLevel);
}

std::string jobs_text(const Regression& regression) {
  std::string text = fmt::format("{} jobs finished on both sides: {} slower, {} faster, {} the same", regression.jobs,
                                 regression.slower_jobs, regression.faster_jobs,
                                 regression.jobs - regression.slower_jobs - regression.faster_jobs);
  if (std::isnan(regression.spread.median)) return text;
  const Metric& jct = *find_metric("avg_jct");
  return text + fmt::format("; spread over jobs: {} to {} (5th to 95th percentile)",
                            change_text(jct, true, regression.spread.p5),
                            change_text(jct, true, regression.spread.p95));
}

std::string answer_text(const Regression& regression) {
  const MetricChange& jct = regression.of(*find_metric("avg_jct"));
  const MetricChange& wait = regression.of(*find_metric("avg_waiting"));
  if (regression.is_of_studies || regression.identical || !(jct.change.base > 0 && jct.change.other > 0)) return {};
  const ChangeEstimate& change = told_change(jct);
  std::string out = fmt::format(
      "With NEW, {}jobs take {} instead of {} ({}{})", is_censored(regression, *jct.metric) ? "finished " : "",
      spoken_time(jct.change.other), spoken_time(jct.change.base), change_text(*jct.metric, true, change.value),
      change.error > 0 ? ", 95% interval " + interval_text(*jct.metric, true, change.interval_95) : "");
  if (wait.change.base > 0 || wait.change.other > 0)
    out += fmt::format(" and wait {} instead of {}", spoken_time(wait.change.other), spoken_time(wait.change.base));
  if (regression.pairs > 1 && change.error > 0 && !(jct.p_value <= kTwoSidedLevel))
    out += fmt::format(". This may be chance: p = {}", p_value_text(jct.p_value));
  return out + ".";
}

std::string comparison_text(const ComparisonReport& report) {
  const Regression& regression = report.regression;
  std::string out = fmt::format("BASE  {}\nNEW   {}\n{}\n", report.base, report.other, pairing_text(regression));
  if (!report.resampling.empty()) out += report.resampling + "\n";
  out += "\n" + differences_text(report) + "\n";
  if (!regression.is_of_studies) {
    Table table{figure_titles(regression)};
    for (const FigureRow& row : figure_rows(regression)) table.add(figure_cells(regression, row));
    out += table.text() + "\n";
  }
  if (const std::string tests = tests_text(regression.tests); !tests.empty()) out += tests + "\n";
  out += jobs_text(regression) + "\n";
  out += odd_text(regression, "finished in BASE only", regression.lost);
  out += odd_text(regression, "finished in NEW only", regression.gained);
  out += odd_text(regression, "only in BASE", regression.only_in_base);
  out += odd_text(regression, "only in NEW", regression.only_in_new);
  for (const GroupChanges& changes : report.groups) {
    const std::vector<std::vector<std::string>> rows = group_change_rows(changes);
    Table groups{rows.front()};
    for (std::size_t i = 1; i < rows.size(); ++i) groups.add(rows[i]);
    out += "\n" + groups.text() + left_out_groups(changes.groups.size());
    if (const std::string mark = marks_text(changes); !mark.empty()) out += mark + "\n";
  }
  out += changes_text(regression, "slower jobs", regression.slowest);
  out += changes_text(regression, "faster jobs", regression.fastest);
  if (regression.identical) out += "\nNEW is identical to BASE, run by run\n";
  if (!regression.notes.empty() || !report.outcomes.empty()) out += '\n';
  for (const std::string& note : regression.notes) out += fmt::format("note: {}\n", note);
  if (const std::string answer = answer_text(regression); !answer.empty()) out += fmt::format("\n{}\n", answer);
  return out + coloured_verdicts(checks_text(report));
}

std::string comparison_json(const ComparisonReport& report) {
  const Regression& regression = report.regression;
  JsonWriter json;
  json.begin_object();
  json.member("base", report.base).member("new", report.other);
  write_differences(json, report);
  json.key("seeds").begin_array();
  for (const std::uint64_t seed : regression.seeds) json.value(seed);
  json.end_array();
  json.member("resampled", regression.draws == Draws::resamples);
  json.member("about_list", regression.about_list).member("resampling", report.resampling);
  json.member("pairs", std::uint64_t{regression.pairs}).member("identical", regression.identical);
  write_metrics(json, regression);
  if (!report.groups.empty()) write_group_changes(json, report.groups);
  json.key("jobs").begin_object();
  json.member("finished_on_both_sides", std::uint64_t{regression.jobs});
  json.member("slower", std::uint64_t{regression.slower_jobs}).member("faster", std::uint64_t{regression.faster_jobs});
  json.key("spread").begin_object().member("p5", regression.spread.p5).member("median", regression.spread.median);
  json.member("p95", regression.spread.p95).end_object();
  write_changes(json, "slowest", regression.slowest);
  write_changes(json, "fastest", regression.fastest);
  write_odd(json, "finished_in_base_only", regression.lost);
  write_odd(json, "finished_in_new_only", regression.gained);
  write_odd(json, "only_in_base", regression.only_in_base);
  write_odd(json, "only_in_new", regression.only_in_new);
  json.end_object();
  write_checks(json, report);
  json.key("notes").begin_array();
  for (const std::string& note : regression.notes) json.value(note);
  json.end_array().end_object();
  return json.take();
}

}  // namespace contend
