#include "cli/group_report.hpp"

#include "cli/run_report.hpp"
#include "cli/text_table.hpp"
#include "results/paired_change.hpp"
#include "results/regression_rules.hpp"
#include "results/result_columns.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace contend {
namespace {

std::string group_name(const std::string& value) {
  return value.empty() ? "(none)" : value;
}

std::string group_title(const Metric& metric) {
  const std::string title{is_count(metric.unit) ? metric.title : short_title(metric)};
  return is_count(metric.unit) || shown_unit(metric.unit).empty() ? title : fmt::format("{} [{}]", title, metric.unit);
}

/// The figures of one metric of all groups.
std::vector<std::string> group_cells(const Metric& metric, const std::vector<double>& values) {
  if (!is_count(metric.unit)) return format_column(values);
  std::vector<std::string> cells;
  for (const double value : values) cells.push_back(fmt::format("{:.6g}", value));
  return cells;
}

/// Appends to each mean over runs the half-width of its interval, if several runs have jobs of the group.
void add_half_widths(std::vector<std::string>& cells, const std::vector<double>& means,
                     const std::vector<std::vector<GroupFigures>>& by_run, const std::vector<GroupFigures>& groups,
                     std::size_t figure, Draws draws) {
  std::vector<double> numbers = means;
  for (std::size_t i = 0; i < means.size(); ++i) {
    std::vector<double> values;
    for (const std::vector<GroupFigures>& run : by_run) {
      const auto here = std::ranges::find(run, groups[i].value, &GroupFigures::value);
      if (here != run.end() && std::isfinite(here->figures[figure])) values.push_back(here->figures[figure]);
    }
    numbers.push_back(values.size() > 1 ? estimate(values, draws).half_width : std::nan(""));
  }
  const std::vector<std::string> texts = format_column(numbers);
  for (std::size_t i = 0; i < means.size(); ++i)
    if (std::isfinite(numbers[means.size() + i])) cells[i] = texts[i] + " ± " + texts[means.size() + i];
}

std::size_t index_of(std::string_view metric) {
  const auto all = group_metrics();
  return static_cast<std::size_t>(std::ranges::find(all, metric, &Metric::name) - all.begin());
}

/// The change of a time, its interval, and a mark.
std::string group_change_cell(const MetricChange& each) {
  const ChangeEstimate& change = told_change(each);
  std::string cell = change_text(*each.metric, is_told_relative(*each.metric), change.value);
  if (change.error > 0) cell += " " + interval_text(*each.metric, is_told_relative(*each.metric), change.interval_95);
  if (const std::string least = detectable_text(*each.metric, is_told_relative(*each.metric), change); !least.empty())
    cell += fmt::format(" (detectable: {})", least);
  return cell + (each.is_significant() ? " !" : "");
}

void add_waits(Table& table, const std::vector<WaitsBeside>& rows, const std::string& name) {
  std::vector<double> seconds;
  for (const WaitsBeside& row : rows)
    for (const Waits& each : {row.simulated, row.measured})
      seconds.insert(seconds.end(), {each.mean_s, each.median_s, each.p90_s});
  const std::vector<std::string> cells = format_column(seconds);
  constexpr std::size_t kFigures = 3;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> line{name.empty() ? rows[i].value : name, fmt::format("{}", rows[i].jobs)};
    for (std::size_t f = 0; f < kFigures; ++f)
      for (const std::size_t side : {0U, 1U}) line.push_back(cells[(2 * i + side) * kFigures + f]);
    table.add(std::move(line));
  }
}

}  // namespace

std::vector<const Grouping*> chosen_groupings(const Arguments& arguments) {
  std::vector<const Grouping*> chosen;
  for (const std::string& name : arguments.values("by"))
    chosen.push_back(of_option("by", [&] { return &find_grouping(name); }));
  return chosen;
}

std::string left_out_groups(std::size_t groups) {
  return groups > kMaxShown ? fmt::format("and {} more\n", groups - kMaxShown) : "";
}

std::string group_table(std::span<const StoredReplica> replicas, const Grouping& grouping, Draws draws) {
  const std::vector<GroupFigures> groups = group_figures(replicas, grouping);
  const std::size_t shown = std::min(groups.size(), kMaxShown);
  const std::size_t unfinished = index_of("unfinished"), given_up = index_of("given_up");
  const bool censored = std::ranges::any_of(
      groups, [&](const auto& group) { return group.figures[unfinished] + group.figures[given_up] > 0; });
  std::vector<std::string> titles{std::string{grouping.title}};
  std::vector<std::vector<std::string>> columns;
  const bool intervals = replicas.size() > 1;
  std::vector<std::vector<GroupFigures>> by_run;
  for (std::size_t r = 0; intervals && r < replicas.size(); ++r)
    by_run.push_back(group_figures(replicas.subspan(r, 1), grouping));
  for (std::size_t m = 0; m < group_metrics().size(); ++m) {
    const Metric& metric = group_metrics()[m];
    std::vector<double> values;
    for (std::size_t i = 0; i < shown; ++i) values.push_back(groups[i].figures[m]);
    if (!metric.in_texts) continue;
    if (metric.of_some && std::ranges::all_of(values, [](double value) { return std::isnan(value); })) continue;
    const bool is_usual = std::ranges::all_of(values, [](double value) { return value == 0; });
    if (is_usual && metric.unit == "jobs" && metric.name != "jobs" && metric.name != "finished") continue;
    titles.push_back(group_title(metric) + (censored && is_over_finished_jobs(metric) ? " *" : ""));
    columns.push_back(group_cells(metric, values));
    if (intervals && metric.name.starts_with("avg_")) add_half_widths(columns.back(), values, by_run, groups, m, draws);
  }
  Table table{titles};
  const std::string note =
      intervals ? fmt::format(
                      "Means over {} runs; ± are 95% Student-t intervals of averages over the runs that have "
                      "jobs of the group.\n",
                      replicas.size())
                : "";
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string> cells{group_name(groups[i].value)};
    for (const auto& column : columns) cells.push_back(column[i]);
    table.add(std::move(cells));
  }
  return table.text() + left_out_groups(groups.size()) + (censored ? std::string{kCensoredNote} : "") + note;
}

std::string waits_table(std::span<const StoredReplica> replicas) {
  std::vector<StoredJob> jobs;
  for (const StoredReplica& replica : replicas) jobs.insert(jobs.end(), replica.jobs.begin(), replica.jobs.end());
  const std::vector<WaitsBeside> all = waits_beside_measured(jobs, nullptr);
  if (all.empty()) return {};
  Table table{{"wait [s]: GPUs", "jobs", "mean", "measured", "median", "measured", "90 %", "measured"}};
  add_waits(table, all, "all");
  add_waits(table, waits_beside_measured(jobs, &find_grouping("size")), "");
  return table.text();
}

std::vector<std::vector<std::string>> group_change_rows(const GroupChanges& changes) {
  std::vector<std::vector<std::string>> rows{{std::string{changes.grouping->title}, "jobs"}};
  const std::size_t shown = std::min(changes.groups.size(), kMaxShown);
  for (std::size_t i = 0; i < shown; ++i)
    rows.push_back({group_name(changes.groups[i].value), fmt::format("{:.6g}", changes.groups[i].base[0])});
  const std::size_t compared = shown > 0 ? changes.groups.front().changes.size() : 0;
  for (std::size_t c = 0; c < compared; ++c) {
    const Metric& metric = *changes.groups.front().changes[c].metric;
    const std::size_t m = index_of(metric.name);
    std::vector<double> values;
    for (std::size_t i = 0; i < shown; ++i)
      values.insert(values.end(), {changes.groups[i].base[m], changes.groups[i].other[m]});
    const std::vector<std::string> cells = format_column(values);
    rows[0].insert(rows[0].end(), {group_title(metric), "NEW", "change"});
    for (std::size_t i = 0; i < shown; ++i)
      rows[i + 1].insert(rows[i + 1].end(),
                         {cells[2 * i], cells[2 * i + 1], group_change_cell(changes.groups[i].changes[c])});
  }
  return rows;
}

std::string marks_text(const GroupChanges& changes) {
  if (changes.tests == 0) return {};
  return fmt::format("in brackets 95% intervals; !: significant by a two-sided t test, corrected by Holm for the {} {}",
                     changes.tests, changes.tests == 1 ? "change" : "changes of this grouping");
}

}  // namespace contend
