#include "cli/compare_studies.hpp"

#include "cli/text_table.hpp"
#include "report/column_table.hpp"
#include "results/bootstrap.hpp"
#include "scenarios/study/study_columns.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_run.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "text/json_writer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using Pair = std::pair<const StudiedIteration*, const StudiedIteration*>;
constexpr double kMs = 1e3;
/// An iteration and its parts, as tables show them.
constexpr std::array<std::string_view, 4> kShown = {"iteration_s", "compute_s", "compression_s",
                                                    "exposed_communication_s"};

std::size_t index_of(const Metric& metric) {
  return static_cast<std::size_t>(&metric - study_metrics().data());
}

double figure(const StudiedIteration& each, std::string_view name) {
  const Metric* metric = find_metric(name, study_metrics());
  CONTEND_CHECK(metric != nullptr, "a figure of a study");
  return each.figures[index_of(*metric)];
}

const StudiedIteration* find(const StudySide& side, const StudiedIteration& wanted) {
  const auto found = std::ranges::find_if(side, [&](const StudiedIteration& each) { return each.is_same(wanted); });
  return found == side.end() ? nullptr : &*found;
}

std::vector<Pair> pairs_of(const StudySide& base, const StudySide& other) {
  std::vector<Pair> pairs;
  for (const StudiedIteration& each : base) {
    if (const StudiedIteration* partner = find(other, each)) pairs.emplace_back(&each, partner);
  }
  if (pairs.empty())
    throw InputError{"the two studies have no number of workers, compression method and fusion policy in common"};
  return pairs;
}

double change(const Pair& pair) {
  return figure(*pair.second, kShown[0]) / figure(*pair.first, kShown[0]) - 1;
}

std::string title(const StudiedIteration& each) {
  return fmt::format("{} workers, {}, {}", each.workers, each.compression, each.policy);
}

std::string only_in(std::string_view name, const StudySide& side, const StudySide& other) {
  std::string out;
  for (const StudiedIteration& each : side) {
    if (find(other, each) == nullptr) out += fmt::format("only in {}: {}\n", name, title(each));
  }
  return out;
}

/// With the digits that overlap.csv keeps, so that a folder and a run of its scenario are equal.
double as_stored(double value) {
  return std::isnan(value) ? value : std::stod(fmt::format("{:.12g}", value));
}

RuleOutcome judge(const RegressionRule& rule, const std::vector<Pair>& pairs) {
  const std::size_t index = index_of(*rule.metric);
  const bool upwards = rule.relation == Relation::more || rule.relation == Relation::at_least;
  RuleOutcome outcome;
  outcome.rule = rule;
  const Pair* worst = nullptr;
  std::size_t failed = 0;
  for (const Pair& pair : pairs) {
    const double before = pair.first->figures[index], after = pair.second->figures[index];
    const PairedChange change = plain_change(before, after);
    const double amount = rule.relative ? change.relative : change.difference;
    if (std::isnan(amount)) {
      outcome.change = amount;
      outcome.fails = true;
      outcome.reason = fmt::format("{} has no value in {} ({})", short_name(*rule.metric),
                                   std::isnan(before) ? "BASE" : "NEW", title(*pair.first));
      return outcome;
    }
    if (holds(amount, rule.relation, rule.amount)) ++failed;
    if (worst != nullptr && (upwards ? amount <= outcome.change : amount >= outcome.change)) continue;
    worst = &pair;
    outcome.change = amount;
  }
  outcome.fails = failed > 0;
  outcome.reason = fmt::format("{} changed {} ({}{})", short_name(*rule.metric),
                               changed_text(*rule.metric, rule.relative, outcome.change),
                               pairs.size() > 1 ? "at worst: " : "", title(*worst->first));
  if (failed > 1) outcome.reason += fmt::format(" and fails for {} of {} iterations", failed, pairs.size());
  return outcome;
}

}  // namespace

StudySide read_study(const std::string& folder) {
  const ColumnTable table = read_columns((std::filesystem::path{folder} / "overlap.csv").string());
  const auto &workers = table.texts("workers"), &compression = table.texts("compression"),
             &policy = table.texts("policy");
  StudySide side;
  for (std::size_t i = 0; i < table.rows(); ++i) side.push_back({workers[i], compression[i], policy[i], {}});
  for (const Metric& metric : study_metrics()) {
    // What isn't shown may be missing in a folder of an earlier version.
    const bool needed = std::ranges::find(kShown, metric.name) != kShown.end();
    const std::vector<double> values =
        needed || table.find(metric.name) != nullptr
            ? table.numbers(metric.name)
            : std::vector<double>(table.rows(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < side.size(); ++i) side[i].figures.push_back(values[i]);
  }
  return side;
}

StudySide run_study(const Scenario& scenario, const std::function<bool()>& ended) {
  StudySide side;
  for (const StudyRow& row : run_overlap(scenario, overlap_model(scenario.overlap), StudyDetail::figures, ended)) {
    if (!row.refused.empty()) continue;
    StudiedIteration& each =
        side.emplace_back(StudiedIteration{fmt::format("{}", row.workers), row.compression, row.policy, {}});
    for (const StudyColumn& column : overlap_columns()) each.figures.push_back(as_stored(column.value(row)));
  }
  return side;
}

std::vector<RuleOutcome> judge_studies(std::span<const RegressionRule> rules, const StudySide& base,
                                       const StudySide& other) {
  const std::vector<Pair> pairs = pairs_of(base, other);
  std::vector<RuleOutcome> outcomes;
  for (const RegressionRule& rule : rules) outcomes.push_back(judge(rule, pairs));
  return outcomes;
}

std::string study_comparison_text(const StudyComparison& comparison) {
  const std::vector<Pair> pairs = pairs_of(comparison.base_rows, comparison.other_rows);
  std::vector<std::vector<std::string>> columns;
  const auto add = [&](const auto& value) {
    std::vector<double> values;
    for (const Pair& pair : pairs) values.push_back(value(pair));
    columns.push_back(format_column(values));
  };
  add([](const Pair& pair) { return kMs * figure(*pair.first, kShown[0]); });
  add([](const Pair& pair) { return kMs * figure(*pair.second, kShown[0]); });
  for (const std::string_view part : std::span{kShown}.subspan(1)) {
    auto& cells = columns.emplace_back();
    for (const Pair& pair : pairs) {
      const double ms = kMs * (figure(*pair.second, part) - figure(*pair.first, part));
      cells.push_back(std::abs(ms) < 5e-4 ? "0" : fmt::format("{:+.3f}", ms));
    }
  }
  Table table{{"workers", "compression", "fusion", "BASE [ms]", "NEW [ms]", "change [%]", "computing [ms]",
               "compression [ms]", "exposed [ms]"}};
  table.align_left(1);
  table.align_left(2);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const StudiedIteration& each = *pairs[i].first;
    table.add({each.workers, each.compression, each.policy, columns[0][i], columns[1][i],
               fmt::format("{:+.2f}", 100 * change(pairs[i])), columns[2][i], columns[3][i], columns[4][i]});
  }
  std::string out = "time of an iteration; the last three columns: what changed of it\n" + table.text() +
                    only_in("BASE", comparison.base_rows, comparison.other_rows) +
                    only_in("NEW", comparison.other_rows, comparison.base_rows);
  if (!comparison.outcomes.empty()) out += '\n';
  return out + rules_text(comparison);
}

std::string study_comparison_json(const StudyComparison& comparison) {
  JsonWriter json;
  json.begin_object().member("base", comparison.base).member("new", comparison.other);
  json.key("iterations").begin_array();
  for (const Pair& pair : pairs_of(comparison.base_rows, comparison.other_rows)) {
    json.begin_object().member("workers", std::stoi(pair.first->workers));
    json.member("compression", pair.first->compression).member("policy", pair.first->policy);
    for (const auto& [name, side] : {std::pair{"base", pair.first}, std::pair{"new", pair.second}}) {
      json.key(name).begin_object();
      for (const Metric& metric : study_metrics()) json.member(metric.name, side->figures[index_of(metric)]);
      json.end_object();
    }
    json.member("change", change(pair)).end_object();
  }
  json.end_array();
  write_rules(json, comparison);
  json.end_object();
  return json.take();
}

std::string study_comparison_markdown(const StudyComparison& comparison) {
  std::string out =
      markdown_head(comparison, "no rules given") +
      "\n\n| workers | compression | fusion | BASE [ms] | NEW [ms] | change | exposed BASE [ms] | exposed NEW "
      "[ms] |\n|---:|---|---|---:|---:|---:|---:|---:|\n";
  for (const Pair& pair : pairs_of(comparison.base_rows, comparison.other_rows)) {
    const auto ms = [](const StudiedIteration* side, std::string_view name) { return kMs * figure(*side, name); };
    out += fmt::format("| {} | {} | {} | {:.3f} | {:.3f} | {:+.2f}% | {:.3f} | {:.3f} |\n", pair.first->workers,
                       escaped_markdown(pair.first->compression), escaped_markdown(pair.first->policy),
                       ms(pair.first, kShown[0]), ms(pair.second, kShown[0]), 100 * change(pair),
                       ms(pair.first, kShown[3]), ms(pair.second, kShown[3]));
  }
  return out + "\n" + rules_markdown(comparison);
}

}  // namespace contend
