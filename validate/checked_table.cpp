#include "validate/checked_table.hpp"

#include "sim/fields.hpp"
#include "validate/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

/// Gives a reason to the figures of its name and returns their number.
std::size_t give_reason(std::vector<CheckedTable>& tables, const KnownReason& reason) {
  std::size_t given = 0;
  for (CheckedTable& table : tables) {
    for (CheckedFigure& each : table.checks) {
      if (each.name != reason.figure) continue;
      each.why = reason.why;
      each.stated = reason.deviation;
      ++given;
    }
  }
  return given;
}

bool is_judged(const CheckedFigure& figure) {
  return !std::isinf(figure.tolerance);
}

std::string verdict(const CheckedFigure& figure) {
  if (!is_judged(figure)) return "shown";
  const bool explained = !figure.why.empty();
  if (figure.is_within()) return explained ? "FAILED: within, though listed as outside" : "ok";
  if (!explained) return "FAILED";
  if (!figure.is_as_stated()) return fmt::format("FAILED: stated {:+.1f}%: {}", 100 * figure.stated, figure.why);
  return fmt::format("outside: {}", figure.why);
}

/// The median and the largest of the absolute deviations, such as `median 2.0%, worst 5.9%`.
std::string spread_text(std::vector<double> deviations) {
  std::sort(deviations.begin(), deviations.end());
  const std::size_t n = deviations.size();
  const double median = (deviations[(n - 1) / 2] + deviations[n / 2]) / 2;
  return fmt::format("median {:.1f}%, worst {:.1f}%", 100 * median, 100 * deviations.back());
}

/// What a table says in one line; nothing for answers of yes or no and for exact figures.
void print_spread(std::FILE* out, const CheckedTable& table) {
  std::vector<double> figures, seconds;
  for (const CheckedFigure& each : table.checks) {
    if (!is_judged(each) && !table.shown_only) continue;
    if (each.tolerance > 0) figures.push_back(std::abs(each.deviation()));
    if (each.published_s > 0) seconds.push_back(std::abs(each.ours_s / each.published_s - 1));
  }
  if (figures.empty()) return;
  fmt::print(out, "  {} figures{}: {}", figures.size(), table.shown_only ? ", not judged" : "", spread_text(figures));
  if (!seconds.empty()) fmt::print(out, "; in seconds: {}", spread_text(seconds));
  fmt::print(out, "\n");
}

void print(std::FILE* out, const CheckedTable& table) {
  fmt::print(out, "{}\n", table.title);
  if (!table.skipped.empty()) {
    fmt::print(out, "  skipped: {}\n\n", table.skipped);
    return;
  }
  const bool in_seconds =
      std::any_of(table.checks.begin(), table.checks.end(), [](const auto& each) { return each.published_s > 0; });
  if (!table.checks.empty()) {
    fmt::print(out, "  {:<48}{:>11}{:>11}{:>9}{:>11}", "figure", "published", "ours", "diff", "tolerance");
    if (in_seconds) fmt::print(out, "{:>13}{:>9}{:>9}", "published s", "ours s", "diff");
    fmt::print(out, "  verdict\n");
  }
  for (const CheckedFigure& each : table.checks) {
    const std::string tolerance = is_judged(each) ? fmt::format("{:.3g}%", 100 * each.tolerance) : "-";
    fmt::print(out, "  {:<48}{:>11.4g}{:>11.4g}{:>8.1f}%{:>11}", each.name, each.published, each.ours,
               100 * each.deviation(), tolerance);
    if (in_seconds && each.published_s > 0) {
      fmt::print(out, "{:>13.4g}{:>9.4g}{:>8.1f}%", each.published_s, each.ours_s,
                 100 * (each.ours_s / each.published_s - 1));
    } else if (in_seconds) {
      fmt::print(out, "{:>31}", "");
    }
    fmt::print(out, "  {}\n", verdict(each));
  }
  print_spread(out, table);
  for (const std::string& note : table.notes) fmt::print(out, "  {}\n", note);
  fmt::print(out, "\n");
}

}  // namespace

std::vector<KnownReason> known_reasons(std::string_view suite) {
  std::vector<KnownReason> reasons;
  for (const TextEntry& each : read_entries(reasons_text())) {
    if (each.name != suite) continue;
    std::string_view why;
    for (const auto& [word, rest] : each.lines) {
      if (word == "reason")
        why = rest;
      else
        reasons.push_back({rest, numbers_in(word).at(0), why});
    }
  }
  return reasons;
}

bool holds(const CheckedTable& table) {
  return std::all_of(table.checks.begin(), table.checks.end(), [](const CheckedFigure& each) {
    return each.why.empty() ? each.is_within() : !each.is_within() && each.is_as_stated();
  });
}

int report_tables(std::FILE* out, std::string_view suite, std::string_view document, std::vector<CheckedTable> tables,
                  std::span<const KnownReason> reasons) {
  const bool all_run =
      std::all_of(tables.begin(), tables.end(), [](const auto& table) { return table.skipped.empty(); });
  bool passed = true;
  for (const KnownReason& reason : reasons) {
    if (give_reason(tables, reason) > 0 || !all_run) continue;
    fmt::print(out, "FAILED: there is a reason for \"{}\", which is no figure\n", reason.figure);
    passed = false;
  }
  std::size_t figures = 0, outside = 0;
  for (const CheckedTable& table : tables) {
    print(out, table);
    passed = passed && holds(table);
    for (const CheckedFigure& each : table.checks) {
      if (is_judged(each)) ++figures;
      if (!each.is_within()) ++outside;
    }
  }
  const SuiteVerdict outcome = suite_verdict(passed, !passed || figures > 0);
  fmt::print(out, "{}: {}: {} of {} figures within tolerance, {} outside{} ({}){}\n", suite, suite_word(outcome),
             figures - outside, figures, outside, passed && outside > 0 ? " for a known reason" : "", document,
             all_run ? "" : "; the part that needs data skipped");
  return outcome;
}

}  // namespace contend
