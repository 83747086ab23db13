#include "validate/checked_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/core.h>

namespace contend {

namespace {

/// Gives a reason to the figures of its name and returns their number.
std::size_t give_reason(std::vector<CheckedTable>& tables, const KnownReason& reason) {
  std::size_t given = 0;
  for (CheckedTable& table : tables) {
    for (CheckedFigure& each : table.checks) {
      if (each.name != reason.first) continue;
      each.why = reason.second;
      ++given;
    }
  }
  return given;
}

std::string verdict(const CheckedFigure& figure) {
  if (std::isinf(figure.tolerance)) return "shown";
  const bool explained = !figure.why.empty();
  if (figure.is_within()) return explained ? "FAILED: within, though listed as outside" : "ok";
  return explained ? fmt::format("outside: {}", figure.why) : "FAILED";
}

void print(std::FILE* out, const CheckedTable& table) {
  fmt::print(out, "{}\n", table.title);
  if (!table.skipped.empty()) {
    fmt::print(out, "  skipped: {}\n\n", table.skipped);
    return;
  }
  if (!table.checks.empty())
    fmt::print(out, "  {:<48}{:>11}{:>11}{:>9}{:>11}  verdict\n", "figure", "published", "ours", "diff", "tolerance");
  for (const CheckedFigure& each : table.checks) {
    const std::string tolerance = std::isinf(each.tolerance) ? "-" : fmt::format("{:.3g}%", 100 * each.tolerance);
    fmt::print(out, "  {:<48}{:>11.4g}{:>11.4g}{:>8.1f}%{:>11}  {}\n", each.name, each.published, each.ours,
               100 * each.deviation(), tolerance, verdict(each));
  }
  for (const std::string& note : table.notes) fmt::print(out, "  {}\n", note);
  fmt::print(out, "\n");
}

}  // namespace

bool holds(const CheckedTable& table) {
  return std::all_of(table.checks.begin(), table.checks.end(),
                     [](const CheckedFigure& each) { return each.is_within() == each.why.empty(); });
}

int report_tables(std::FILE* out, std::string_view suite, std::string_view document, std::vector<CheckedTable> tables,
                  std::span<const KnownReason> reasons) {
  const bool all_run =
      std::all_of(tables.begin(), tables.end(), [](const auto& table) { return table.skipped.empty(); });
  bool passed = true;
  for (const KnownReason& reason : reasons) {
    if (give_reason(tables, reason) > 0 || !all_run) continue;
    fmt::print(out, "FAILED: there is a reason for \"{}\", which is no figure\n", reason.first);
    passed = false;
  }
  std::size_t figures = 0, outside = 0;
  for (const CheckedTable& table : tables) {
    print(out, table);
    passed = passed && holds(table);
    for (const CheckedFigure& each : table.checks) {
      if (!std::isinf(each.tolerance)) ++figures;
      if (!each.is_within()) ++outside;
    }
  }
  fmt::print(out, "{}: {}: {} of {} figures within tolerance, {} outside{} ({}){}\n", suite,
             passed ? "passed" : "FAILED", figures - outside, figures, outside,
             passed && outside > 0 ? " for a known reason" : "", document,
             all_run ? "" : "; the part that needs data skipped");
  return passed ? 0 : 1;
}

}  // namespace contend
