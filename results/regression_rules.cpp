#include "results/regression_rules.hpp"

#include "results/iteration_figures.hpp"
#include "sim/error.hpp"
#include "sim/fields.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kPercent = 100;

class RuleParser {
 public:
  RuleParser(const std::string& text, std::vector<Complaint>& complaints) : text_{text}, complaints_{complaints} {}

  /// Parses the text; returns nothing and adds a complaint if it is no rule.
  std::optional<RegressionRule> parse() {
    RegressionRule rule;
    rule.text = std::string{trimmed(text_)};
    skip_blanks();
    const std::size_t name_at = at_;
    const std::size_t name_end = std::min(text_.find_first_of("[<>=! \t", at_), text_.size());
    const std::string name = text_.substr(at_, name_end - at_);
    if (name.empty()) return complain(at_, "expected a metric such as avg_jct", "write a rule such as `avg_jct > 1%`");
    at_ = name_end;
    if (rest().starts_with('[') && !parse_group(rule)) return std::nullopt;
    const std::span<const Metric> known = rule.of_any_job            ? iteration_metrics()
                                          : rule.grouping != nullptr ? group_metrics()
                                                                     : metrics();
    rule.metric = find_metric(name, known);
    if (rule.metric == nullptr) {
      const bool is_of_runs = find_metric(name) != nullptr;
      return complain(name_at,
                      is_of_runs && rule.of_any_job ? fmt::format("an iteration of a job has no {}", name)
                      : is_of_runs                  ? fmt::format("groups of jobs have no {}", name)
                                                    : fmt::format("unknown metric \"{}\"", name),
                      metric_hint(name, known));
    }
    skip_blanks();
    const auto relation = leading_relation(rest());
    if (!relation) return complain(at_, "expected < or >" + found(), "");
    rule.relation = relation->first;
    at_ += relation->second;
    skip_blanks();
    return parse_amount(std::move(rule));
  }

 private:
  /// Parses `[user=ann]` or `[any job]`. Returns false and adds a complaint if it is something else.
  bool parse_group(RegressionRule& rule) {
    constexpr std::string_view kAnyJob = "[any job]";
    if (rest().starts_with(kAnyJob)) {
      rule.of_any_job = true;
      at_ += kAnyJob.size();
      return true;
    }
    const std::size_t open = at_, end = text_.find(']', at_);
    const std::size_t equals = std::min(text_.find('=', at_), end);
    if (end == std::string::npos || equals == end) {
      complain(open, "expected a group" + found_from(open), "write a rule such as `avg_jct[user=ann] > 1%`");
    } else {
      const std::string name = text_.substr(open + 1, equals - open - 1);
      const auto found = std::ranges::find(groupings(), name, &Grouping::name);
      std::vector<std::string> names;
      for (const Grouping& each : groupings()) names.emplace_back(each.name);
      if (found == groupings().end()) {
        complain(open + 1, fmt::format("jobs can't be grouped by \"{}\"; expected {}", name, join(names)),
                 did_you_mean(name, names));
        return false;
      }
      rule.grouping = &*found;
      rule.group = text_.substr(equals + 1, end - equals - 1);
      at_ = end + 1;
      return true;
    }
    return false;
  }

  std::optional<RegressionRule> parse_amount(RegressionRule rule) {
    const std::size_t amount_at = at_;
    double sign = 1;
    if (rest().starts_with('-') || rest().starts_with('+')) {
      sign = rest().front() == '-' ? -1 : 1;
      ++at_;
    }
    const std::string_view amount = trimmed(rest());
    const auto number_before = [&](std::string_view unit) {
      return amount.ends_with(unit) ? parse_decimal(trimmed(amount.substr(0, amount.size() - unit.size())))
                                    : std::nullopt;
    };
    const Metric& metric = *rule.metric;
    std::optional<double> value;
    std::string expected = "a change such as 1%";
    std::string hint;
    if (const auto percent = number_before("%")) {
      rule.relative = true;
      value = *percent / kPercent;
    } else if (metric.unit == "s") {
      const Parsed<Time> time = parse_quantity<Time>(amount);
      if (time.value) value = time.value->to_seconds();
      expected += " or 30s";
      hint = time.hint;
    } else if (metric.unit == "share") {
      if (const auto points = number_before("pp")) value = *points / kPercent;
      expected += ", or 2pp for percentage points";
    } else {
      value = parse_decimal(amount);
      expected += " or 3";
    }
    if (!value || !(*value >= 0)) return complain(amount_at, "expected " + expected + found_from(amount_at), hint);
    rule.amount = sign * *value;
    return rule;
  }

  std::optional<RegressionRule> complain(std::size_t at, std::string reason, std::string hint) {
    complaints_.push_back({.file = "--fail-if",
                           .column = static_cast<int>(at) + 1,
                           .reason = std::move(reason),
                           .hint = std::move(hint),
                           .source_line = text_});
    return std::nullopt;
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size()); }
  [[nodiscard]] std::string_view rest() const { return std::string_view{text_}.substr(at_); }
  [[nodiscard]] std::string found() const { return found_from(at_); }
  [[nodiscard]] std::string found_from(std::size_t at) const {
    return at >= text_.size() ? ", got nothing"
                              : fmt::format(", got \"{}\"", trimmed(std::string_view{text_}.substr(at)));
  }

  const std::string& text_;
  std::vector<Complaint>& complaints_;
  std::size_t at_ = 0;
};

struct ShownUnit {
  double factor = 1;
  std::string_view suffix;
};
ShownUnit shown_unit(const Metric& metric, bool relative) {
  if (relative) return {kPercent, "%"};
  if (metric.unit == "share") return {kPercent, " pp"};
  if (metric.unit == "s") return {1, " s"};
  return {1, metric.unit == "jobs" ? " jobs" : metric.unit == "h" ? " h" : ""};
}

/// A number with sign and about four digits. A change too small for these is not shown as zero.
std::string signed_number(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 1e15 || size < 1e-3) return fmt::format("{:+.2e}", value);
  int decimals = 3;
  for (double s = size; s >= 10 && decimals > 0; s /= 10) --decimals;
  for (double s = size; s < 1 && decimals < 6; s *= 10) ++decimals;
  std::string text = fmt::format("{:+.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

constexpr double kLevel = 0.025;  // of a one-sided test: the 95% interval lies beyond

PairedChange change_of_group(const RegressionRule& rule, const ComparedResults& sides) {
  const auto figure = static_cast<std::size_t>(rule.metric - group_metrics().data());
  const PairedChange change = group_change(*sides.base, *sides.other, *rule.grouping, rule.group, figure);
  if (!sides.resampled) return change;
  const GroupPairs drawn =
      group_pairs(*sides.resampled->base, *sides.resampled->other, *rule.grouping, rule.group, figure);
  return resampled_change(change.base, change.other, drawn.base, drawn.other, sides.resampled->blocks);
}

bool is_upwards(const RegressionRule& rule) {
  return rule.relation == Relation::more || rule.relation == Relation::at_least;
}

std::string subject_of(const RegressionRule& rule) {
  std::string name{short_name(*rule.metric)};
  if (rule.grouping != nullptr) name += fmt::format("[{}={}]", rule.grouping->name, rule.group);
  return name;
}

/// What the change is, and what the measured change alone says.
RuleOutcome measured_outcome(const RegressionRule& rule, const PairedChange& change, const Regression& regression) {
  RuleOutcome outcome;
  outcome.rule = rule;
  outcome.change = rule.relative ? change.relative : change.difference;
  if (std::isnan(outcome.change.value)) {
    outcome.fails = true;
    outcome.reason = fmt::format("{} has no value in {}", subject_of(rule), std::isnan(change.base) ? "BASE" : "NEW");
    return outcome;
  }
  outcome.fails = holds(outcome.change.value, rule.relation, rule.amount);
  outcome.reason =
      fmt::format("{} changed {}", subject_of(rule), changed_text(*rule.metric, rule.relative, outcome.change.value));
  if (outcome.change.interval_95.exists())
    outcome.reason += ", 95% interval " + interval_text(*rule.metric, rule.relative, outcome.change.interval_95);
  if (const std::string least = detectable_text(*rule.metric, rule.relative, outcome.change); !least.empty())
    outcome.reason += fmt::format(" (detectable: {})", least);
  if (is_over_finished_jobs(*rule.metric) && !regression.same_jobs_finished()) {
    outcome.fails = true;
    outcome.reason += fmt::format(
        ", but over different jobs: {} count in BASE only, {} in NEW only; choose the same jobs, which end, by "
        "`measure`",
        regression.lost.size() + regression.only_in_base.size(),
        regression.gained.size() + regression.only_in_new.size());
  }
  return outcome;
}

/// True if a test decides about the rule.
bool is_tested(const RuleOutcome& outcome, const Regression& regression) {
  const Metric& metric = *outcome.rule.metric;
  return outcome.change.interval_95.exists() && metric.unit != "jobs" &&
         (regression.same_jobs_finished() || !is_over_finished_jobs(metric));
}

/// Lets tests decide, with p-values that are corrected for the number of rules.
void test(std::vector<RuleOutcome>& outcomes, const Regression& regression) {
  std::vector<double> p_values;
  for (const RuleOutcome& each : outcomes)
    p_values.push_back(is_tested(each, regression) ? each.change.chance_beyond(each.rule.amount, is_upwards(each.rule))
                                                   : kNaN);
  const std::vector<double> adjusted = holm_adjusted(p_values);
  const auto tests = std::ranges::count_if(p_values, [](double p) { return !std::isnan(p); });
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    RuleOutcome& outcome = outcomes[i];
    if (std::isnan(adjusted[i])) continue;
    outcome.p_value = adjusted[i];
    const bool as_measured = outcome.fails;
    outcome.fails = adjusted[i] <= kLevel;
    if (!as_measured) continue;
    const std::string p_value = p_value_text(adjusted[i]);
    outcome.reason += fmt::format(": {}significant (p {}{}{}, one-sided level {})", outcome.fails ? "" : "not ",
                                  p_value.starts_with('<') ? "" : "= ", p_value,
                                  tests > 1 ? fmt::format(" corrected for {} rules", tests) : "", kLevel);
  }
}

/// What happened to a figure of an iteration of each job that both sides have; the worst job tells.
RuleOutcome outcome_of_jobs(const RegressionRule& rule, const ComparedResults& sides) {
  const std::size_t figure = iteration_index(rule.metric->name);
  RuleOutcome outcome;
  outcome.rule = rule;
  std::string worst;
  std::size_t failed = 0, jobs = 0;
  for (std::size_t run = 0; run < sides.base->replicas.size(); ++run) {
    const StoredReplica& before = sides.base->replicas[run];
    std::map<std::string_view, const StoredJob*> after;
    for (const StoredJob& job : sides.other->replicas[run].jobs) after.emplace(job.name, &job);
    for (const StoredJob& job : before.jobs) {
      const auto found = after.find(job.name);
      if (found == after.end() || job.iteration.empty() || found->second->iteration.empty()) continue;
      const std::string name =
          sides.base->replicas.size() > 1 ? fmt::format("{} (seed {})", job.name, before.seed) : job.name;
      const PairedChange change = plain_change(job.iteration[figure], found->second->iteration[figure]);
      const double amount = rule.relative ? change.relative.value : change.difference.value;
      if (std::isnan(amount)) {
        outcome.change.value = amount;
        outcome.fails = true;
        outcome.reason = fmt::format("{} has no value in {} ({})", short_name(*rule.metric),
                                     std::isnan(change.base) ? "BASE" : "NEW", name);
        return outcome;
      }
      if (holds(amount, rule.relation, rule.amount)) ++failed;
      if (jobs++ > 0 && (is_upwards(rule) ? amount <= outcome.change.value : amount >= outcome.change.value)) continue;
      outcome.change.value = amount;
      worst = name;
    }
  }
  outcome.fails = failed > 0 || jobs == 0;
  if (jobs == 0) {
    outcome.reason =
        fmt::format("no job that both sides have completed an iteration, so there is no {}", short_name(*rule.metric));
    return outcome;
  }
  outcome.reason =
      fmt::format("{} changed {} ({}{})", short_name(*rule.metric),
                  changed_text(*rule.metric, rule.relative, outcome.change.value), jobs > 1 ? "at worst: " : "", worst);
  if (failed > 1) outcome.reason += fmt::format(" and fails for {} of {} jobs", failed, jobs);
  return outcome;
}

}  // namespace

std::vector<RegressionRule> parse_rules(const std::vector<std::string>& texts) {
  std::vector<RegressionRule> rules;
  std::vector<Complaint> complaints;
  for (const std::string& text : texts)
    if (auto rule = RuleParser{text, complaints}.parse()) rules.push_back(*std::move(rule));
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  return rules;
}

std::vector<RuleOutcome> judge(std::span<const RegressionRule> rules, const Regression& regression,
                               const ComparedResults& sides, Judgement judgement) {
  std::vector<RuleOutcome> outcomes;
  for (const RegressionRule& rule : rules) {
    const bool is_of_variants =
        regression.is_of_studies && rule.grouping == nullptr && is_iteration_metric(*rule.metric);
    if (rule.of_any_job || is_of_variants) {
      outcomes.push_back(outcome_of_jobs(rule, sides));
      continue;
    }
    const PairedChange change =
        rule.grouping == nullptr ? regression.of(*rule.metric).change : change_of_group(rule, sides);
    outcomes.push_back(measured_outcome(rule, change, regression));
  }
  if (judgement == Judgement::significant) test(outcomes, regression);
  return outcomes;
}

std::string change_text(const Metric& metric, bool relative, double change) {
  if (std::isnan(change)) return "-";
  const ShownUnit unit = shown_unit(metric, relative);
  if (std::isinf(change)) return change > 0 ? "from 0" : "-";
  return signed_number(unit.factor * change) + std::string{unit.suffix};
}

std::string changed_text(const Metric& metric, bool relative, double change) {
  return (std::isinf(change) ? "" : "by ") + change_text(metric, relative, change);
}

std::string p_value_text(double p_value) {
  constexpr double kSmallest = 1e-12;
  if (std::isnan(p_value)) return {};
  return p_value < kSmallest ? fmt::format("< {}", kSmallest) : fmt::format("{:.2g}", p_value);
}

std::string detectable_text(const Metric& metric, bool relative, const ChangeEstimate& change) {
  const double least = change.detectable_beside_none();
  return std::isnan(least) ? "" : change_text(metric, relative, least);
}

std::string interval_text(const Metric& metric, bool relative, const ConfidenceInterval& interval) {
  if (!interval.exists()) return {};
  const ShownUnit unit = shown_unit(metric, relative);
  return fmt::format("[{}, {}]{}", signed_number(unit.factor * interval.low),
                     signed_number(unit.factor * interval.high), unit.suffix);
}

}  // namespace contend
