#include "cli/run_report.hpp"

#include "cli/study_report.hpp"
#include "cli/text_table.hpp"
#include "results/comparison.hpp"
#include "results/folding_report.hpp"
#include "results/result_columns.hpp"
#include "results/result_writer.hpp"
#include "scenarios/run/scenario_failures.hpp"
#include "sim/counted.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

namespace contend {
namespace {

double shown(const Metric& metric, double value) {
  return shown_factor(metric.unit) * value;
}

struct ShownColumn {
  std::string_view metric;
  std::string_view title;      ///< short enough for a table of ten columns
  bool of_many_waits = false;  ///< of scenarios, shown where jobs waited again after their first start
  bool of_queues = false;      ///< not shown beside figures of training
};
constexpr ShownColumn kColumns[] = {{"avg_jct_s", "avg JCT"},
                                    {"median_jct_s", "median", false, true},
                                    {"p95_jct_s", "p95", false, true},
                                    {"max_jct_s", "max", false, true},
                                    {"makespan_s", "makespan"},
                                    {"avg_queueing_s", "queueing"},
                                    {"avg_waiting_s", "waiting", true},
                                    {"gpu_utilisation", "GPU util"},
                                    {"network_utilisation", "net util"},
                                    {"contended_share", "contended", false, true}};
/// Of jobs of iterations, shown where some job processes tokens.
constexpr ShownColumn kTrainingColumns[] = {
    {"iteration_s", "iteration"}, {"tokens_per_second", "tokens/s"}, {"mfu", "MFU"}};

/// The cells of one figure for all rows; `with_interval` appends the half-width.
std::vector<std::string> figure_cells(const ShownColumn& column, const std::vector<ComparisonRow>& rows,
                                      bool with_interval) {
  const Metric& what = metric(column.metric);
  std::vector<double> values;
  for (const ComparisonRow& row : rows) values.push_back(shown(what, row.figure(what.name).mean));
  if (with_interval)
    for (const ComparisonRow& row : rows) values.push_back(shown(what, row.figure(what.name).half_width));
  std::vector<std::string> cells = format_column(values);
  for (std::size_t i = 0; with_interval && i < rows.size(); ++i) cells[i] += " ± " + cells[rows.size() + i];
  cells.resize(rows.size());
  return cells;
}

/// True if jobs waited again after their first start, as they do after preemptions and failures.
bool waited_again(const ComparisonRow& row) {
  return row.figure("avg_waiting_s").mean > row.figure("avg_queueing_s").mean;
}

bool has_intervals(std::span<const std::vector<Replica>> results) {
  for (const auto& replicas : results)
    if (replicas.size() > 1) return true;
  return false;
}

}  // namespace

namespace {

/// A table of the types of servers, if there are any.
std::string types_of_servers(const RunResult& run) {
  if (run.types.empty()) return {};
  Table table{{"type of server", "servers", "GPUs", "GPU util [%]"}};
  for (const TypeResult& type : run.types)
    table.add({type.name, fmt::format("{}", type.servers), fmt::format("{}", type.gpus),
               fmt::format("{:.2f}", 100 * type.utilisation)});
  return "\n" + table.text();
}

/// A table of the busiest links of the fabric and the jobs that used them.
std::string busiest_links(const RunResult& run) {
  constexpr std::size_t kShown = 10;
  constexpr std::size_t kUsers = 3;
  std::vector<const FabricLinkResult*> links;
  for (const FabricLinkResult& link : run.fabric.links) {
    if (link.bytes > 0) links.push_back(&link);
  }
  std::stable_sort(links.begin(), links.end(),
                   [](const auto* a, const auto* b) { return a->utilisation > b->utilisation; });
  links.resize(std::min(links.size(), kShown));
  if (links.empty()) return {};
  Table table{{"busiest links", "utilisation [%]", "sent [GB]", "jobs", "most by"}};
  for (const FabricLinkResult* link : links) {
    std::string users;
    for (std::size_t i = 0; i < std::min(link->users.size(), kUsers); ++i) {
      users += fmt::format("{}{} {:.0f}%", i > 0 ? ", " : "", run.jobs[link->users[i].job.index()].name,
                           100 * link->users[i].bytes / link->bytes);
    }
    table.add({link->name, fmt::format("{:.2f}", 100 * link->utilisation), fmt::format("{:.1f}", link->bytes * 1e-9),
               fmt::format("{}", link->users.size()), users});
  }
  return "\n" + table.text();
}

}  // namespace

namespace {

/// True if figures over the finished jobs leave out jobs that were submitted.
bool is_censored(const Summary& summary) {
  return summary.finished > 0 && summary.unfinished + summary.given_up > 0;
}

/// How the finished jobs ended, unless all of them completed: a job that fails by itself has held its GPUs, too.
std::string outcomes_line(std::span<const Replica> replicas) {
  std::map<JobOutcome, std::size_t> outcomes;
  for (const Replica& replica : replicas)
    for (const JobResult& job : replica.result.jobs)
      if (job.state == JobState::finished) ++outcomes[job.outcome];
  outcomes.erase(JobOutcome::completed);
  if (outcomes.empty()) return {};
  std::vector<std::string> words;
  for (const auto& [outcome, jobs] : outcomes) words.push_back(fmt::format("{} {}", jobs, to_string(outcome)));
  return fmt::format("  {:<24}{} by outcome, the others completed\n", "of the finished", fmt::join(words, ", "));
}

}  // namespace

namespace {

/// The periods that `checkpoints.period: optimal` chose, by the numbers of GPUs of the jobs of the run.
std::string periods_line(const Scenario& scenario, const RunResult& run) {
  if (!scenario.checkpoints.has_period() || !scenario.checkpoints.period.optimal) return {};
  const auto& types = scenario.cluster.types;
  const auto differs = [&](const auto& type) { return type.gpus_per_server != scenario.cluster.gpus_per_server; };
  if (std::ranges::any_of(types, differs))
    return fmt::format("  {:<24}optimal, by type of servers\n", "checkpoint period");
  std::set<SavedJob> sizes;
  for (const JobResult& job : run.jobs) sizes.insert({job.gpus, job.notes.state, job.notes.passes});
  if (sizes.empty()) return {};
  const auto period = [&](const SavedJob& job) {
    return fmt::format("{:.5g} s for jobs of {}",
                       checkpoint_costs(scenario.cluster, scenario.failures, scenario.checkpoints, job)
                           .checkpoint_interval.to_seconds(),
                       counted(job.gpus, "GPU"));
  };
  std::string text = period(*sizes.begin());
  if (sizes.size() > 1) text += fmt::format(", {}", period(*sizes.rbegin()));
  return fmt::format("  {:<24}{} (optimal)\n", "checkpoint period", text);
}

}  // namespace

std::string summary_text(const Scenario& scenario, const Replica& replica,
                         std::span<const PredictedIteration> iterations) {
  std::string out = fmt::format("{} (seed {})\n", scenario.name, replica.seed);
  const Summary& summary = replica.summary;
  out += fmt::format("  {:<24}{} finished, {} failed, {} unfinished", "jobs", summary.finished, summary.failed,
                     summary.unfinished);
  if (summary.given_up > 0) out += fmt::format(", {} given up after failures", summary.given_up);
  if (summary.not_submitted > 0) out += fmt::format(", {} not submitted yet", summary.not_submitted);
  const std::size_t others = replica.result.jobs.size() - summary.jobs;
  out += others > 0 ? fmt::format("; {} more are outside `measure`\n", others) : "\n";
  out += outcomes_line({&replica, 1});
  const bool censored = is_censored(summary);
  const std::vector<double> figures = figures_of_run(replica.result, summary);
  for (const Metric& each : metrics()) {
    if (each.unit == "jobs" || !each.in_texts) continue;
    const double value = shown(each, figures[metric_index(each)]);
    if (each.of_some && std::isnan(value)) continue;
    const std::string_view unit = each.unit == "price" ? replica.result.currency : shown_unit(each.unit);
    if (is_count(each.unit))
      out += fmt::format("  {:<24}{:.0f}\n", each.title, value);
    else
      out += fmt::format("  {:<24}{}{}{}{}\n", each.title, format_column({value}).front(), unit.empty() ? "" : " ",
                         unit, censored && is_over_finished_jobs(each) ? " *" : "");
  }
  const RunResult& run = replica.result;
  if (const FoldingCounts folding = folding_of(run); folding.gpus > folding.roles)
    out += fmt::format("  {:<24}{}\n", "simulated", folding_text(folding));
  out += fmt::format("  {:<24}{} executed, {} leapt over\n", "events", run.events, run.leapt_events);
  out += periods_line(scenario, run);
  out += iterations_text(iterations);
  if (censored) out += kCensoredNote;
  return out + types_of_servers(run) + busiest_links(run);
}

namespace {

/// The figures of compared scenarios: a title and a cell for each scenario, by column.
struct FigureColumns {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> cells;
};
FigureColumns figure_columns(const std::vector<ComparisonRow>& rows, bool intervals) {
  FigureColumns columns;
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(rows, [&](const ComparisonRow& row) { return !std::isnan(row.figure(name).mean); });
  };
  const bool trains = has("tokens_per_second");
  for (const ShownColumn& column : kTrainingColumns) {
    if (!trains || !has(column.metric)) continue;
    const std::string_view unit = shown_unit(metric(column.metric).unit);
    const bool is_in_title = column.title.find('/') != std::string_view::npos;
    columns.titles.push_back(is_in_title ? std::string{column.title} : fmt::format("{} [{}]", column.title, unit));
    columns.cells.push_back(figure_cells(column, rows, false));
  }
  for (const ShownColumn& column : kColumns) {
    if (column.of_many_waits && std::ranges::none_of(rows, waited_again)) continue;
    if (column.of_queues && trains) continue;
    columns.titles.push_back(fmt::format("{} [{}]", column.title, shown_unit(metric(column.metric).unit)));
    columns.cells.push_back(figure_cells(column, rows, intervals && column.metric == "avg_jct_s"));
  }
  for (const Metric& each : metrics()) {
    if (!each.of_some || each.is_of_iterations() || !has(each.name)) continue;
    const std::string_view unit = shown_unit(each.unit);
    const bool plain = unit.empty() || is_count(each.unit);
    columns.titles.push_back(plain ? std::string{each.title} : fmt::format("{} [{}]", each.title, unit));
    columns.cells.push_back(figure_cells({each.name, each.title}, rows, false));
  }
  return columns;
}

/// How the jobs of each scenario ended, and the periods of its checkpoints, where there is something to say.
std::string scenario_lines(std::span<const Scenario> scenarios, std::span<const std::vector<Replica>> results) {
  std::string text;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].empty()) continue;
    const std::string more = outcomes_line(results[i]) + periods_line(scenarios[i], results[i].front().result);
    if (!more.empty()) text += fmt::format("{}:\n{}", scenarios[i].name, more);
  }
  return text;
}

}  // namespace

std::string comparison_text(std::span<const Scenario> scenarios, std::span<const std::vector<Replica>> results) {
  const std::vector<ComparisonRow> rows = compare(results);
  const bool several = rows.size() > 1, intervals = has_intervals(results);
  const FigureColumns columns = figure_columns(rows, intervals);
  std::vector<std::string> titles{"scenario"};
  titles.insert(titles.end(), columns.titles.begin(), columns.titles.end());
  if (several) titles.emplace_back("JCT / first");
  const std::size_t tests = tests_of(rows);
  if (tests > 0) titles.emplace_back("p");
  const bool detectable = std::ranges::any_of(
      rows, [](const ComparisonRow& row) { return row.jct_ratio && !std::isnan(row.jct_ratio->detectable); });
  if (detectable) titles.emplace_back("detectable");
  if (several && intervals) titles.emplace_back("of means");
  Table table{titles};
  bool censored = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_marked =
        std::ranges::any_of(results[i], [](const Replica& each) { return is_censored(each.summary); });
    censored = censored || is_marked;
    std::vector<std::string> cells{scenarios[i].name + (is_marked ? " *" : "")};
    for (const auto& column : columns.cells) cells.push_back(column[i]);
    const TestedRatio ratio = rows[i].jct_ratio.value_or(TestedRatio{});
    if (several) cells.push_back(i == 0 ? "1" : ratio_text(ratio.geometric));
    if (tests > 0) cells.push_back(p_value_cell(ratio));
    if (detectable) cells.push_back(detectable_cell(ratio));
    if (several && intervals) cells.push_back(i == 0 ? "1" : ratio_text(ratio.of_means));
    table.add(std::move(cells));
  }
  std::string out = table.text();
  if (censored) out += kCensoredNote;
  if (intervals)
    out +=
        fmt::format("Means over {} replicas; intervals are 95% Student-t{}.\n", results.front().size(),
                    several ? ". JCT / first is the geometric mean of the ratios seed by seed, beside it the ratio of "
                              "the means"
                            : "");
  return out + scenario_lines(scenarios, results) +
         ratio_tests_note(tests, "scenarios", results.front().size(), detectable);
}

std::string_view short_title(const Metric& metric) {
  const auto found = std::ranges::find(kColumns, metric.name, &ShownColumn::metric);
  return found == std::end(kColumns) ? metric.title : found->title;
}

namespace {

void write_ratio(JsonWriter& json, const char* name, const RatioEstimate& ratio) {
  json.key(name).begin_object().member("ratio", ratio.ratio);
  json.member("low_95", ratio.low).member("high_95", ratio.high).end_object();
}

void write_iterations(JsonWriter& json, std::span<const PredictedIteration> iterations) {
  if (iterations.empty()) return;
  json.key("iterations").begin_array();
  for (const PredictedIteration& each : iterations) {
    json.begin_object().member("entry", each.entry).member("gpus", each.gpus);
    json.member("iteration_s", each.time.to_seconds());
    write_interval(json, each.time, each.parts);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string results_json(std::span<const Scenario> scenarios, std::span<const std::vector<Replica>> results,
                         std::span<const std::vector<PredictedIteration>> iterations,
                         std::span<const std::vector<StudyMessages>> messages) {
  const std::vector<ComparisonRow> rows = compare(results);
  JsonWriter json;
  json.begin_object().key("scenarios").begin_array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json.begin_object();
    write_summary_members(json, scenarios[i].name, results[i]);
    if (scenarios[i].overlap.given() && !results[i].empty())
      write_study_members(json, results[i], i < messages.size() ? messages[i] : std::vector<StudyMessages>{});
    write_iterations(json, iterations[i]);
    if (!scenarios[i].expect.empty()) write_expectations(json, judge_expectations(scenarios[i].expect, results[i]));
    if (i > 0 && rows[i].jct_ratio) {
      write_ratio(json, "jct_ratio_to_first", rows[i].jct_ratio->geometric);
      write_ratio(json, "jct_ratio_of_means_to_first", rows[i].jct_ratio->of_means);
      json.member("jct_ratio_p_value", rows[i].jct_ratio->p_value);
      json.member("jct_ratio_detectable", rows[i].jct_ratio->detectable);
    }
    json.end_object();
  }
  json.end_array().end_object();
  return json.take();
}

}  // namespace contend
