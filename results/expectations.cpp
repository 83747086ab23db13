#include "results/expectations.hpp"

#include "results/result_columns.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace contend {
namespace {

bool is_met(const Expectation& expectation, double value) {
  if (!expectation.upper) return holds(value, expectation.relation, expectation.level.value);
  return value >= expectation.level.value && value <= expectation.upper->value;
}

/// `5512.3 s`, `5512.3 ± 120.4 s`, `61.2%`, `157`
std::string value_text(const Metric& metric, const Estimate& figure) {
  const bool share = metric.unit == "share";
  constexpr double kPercent = 100;
  const double factor = share ? kPercent : 1;
  std::string text = fmt::format("{:.6g}", factor * figure.mean);
  if (!std::isnan(figure.half_width)) text += fmt::format(" ± {:.3g}", factor * figure.half_width);
  if (share) return text + "%";
  const std::string_view unit = shown_unit(metric.unit);
  return is_count(metric.unit) || unit.empty() ? text : fmt::format("{} {}", text, unit);
}

}  // namespace

std::string to_string(const Expectation& expectation) {
  const std::string_view name = short_name(metric(expectation.metric));
  if (expectation.upper) return fmt::format("{} in [{}, {}]", name, expectation.level.text, expectation.upper->text);
  const std::string_view relation = to_string(expectation.relation);
  return fmt::format("{} {} {}", name, relation.empty() ? "=" : relation, expectation.level.text);
}

ExpectationOutcome judge_expectation(const Expectation& expectation, std::span<const double> values, Draws draws) {
  const Metric& wanted = metric(expectation.metric);
  const Estimate figure = estimate(values, draws);
  ExpectationOutcome outcome;
  outcome.expectation = to_string(expectation);
  outcome.value = figure.mean;
  outcome.half_width = figure.half_width;
  if (std::isnan(figure.mean)) {
    outcome.reason = wanted.is_of_iterations() ? "no value, because no job that has it finished"
                                               : "no value, because no job finished";
    return outcome;
  }
  outcome.met = is_met(expectation, figure.mean);
  outcome.reason = value_text(wanted, figure);
  if (std::isnan(figure.half_width)) return outcome;
  outcome.reason += fmt::format(" over {} replicas", figure.count);
  const bool low = is_met(expectation, figure.mean - figure.half_width);
  const bool high = is_met(expectation, figure.mean + figure.half_width);
  if (low != outcome.met || high != outcome.met) outcome.reason += ", but not for the whole 95% interval";
  return outcome;
}

std::vector<ExpectationOutcome> judge_expectations(std::span<const Expectation> expectations,
                                                   std::span<const Replica> replicas) {
  std::vector<ExpectationOutcome> outcomes;
  std::size_t submitted = 0, unfinished = 0;
  for (const Replica& replica : replicas) {
    submitted += replica.summary.jobs - replica.summary.not_submitted;
    unfinished += replica.summary.unfinished + replica.summary.given_up;
  }
  for (const Expectation& expectation : expectations) {
    const Metric& wanted = metric(expectation.metric);
    std::vector<double> values;
    for (const Replica& replica : replicas)
      values.push_back(figures_of_run(replica.result, replica.summary)[metric_index(wanted)]);
    outcomes.push_back(judge_expectation(expectation, values, draws_of(replicas)));
    if (unfinished > 0 && is_over_finished_jobs(wanted))
      outcomes.back().reason += fmt::format("; without the {} of {} jobs that did not finish", unfinished, submitted);
  }
  return outcomes;
}

bool all_met(std::span<const ExpectationOutcome> outcomes) {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const ExpectationOutcome& each) { return each.met; });
}

std::string expectations_text(std::span<const ExpectationOutcome> outcomes) {
  std::string out;
  for (const ExpectationOutcome& each : outcomes)
    out += fmt::format("{}  {}: {}\n", each.met ? "ok  " : "FAIL", each.expectation, each.reason);
  return out;
}

void write_members(JsonWriter& json, const ExpectationOutcome& outcome) {
  json.member("expectation", outcome.expectation).member("met", outcome.met).member("value", outcome.value);
  json.member("half_width_95", outcome.half_width).member("reason", outcome.reason);
}

void write_expectations(JsonWriter& json, std::span<const ExpectationOutcome> outcomes) {
  json.key("expectations").begin_array();
  for (const ExpectationOutcome& each : outcomes) {
    json.begin_object();
    write_members(json, each);
    json.end_object();
  }
  json.end_array();
}

}  // namespace contend
