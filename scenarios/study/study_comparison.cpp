#include "scenarios/study/study_comparison.hpp"

#include "results/column_table.hpp"
#include "results/paired_change.hpp"
#include "scenarios/study/study_columns.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_run.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "text/decimal.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

namespace contend {
namespace {

std::size_t index_of(const Metric& metric) {
  return static_cast<std::size_t>(&metric - study_metrics().data());
}

/// With the digits that overlap.csv keeps, so that a folder and a run of its scenario are equal.
double as_stored(double value) {
  return std::isnan(value) ? value : std::stod(fmt::format("{:.12g}", value));
}

RuleOutcome judge_pairs(const RegressionRule& rule, const std::vector<StudyPair>& pairs) {
  const std::size_t index = index_of(*rule.metric);
  const bool upwards = rule.relation == Relation::more || rule.relation == Relation::at_least;
  RuleOutcome outcome;
  outcome.rule = rule;
  const StudyPair* worst = nullptr;
  std::size_t failed = 0;
  for (const StudyPair& pair : pairs) {
    const double before = pair.base->figures[index], after = pair.other->figures[index];
    const PairedChange change = plain_change(before, after);
    const double amount = rule.relative ? change.relative.value : change.difference.value;
    if (std::isnan(amount)) {
      outcome.change.value = amount;
      outcome.fails = true;
      outcome.reason = fmt::format("{} has no value in {} ({})", short_name(*rule.metric),
                                   std::isnan(before) ? "BASE" : "NEW", pair.base->title());
      return outcome;
    }
    if (holds(amount, rule.relation, rule.amount)) ++failed;
    if (worst != nullptr && (upwards ? amount <= outcome.change.value : amount >= outcome.change.value)) continue;
    worst = &pair;
    outcome.change.value = amount;
  }
  outcome.fails = failed > 0;
  outcome.reason = fmt::format("{} changed {} ({}{})", short_name(*rule.metric),
                               changed_text(*rule.metric, rule.relative, outcome.change.value),
                               pairs.size() > 1 ? "at worst: " : "", worst->base->title());
  if (failed > 1) outcome.reason += fmt::format(" and fails for {} of {} iterations", failed, pairs.size());
  return outcome;
}

}  // namespace

double StudiedIteration::figure(std::string_view metric) const {
  const Metric* found = find_metric(metric, study_metrics());
  CONTEND_CHECK(found != nullptr, "a figure of a study");
  return figures[index_of(*found)];
}

std::string StudiedIteration::title() const {
  return fmt::format("{} workers, {}, {}", workers, compression, policy);
}

StudySide read_study(const std::string& folder) {
  const ColumnTable table = read_columns((std::filesystem::path{folder} / "overlap.csv").string());
  const auto &workers = table.texts("workers"), &compression = table.texts("compression"),
             &policy = table.texts("policy");
  StudySide side;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const ScaledDecimal number = parse_integer(workers[i]);
    if (number.error != DecimalError::none || number.value < 1 || number.value > INT_MAX)
      throw InputError{
          {.file = table.file,
           .key = "workers",
           .reason = fmt::format("expected a whole number from 1 to {}, got \"{}\"", INT_MAX, workers[i])}};
    side.push_back({workers[i], compression[i], policy[i], {}});
  }
  for (const Metric& metric : study_metrics()) {
    // Anything else may be missing in a folder of an earlier version.
    const bool needed = std::ranges::find(kIterationParts, metric.name) != kIterationParts.end();
    const std::vector<double> values =
        needed || table.find(metric.name) != nullptr
            ? table.numbers(metric.name)
            : std::vector<double>(table.rows(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < side.size(); ++i) side[i].figures.push_back(values[i]);
  }
  return side;
}

StudySide run_side(const Scenario& scenario, const StudyHooks& hooks) {
  StudySide side;
  for (const StudyRow& row : run_study(scenario, study_model(scenario.overlap), StudyDetail::figures, hooks)) {
    if (!row.refused.empty()) continue;
    StudiedIteration& each =
        side.emplace_back(StudiedIteration{fmt::format("{}", row.workers), row.compression, row.policy, {}});
    for (const StudyColumn& column : study_columns()) each.figures.push_back(as_stored(column.value(row)));
  }
  return side;
}

const StudiedIteration* find_iteration(const StudySide& side, const StudiedIteration& wanted) {
  const auto found = std::ranges::find_if(side, [&](const StudiedIteration& each) { return each.is_same(wanted); });
  return found == side.end() ? nullptr : &*found;
}

double StudyPair::change() const {
  return other->figure(kIterationParts[0]) / base->figure(kIterationParts[0]) - 1;
}

std::vector<StudyPair> study_pairs(const StudySide& base, const StudySide& other) {
  std::vector<StudyPair> pairs;
  for (const StudiedIteration& each : base) {
    if (const StudiedIteration* partner = find_iteration(other, each)) pairs.push_back({&each, partner});
  }
  if (pairs.empty())
    throw InputError{"the two studies have no number of workers, compression method and fusion policy in common"};
  return pairs;
}

std::vector<RuleOutcome> judge_studies(std::span<const RegressionRule> rules, const StudySide& base,
                                       const StudySide& other) {
  const std::vector<StudyPair> pairs = study_pairs(base, other);
  std::vector<RuleOutcome> outcomes;
  for (const RegressionRule& rule : rules) outcomes.push_back(judge_pairs(rule, pairs));
  return outcomes;
}

}  // namespace contend
