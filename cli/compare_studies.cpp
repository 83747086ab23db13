#include "cli/compare_studies.hpp"

#include "cli/output.hpp"
#include "cli/text_table.hpp"
#include "scenarios/study/study_columns.hpp"
#include "text/json_writer.hpp"

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kMs = 1e3;

std::string only_in(std::string_view name, const StudySide& side, const StudySide& other) {
  std::string out;
  for (const StudiedIteration& each : side) {
    if (find_iteration(other, each) == nullptr) out += fmt::format("only in {}: {}\n", name, each.title());
  }
  return out;
}

}  // namespace

std::string study_comparison_text(const StudyComparison& comparison) {
  const std::vector<StudyPair> pairs = study_pairs(comparison.base_rows, comparison.other_rows);
  std::vector<std::vector<std::string>> columns;
  const auto add = [&](const auto& value) {
    std::vector<double> values;
    for (const StudyPair& pair : pairs) values.push_back(value(pair));
    columns.push_back(format_column(values));
  };
  add([](const StudyPair& pair) { return kMs * pair.base->figure(kIterationParts[0]); });
  add([](const StudyPair& pair) { return kMs * pair.other->figure(kIterationParts[0]); });
  for (const std::string_view part : std::span{kIterationParts}.subspan(1)) {
    auto& cells = columns.emplace_back();
    for (const StudyPair& pair : pairs) {
      const double ms = kMs * (pair.other->figure(part) - pair.base->figure(part));
      cells.push_back(std::abs(ms) < 5e-4 ? "0" : fmt::format("{:+.3f}", ms));
    }
  }
  Table table{{"workers", "compression", "fusion", "BASE [ms]", "NEW [ms]", "change [%]", "computing [ms]",
               "compression [ms]", "exposed [ms]"}};
  table.align_left(1);
  table.align_left(2);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const StudiedIteration& each = *pairs[i].base;
    table.add({each.workers, each.compression, each.policy, columns[0][i], columns[1][i],
               fmt::format("{:+.2f}", 100 * pairs[i].change()), columns[2][i], columns[3][i], columns[4][i]});
  }
  std::string out = differences_text(comparison) +
                    "\ntime of an iteration; the last three columns: what changed of it\n" + table.text() +
                    only_in("BASE", comparison.base_rows, comparison.other_rows) +
                    only_in("NEW", comparison.other_rows, comparison.base_rows);
  if (!comparison.outcomes.empty()) out += '\n';
  return out + coloured_verdicts(rules_text(comparison));
}

std::string study_comparison_json(const StudyComparison& comparison) {
  JsonWriter json;
  json.begin_object().member("base", comparison.base).member("new", comparison.other);
  write_differences(json, comparison);
  json.key("iterations").begin_array();
  for (const StudyPair& pair : study_pairs(comparison.base_rows, comparison.other_rows)) {
    json.begin_object().member("workers", std::stoi(pair.base->workers));
    json.member("compression", pair.base->compression).member("policy", pair.base->policy);
    for (const auto& [name, side] : {std::pair{"base", pair.base}, std::pair{"new", pair.other}}) {
      json.key(name).begin_object();
      for (const Metric& metric : study_metrics()) json.member(metric.name, side->figure(metric.name));
      json.end_object();
    }
    json.member("change", pair.change()).end_object();
  }
  json.end_array();
  write_rules(json, comparison);
  json.end_object();
  return json.take();
}

std::string study_comparison_markdown(const StudyComparison& comparison) {
  std::string out =
      markdown_head(comparison, "no rules given") + "\n\n" + differences_markdown(comparison) +
      "\n| workers | compression | fusion | BASE [ms] | NEW [ms] | change | exposed BASE [ms] | exposed NEW "
      "[ms] |\n|---:|---|---|---:|---:|---:|---:|---:|\n";
  for (const StudyPair& pair : study_pairs(comparison.base_rows, comparison.other_rows)) {
    const auto ms = [](const StudiedIteration* side, std::string_view name) { return kMs * side->figure(name); };
    out += fmt::format("| {} | {} | {} | {:.3f} | {:.3f} | {:+.2f}% | {:.3f} | {:.3f} |\n", pair.base->workers,
                       escaped_markdown(pair.base->compression), escaped_markdown(pair.base->policy),
                       ms(pair.base, kIterationParts[0]), ms(pair.other, kIterationParts[0]), 100 * pair.change(),
                       ms(pair.base, kIterationParts[3]), ms(pair.other, kIterationParts[3]));
  }
  return out + "\n" + rules_markdown(comparison);
}

}  // namespace contend
