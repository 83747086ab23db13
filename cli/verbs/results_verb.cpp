#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/group_report.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/text_table.hpp"
#include "cli/warm_up_report.hpp"
#include "scenarios/sweep/store_query.hpp"
#include "scenarios/sweep/sweep_keys.hpp"
#include "sim/error.hpp"
#include "text/own_files.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

std::vector<std::string> names(const Arguments& arguments, std::string_view option) {
  std::vector<std::string> all;
  const std::string text = arguments.value(option).value_or("");
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    if (end > start) all.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  if (arguments.has(option) && all.empty())
    throw UsageError{fmt::format("--{}: expected names separated by commas, got \"{}\"", option, text)};
  return all;
}

/// The name of a parameter: its key or its column.
std::string to_key(const StoreInfo& info, const std::string& assignment) {
  const std::size_t equals = std::min(assignment.find('='), assignment.size());
  for (const StoreParameter& each : info.parameters)
    if (each.column == assignment.substr(0, equals)) return each.key + assignment.substr(equals);
  return assignment;
}

std::string value_cell(const SqlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty() ? "(none)" : *text;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return "-";
}

bool has_intervals(const ResultsTable& table, std::size_t metric) {
  return std::ranges::any_of(table.groups,
                             [&](const ResultsGroup& group) { return !std::isnan(group.figures[metric].half_width); });
}

/// The means of one metric, with their intervals if there are any.
std::vector<std::string> figure_cells(const ResultsTable& table, std::size_t metric) {
  const bool intervals = has_intervals(table, metric);
  std::vector<double> values;
  const double factor = shown_factor(table.metrics[metric].unit);
  for (const ResultsGroup& group : table.groups) values.push_back(factor * group.figures[metric].mean);
  for (const ResultsGroup& group : table.groups) values.push_back(factor * group.figures[metric].half_width);
  if (!intervals) values.resize(table.groups.size());
  std::vector<std::string> cells = format_column(values);
  for (std::size_t i = 0; intervals && i < table.groups.size(); ++i) cells[i] += " ± " + cells[table.groups.size() + i];
  cells.resize(table.groups.size());
  return cells;
}

std::string table_text(const ResultsTable& results) {
  std::vector<std::string> titles;
  for (const StoreParameter& each : results.parameters) titles.push_back(each.key);
  titles.emplace_back("runs");
  std::vector<std::vector<std::string>> columns;
  bool detectable = false;
  for (std::size_t i = 0; i < results.metrics.size(); ++i) {
    titles.push_back(results.metrics[i].name + (results.metrics[i].unit == "share" ? " [%]" : ""));
    columns.push_back(figure_cells(results, i));
    if (!results.compares) continue;
    titles.emplace_back("/ baseline");
    auto& cells = columns.emplace_back();
    for (const ResultsGroup& group : results.groups) cells.push_back(ratio_text(group.ratios[i].geometric));
    if (!has_intervals(results, i)) continue;
    if (results.tests > 0) {
      titles.emplace_back("p");
      auto& p_values = columns.emplace_back();
      for (const ResultsGroup& group : results.groups) p_values.push_back(p_value_cell(group.ratios[i]));
      const bool has_detectable = std::ranges::any_of(
          results.groups, [&](const ResultsGroup& group) { return !std::isnan(group.ratios[i].detectable); });
      detectable = detectable || has_detectable;
      if (has_detectable) {
        titles.emplace_back("detectable");
        auto& cells_of = columns.emplace_back();
        for (const ResultsGroup& group : results.groups) cells_of.push_back(detectable_cell(group.ratios[i]));
      }
    }
    titles.emplace_back("of means");
    auto& of_means = columns.emplace_back();
    for (const ResultsGroup& group : results.groups) of_means.push_back(ratio_text(group.ratios[i].of_means));
  }
  Table table{titles};
  std::size_t most_runs = 0;
  for (std::size_t i = 0; i < results.parameters.size(); ++i)
    if (results.parameters[i].type == StoreParameter::Type::text) table.align_left(i);
  for (std::size_t i = 0; i < results.groups.size(); ++i) {
    const ResultsGroup& group = results.groups[i];
    std::vector<std::string> cells;
    for (const SqlValue& value : group.values) cells.push_back(value_cell(value));
    std::size_t runs = 0;
    for (const Estimate& each : group.figures) runs = std::max(runs, each.count);
    cells.push_back(fmt::format("{}", runs));
    most_runs = std::max(most_runs, runs);
    for (const auto& column : columns) cells.push_back(column[i]);
    table.add(std::move(cells));
  }
  return table.text() + ratio_tests_note(results.tests, "ratios", most_runs, detectable, "runs");
}

void write_csv(const Arguments& arguments, const std::string& csv) {
  const std::string path = arguments.value("csv").value_or("-");
  if (path == "-")
    print_output("{}", csv);
  else
    write_own_file(path, csv);
}

/// Prints groups of the jobs of an output folder.
int run_folder_results(const Arguments& arguments, const std::string& folder) {
  for (const std::string_view option : {"group-by", "metric", "where", "baseline", "rows", "csv"})
    if (arguments.has(option))
      throw UsageError{fmt::format("--{} is for the store of a sweep, but {} is a folder", option, folder)};
  const StoredResults results = read_results(folder);
  note_unchecked(arguments, folder, results.has_digests);
  if (arguments.has("warm-up")) {
    arguments.refuse("by", "with --warm-up, which looks at all measured jobs");
    print_output("{}", warm_up_text(results.replicas));
    return kExitOk;
  }
  std::vector<const Grouping*> chosen = chosen_groupings(arguments);
  if (chosen.empty()) chosen = groupings_of(results.replicas.front().jobs);
  std::string separator;
  for (const Grouping* grouping : chosen) {
    print_output("{}{}", separator, group_table(results.replicas, *grouping, results.draws));
    separator = "\n";
  }
  if (const std::string waits = waits_table(results.replicas); !waits.empty()) print_output("{}{}", separator, waits);
  return kExitOk;
}

}  // namespace

int results_verb(const Arguments& arguments) {
  if (const std::string& path = arguments.positionals().front(); std::filesystem::is_directory(path))
    return run_folder_results(arguments, path);
  if (arguments.has("warm-up"))
    throw UsageError{
        "--warm-up looks at the jobs of a folder of `contend run -o`; a store does not have them in order"};
  const std::vector<const Grouping*> chosen = chosen_groupings(arguments);
  if (chosen.size() > 1 && arguments.has("csv") && !arguments.has("rows"))
    throw UsageError{
        "--csv: expected one --by, because each grouping is a table of its own; --rows puts them into one"};
  SweepStore store = SweepStore::open(arguments.positionals().front());
  note_unchecked(arguments, store.path(), store.has_checksums());
  std::vector<SweepDimension> where;
  for (const std::string& each : arguments.values("where"))
    where.push_back(of_option("where", [&] { return parse_dimension(to_key(store.info(), each)); }));
  const auto ended = static_cast<std::int64_t>(store.runs().size());
  if (store.info().runs > ended)
    print_message("contend: {} has {} of {} runs\n", store.path(), ended, store.info().runs);
  if (arguments.has("rows")) {
    for (const char* option : {"group-by", "metric", "baseline"}) arguments.refuse(option, "with --rows");
    std::vector<std::string> groupings;
    for (const Grouping* each : chosen) groupings.emplace_back(each->name);
    write_csv(arguments, groupings.empty() ? runs_csv(store, where) : groups_csv(store, where, groupings));
    return kExitOk;
  }
  ResultsQuery query{.group_by = names(arguments, "group-by"),
                     .metrics = names(arguments, "metric"),
                     .where = std::move(where),
                     .baseline = {}};
  if (const auto baseline = arguments.value("baseline"))
    query.baseline = of_option("baseline", [&] { return parse_settings(to_key(store.info(), *baseline)); });
  std::vector<std::optional<std::string>> tables;
  for (const Grouping* each : chosen) tables.emplace_back(each->name);
  if (tables.empty()) tables.emplace_back();
  std::string text, separator;
  for (const std::optional<std::string>& jobs_by : tables) {
    query.jobs_by = jobs_by;
    const ResultsTable results = query_results(store, query);
    if (results.groups.empty()) throw InputError{fmt::format("{}: no point has these values", store.path())};
    if (results.failed > 0 && text.empty()) print_message("contend: {} runs failed and are left out\n", results.failed);
    if (results.unfinished > 0 && text.empty())
      print_message(
          "contend: in {} of {} runs not all jobs finished, and their averages are over the finished jobs alone\n",
          results.unfinished, results.runs);
    text += separator + (arguments.has("csv") ? results_csv(results) : table_text(results));
    separator = "\n";
  }
  if (arguments.has("csv"))
    write_csv(arguments, text);
  else
    print_output("{}", text);
  return kExitOk;
}

}  // namespace contend
